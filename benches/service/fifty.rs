//! A batch as large as the backend is wide.

use std::time::{Duration, Instant};

use crate::{
    fake::Fake,
    fanout,
    figure::{Figure, Row, count, largest, median, odd_one},
    messages,
    server::{Server, backend},
};

pub(crate) const FIGURE: Figure = Figure {
    name: "many",
    about: "`delegate_many` of 50 items of 200 ms at concurrency 50",
    run: |effort| Box::pin(run(effort.pick(5, 25))),
};

const ITEMS: usize = 50;

async fn run(rounds: usize) -> anyhow::Result<Vec<Row>> {
    let mut fake = Fake::start(Duration::from_millis(200)).await?;
    let limits = format!("limits = {{ concurrency = {ITEMS} }}");
    let server = Server::start(&backend("b", &fake.url(), "m", &limits)).await?;
    let request = server.post("/delegate/many", &messages::many("b", ITEMS));
    let (mut walls, mut peaks) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        // Each round with a connection of its own, as a caller would come.
        let mut connection = server.connect().await?;
        let began = Instant::now();
        let answer = connection.exchange(&request).await?;
        walls.push(began.elapsed().as_secs_f64());
        fanout::check(&serde_json::from_slice(&answer.body)?, ITEMS, None)?;
        peaks.push(fake.stats().await?.peak);
    }
    let note = format!("slowest of {rounds}, median {:.3}", median(&walls));
    Ok(vec![
        Row::new("wall time", largest(&walls), "s").at_most(0.35).note(note),
        Row::new("most in flight at the backend, each round", odd_one(&peaks, ITEMS), "calls")
            .exactly(count(ITEMS)),
    ])
}
