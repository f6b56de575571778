//! What a roster that is right says.

use std::time::Duration;

use serde_json::json;

use super::helpers::{cli, extract, openai};
use crate::{Cost, KeyRef, Kind, Limits, Parse, Retry, Roster, Tier, Timeouts};

fn one(text: &str) -> crate::Backend {
    let roster = Roster::parse(text).unwrap();
    assert_eq!(roster.backends().len(), 1);
    roster.get("a").unwrap().clone()
}

#[test]
fn defaults_are_those_of_the_contract() {
    let backend = one(&openai(""));
    assert_eq!(backend.limits, Limits::default());
    assert_eq!(backend.limits.concurrency, 4);
    assert_eq!(backend.limits.queue, 256);
    assert_eq!((backend.limits.rpm, backend.limits.tpm), (None, None));
    assert_eq!(backend.timeouts, Timeouts::default());
    assert_eq!(backend.timeouts.total, Some(Duration::from_mins(10)));
    assert_eq!(backend.retry, Retry::default());
    assert_eq!((backend.cost, backend.key.clone()), (None, None));
    assert!(!backend.can_delegate && backend.enabled);
    let Kind::OpenAi(server) = backend.kind else { panic!("{backend:?}") };
    assert!(server.stream && server.extra.is_empty() && server.headers.is_empty());
}

#[test]
fn every_key_of_an_openai_backend_is_read() {
    let backend = one(&openai(
        "good_at = [\"code\", \"refactor\"]
         cost = { input_per_mtok = 0.1, output_per_mtok = 2, cached_input_per_mtok = -0.0 }
         can_delegate = true
         enabled = false
         key = \"env:OPENAI_API_KEY\"
         limits = { concurrency = 8, queue = 0, rpm = 600, tpm = 200_000,
             context_tokens = 0x8000, max_output_tokens = 8192 }
         timeouts = { connect = \"1s\", first_token = \"none\", idle = \"1m 30s\", total = \"1h\" }
         retry = { attempts = 1, base = \"0s\", max = \"1s\" }
         headers = { \"X-Team\" = \"infra\" }
         extra = { temperature = 0.2, stop = [\"a\"], seed = 18446744073709551615, o = { b = true } }
         stream = false",
    ));
    assert_eq!(backend.good_at, ["code", "refactor"]);
    let cost = backend.cost.unwrap();
    assert_eq!((cost.input_per_mtok, cost.output_per_mtok), (Some(0.1), Some(2.0)));
    assert!(cost.cached_input_per_mtok.unwrap().is_sign_positive());
    assert!(backend.can_delegate && !backend.enabled);
    assert_eq!(backend.key, Some(KeyRef::Env("OPENAI_API_KEY".to_owned())));
    assert_eq!(
        backend.limits,
        Limits {
            concurrency: 8,
            queue: 0,
            rpm: Some(600),
            tpm: Some(200_000),
            context_tokens: Some(32_768),
            max_output_tokens: Some(8192)
        }
    );
    assert_eq!(backend.timeouts.first_token, None);
    assert_eq!(backend.timeouts.idle, Some(Duration::from_secs(90)));
    assert_eq!((backend.retry.attempts, backend.retry.base), (1, Duration::ZERO));
    let Kind::OpenAi(server) = backend.kind else { panic!("{backend:?}") };
    assert_eq!(server.headers.get("x-team").map(String::as_str), Some("infra"));
    let extra = json!({"temperature": 0.2, "stop": ["a"], "seed": u64::MAX, "o": {"b": true}});
    assert_eq!(json!(server.extra), extra);
    assert_eq!(server.extra.keys().collect::<Vec<_>>(), ["temperature", "stop", "seed", "o"]);
    assert!(!server.stream);
}

#[test]
fn a_cli_backend_is_an_argument_vector() {
    let backend = one(&cli(
        "parse = \"claude-json\"\nscrub_env = [\"ANTHROPIC_API_KEY\"]\nmodel = \"sonnet\"",
    ));
    assert_eq!(backend.tier, Tier::Sub);
    assert_eq!(backend.model(), "sonnet");
    let Kind::Cli(program) = backend.kind else { panic!("{backend:?}") };
    assert_eq!(program.cmd, ["claude"]);
    assert_eq!(program.parse, Parse::ClaudeJson);
    assert_eq!(program.scrub_env, ["ANTHROPIC_API_KEY"]);
    assert_eq!(one(&cli("")).model(), "a");
}

#[test]
fn an_extract_backend_costs_nothing() {
    let backend = one(&extract(""));
    let free =
        Cost { input_per_mtok: Some(0.0), output_per_mtok: Some(0.0), cached_input_per_mtok: None };
    assert_eq!((backend.cost, backend.model()), (Some(free), "extractive"));
    // Elsewhere no price is unknown, not zero.
    assert_eq!(one(&openai("cost = {}")).cost, None);
}

#[test]
fn a_paid_backend_always_loads() {
    let paid = openai("cost.input_per_mtok = 3").replace("local", "api");
    let backend = one(&paid);
    assert!(backend.tier.is_paid() && !backend.is_automatic());
    assert!(!one(&paid.replace("\"m\"", "\"m\"\ncan_delegate = true")).is_automatic());
}

#[test]
fn an_empty_roster_is_one() {
    for text in ["", "\n", "# nothing yet\n", "backend = []"] {
        let roster = Roster::parse(text).unwrap();
        assert!(roster.backends().is_empty() && roster.warnings().is_empty(), "{text:?}");
        assert_eq!(roster.capabilities(), [""; 0]);
        assert_eq!(roster.get("a"), None);
    }
    assert_eq!(Roster::default().revision(), "none");
}

#[test]
fn the_revision_is_the_texts() {
    assert_eq!(Roster::parse("").unwrap().revision(), "e3b0c44298fc");
    let (a, b) = (openai(""), openai("\n"));
    assert_ne!(Roster::parse(&a).unwrap().revision(), Roster::parse(&b).unwrap().revision());
}

#[test]
fn d32_aliases_of_one_server_are_allowed() {
    let second = openai("").replace("\"a\"", "\"b\"").replace("http://h/", "HTTP://H:80/");
    let roster = Roster::parse(&format!("{}{second}", openai(""))).unwrap();
    let urls: Vec<_> = roster
        .backends()
        .iter()
        .filter_map(|backend| match &backend.kind {
            Kind::OpenAi(server) => Some(server.base_url.as_str()),
            Kind::Cli(_) | Kind::Extract => None,
        })
        .collect();
    assert_eq!(urls, ["http://h/v1", "http://h/v1"]);
}

#[test]
fn order_is_the_files() {
    let ids = ["z", "a", "m", "b"];
    let text: String = ids.map(|id| extract("").replace("\"a\"", &format!("{id:?}"))).concat();
    let roster = Roster::parse(&text).unwrap();
    assert_eq!(roster.backends().iter().map(|b| b.id.as_str()).collect::<Vec<_>>(), ids);
    assert!(ids.iter().all(|id| roster.get(id).unwrap().id == *id));
}

#[test]
fn capabilities_are_those_that_run_unnamed() {
    let backend = |id: &str, tags: &str, more: &str| {
        let text = extract("").replace("\"a\"", &format!("{id:?}"));
        format!("{text}good_at = {tags}\n{more}\n")
    };
    let text = [
        backend("one", "[\"code\", \"a\"]", "can_delegate = true"),
        backend("two", "[\"code\", \"b\"]", "can_delegate = true"),
        backend("shut", "[\"shut\"]", ""),
        backend("off", "[\"off\"]", "can_delegate = true\nenabled = false"),
        backend("paid", "[\"paid\"]", "can_delegate = true").replace("local", "api"),
    ];
    assert_eq!(Roster::parse(&text.concat()).unwrap().capabilities(), ["a", "b", "code"]);
}

#[test]
fn hugpy_is_one_local_backend() {
    let roster = Roster::hugpy(" http://127.0.0.1:7002 ", true).unwrap();
    let backend = roster.get("hugpy").unwrap();
    assert!(backend.is_automatic() && backend.tier == Tier::Local);
    assert_eq!(backend.key, Some(KeyRef::Env("HUGPY_API_KEY".to_owned())));
    assert_eq!(backend.model(), "default");
    let Kind::OpenAi(server) = &backend.kind else { panic!("{backend:?}") };
    assert_eq!(server.base_url.as_str(), "http://127.0.0.1:7002/v1");
    assert_eq!(roster.revision().len(), 12);

    let other = Roster::hugpy("http://127.0.0.1:7002/api/", false).unwrap();
    let Kind::OpenAi(server) = &other.backends()[0].kind else { panic!("{other:?}") };
    assert_eq!(server.base_url.as_str(), "http://127.0.0.1:7002/api");
    assert_eq!(other.backends()[0].key, None);
    assert_ne!(roster.revision(), other.revision());

    let error = Roster::hugpy("7002", false).unwrap_err();
    assert_eq!(error.problems[0].message, "`HUGPY_BASE` must start with `http://` or `https://`");
}

#[test]
fn the_example_for_operators_loads_without_a_finding() {
    let roster = Roster::parse(include_str!("../../../deploy/roster.toml")).unwrap();
    assert_eq!(roster.warnings(), []);
    let kinds: Vec<_> = roster.backends().iter().map(|b| b.kind.as_str()).collect();
    assert!(["openai", "cli", "extract"].iter().all(|kind| kinds.contains(kind)));
    assert!(roster.backends().iter().any(|b| b.tier.is_paid()));
    assert_eq!(roster.endpoints().len(), 1);
}
