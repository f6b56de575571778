//! A caller that leaves: how soon the backend is free again.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    client::Connection,
    fake::Fake,
    figure::{Figure, Row, largest, median, millis},
    messages::{self, Session},
    server::{Server, backend},
    stdio::Bridge,
};

pub(crate) const FIGURE: Figure = Figure {
    name: "g12",
    about: "from a caller's leaving to the backend's being free, as its counters show each millisecond",
    run: |effort| Box::pin(run(effort.pick(10, 50))),
};

/// How many calls of a batch are in flight when its caller leaves.
const BATCH: usize = 32;

/// One way of leaving, measured some times.
struct Bench {
    server: Server,
    fake: Fake,
    rounds: usize,
    rows: Vec<Row>,
}

async fn run(rounds: usize) -> anyhow::Result<Vec<Row>> {
    let fake = Fake::start(Duration::ZERO).await?;
    let entry = |id, model| {
        backend(id, &fake.url(), model, &format!("limits = {{ concurrency = {BATCH} }}"))
    };
    let roster = [entry("hang", "hang"), entry("drip", "drip-20"), entry("quick", "ok")].concat();
    let server = Server::start(&roster).await?;
    let mut bench = Bench { server, fake, rounds, rows: Vec::new() };
    let hang = messages::one("hang", 0);

    let plain = bench.server.post("/delegate", &hang);
    bench.drops("plain HTTP, before the first token", 1, &plain, false).await?;
    let drip = bench.server.post("/delegate", &messages::one("drip", 0));
    bench.drops("plain HTTP, in the middle of the backend's stream", 1, &drip, false).await?;
    let batch = bench.server.post("/delegate/many", &messages::many("hang", BATCH));
    bench.drops("a batch with 32 calls in flight", BATCH, &batch, false).await?;
    let mut tasks = messages::many("hang", BATCH);
    tasks["tasks"][0] = messages::one("quick", 0);
    let lines =
        bench.server.post_with("/delegate/many", &[("accept", "application/x-ndjson")], &tasks);
    bench.drops("a batch as NDJSON, after its first line", BATCH - 1, &lines, true).await?;
    let bare = bench.server.post("/mcp", &messages::call(1, "delegate", &hang));
    bench.drops("MCP, plain JSON", 1, &bare, false).await?;
    let modern = messages::modern(&bench.server, "delegate", &hang);
    bench.drops("MCP of 2026-07-28", 1, &modern, false).await?;
    bench.cancels_in_session(&hang).await?;
    bench.cancels_on_stdio(&hang).await?;
    Ok(bench.rows)
}

impl Bench {
    /// Sends a request, waits until the backend has it (and, if wanted, for the answer's first
    /// part), and closes the connection.
    async fn drops(
        &mut self,
        what: &str,
        in_flight: usize,
        request: &[u8],
        answered: bool,
    ) -> anyhow::Result<()> {
        let mut times = Vec::new();
        for _ in 0..self.rounds {
            let mut connection = self.server.connect().await?;
            connection.send(request).await?;
            if answered {
                connection.head().await?;
                connection.part().await?;
            }
            self.fake.until_open(u64::try_from(in_flight)?).await?;
            times.push(self.freed(|| drop(connection)).await?);
        }
        self.add(what, &times);
        Ok(())
    }

    async fn freed(&mut self, leave: impl FnOnce()) -> anyhow::Result<f64> {
        let left = Instant::now();
        leave();
        self.fake.until_open(0).await?;
        Ok(millis(left.elapsed()))
    }

    fn add(&mut self, what: &str, times: &[f64]) {
        let note = format!("slowest of {}, median {:.1}", self.rounds, median(times));
        self.rows.push(Row::new(what, largest(times), "ms").at_most(100.0).note(note));
    }

    async fn cancels_in_session(&mut self, arguments: &Value) -> anyhow::Result<()> {
        let Self { server, fake, rounds, .. } = self;
        let mut session = Session::open(server).await?;
        let mut times = Vec::new();
        for id in 1..=*rounds {
            let mut connection: Connection = server.connect().await?;
            connection.send(&session.post(&messages::call(id, "delegate", arguments))).await?;
            fake.until_open(1).await?;
            let left = Instant::now();
            session
                .notify(&messages::notice("notifications/cancelled", &json!({ "requestId": id })))
                .await?;
            fake.until_open(0).await?;
            times.push(millis(left.elapsed()));
        }
        self.add("MCP with a session, `notifications/cancelled`", &times);
        Ok(())
    }

    async fn cancels_on_stdio(&mut self, arguments: &Value) -> anyhow::Result<()> {
        let mut bridge = Bridge::open(&self.server).await?;
        let mut times = Vec::new();
        for id in 1..=self.rounds {
            bridge.send(&messages::call(id, "delegate", arguments)).await?;
            self.fake.until_open(1).await?;
            let left = Instant::now();
            bridge
                .send(&messages::notice("notifications/cancelled", &json!({ "requestId": id })))
                .await?;
            self.fake.until_open(0).await?;
            times.push(millis(left.elapsed()));
        }
        self.add("MCP through the stdio bridge, `notifications/cancelled`", &times);
        Ok(())
    }
}
