//! Whether backends can be reached: each asked for its models, side by side, within a bound.

use std::time::{Duration, Instant};

use futures::{StreamExt as _, future::BoxFuture, stream};
use roster::{Backend, Kind};
use routing::upstream::Upstream;

use super::{exit::Error, table::Tone};

/// How long one backend may take to answer: the probe's own bound and a little.
const EACH: Duration = Duration::from_secs(4);

/// How long all of them may take together.
const ALL: Duration = Duration::from_secs(20);

/// How many are asked at once.
const AT_ONCE: usize = 64;

/// What asking a backend found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Health {
    /// It answers and has its model.
    Up {
        /// How long it took to answer, in milliseconds.
        ms: u64,
    },
    /// It answers, and something about it is probably wrong.
    Odd {
        /// What, and what to do.
        words: String,
    },
    /// It cannot be used.
    Down {
        /// Why, and what to do.
        words: String,
    },
    /// It was not asked.
    Unasked {
        /// Why not.
        words: &'static str,
    },
}

impl Health {
    /// How it is meant.
    pub(crate) fn tone(&self) -> Tone {
        match self {
            Self::Up { .. } => Tone::Good,
            Self::Odd { .. } => Tone::Warn,
            Self::Down { .. } => Tone::Bad,
            Self::Unasked { .. } => Tone::Dim,
        }
    }

    /// It in words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Up { ms } => format!("up, {ms} ms"),
            Self::Odd { words } => words.clone(),
            Self::Down { words } => format!("down: {words}"),
            Self::Unasked { words } => (*words).to_owned(),
        }
    }

    /// Its name in JSON.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Up { .. } => "up",
            Self::Odd { .. } => "odd",
            Self::Down { .. } => "down",
            Self::Unasked { .. } => "unasked",
        }
    }
}

/// Asks every backend that is switched on, and no paid one while billing is off; in their order.
///
/// # Errors
/// When no HTTP client can be had.
pub(crate) async fn ask(backends: &[&Backend], billing: bool) -> Result<Vec<Health>, Error> {
    let upstream = Upstream::new().map_err(|failure| Error::failed(failure.to_string()))?;
    let end = Instant::now() + ALL;
    let mut asked: Vec<BoxFuture<'_, Health>> = Vec::with_capacity(backends.len());
    for backend in backends {
        asked.push(Box::pin(one(&upstream, backend, billing, end)));
    }
    Ok(stream::iter(asked).buffered(AT_ONCE).collect().await)
}

async fn one(upstream: &Upstream, backend: &Backend, billing: bool, end: Instant) -> Health {
    if !backend.enabled {
        return Health::Unasked { words: "disabled" };
    }
    if backend.tier.is_paid() && !billing {
        return Health::Unasked { words: "inert: billing is off" };
    }
    let bound = EACH.min(end.saturating_duration_since(Instant::now()));
    if bound.is_zero() {
        return Health::Unasked { words: "not asked: too many backends before it were silent" };
    }
    let started = Instant::now();
    match tokio::time::timeout(bound, upstream.models(backend)).await {
        Err(_) => Health::Down { words: format!("no answer within {} s", bound.as_secs()) },
        Ok(Err(failure)) => Health::Down { words: failure.message },
        Ok(Ok(models)) => {
            let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            judge(backend, &models, ms)
        }
    }
}

/// Whether a server that answers has the model that it will be asked for.
fn judge(backend: &Backend, models: &[String], ms: u64) -> Health {
    let Kind::OpenAi(server) = &backend.kind else { return Health::Up { ms } };
    let is_it = |name: &String| {
        *name == server.model || name.strip_suffix(":latest") == Some(&server.model)
    };
    if models.iter().any(is_it) {
        return Health::Up { ms };
    }
    let known: Vec<String> = models.iter().take(5).map(|name| format!("`{name}`")).collect();
    let more = if models.len() > known.len() { ", …" } else { "" };
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") + more };
    let words = format!("up, but it lists no model `{}`; it has {known}", server.model);
    Health::Odd { words }
}

#[cfg(test)]
mod tests {
    use roster::Roster;

    use super::*;

    fn backends(text: &str) -> Roster {
        Roster::parse(text).unwrap()
    }

    #[test]
    fn a_missing_model_is_named_with_those_that_there_are() {
        let roster = backends(
            "[[backend]]\nid = \"a\"\ntier = \"local\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"llama3\"\n",
        );
        let backend = roster.get("a").unwrap();
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(judge(backend, &names(&["llama3"]), 3), Health::Up { ms: 3 });
        assert_eq!(judge(backend, &names(&["x", "llama3:latest"]), 3), Health::Up { ms: 3 });
        let words = judge(backend, &names(&["1", "2", "3", "4", "5", "6"]), 3).words();
        assert_eq!(words, "up, but it lists no model `llama3`; it has `1`, `2`, `3`, `4`, `5`, …");
        assert!(judge(backend, &[], 3).words().ends_with("it has none"));
    }

    #[tokio::test]
    async fn d43_a_dark_backend_takes_no_longer_than_its_bound_and_the_unpaid_are_left_alone() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = silent.local_addr().unwrap().port();
        let roster = backends(&format!(
            "[[backend]]\nid = \"dark\"\ntier = \"local\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\nmodel = \"m\"\n\
             [[backend]]\nid = \"off\"\nenabled = false\ntier = \"local\"\nkind = \"extract\"\n\
             [[backend]]\nid = \"paid\"\ntier = \"api\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\nmodel = \"m\"\n\
             [[backend]]\nid = \"here\"\ntier = \"local\"\nkind = \"extract\"\n"
        ));
        let all: Vec<&Backend> = roster.backends().iter().collect();
        let health = ask(&all, false).await.unwrap();
        let names: Vec<&str> = health.iter().map(Health::as_str).collect();
        assert_eq!(names, ["down", "unasked", "unasked", "up"], "{health:?}");
    }
}
