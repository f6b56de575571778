//! Judgements of a focus.

use super::*;
use crate::harness::{Setup, on_both};

const ROW: &str =
    "assessed_by focus_item_id focus_summary fulfilled id locus pending rationale signal ts";

async fn item(server: &Server, locus: &str, text: &str) -> String {
    let added = post(server, "/todo/add", json!({ "locus": locus, "text": text })).await;
    added["id"].as_str().unwrap().to_owned()
}

async fn focus(server: &Server, locus: &str) -> Value {
    post(server, "/assess/focus", json!({ "locus": locus })).await
}

#[tokio::test]
async fn a_focus_is_judged_listed_and_read_with_its_item() {
    for (server, _database) in on_both(Setup::default).await {
        let none = focus(&server, "alpha").await;
        shape(&none, "focus hint locus");
        assert_eq!(none["focus"], Value::Null);
        let id = item(&server, "alpha", "paint the cart").await;
        let run = post(&server, "/assess/run", json!({ "locus": "alpha" })).await;
        shape(&run, "assessment committed_at focus_item");
        shape(&run["assessment"], ROW);
        assert_eq!(
            (&run["focus_item"]["id"], &run["assessment"]["pending"]),
            (&json!(id), &json!(true))
        );
        let pending = post(&server, "/assess/pending", json!({})).await;
        assert_eq!(pending, json!([run["assessment"]]));
        let page = post(&server, "/assess/pending", json!({ "page": true })).await;
        assert_eq!((&page["items"], &page["next"]), (&pending, &Value::Null));

        let read = focus(&server, "alpha").await;
        shape(&read, &format!("{ROW} item"));
        assert_eq!((&read["fulfilled"], &read["item"]["id"]), (&json!(false), &json!(id)));
        post(&server, "/todo/done", json!({ "id": id })).await;
        assert_eq!(focus(&server, "alpha").await["fulfilled"], true, "the board says so");

        let judgement = json!({
            "locus": "alpha", "focus_item_id": id, "focus_summary": "the cart", "fulfilled": true,
            "rationale": "it is red", "new_todos": ["sell it", { "text": "wash it", "priority": "low" }],
        });
        let done = post(&server, "/assess/submit", judgement).await;
        shape(&done, "assessment committed_at todos_added todos_deduped todos_proposed");
        assert_eq!(done["todos_proposed"], json!(["sell it", "wash it"]));
        assert_eq!((&done["todos_added"], &done["todos_deduped"]), (&json!([]), &json!([])));
        let row = &done["assessment"];
        assert_eq!((&row["assessed_by"], &row["pending"]), (&json!("hugpy-agent"), &json!(false)));
        assert!(row["rationale"].as_str().unwrap().starts_with("it is red\n"), "{row}");
        assert_eq!(post(&server, "/assess/pending", json!({})).await, json!([]));
        let open = post(&server, "/todo/list", json!({ "locus": "alpha", "status": "open" })).await;
        assert_eq!(open, json!([]));
        server.stop().await;
    }
}

#[tokio::test]
async fn what_came_up_goes_on_the_board_where_that_is_allowed() {
    let settings = "[assess]\nautofile_loci = [\"Alpha_1\"]";
    let server = Setup::default().settings(settings).start().await;
    let todo = json!({ "text": "Sell the cart.", "type": "finding", "priority": "high" });
    let judgement = json!({ "locus": "alpha-1", "by": "t", "new_todos": todo });
    let done = post(&server, "/assess/submit", judgement.clone()).await;
    let added = &done["todos_added"][0];
    assert_eq!((&added["type"], &added["priority"]), (&json!("finding"), &json!("high")));
    assert_eq!((&added["source"], &added["by"]), (&json!("focus-assessor"), &json!("t")));
    let again = post(&server, "/assess/submit", judgement).await;
    assert_eq!(again["todos_deduped"], json!(["Sell the cart."]));
    let elsewhere = json!({ "locus": "beta", "new_todos": "sell it" });
    assert_eq!(
        post(&server, "/assess/submit", elsewhere).await["todos_proposed"],
        json!(["sell it"])
    );
    for todo in [json!({ "text": "x", "type": "operator" }), json!({ "text": "x", "type": "task" })]
    {
        let body = json!({ "locus": "alpha-1", "new_todos": [todo] });
        assert_eq!(server.post("/assess/submit", body).await.status, 400);
    }
    let by_env = Setup::default().env("ASSESS_AUTOFILE", "1").start().await;
    let done =
        post(&by_env, "/assess/submit", json!({ "locus": "beta", "new_todos": ["sell it"] })).await;
    assert_eq!(done["todos_added"][0]["text"], "sell it");
}

#[tokio::test]
async fn a_judgement_is_held_to_its_rules() {
    let server = Server::start("").await;
    for (body, status, words) in [
        (json!({ "locus": "alpha", "focus_summary": "x".repeat(301) }), 413, "`focus_summary`"),
        (json!({ "locus": "alpha", "rationale": "x".repeat(1001) }), 413, "`rationale`"),
        (json!({ "locus": "alpha", "new_todos": vec!["x"; 51] }), 413, "`new_todos`"),
        (json!({ "locus": "alpha", "focus_item_id": "z9" }), 400, "item id"),
        (json!({ "locus": "alpha", "focus_item_id": 99 }), 404, "no todo `99`"),
        (json!({ "locus": "alpha", "by": "a\nb" }), 400, "`by`"),
    ] {
        let reply = server.post("/assess/submit", body.clone()).await;
        let error = reply.json()["error"].as_str().unwrap_or_default().to_owned();
        assert_eq!(reply.status, status, "{body} {error}");
        assert!(error.contains(words), "{error}");
    }
    // Without a locus it is nobody's in particular, for who reaches all.
    assert_eq!(
        post(&server, "/assess/submit", json!({ "focus_summary": "all" })).await["assessment"]["locus"],
        ""
    );
    assert_eq!(post(&server, "/assess/focus", json!({})).await["focus_summary"], "all");
    let token = server.mint(json!({ "name": "a", "scope": "write", "loci": ["alpha"] })).await;
    assert_eq!(with_token(&server, &token, "/assess/focus", json!({})).await.0, 403);
}

#[tokio::test]
async fn an_item_out_of_reach_is_not_shown() {
    let server = Server::start("").await;
    let id = item(&server, "beta", "not for alpha").await;
    let judgement = json!({ "locus": "alpha", "focus_item_id": id, "focus_summary": "s" });
    post(&server, "/assess/submit", judgement.clone()).await;
    assert_eq!(focus(&server, "alpha").await["item"]["id"], json!(id));
    let token = server.mint(json!({ "name": "a", "scope": "write", "loci": ["alpha"] })).await;
    let (_, read) = with_token(&server, &token, "/assess/focus", json!({ "locus": "alpha" })).await;
    assert!(read["result"].get("item").is_none(), "{read}");
    assert_eq!(with_token(&server, &token, "/assess/submit", judgement).await.0, 404);
    item(&server, "alpha", "paint the cart").await;
    item(&server, "beta", "paint the cart").await;
    for locus in ["alpha", "beta"] {
        post(&server, "/assess/run", json!({ "locus": locus })).await;
    }
    let (_, pending) = with_token(&server, &token, "/assess/pending", json!({})).await;
    let rows = pending["result"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["locus"]), (1, &json!("alpha")));
}
