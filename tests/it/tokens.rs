//! Tokens of callers: made, used, listed, ended; what each reaches, and that it reaches no more.

mod ends;
mod others;

use adjutant::{telemetry::Secrets, tools};
use mcp::Scope;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Logs, Server, Setup, local, on_both};

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";
const BOTH: &str = "application/json, text/event-stream";

fn rpc(id: u64, method: &str, params: Value) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
    message["params"] = params;
    message
}

/// The status and body of a tool's route for that token.
async fn ask(server: &Server, token: &str, path: &str, body: Value) -> (u16, Value) {
    let reply = server.request(Method::POST, path).token(Some(token)).json(body).send().await;
    (reply.status, reply.json())
}

async fn listed(server: &Server, token: &str, path: &str) -> Vec<String> {
    let request = server.request(Method::POST, path).token(Some(token));
    let reply = request.json(rpc(1, "tools/list", json!({}))).send().await.json();
    let tools = reply["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_token_is_made_used_listed_and_revoked_and_its_secret_is_nowhere_else() {
    let logs = Logs::catch(&Secrets::default());
    for (server, _database) in on_both(|| Setup::new("")).await {
        let wanted = json!({
            "name": "CI-nightly", "scope": "write", "loci": ["web_7", "vm-mgr"], "ttl_s": 3600, "budget_usd": 2.5,
        });
        let minted = server.post("/token/mint", wanted).await.result();
        let secret = minted["token"].as_str().unwrap();
        assert!(secret.starts_with("adj_") && secret.len() == 68, "{}", secret.len());
        assert_eq!(
            (&minted["name"], &minted["scope"], &minted["state"], &minted["budget_usd"]),
            (&json!("ci-nightly"), &json!("write"), &json!("active"), &json!(2.5))
        );
        assert_eq!(minted["loci"], json!(["vm-mgr", "web-7"]));
        assert!(minted["seq"].as_i64().unwrap() > 0, "{minted}");
        assert_eq!(minted["committed_at"], minted["created"]);

        let row = async || server.post("/token/list", json!({})).await.result()[0].clone();
        let before = row().await;
        assert_eq!((&before["last_used"], &before["spent_usd"]), (&Value::Null, &json!(0.0)));
        assert_eq!(before["created_by"], "operator");
        let bearer = server.request(Method::GET, "/delegate/targets").token(Some(secret)).send();
        assert_eq!(bearer.await.status, 200);
        assert!(row().await["last_used"].is_string());
        let called = json!({ "name": "token_list", "arguments": { "page": true } });
        let called = server.post("/ts/call", called).await.result();
        assert_eq!(
            (&called["items"][0]["name"], &called["next"]),
            (&json!("ci-nightly"), &Value::Null)
        );

        let again =
            server.post("/token/mint", json!({ "name": "ci-nightly", "scope": "read" })).await;
        assert_eq!((again.status, again.fault().0.as_str()), (409, "conflict"));
        let revoked = server.post("/token/revoke", json!({ "name": "ci-nightly" })).await.result();
        assert_eq!((&revoked["state"], &revoked["changed"]), (&json!("revoked"), &json!(true)));
        let twice = server.post("/token/revoke", json!({ "name": "ci-nightly" })).await.result();
        assert_eq!((&twice["changed"], &twice["revoked"]), (&json!(false), &revoked["revoked"]));
        assert_eq!(ask(&server, secret, "/delegate/targets", json!({})).await.0, 401);
        let used = row().await["last_used"].clone();
        assert!(used.is_string());

        let list = server.post("/token/list", json!({})).await.text;
        assert!(!list.contains(secret) && !list.contains("hash"), "{list}");
        assert!(!format!("{:?}", server.app.tokens).contains(secret));
        let server = server.restart().await;
        assert_eq!(ask(&server, secret, "/delegate/targets", json!({})).await.0, 401);
        assert_eq!(server.post("/token/list", json!({})).await.result()[0]["state"], "revoked");
        for name in ["adjutant.db", "adjutant.db-wal"] {
            let file = std::fs::read(server.path("data").join(name)).unwrap_or_default();
            let holds = file.windows(64).any(|bytes| bytes == &secret.as_bytes()[4..]);
            assert!(!holds, "{name} holds the secret");
        }
        assert!(!logs.text().contains(&secret[4..]), "the log holds the secret");
    }
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused_with_the_remedy() {
    let settings = "[profiles.coder]\nallowed = [\"delegate_local\"]\n[profiles.reader]\n";
    let server = Setup::new("").settings(settings).start().await;
    let cases = [
        (json!({ "scope": "read" }), "missing field `name`"),
        (json!({ "name": "a" }), "missing field `scope`"),
        (
            json!({ "name": "a", "scope": "admin" }),
            "expected one of `read`, `delegate`, `write`, `destroy`, `operator`",
        ),
        (json!({ "name": "a b", "scope": "read" }), "token name `a b` must match"),
        (json!({ "name": "", "scope": "read" }), "token name is empty"),
        (json!({ "name": "../x\u{7}", "scope": "read" }), "must match"),
        (json!({ "name": "Operator", "scope": "read" }), "the operator's own token"),
        (
            json!({ "name": "a", "scope": "read", "profile": "codr" }),
            "the profiles are `coder`, `reader`",
        ),
        (json!({ "name": "a", "scope": "read", "loci": [] }), "`loci` has 0 names"),
        (json!({ "name": "a", "scope": "read", "loci": ["a/b"] }), "locus `a/b` must match"),
        (json!({ "name": "a", "scope": "read", "ttl_s": 0 }), "`ttl_s` must be 1 to"),
        (json!({ "name": "a", "scope": "read", "ttl_s": -5 }), "invalid value"),
        (json!({ "name": "a", "scope": "read", "budget_usd": -1 }), "`budget_usd` must be 0 to"),
        (json!({ "name": "a", "scope": "read", "budget_usd": 1e-9 }), "`budget_usd` must be 0 to"),
        (json!({ "name": "a", "scope": "operator", "loci": ["b"] }), "leave its loci out"),
        (json!({ "name": "a", "scope": "operator", "budget_usd": 1 }), "leave its budget out"),
    ];
    for (arguments, words) in cases {
        let reply = server.post("/token/mint", arguments.clone()).await;
        let (code, message) = reply.fault();
        assert_eq!((reply.status, code.as_str()), (400, "invalid"), "{arguments}: {message}");
        assert!(message.contains(words), "{arguments}: {message}");
    }
    assert_eq!(server.post("/token/list", json!({})).await.result(), json!([]));
    let nobody = server.post("/token/revoke", json!({ "name": "nobody" })).await;
    assert_eq!((nobody.status, nobody.fault().0.as_str()), (404, "not_found"));
    let operator = server.post("/token/revoke", json!({ "name": "operator" })).await;
    assert!(operator.status == 400 && operator.fault().1.contains("operator.token"));
    let server = Server::start("").await;
    let reply =
        server.post("/token/mint", json!({ "name": "a", "scope": "read", "profile": "x" })).await;
    assert!(reply.fault().1.contains("write `[profiles.x]`"), "{}", reply.text);
}

/// The scope that makes tokens is not had by what it makes, unless it is given on purpose.
#[tokio::test]
async fn only_an_operators_token_makes_others() {
    let server = Server::start("").await;
    for scope in [Scope::Read, Scope::Delegate, Scope::Write, Scope::Destroy] {
        let name = scope.as_str();
        let token = server.mint(json!({ "name": name, "scope": name })).await;
        for path in ["/token/mint", "/token/list", "/token/revoke"] {
            let (status, body) =
                ask(&server, &token, path, json!({ "name": "x", "scope": "operator" })).await;
            assert_eq!((status, &body["code"]), (404, &json!("not_found")), "{path} for {name}");
            let arguments = json!({ "name": "x", "scope": "operator" });
            let call = json!({ "name": path[1..].replace('/', "_"), "arguments": arguments });
            assert_eq!(ask(&server, &token, "/ts/call", call).await.0, 404, "{path} for {name}");
        }
    }
    let second = server.mint(json!({ "name": "second", "scope": "operator" })).await;
    let (status, made) =
        ask(&server, &second, "/token/mint", json!({ "name": "third", "scope": "read" })).await;
    assert_eq!((status, &made["result"]["created_by"]), (200, &json!("second")));
    // Its own end is the last that it is told.
    let (status, own) = ask(&server, &second, "/token/revoke", json!({ "name": "second" })).await;
    assert_eq!((status, &own["result"]["state"]), (200, &json!("revoked")));
    assert_eq!(ask(&server, &second, "/token/list", json!({})).await.0, 401);
}

#[tokio::test]
async fn a_profile_says_which_tools_there_are_and_which_are_listed() {
    let logs = Logs::catch(&Secrets::default());
    let fake = fake::Fake::start().await;
    let settings = "[profiles.coder]\nallowed = [\"delegate_local\", \"delegate_targets\", \"ledger_of_old\"]\nlisted = [\"delegate_targets\", \"delegate\"]\n[profiles.wide]\nlisted = [\"token_list\", \"delegate\"]\n";
    let server = Setup::new(&local(&fake, "ok")).settings(settings).start().await;
    let warned = logs.text();
    assert!(warned.contains("`profiles.coder.allowed` names the tool `ledger_of_old`"), "{warned}");
    let coder = json!({ "name": "coder", "scope": "write", "profile": "coder" });
    let coder = server.mint(coder).await;
    assert_eq!(listed(&server, &coder, "/mcp").await, ["delegate_targets"]);
    let flat = listed(&server, &coder, "/mcp?mode=flat").await;
    assert_eq!(flat, ["delegate_local", "delegate_targets"]);
    let prompt = json!({ "prompt": "hi" });
    assert_eq!(ask(&server, &coder, "/delegate/local", prompt.clone()).await.0, 200);
    let (status, hidden) = ask(&server, &coder, "/delegate", prompt.clone()).await;
    let (_, missing) = ask(&server, &coder, "/no/such", prompt.clone()).await;
    assert_eq!(status, 404);
    assert_eq!(
        hidden["error"].as_str().unwrap().replace("/delegate", "/no/such"),
        missing["error"].as_str().unwrap()
    );
    let call =
        |name: &str| rpc(1, "tools/call", json!({ "name": name, "arguments": { "prompt": "hi" } }));
    let hidden = ask(&server, &coder, "/mcp", call("delegate")).await.1;
    let missing = ask(&server, &coder, "/mcp", call("no_such")).await.1;
    assert_eq!(hidden["error"]["code"], -32602);
    assert_eq!(
        hidden["error"]["message"].as_str().unwrap().replace("delegate", "no_such"),
        missing["error"]["message"].as_str().unwrap()
    );
    let wide = json!({ "name": "wide", "scope": "delegate", "profile": "wide" });
    let wide = server.mint(wide).await;
    assert_eq!(listed(&server, &wide, "/mcp").await, ["delegate"], "what its scope permits");
    assert_eq!(ask(&server, &wide, "/delegate/local", prompt.clone()).await.0, 200);
    // A profile that is gone permits nothing.
    std::fs::write(server.path("adjutant.toml"), "[profiles.wide]\n").unwrap();
    let server = server.restart().await;
    assert_eq!(listed(&server, &coder, "/mcp?mode=flat").await, [""; 0]);
    assert_eq!(ask(&server, &coder, "/delegate/local", prompt).await.0, 404);
    let core = listed(&server, &wide, "/mcp").await;
    let wanted = tools::catalogue()
        .entries()
        .iter()
        .filter(|entry| entry.spec.core && entry.spec.scope <= Scope::Delegate);
    assert_eq!(core, wanted.map(|entry| entry.spec.name).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_list_goes_on_by_key() {
    let server = Server::start("").await;
    for name in ["b", "a", "c"] {
        server.mint(json!({ "name": name, "scope": "read" })).await;
    }
    let page = server.post("/token/list", json!({ "page": true, "after": "a" })).await.result();
    let names: Vec<&str> =
        page["items"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!((names, &page["next"]), (vec!["b", "c"], &Value::Null));
}
