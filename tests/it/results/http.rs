//! `?clip=true`: a program that hands replies on to a model.

use super::*;

#[tokio::test]
async fn a_reply_over_http_is_clipped_where_that_is_asked_for() {
    let doc = document(2_000);
    let server = with_ledger(Setup::default(), &doc).await;
    let whole = server.post("/ledger/get", ledger()).await;
    assert_eq!(whole.result()["doc"], doc);
    assert_eq!(server.post("/ledger/get?clip=false", ledger()).await.result(), whole.result());
    for reply in [
        server.post("/ledger/get?clip=true", ledger()).await,
        server.get("/ledger/get?clip=1&locus=rs&task=long").await,
    ] {
        assert_eq!(reply.status, 200);
        assert!(reply.text.len() <= 16_384, "{}", reply.text.len());
        let body = reply.json();
        assert!(body.get("warnings").is_none(), "{body}");
        let shown = body["result"]["doc"].as_str().unwrap();
        assert!(shown.starts_with("- step 1:") && shown.contains("[… left out: bytes "));
        let handle = body["_clip"]["handle"].as_str().unwrap();
        assert!(body["_clip"]["left_out"][0].as_str().unwrap().ends_with("at /doc"));
        let read = json!({ "handle": handle, "json_pointer": "/doc", "limit": 1_000_000 });
        assert_eq!(server.post("/result/read", read).await.result()["text"], doc);
    }
    let small = server.post("/ledger/list?clip=true", json!({ "locus": "rs" })).await;
    assert!(small.json().get("_clip").is_none() && small.result()[0]["task"] == "long");
    // Unknown names in the query are still told of.
    let odd = server.post("/ledger/list?clip=true&x=1", json!({ "locus": "rs" })).await.json();
    assert_eq!(odd["warnings"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn lines_of_json_are_not_clipped() {
    let (_fake, server) = with_echo().await;
    let reply = server
        .request(reqwest::Method::POST, "/delegate/many?clip=true")
        .header("accept", "application/x-ndjson")
        .json(json!({ "tasks": [{ "prompt": "x" }] }))
        .send()
        .await;
    assert!(reply.status == 400 && reply.fault().1.contains("x-ndjson"), "{}", reply.text);
}

/// A fault keeps its status and its code.
#[tokio::test]
async fn a_failure_over_http_is_clipped_too() {
    let fake = Fake::start().await;
    let roster = (0..300).map(|at| {
        crate::harness::backend(&format!("b{at}"), &fake, "ok")
            + &format!("good_at = [\"{}{at}\"]\n", "x".repeat(55))
    });
    let server = Server::start(&roster.collect::<String>()).await;
    let none = json!({ "prompt": "hi", "task": "none" });
    let reply = server.post("/delegate?clip=true", none.clone()).await;
    assert!(reply.status == 200 && reply.text.len() <= 16_384, "{}", reply.text.len());
    let body = reply.json();
    assert_eq!(body["result"]["status"], "no_fit");
    let handle = body["_clip"]["handle"].as_str().unwrap();
    let kept = json!({ "handle": handle, "limit": 1_000_000 });
    let kept = server.post("/result/read", kept).await.result();
    let whole: Value = serde_json::from_str(kept["text"].as_str().unwrap()).unwrap();
    assert_eq!(whole, server.post("/delegate", none).await.result());
}

/// The document says so of every route, and it is a reply that its schema describes.
#[tokio::test]
async fn the_document_tells_of_the_clip() {
    let server = Server::start("").await;
    let document = server.get("/openapi.json").await.json();
    for entry in adjutant::tools::catalogue().entries() {
        let path = entry.spec.path;
        for (method, operation) in document["paths"][path].as_object().unwrap() {
            let parameters = operation["parameters"].as_array().unwrap();
            assert!(parameters.iter().any(|one| one["name"] == "clip"), "{method} {path}");
        }
    }
}
