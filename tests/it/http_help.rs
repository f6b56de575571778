//! What the server says of itself: help, routes, the OpenAPI document, health and metrics.

use std::{collections::BTreeSet, time::Duration};

use adjutant::tools;
use serde_json::{Value, json};

use crate::harness::{Server, Setup, backend, local};

#[tokio::test]
async fn every_tool_has_its_routes_and_its_help() {
    let server = Server::start("").await;
    let listed = server.get("/endpoints").await.json();
    let listed: Vec<&Value> = listed.as_array().unwrap().iter().collect();
    let urls: Vec<&str> = listed.iter().map(|route| route["url"].as_str().unwrap()).collect();
    assert!(urls.is_sorted(), "{urls:?}");
    for entry in tools::catalogue().entries() {
        let spec = &entry.spec;
        let route = |url: &str| *listed.iter().find(|route| route["url"] == url).unwrap();
        assert_eq!(route(spec.path)["endpoint"], format!("tools_bp.{}", spec.name));
        assert_eq!(
            route(&format!("{}/", spec.path))["endpoint"],
            format!("tools_bp.{}_slash", spec.name)
        );
        assert!(route(spec.path)["methods"].as_array().unwrap().contains(&json!("POST")));
        for url in [format!("{}?help=true", spec.path), format!("{}/?help", spec.path)] {
            let help = server.get(&url).await;
            assert_eq!(help.status, 200, "{url}");
            let help = help.json();
            let doc = help[spec.name]["doc"].as_str().unwrap();
            assert!(!doc.is_empty(), "{url}");
            let names: BTreeSet<&str> = help[spec.name]["params"]
                .as_array()
                .unwrap()
                .iter()
                .map(|param| param["name"].as_str().unwrap())
                .collect();
            let known = entry.input.get("properties").and_then(Value::as_object);
            let known = known.into_iter().flat_map(|known| known.keys().map(String::as_str));
            assert_eq!(names, known.collect(), "{url}");
        }
        let asked = server.post(spec.path, json!({ "help": true })).await.json();
        assert!(asked[spec.name]["params"].is_array(), "{asked}");
    }
    let required = server.get("/delegate/local?help=true").await.json();
    let params = required["delegate_local"]["params"].as_array().unwrap().clone();
    let param = |name: &str| params.iter().find(|param| param["name"] == name).unwrap().clone();
    assert_eq!(param("prompt")["required"], true);
    assert_eq!(param("prompt")["annotation"], "string");
    assert_eq!(param("max_tokens")["default"], 2048);
    assert!(param("max_tokens").get("required").is_none());
    let prefixes = server.get("/prefixes").await.json();
    let areas = tools::catalogue().entries().iter().map(|entry| format!("/{}", entry.spec.area()));
    assert_eq!(prefixes, json!(areas.collect::<BTreeSet<_>>()));
}

#[tokio::test]
async fn the_openapi_document_describes_every_tool_and_refers_to_what_it_has() {
    let server = Server::start("").await;
    let document = server.get("/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    for entry in tools::catalogue().entries() {
        let spec = &entry.spec;
        let post = &document["paths"][spec.path]["post"];
        assert_eq!(post["operationId"], spec.name);
        assert_eq!(post["x-adjutant-scope"], spec.scope.as_str());
        assert_eq!(post["x-adjutant-egress"], spec.egress);
        assert_eq!(
            post["requestBody"]["content"]["application/json"]["schema"],
            json!(*entry.input)
        );
        for status in
            ["200", "400", "401", "403", "404", "409", "413", "429", "500", "502", "503", "504"]
        {
            assert!(post["responses"][status].is_object(), "{} has no {status}", spec.name);
        }
        let by_get = document["paths"][spec.path].get("get");
        assert_eq!(
            by_get.is_some(),
            spec.scope == mcp::Scope::Read && !spec.dispatches,
            "{}",
            spec.name
        );
    }
    let mut ids = BTreeSet::new();
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{operation}");
        }
    }
    let mut references = Vec::new();
    collect(&document, &mut references);
    assert!(!references.is_empty());
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference} points nowhere");
    }
}

fn collect(value: &Value, references: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            references.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
            object.values().for_each(|value| collect(value, references));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, references)),
        _ => {}
    }
}

#[tokio::test]
async fn d43_health_never_waits_on_a_dark_backend() {
    let fake = fake::Fake::start().await;
    let dark = "[[backend]]\nid = \"dark\"\ntier = \"local\"\nkind = \"openai\"\nbase_url = \"http://192.0.2.1:9/v1\"\nmodel = \"m\"\ncan_delegate = true\n";
    let server = Server::start(&format!("{}{dark}", backend("hung", &fake, "hang"))).await;
    let call = server
        .request(reqwest::Method::POST, "/delegate")
        .json(json!({ "prompt": "x", "target": "hung" }));
    let hung = tokio::task::JoinSet::from_iter([async move { call.open().await.status() }]);
    assert!(fake.wait_for(|stats| stats.open == 1).await);
    // Far below any time-out of a backend, and far above what a busy machine needs.
    let soon = Duration::from_secs(5);
    for _ in 0..20 {
        let health = tokio::time::timeout(
            soon,
            server.request(reqwest::Method::GET, "/healthz").token(None).send(),
        )
        .await
        .unwrap();
        assert_eq!(health.json()["ok"], true);
        let ready = tokio::time::timeout(soon, server.get("/readyz")).await.unwrap();
        assert_eq!((ready.status, &ready.json()["ready"]), (200, &json!(true)));
    }
    drop(hung);
}

#[tokio::test]
async fn readyz_and_metrics_say_how_backends_stand() {
    let fake = fake::Fake::start().await;
    let paid = "[[backend]]\nid = \"paid\"\ntier = \"api\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\ncan_delegate = true\n";
    let server = Server::start(&format!("{}{paid}", local(&fake, "ok"))).await;
    let ready = server.get("/readyz").await.json();
    assert_eq!(ready["backends"], json!({ "ready": 1, "inert": 1 }));
    assert_eq!(ready["roster"]["backends"], 2);
    assert_eq!(ready["roster"]["error"], Value::Null);
    assert_eq!(ready["roster"]["revision"], server.app.router.roster().revision());
    assert_eq!(ready["instance"], server.get("/healthz").await.json()["instance"]);
    server.post("/delegate/local", json!({ "prompt": "hello" })).await.result();
    let metrics = server.get("/metrics").await;
    assert!(metrics.header("content-type").starts_with("text/plain"));
    for line in [
        "adjutant_calls_total{tool=\"delegate_local\",code=\"ok\"}",
        "adjutant_call_seconds_bucket{tool=\"delegate_local\",le=\"0.001\"}",
        "adjutant_attempts_total{backend=\"local\",outcome=\"ok\"}",
    ] {
        assert!(metrics.text.contains(line), "{line} is not in\n{}", metrics.text);
    }
}

#[tokio::test]
async fn billing_is_one_switch() {
    let fake = fake::Fake::start().await;
    let paid = local(&fake, "ok").replace("tier = \"local\"", "tier = \"api\"");
    let call = json!({ "prompt": "x", "target": "local" });
    let refused = Server::start(&paid).await.post("/delegate", call.clone()).await;
    assert!(refused.fault().1.contains("billing"), "{}", refused.text);
    assert_eq!(fake.stats().count, 0);
    let server = Setup::new(&paid).settings("[billing]\nenabled = true").start().await;
    assert_eq!(server.post("/delegate", call).await.result()["text"], "echo:x");
}
