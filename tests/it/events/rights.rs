//! Who sees which changes.

use std::collections::BTreeSet;

use adjutant::{
    app::App,
    boot,
    http::{Life, Web, router},
    tools,
};
use axum::body::Body;
use futures::StreamExt as _;
use mcp::{Caller, Profile, Scope};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::say;
use crate::harness::PATIENCE;

/// A router with several tokens over one store.
struct House {
    app: App,
    router: axum::Router,
    _dir: TempDir,
}

fn token(name: &str) -> String {
    format!("{name:->40}")
}

fn caller(name: &str, scope: Scope, loci: Option<&[&str]>) -> Caller {
    let mut caller = Caller::new(name, scope);
    caller.rights.loci = loci.map(|loci| loci.iter().map(ToString::to_string).collect());
    caller
}

impl House {
    async fn new() -> Self {
        let (app, dir) = crate::harness::app().await;
        let narrow =
            Profile { allowed: Some(BTreeSet::from(["ts_list".to_owned()])), listed: None };
        for caller in [
            caller("operator", Scope::Operator, None),
            caller("reader", Scope::Read, None),
            caller("alpha", Scope::Write, Some(&["alpha"])),
            caller("beta", Scope::Write, Some(&["beta"])),
            Caller { profile: narrow, ..caller("narrow", Scope::Operator, None) },
        ] {
            app.tokens.add(&token(&caller.name).into(), caller).unwrap();
        }
        let life = Life::default();
        let face = boot::face(&app, &life, &CancellationToken::new());
        let web = Web {
            app: app.clone(),
            catalogue: tools::catalogue().clone(),
            instance: "0".into(),
            listening: "127.0.0.1:7004".parse().unwrap(),
            life,
        };
        Self { app, router: router(web, &face), _dir: dir }
    }

    async fn ask(&self, name: &str, path: &str, last: Option<i64>) -> axum::response::Response {
        let mut request = axum::http::Request::builder()
            .uri(path)
            .header("host", "localhost")
            .header("authorization", format!("Bearer {}", token(name)));
        if let Some(last) = last {
            request = request.header("last-event-id", last.to_string());
        }
        self.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    }

    /// The records that a stream tells of, up to the one that ends it.
    async fn told(&self, name: &str, path: &str, last: i64, end: &str) -> Vec<String> {
        let response = self.ask(name, path, Some(last)).await;
        assert_eq!(response.status(), 200, "{name} {path}");
        let mut body = response.into_body().into_data_stream();
        let (mut text, mut told) = (String::new(), Vec::new());
        while told.last().is_none_or(|id| id != end) {
            let piece = timeout(PATIENCE, body.next()).await.expect("more").unwrap().unwrap();
            text.push_str(std::str::from_utf8(&piece).unwrap());
            let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
            told = data
                .map(|data| serde_json::from_str::<Value>(data).unwrap())
                .filter_map(|data| data["id"].as_str().map(str::to_owned))
                .collect();
        }
        told
    }

    async fn json(&self, name: &str, path: &str) -> (u16, Value) {
        let response = self.ask(name, path, None).await;
        let status = response.status().as_u16();
        let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap())
    }
}

/// S29: one cursor, several tokens: each is told of what it may see, whoever read to there before.
#[tokio::test]
async fn s29_a_replay_is_filtered_by_who_reads_it() {
    let house = House::new().await;
    let store = &house.app.store;
    for (kind, locus, id) in [
        ("ledger", "alpha", "a1"),
        ("ledger", "beta", "b1"),
        ("todo", "", "nobodys"),
        ("token", "", "minted"),
        ("message", "alpha", "a2"),
        ("message", "beta", "b2"),
        ("ledger", "alpha", "a-end"),
        ("ledger", "beta", "b-end"),
    ] {
        say(store, kind, locus, id).await;
    }
    let all = ["a1", "b1", "nobodys", "minted", "a2", "b2", "a-end", "b-end"];
    assert_eq!(house.told("operator", "/events", 0, "b-end").await, all);
    let read = ["a1", "b1", "nobodys", "a2", "b2", "a-end", "b-end"];
    assert_eq!(house.told("reader", "/events", 0, "b-end").await, read);
    for path in ["/events", "/events/stream"] {
        assert_eq!(house.told("alpha", path, 0, "a-end").await, ["a1", "a2", "a-end"]);
        assert_eq!(house.told("beta", path, 0, "b-end").await, ["b1", "b2", "b-end"]);
    }
    let wait = |after: i64| format!("/events/wait?after={after}&timeout_s=0");
    let ids = |reply: &Value| -> Vec<String> {
        let events = reply["result"]["events"].as_array().unwrap();
        events.iter().map(|event| event["id"].as_str().unwrap().to_owned()).collect()
    };
    let (_, reply) = house.json("beta", &wait(0)).await;
    assert_eq!(ids(&reply), ["b1", "b2", "b-end"]);
    // A cursor that another token got is no way to what that token saw.
    let (_, first) = house.json("operator", &wait(0)).await;
    let middle = first["result"]["events"][3]["seq"].as_i64().unwrap();
    let (_, reply) = house.json("alpha", &wait(middle)).await;
    assert_eq!(ids(&reply), ["a2", "a-end"]);
}

#[tokio::test]
async fn a_locus_out_of_reach_is_refused_by_name() {
    let house = House::new().await;
    for path in ["/events?locus=beta", "/events/stream?locus=alpha,beta", "/events/wait?locus=beta"]
    {
        let (status, body) = house.json("alpha", path).await;
        assert_eq!((status, &body["code"]), (403, &json!("forbidden")), "{path}");
        let words = body["error"].as_str().unwrap();
        assert!(words.contains("`alpha`") && !words.contains("beta"), "{words}");
    }
}

/// The streams are there for whom their tool is.
#[tokio::test]
async fn a_profile_without_the_tool_has_no_streams() {
    let house = House::new().await;
    for path in ["/events", "/events/stream", "/events/wait"] {
        let (status, body) = house.json("narrow", path).await;
        let (_, other) = house.json("narrow", "/no/such").await;
        let same = body["error"].as_str().unwrap().replace(path, "/no/such");
        assert_eq!((status, same.as_str()), (404, other["error"].as_str().unwrap()));
    }
    for (name, is_there) in [("narrow", false), ("reader", true)] {
        let (_, routes) = house.json(name, "/endpoints").await;
        assert_eq!(routes.to_string().contains("/events/stream"), is_there, "{name}");
        let (_, document) = house.json(name, "/openapi.json").await;
        assert_eq!(document["paths"].get("/events").is_some(), is_there, "{name}");
    }
}
