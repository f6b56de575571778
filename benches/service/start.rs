//! How soon a started server answers.

use std::{
    net::{SocketAddr, TcpListener},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    client::{self, Connection},
    figure::{Figure, Row, largest, median, millis},
    server::{BINARY, TOKEN, backend, directory, spawn},
};

pub(crate) const FIGURE: Figure = Figure {
    name: "g5",
    about: "from the start of the process to its first answers, with a roster of 50",
    run: |effort| Box::pin(run(effort.pick(15, 50))),
};

/// How long one start may take before the benchmark gives up.
const LONGEST: Duration = Duration::from_secs(20);

async fn run(rounds: usize) -> anyhow::Result<Vec<Row>> {
    let entry = |at| backend(&format!("b{at}"), "http://127.0.0.1:9/v1", &format!("m{at}"), "");
    let roster: String = (0..50).map(entry).collect();
    let (mut first, mut listed, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let began = Instant::now();
        Command::new(BINARY).arg("--version").stdout(Stdio::null()).status()?;
        bare.push(millis(began.elapsed()));
        let (healthy, targets) = once(&roster).await?;
        first.push(millis(healthy));
        listed.push(millis(targets));
    }
    let row = |what, times: &[f64]| {
        let note = format!(
            "median of {rounds}, slowest {:.1}; `adjutant --version` {:.1}",
            largest(times),
            median(&bare)
        );
        Row::new(what, median(times), "ms").note(note)
    };
    Ok(vec![
        row("to the first 200", &first).at_most(100.0),
        row("to the list of the 50 backends, with the token", &listed),
    ])
}

/// Starts one server: the times to its first 200 and to its list of backends.
async fn once(roster: &str) -> anyhow::Result<(Duration, Duration)> {
    let dir = directory(roster)?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let began = Instant::now();
    let mut child = spawn(&dir, &port.to_string())?;
    let times = tokio::time::timeout(LONGEST, answers(port, began)).await;
    child.kill()?;
    child.wait()?;
    times?
}

async fn answers(port: SocketAddr, began: Instant) -> anyhow::Result<(Duration, Duration)> {
    let mut connection = loop {
        match Connection::open(port).await {
            Ok(connection) => break connection,
            Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    };
    let health = connection.exchange(&client::get(port, "/healthz", &[])).await?;
    anyhow::ensure!(health.status == 200, "`/healthz` answered {}", health.status);
    let healthy = began.elapsed();
    let bearer = format!("Bearer {TOKEN}");
    let list = client::get(port, "/delegate/targets", &[("authorization", &bearer)]);
    let listed = connection.exchange(&list).await?;
    anyhow::ensure!(listed.status == 200, "`/delegate/targets` answered {}", listed.status);
    Ok((healthy, began.elapsed()))
}
