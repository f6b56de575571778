//! Lists: short, and by key.

use serde_json::{Value, json};

use super::{post, record};
use crate::harness::Server;

fn ids(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect()
}

/// S32: a page of logs fetched every body it named, and the live tail killed the server. A page here is
/// one request, whatever the texts; one more shows one of them whole.
#[tokio::test]
async fn s32_a_page_is_one_request_and_never_brings_whole_bodies() {
    let server = Server::start("").await;
    let text = "é".repeat(200_000);
    let pointers = json!({ "files": vec!["/srv/app/some/file"; 3_000], "note": "short" });
    for nth in 0..30 {
        let body = json!({
            "locus": "alpha", "turn": format!("t{nth}"), "session_id": "s9", "prompt": text,
            "response": text, "pointers": pointers, "tokens": 1,
        });
        post(&server, "/exchange/record", body).await;
    }
    // Every list, at its largest.
    for (path, body) in [
        ("/exchange/list", json!({ "locus": "alpha", "limit": 500 })),
        ("/exchange/list", json!({ "page": true, "limit": 500 })),
        ("/exchange/session", json!({ "session_id": "s9", "limit": 500 })),
        ("/exchange/sessions", json!({ "limit": 1000 })),
        ("/exchange/usage_report", json!({ "last": 200 })),
    ] {
        let reply = server.post(path, body).await;
        assert_eq!(reply.status, 200, "{path}");
        let rows = 30;
        assert!(reply.text.len() < rows * 4_096, "{path}: {} bytes", reply.text.len());
    }
    let rows = post(&server, "/exchange/list", json!({ "locus": "alpha", "limit": 500 })).await;
    assert_eq!(rows.as_array().unwrap().len(), 30);
    let row = &rows[0];
    assert_eq!((&row["clipped"], &row["prompt_chars"]), (&json!(true), &json!(200_000)));
    assert!(row["prompt"].as_str().unwrap().ends_with("… (+199600 chars)"), "{row}");
    assert_eq!(row["pointers"], json!({ "note": "short" }));
    // The detail is on demand, by what the page says.
    let whole = post(&server, "/exchange/get", json!({ "id": row["id"] })).await;
    assert_eq!((whole["prompt"].as_str().unwrap(), &whole["pointers"]), (&*text, &pointers));
    // Whole bodies that are asked for are bounded too, and what is not whole says so.
    let reply = server.post("/exchange/list", json!({ "full": true, "limit": 500 })).await;
    assert!(reply.text.len() < 12 << 20, "{} bytes", reply.text.len());
    let rows = reply.result();
    let clipped: Vec<bool> =
        rows.as_array().unwrap().iter().map(|row| row["clipped"].as_bool().unwrap()).collect();
    assert_eq!(clipped, (0..30).map(|nth| nth >= 10).collect::<Vec<_>>());
}

#[tokio::test]
async fn lists_are_arrays_and_pages_go_on_by_key() {
    let server = Server::start("").await;
    for nth in 1..=5 {
        let body = json!({ "locus": "alpha", "turn": nth.to_string(), "prompt": "q", "response": "", "ts": 1_790_000_000 });
        let body = Value::Object(body.as_object().unwrap().clone());
        post(&server, "/exchange/record", body).await;
    }
    let plain = post(&server, "/exchange/list", json!({ "limit": "0" })).await;
    assert_eq!(ids(&plain), ["x5", "x4", "x3", "x2", "x1"]);
    let page = post(&server, "/exchange/list", json!({ "page": true, "limit": 2 })).await;
    assert_eq!(ids(&page["items"]), ["x5", "x4"]);
    // One that comes between two pages neither repeats nor hides another.
    record(&server, "6", "q", "").await;
    let next = json!({ "page": true, "limit": 2, "after": page["next"] });
    let page = post(&server, "/exchange/list", next).await;
    assert_eq!(ids(&page["items"]), ["x3", "x2"]);
    let next = json!({ "page": true, "limit": 2, "after": page["next"] });
    let page = post(&server, "/exchange/list", next).await;
    assert_eq!((ids(&page["items"]), &page["next"]), (vec!["x1"], &Value::Null));
    // The same over GET, as reads are.
    let got = server.get("/exchange/list?limit=1&locus=alpha").await.result();
    assert_eq!(ids(&got), ["x6"]);
    let late = post(&server, "/exchange/list", json!({ "since": 1_790_000_001 })).await;
    assert_eq!(ids(&late), ["x6"]);
}
