//! Exchanges: how long a page of a long list takes, whatever page it is.

use std::time::Instant;

use adjutant::{
    clock::Clock,
    store::{
        Place, Store,
        exchange::{self, Content, Origin, Tokens},
        names::Locus,
    },
};
use anyhow::{anyhow, ensure};
use mcp::{Rights, Scope};
use serde_json::{Value, json};

use crate::{
    figure::{Figure, Row, count, median, millis, share},
    server::{self, Server},
};

pub(crate) const FIGURE: Figure = Figure {
    name: "pages",
    about: "`exchange_list` of 100,000 exchanges over HTTP, page by page, on SQLite",
    run: |_| Box::pin(run()),
};

/// How many exchanges there are, how many of them one locus has, and how many one session.
const ROWS: usize = 100_000;
const OF_LOCUS: usize = 80_000;
const OF_SESSION: usize = 500;

/// How many go in one transaction, and how many are on a page.
const BATCH: usize = 500;
const PAGE: usize = 50;

/// The locus that has most of them.
const LOCUS: &str = "bench-0";

fn content(nth: usize) -> Content {
    let origin = if nth.is_multiple_of(7) { Origin::Harness } else { Origin::Operator };
    let second = i64::try_from(nth / 3).unwrap_or_default();
    Content {
        turn: format!("turn-{nth}"),
        session_id: format!("session-{}", nth / OF_SESSION),
        source: "bench".to_owned(),
        model: "model".to_owned(),
        origin: Some(origin),
        ts: (1_790_000_000 + second) * 1_000_000,
        primed: 0,
        tokens: Tokens { total: Some(1_000), cost_usd: Some(0.01), ..Tokens::default() },
        pointers: Some(json!({ "files": ["/srv/app/login.py"], "tool_calls": 3 })),
        prompt: format!(
            "{nth}: {}",
            "what does a delegation broker do for its callers? ".repeat(5)
        ),
        response: "It hands their sub-tasks to the cheapest fitting backend. ".repeat(20),
    }
}

/// Puts the exchanges into a data directory before a server has it.
async fn fill(store: &Store) -> anyhow::Result<()> {
    let rights = Rights { scope: Scope::Operator, loci: None };
    for first in (0..ROWS).step_by(BATCH) {
        let turns: Vec<Content> = (first..first + BATCH).map(content).collect();
        let name = match first {
            0..OF_LOCUS => LOCUS.to_owned(),
            _ => format!("bench-{}", 1 + first % 10_000 / 1_000),
        };
        let locus = Locus::parse(&name).map_err(|error| anyhow!("{error}"))?;
        exchange::take(store, &locus, &turns, &rights)
            .await
            .map_err(|error| anyhow!("{error:?}"))?;
    }
    Ok(())
}

/// Asks the same a few times; the milliseconds of each answer.
async fn asked(server: &Server, path: &str) -> anyhow::Result<Vec<f64>> {
    let (mut connection, mut times) = (server.connect().await?, Vec::new());
    for _ in 0..5 {
        let began = Instant::now();
        let answer = connection.exchange(&server.post(path, &json!({}))).await?;
        times.push(millis(began.elapsed()));
        ensure!(answer.status == 200, "`{path}` was answered {}", answer.status);
    }
    Ok(times)
}

/// Goes through a list to its end; the milliseconds of each page, and how many rows it had.
async fn through(server: &Server, asked: &Value) -> anyhow::Result<(Vec<f64>, usize)> {
    let (mut connection, mut times, mut rows) = (server.connect().await?, Vec::new(), 0);
    let mut body = asked.clone();
    body["page"] = json!(true);
    body["limit"] = json!(PAGE);
    loop {
        let request = server.post("/exchange/list", &body);
        let began = Instant::now();
        let answer = connection.exchange(&request).await?;
        times.push(millis(began.elapsed()));
        ensure!(answer.status == 200, "a page was answered {}", answer.status);
        let mut reply: Value = serde_json::from_slice(&answer.body)?;
        rows += reply["result"]["items"].as_array().map_or(0, Vec::len);
        body["after"] = reply["result"]["next"].take();
        if body["after"].is_null() {
            return Ok((times, rows));
        }
    }
}

async fn run() -> anyhow::Result<Vec<Row>> {
    let dir = server::directory("")?;
    let data = dir.path().join("data");
    std::fs::create_dir(&data)?;
    let store = Store::open(&Place::Dir(data), Clock::system()).await?;
    let began = Instant::now();
    fill(&store).await?;
    let filled = began.elapsed().as_secs_f64();
    drop(store);
    let server = Server::over(dir).await?;
    let mut rows = Vec::new();
    for (what, asked, wanted) in [
        ("of one locus", json!({ "locus": LOCUS }), OF_LOCUS),
        ("of everybody", json!({}), ROWS),
        ("of a session", json!({ "session_id": "session-3" }), OF_SESSION),
        (
            "of the harness at one locus",
            json!({ "locus": LOCUS, "origin": "harness" }),
            OF_LOCUS.div_ceil(7),
        ),
    ] {
        let (times, seen) = through(&server, &asked).await?;
        ensure!(seen == wanted, "{seen} rows of {wanted} {what} were seen");
        rows.push(
            Row::new(format!("99 of 100 pages {what} within"), share(&times, 0.99), "ms")
                .at_most(10.0)
                .note(format!("median {:.2} ms, {} pages", median(&times), times.len())),
        );
    }
    for (what, path) in [
        ("the sessions of all, summed up", "/exchange/sessions"),
        ("what all cost, summed up", "/exchange/usage_report"),
    ] {
        rows.push(Row::new(what, median(&asked(&server, path).await?), "ms"));
    }
    rows.push(Row::new("exchanges taken in, 500 in a transaction", count(ROWS) / filled, "1/s"));
    Ok(rows)
}
