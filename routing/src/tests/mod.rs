//! Tests of the pure rules, of the pieces that keep state, and of whole calls on a fake backend.

use std::{sync::Arc, time::Duration};

use fake::Fake;
use roster::Roster;

use crate::{
    Context, Error, Outcome, Ports, Router, Settings, Task, Want, budget::Purses, journal::Recent,
};

mod breaker;
mod budget;
mod fanout;
mod gate;
mod limits;
mod permits;
mod retry;
mod select;
mod tries;

/// A roster entry of an OpenAI-compatible backend on that URL, named after its model.
fn entry(url: &str, model: &str, more: &str) -> String {
    format!(
        "[[backend]]\nid = \"{}\"\ntier = \"local\"\nkind = \"openai\"\nbase_url = \"{url}\"\nmodel = \"{model}\"\ncan_delegate = true\nretry = {{ attempts = 3, base = \"5ms\", max = \"20ms\" }}\n{more}\n",
        model.to_lowercase().replace('.', "-"),
    )
}

/// A router over that roster, with a budget and a journal in memory.
fn router_with(text: &str, settings: Settings) -> (Arc<Router>, Arc<Purses>, Arc<Recent>) {
    let (budget, journal) = (Arc::new(Purses::default()), Arc::new(Recent::new(100_000)));
    let ports = Ports { budget: budget.clone(), journal: journal.clone() };
    let router = Router::new(Roster::parse(text).unwrap(), settings, ports).unwrap();
    (Arc::new(router), budget, journal)
}

fn router(text: &str) -> Arc<Router> {
    router_with(text, Settings::default()).0
}

fn task(want: Want) -> Task {
    Task { prompt: "hi".to_owned(), system: None, max_tokens: Some(64), want, ..Task::default() }
}

fn target(id: &str) -> Task {
    task(Want::Target(id.to_owned()))
}

fn good_at(tag: &str) -> Task {
    task(Want::Task(tag.to_owned()))
}

fn within(time: Duration) -> Context {
    Context { caller: "test".to_owned(), timeout: Some(time), ..Context::default() }
}

fn context() -> Context {
    within(Duration::from_secs(20))
}

/// The backend that answered.
fn answered(outcome: Result<Outcome, Error>) -> String {
    match outcome {
        Ok(Outcome::Done(done)) => done.backend,
        other => panic!("no answer: {other:?}"),
    }
}

async fn fake() -> Fake {
    Fake::start().await
}
