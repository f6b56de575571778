//! The server's memory: at rest, after a rush, and over many requests of every kind.

use std::{cell::Cell, time::Duration};

use bytes::Bytes;
use serde_json::json;

use crate::{
    fake::Fake,
    figure::{Figure, Row, count},
    load,
    messages::{self, Session},
    server::{Server, backend},
};

pub(crate) const FIGURE: Figure = Figure {
    name: "g4",
    about: "resident memory at rest, after a load of 256 connections, and over mixed requests",
    run: |effort| Box::pin(run(Duration::from_secs(effort.pick(5, 30)), effort.requests())),
};

const MIB: f64 = 1024.0;
const RUSH: usize = 256;
/// Connections of the mixed load.
const MIXED: usize = 64;

async fn run(rush: Duration, requests: u64) -> anyhow::Result<Vec<Row>> {
    let fake = Fake::start(Duration::ZERO).await?;
    let wide = format!("limits = {{ concurrency = {RUSH} }}");
    let entry = |id, model| backend(id, &fake.url(), model, &wide);
    let roster =
        [entry("quick", "ok"), entry("broken", "e400"), entry("slow", "slow-200")].concat();
    let server = Server::start(&roster).await?;
    let process = server.process();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let idle = process.resident()? / MIB;

    let one = server.post("/delegate", &messages::one("quick", 0));
    let rushed =
        load::run(server.address, RUSH, load::lasting(one, rush), load::is_ok).await?.whole()?;
    let after = process.resident()? / MIB;
    let most = process.most_resident()? / MIB;
    let note = format!("at most {most:.1}; {:.0} delegations a second", rushed.rate());
    let mut rows = vec![
        Row::new("at rest", idle, "MiB").at_most(30.0),
        Row::new("after 256 connections", after, "MiB").at_most(64.0).note(note),
    ];
    rows.push(drift(&server, usize::try_from(requests)?).await?);
    Ok(rows)
}

/// How much more is resident at the end of the last half than at its beginning.
async fn drift(server: &Server, requests: usize) -> anyhow::Result<Row> {
    let kinds = kinds(server);
    let (sent, going) = (Cell::new(0), Cell::new(true));
    let next = |number: usize| {
        sent.set(number);
        (number < requests).then(|| kinds.get(number % kinds.len()).cloned()).flatten()
    };
    // Every answer will do but one that tells of a fault of the server's own.
    let mixed = async {
        let mixed = load::run(server.address, MIXED, next, |answer| answer.status != 500).await;
        going.set(false);
        mixed?.whole()
    };
    let mut samples = Vec::new();
    let sampling = async {
        while going.get() {
            samples.push((sent.get(), server.process().resident()?));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        anyhow::Ok(())
    };
    let (mixed, (), (), ()) =
        tokio::try_join!(mixed, sampling, sessions(server, &going), leavers(server, &going))?;
    let last: Vec<f64> =
        samples.iter().filter(|(at, _)| at * 2 >= requests).map(|(_, kib)| *kib).collect();
    let fifth = last.len().div_ceil(5);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count(values.len()).max(1.0);
    let begin = mean(last.get(..fifth).unwrap_or_default());
    let end = mean(last.get(last.len() - fifth..).unwrap_or_default());
    let note = format!(
        "{requests} requests, {:.0} a second; at the end {:.1} MiB",
        mixed.rate(),
        end / MIB
    );
    Ok(Row::new("drift in the last half of mixed requests", (end - begin) / MIB, "MiB")
        .at_most(1.0)
        .note(note))
}

/// Requests of every kind, good and bad.
fn kinds(server: &Server) -> Vec<Bytes> {
    let call = |tool, arguments| server.post("/mcp", &messages::call(1, tool, &arguments));
    let lines = [("accept", "application/x-ndjson")];
    let list = messages::request(1, "tools/list", &json!({}));
    let kinds = [
        server.post("/delegate", &messages::one("quick", 1)),
        server.post("/delegate", &json!({ "prompt": messages::prompt(2), "task": "nothing" })),
        server.post("/delegate", &messages::one("nobody", 3)),
        server.post("/delegate", &messages::one("broken", 4)),
        server.post("/delegate", &json!({ "prompt": 5, "targets": true })),
        server.post("/delegate/many", &messages::many("quick", 5)),
        server.post_with("/delegate/many", &lines, &messages::many("quick", 5)),
        server.get("/delegate/targets"),
        server.get("/healthz"),
        server.get("/nowhere"),
        call("delegate", messages::one("quick", 6)),
        call("delegate_targets", json!({})),
        call("nothing", json!({})),
        messages::modern(server, "delegate", &messages::one("quick", 7)),
        server.post("/mcp", &list),
    ];
    kinds.map(Bytes::from).into()
}

/// Sessions that come, call and go.
async fn sessions(server: &Server, going: &Cell<bool>) -> anyhow::Result<()> {
    while going.get() {
        let session = Session::open(server).await?;
        let mut connection = server.connect().await?;
        connection
            .exchange(&session.post(&messages::call(1, "delegate", &messages::one("quick", 0))))
            .await?;
        session.close().await?;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Callers that leave in the middle of their call.
async fn leavers(server: &Server, going: &Cell<bool>) -> anyhow::Result<()> {
    let request = server.post("/delegate", &messages::one("slow", 0));
    while going.get() {
        let mut connection = server.connect().await?;
        connection.send(&request).await?;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
