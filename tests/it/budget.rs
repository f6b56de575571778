//! Budgets of tokens, at the door and over both engines.

use std::sync::Arc;

use fake::Fake;
use mcp::Scope;
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{Process, Server, Setup, backend, local, on_both, until};

/// A paid backend of five dollars a call.
fn paid(fake: &Fake, model: &str) -> String {
    backend("paid", fake, model).replace("\"local\"", "\"api\"")
        + "cost = { input_per_mtok = 0, output_per_mtok = 1000000 }\nlimits = { concurrency = 64 }\n"
}

const BILLING: &str = "[billing]\nenabled = true\n";

async fn call(server: &Server, token: &str, path: &str, body: Value) -> (u16, Value) {
    let reply = server.request(Method::POST, path).token(Some(token)).json(body).send().await;
    (reply.status, reply.json())
}

async fn row(server: &Server, name: &str) -> Value {
    let list = server.post("/token/list", json!({})).await.result();
    list.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone()
}

/// G14, D31: 256 callers at once at the edge of a budget, whole calls on a paid backend.
#[tokio::test(flavor = "multi_thread")]
async fn g14_256_calls_at_once_spend_no_more_than_the_budget() {
    let fake = Fake::start().await;
    for (server, _database) in
        on_both(|| Setup::new(&paid(&fake, "slow-5")).settings(BILLING)).await
    {
        let wanted = json!({ "name": "fleet", "scope": "delegate", "budget_usd": 1000 });
        let token = server.mint(wanted).await;
        // Each may cost 64 dollars and costs 5.
        let body = json!({ "prompt": "hi", "target": "paid", "max_tokens": 64 });
        let calls = (0..256).map(|_| call(&server, &token, "/delegate", body.clone()));
        let ended = futures::future::join_all(calls).await;
        let ok = ended.iter().filter(|(status, _)| *status == 200).count();
        let refused = ended.iter().filter(|(_, body)| body["code"] == "exhausted").count();
        assert_eq!(
            ok + refused,
            256,
            "{:?}",
            ended.iter().find(|(s, b)| *s != 200 && b["code"] != "exhausted")
        );
        let row = row(&server, "fleet").await;
        let spent = row["spent_usd"].as_f64().unwrap();
        assert!((spent - 5.0 * f64::from(u32::try_from(ok).unwrap())).abs() < 1e-9, "{ok} {row}");
        assert!(ok >= 15 && spent <= 1000.0, "{row}");
        assert_eq!(row["reserved_usd"], 0.0, "{row}");
    }
}

/// What a call did not cost is there for the next one, and what is spent renews at midnight of UTC.
#[tokio::test]
async fn a_caller_spends_its_budget_call_by_call_and_is_told_when_it_renews() {
    let fake = Fake::start().await;
    let roster = paid(&fake, "ok") + &local(&fake, "ok");
    for (server, _database) in on_both(|| Setup::new(&roster).settings(BILLING)).await {
        fake.reset();
        let wanted = json!({ "name": "one", "scope": "delegate", "budget_usd": 22.5 });
        let token = server.mint(wanted).await;
        let body = json!({ "prompt": "hi", "target": "paid", "max_tokens": 7 });
        for _ in 0..4 {
            assert_eq!(call(&server, &token, "/delegate", body.clone()).await.0, 200);
        }
        let request = server.request(Method::POST, "/delegate").token(Some(&token));
        let refused = request.json(body.clone()).send().await;
        assert_eq!((refused.status, refused.fault().0.as_str()), (429, "exhausted"));
        let wait: u64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=86_400).contains(&wait), "{wait}");
        let words = refused.fault().1;
        assert!(words.contains("of $22.50 a day $20.00 are spent"), "{words}");
        // An item of a batch fails alone, and unpaid backends need no budget.
        let tasks = json!({ "tasks": [
            { "prompt": "a", "target": "paid", "max_tokens": 7 }, { "prompt": "b", "target": "local" },
        ] });
        let many = call(&server, &token, "/delegate/many", tasks).await.1["result"].clone();
        assert_eq!(
            (&many["results"][0]["code"], &many["counts"]["ok"]),
            (&json!("exhausted"), &json!(1))
        );
        let row = row(&server, "one").await;
        assert_eq!((&row["spent_usd"], &row["reserved_usd"]), (&json!(20.0), &json!(0.0)));
        // The operator has none.
        assert_eq!(server.post("/delegate", body).await.status, 200);
    }
}

#[tokio::test]
async fn a_failed_call_is_given_back_and_one_that_was_left_is_not() {
    let fake = Fake::start().await;
    let roster = paid(&fake, "e400") + &paid(&fake, "hang").replace("\"paid\"", "\"stuck\"");
    let server = Setup::new(&roster).settings(BILLING).start().await;
    let token = server.mint(json!({ "name": "one", "scope": "delegate", "budget_usd": 100 })).await;
    let body = |target: &str| json!({ "prompt": "hi", "target": target, "max_tokens": 9 });
    assert_eq!(call(&server, &token, "/delegate", body("paid")).await.0, 502);
    assert_eq!(row(&server, "one").await["spent_usd"], 0.0);
    {
        let left = call(&server, &token, "/delegate", body("stuck"));
        let mut left = std::pin::pin!(left);
        until("the call is at work", async || {
            let _ = futures::poll!(&mut left);
            fake.stats_of("hang").open == 1
        })
        .await;
        assert_eq!(row(&server, "one").await["reserved_usd"], 9.0);
    }
    until("it is booked", async || row(&server, "one").await["reserved_usd"] == 0.0).await;
    assert_eq!(row(&server, "one").await["spent_usd"], 9.0);
}

/// A budget of nothing: every tool that delegates says so, before it asks anything else.
#[tokio::test]
async fn a_budget_of_nothing_hands_nothing_to_any_backend() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let token = server.mint(json!({ "name": "none", "scope": "write", "budget_usd": 0 })).await;
    let arguments = json!({ "prompt": "hi", "tasks": [], "question": "why", "text": "because" });
    let mut tools = 0;
    for entry in adjutant::tools::catalogue().entries() {
        let spec = &entry.spec;
        if spec.scope != Scope::Delegate {
            continue;
        }
        tools += 1;
        let request = server.request(Method::POST, spec.path).token(Some(&token));
        let refused = request.json(arguments.clone()).send().await;
        assert_eq!(
            (refused.status, refused.fault().0.as_str()),
            (429, "exhausted"),
            "{}",
            spec.name
        );
        let wait: u64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=86_400).contains(&wait), "{wait}");
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": spec.name, "arguments": arguments },
        });
        let answer = call(&server, &token, "/mcp", message).await.1["result"].clone();
        assert_eq!(answer["isError"], true, "{}", spec.name);
        assert!(answer.to_string().contains("exhausted"), "{answer}");
        let by_name = json!({ "name": spec.name, "arguments": arguments });
        assert_eq!(call(&server, &token, "/ts/call", by_name).await.0, 429, "{}", spec.name);
    }
    assert!(tools >= 3);
    assert_eq!(fake.stats().count, 0);
    assert_eq!(call(&server, &token, "/delegate/targets", json!({})).await.0, 200);
}

/// What was set aside by a process that was killed counts as spent: it may have been billed.
#[tokio::test]
async fn a_killed_server_leaves_nothing_set_aside() {
    let fake = Fake::start().await;
    let (home, env) = Setup::new(&paid(&fake, "hang")).settings(BILLING).prepare();
    let home = Arc::new(home);
    let serve = async || {
        let _ = std::fs::remove_file(home.path().join("data/endpoint.json"));
        let server = Process::spawn(&["serve", "--listen", "127.0.0.1:0"], &env, &home);
        until("it answers", async || home.path().join("data/endpoint.json").exists()).await;
        server
    };
    let post = async |url: &str, token: &str, path: &str, body: Value| {
        let request = crate::harness::client().post(format!("{url}{path}"));
        let request = request.bearer_auth(token).header("content-type", "application/json");
        let answer = request.body(body.to_string()).send().await?;
        answer.text().await
    };
    let server = serve().await;
    let (operator, url) = (server.token(), server.endpoint().url);
    let wanted = json!({ "name": "one", "scope": "delegate", "budget_usd": 100 });
    let minted = post(&url, &operator, "/token/mint", wanted).await.unwrap();
    let minted: Value = serde_json::from_str(&minted).unwrap();
    let token = minted["result"]["token"].as_str().unwrap();
    let body = json!({ "prompt": "hi", "target": "paid", "max_tokens": 9 });
    let lost = post(&url, token, "/delegate", body);
    let mut lost = std::pin::pin!(lost);
    until("the call is at work", async || {
        let _ = futures::poll!(&mut lost);
        fake.stats_of("hang").open == 1
    })
    .await;
    server.signal(Signal::KILL);
    lost.await.unwrap_err();
    assert_eq!(server.end().code, None);
    let server = serve().await;
    let url = server.endpoint().url;
    until("it is booked", async || {
        let list = post(&url, &operator, "/token/list", json!({})).await.unwrap();
        let list: Value = serde_json::from_str(&list).unwrap();
        let row = &list["result"][0];
        row["spent_usd"] == 9.0 && row["reserved_usd"] == 0.0
    })
    .await;
}
