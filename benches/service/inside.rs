//! The router alone, in this process: what the fan-out costs without a face in front of it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{anyhow, ensure};
use futures::StreamExt as _;
use roster::Roster;
use routing::{
    Context, Outcome, Ports, Router, Settings, Task, Want, budget::Purses, journal::Recent,
};

use crate::messages;

/// The time that a batch of so many items takes on one backend of the roster.
pub(crate) async fn run(roster: &str, target: &str, items: usize) -> anyhow::Result<Duration> {
    let roster = Roster::parse(roster).map_err(|error| anyhow!("{error}"))?;
    let ports =
        Ports { budget: Arc::new(Purses::default()), journal: Arc::new(Recent::new(1_000)) };
    let router = Arc::new(Router::new(roster, Settings::default(), ports)?);
    let tasks = (0..items).map(|at| {
        let want = Want::Target(target.to_owned());
        (at, Task { prompt: messages::prompt(at), max_tokens: Some(2048), want, ..Task::default() })
    });
    let tasks = tasks.collect();
    // With threads of its own, as the server has them.
    let work = tokio::task::spawn_blocking(move || {
        let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        threads.block_on(async {
            let (context, began) = (Context::default(), Instant::now());
            let done = router.many(tasks, None, &context);
            let done = done
                .filter(|item| std::future::ready(matches!(item.outcome, Ok(Outcome::Done(_)))));
            let done = done.count().await;
            ensure!(done == items, "{done} of {items} items were answered");
            Ok(began.elapsed())
        })
    });
    work.await?
}
