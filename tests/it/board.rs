//! Projected boards, through the doors.

use std::collections::BTreeSet;

use adjutant::store::{
    locus::{self, Kind, Registration},
    names::Keeper,
};
use serde_json::{Value, json};

use crate::harness::Server;

/// That a reply has these members and no others.
fn shape(value: &Value, wanted: &str) {
    let keys: BTreeSet<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, wanted.split(' ').collect(), "{value}");
}

#[tokio::test]
async fn replies_keep_the_shape_that_clients_know() {
    let server = Server::start("").await;
    let post = async |path: &str, body: Value| server.post(path, body).await.result();
    let row = "by data item_id locus note priority status text ts type updated";
    let whole = json!({ "locus": "bd", "item_id": "i-1", "text": "paint it", "by": "t", "note": "n", "source": "s" });
    let put = post("/board/put", whole).await;
    shape(&put, &format!("{row} committed_at content_hash source"));
    assert_eq!(put["data"], json!({ "text": "paint it", "note": "n", "by": "t" }));
    assert_eq!(
        put["content_hash"],
        "a8142973d300e2efcea4156676bdc03888bf80bd45045b20cb6bec1a2cdb4a0e"
    );
    let put = post("/board/put", json!({ "locus": "bd", "item_id": "i-1", "text": "wash it", "status": "doing", "priority": "high" })).await;
    assert_eq!(put["data"], json!({ "text": "wash it", "priority": "high" }));
    assert_eq!(
        (&put["by"], &put["note"], &put["source"]),
        (&json!(""), &json!(""), &json!("toolserver"))
    );
    let derived = post("/board/put", json!({ "locus": "bd", "text": "derived" })).await;
    assert_eq!(derived["item_id"], "ts-8dc259f866246138");
    let data =
        json!({ "locus": "bd", "item_id": "i-2", "text": "x", "data": { "a": 1, "b": ["c"] } });
    post("/board/put", data).await;
    let changed = json!({ "locus": "bd", "item_id": "i-2", "status": "done", "note": "ok", "data": { "a": 2 } });
    let changed = post("/board/update", changed).await;
    assert_eq!(changed["data"], json!({ "a": 2, "b": ["c"], "text": "x", "note": "ok" }));
    let archived = json!({ "locus": "bd", "item_id": "ts-8dc259f866246138" });
    for _ in 0..2 {
        assert_eq!(post("/board/archive", archived.clone()).await["status"], "archived");
    }
    let list = post("/board/list", json!({ "locus": "bd" })).await;
    assert_eq!(list.as_array().unwrap().len(), 3);
    shape(&list[0], row);
    let names = post("/board/list", json!({ "page": true, "limit": 2 })).await;
    assert_eq!((&names["items"][0]["item_id"], &names["next"]), (&json!("i-1"), &json!("bd/i-2")));
    let rest = post("/board/list", json!({ "page": true, "after": names["next"] })).await;
    assert_eq!((rest["items"].as_array().unwrap().len(), &rest["next"]), (1, &Value::Null));
    for path in ["/board/update", "/board/archive"] {
        let missing = server.post(path, json!({ "locus": "bd", "item_id": "i-99" })).await;
        assert_eq!(missing.status, 404);
        assert!(missing.fault().1.contains("`bd/i-99`"), "{}", missing.text);
    }

    assert_eq!(post("/board/summary", json!({})).await, json!([]), "none is registered");
    for name in ["bd", "empty"] {
        let goal = "a board".to_owned();
        let registration =
            Registration { goal, ..Registration::new(Keeper::parse(name).unwrap(), Kind::Station) };
        locus::register(&server.app.store, &registration).await.unwrap();
    }
    let summary = post("/board/summary", json!({})).await;
    shape(&summary[0], "doing done endpoint goal items kind last_update locus locus_status open");
    let counts = ["locus", "items", "open", "doing", "done"].map(|name| summary[0][name].clone());
    assert_eq!(json!(counts), json!(["bd", 3, 0, 1, 1]));
    assert_eq!((&summary[1]["items"], &summary[1]["last_update"]), (&json!(0), &Value::Null));
}
