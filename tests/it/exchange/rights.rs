//! What a token may not reach is not there for it.

use reqwest::Method;
use serde_json::{Value, json};

use super::{post, record};
use crate::harness::{Server, Setup, on_both};

async fn call(server: &Server, token: &str, path: &str, body: Value) -> (u16, Value) {
    let reply = server.request(Method::POST, path).token(Some(token)).json(body).send().await;
    (reply.status, reply.json())
}

#[tokio::test]
async fn a_token_of_one_locus_sees_and_changes_that_one_alone() {
    for (server, _database) in on_both(|| Setup::new("")).await {
        let body = json!({ "locus": "theirs", "turn": "t1", "session_id": "s1", "prompt": "q", "response": "a", "tokens": 5 });
        post(&server, "/exchange/record", body).await;
        let file = json!({ "locus": "theirs", "source": "f", "data": "eA==" });
        post(&server, "/exchange/archive", file).await;
        let mint = json!({ "name": "one", "scope": "destroy", "loci": ["mine"] });
        let token = server.mint(mint).await;
        let call = async |path: &str, body: Value| call(&server, &token, path, body).await;
        for (path, body) in [
            ("/exchange/record", json!({ "locus": "theirs", "prompt": "q", "response": "" })),
            ("/exchange/list", json!({ "locus": "theirs" })),
            ("/exchange/sessions", json!({ "locus": "theirs" })),
            ("/exchange/usage_report", json!({ "locus": "theirs" })),
            ("/exchange/ingest_transcript", json!({ "locus": "theirs", "body": "{}" })),
            ("/exchange/dedup", json!({ "keep_locus": "mine", "drop_locus": "theirs" })),
            ("/exchange/archive", json!({ "locus": "theirs", "source": "f", "data": "" })),
            ("/exchange/archive_get", json!({ "locus": "theirs", "source": "f" })),
            ("/exchange/archive_list", json!({ "locus": "theirs" })),
        ] {
            assert_eq!(call(path, body).await.0, 403, "{path}");
        }
        let (status, hidden) = call("/exchange/get", json!({ "id": "x1" })).await;
        let (_, missing) = call("/exchange/get", json!({ "id": "x2" })).await;
        assert_eq!(status, 404);
        assert_eq!(hidden["error"].as_str().unwrap().replace("x1", "x2"), missing["error"]);
        for (path, body) in [
            ("/exchange/list", json!({})),
            ("/exchange/list", json!({ "session_id": "s1" })),
            ("/exchange/session", json!({ "session_id": "s1" })),
            ("/exchange/sessions", json!({})),
        ] {
            assert_eq!(call(path, body).await.1["result"], json!([]), "{path}");
        }
        let (_, report) = call("/exchange/usage_report", json!({})).await;
        assert_eq!(report["result"]["totals"]["runs"], 0);
        // The same turn of the session is one of its own for this token.
        let body = json!({ "locus": "mine", "turn": "t1", "session_id": "s1", "prompt": "q", "response": "longer" });
        let (_, mine) = call("/exchange/record", body).await;
        assert_eq!(mine["result"]["locus"], "mine", "{mine}");
        assert!(mine["result"].get("merged_from_locus").is_none(), "{mine}");
        let theirs = post(&server, "/exchange/list", json!({ "locus": "theirs" })).await;
        assert_eq!(theirs[0]["response"], "a");
        assert_eq!(call("/exchange/list", json!({})).await.1["result"][0]["locus"], "mine");
    }
}

#[tokio::test]
async fn each_tool_takes_the_scope_that_it_needs() {
    let server = Server::start("").await;
    record(&server, "t1", "q", "a").await;
    let read = server.mint(json!({ "name": "reader", "scope": "read" })).await;
    let write = server.mint(json!({ "name": "writer", "scope": "write" })).await;
    let status =
        async |token: &str, path: &str, body: Value| call(&server, token, path, body).await.0;
    let turn = json!({ "locus": "alpha", "prompt": "q", "response": "" });
    assert_eq!(status(&read, "/exchange/list", json!({})).await, 200);
    assert_eq!(status(&read, "/exchange/record", turn.clone()).await, 404);
    assert_eq!(status(&write, "/exchange/record", turn).await, 200);
    let both = json!({ "keep_locus": "alpha", "drop_locus": "beta" });
    assert_eq!(status(&write, "/exchange/dedup", both).await, 404);
}
