//! What an item that waits in a batch holds in memory.

use std::time::{Duration, Instant};

use crate::{
    fake::Fake,
    fanout,
    figure::{Row, count},
    load, messages,
    server::{Server, backend},
};

const ITEMS: usize = 10_000;
/// How long the batch is watched: it is taken in long before.
const WATCH: Duration = Duration::from_secs(2);

/// The growth while all items wait, and that of a batch with all its results.
pub(crate) async fn rows() -> anyhow::Result<Vec<Row>> {
    let mut fake = Fake::start(Duration::from_millis(20)).await?;
    let wide = backend("wide", &fake.url(), "wide", "limits = { concurrency = 128 }");
    let server = Server::start(&(backend("narrow", &fake.url(), "slow-5000", "") + &wide)).await?;
    let process = server.process();
    // What any first calls make, connections to the backend among it, is not the batch's.
    let first = server.post("/delegate", &messages::one("wide", 0));
    load::run(server.address, 128, load::times(first, 1_000), load::is_ok).await?.whole()?;

    let before = process.resident()?;
    let mut connection = server.connect().await?;
    connection.send(&server.post("/delegate/many", &messages::many("narrow", ITEMS))).await?;
    let (began, mut most) = (Instant::now(), before);
    while began.elapsed() < WATCH {
        most = most.max(process.resident()?);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let waiting = (most - before) / count(ITEMS);
    drop(connection);
    fake.until_open(0).await?;

    let mut connection = server.connect().await?;
    let answer =
        connection.exchange(&server.post("/delegate/many", &messages::many("wide", ITEMS))).await?;
    fanout::check(&serde_json::from_slice(&answer.body)?, ITEMS, None)?;
    let whole = (process.most_resident()? - before) / count(ITEMS);
    let note = format!("{ITEMS} items; with all their results {whole:.2}");
    Ok(vec![Row::new("resident memory a queued item", waiting, "KiB").at_most(8.0).note(note)])
}
