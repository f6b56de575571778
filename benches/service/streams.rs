//! One call at a time in a session with event streams.

use std::time::Instant;

use serde_json::json;

use crate::{
    figure::{Figure, Row, median, millis, share},
    load,
    messages::{self, Session},
    rate,
    server::Server,
};

pub(crate) const FIGURE: Figure = Figure {
    name: "sse",
    about: "an MCP round trip answered as an event stream, one at a time",
    run: |effort| Box::pin(run(effort.pick(500, 5_000))),
};

async fn run(rounds: usize) -> anyhow::Result<Vec<Row>> {
    let server = Server::start(&rate::roster()).await?;
    let session = Session::open(&server).await?;
    let mut connection = server.connect().await?;
    let mut times = Vec::new();
    for id in 1..=rounds {
        let request = session.post(&messages::call(id, "delegate_targets", &json!({})));
        let asked = Instant::now();
        let answer = connection.exchange(&request).await?;
        times.push(millis(asked.elapsed()));
        let told = String::from_utf8_lossy(&answer.body);
        anyhow::ensure!(
            told.contains("data:") && told.contains("structuredContent"),
            "no event with a result: {told}"
        );
    }
    let plain = server.post("/mcp", &messages::call(1, "delegate_targets", &json!({})));
    let plain =
        load::run(server.address, 1, load::times(plain, rounds), rate::is_result).await?.whole()?;
    let note = format!(
        "median {:.2}, slowest {:.1}; plain JSON median {:.2}",
        median(&times),
        share(&times, 1.0),
        median(&plain.times)
    );
    Ok(vec![
        Row::new("`delegate_targets`, 99 of 100 within", share(&times, 0.99), "ms")
            .at_most(20.0)
            .note(note),
    ])
}
