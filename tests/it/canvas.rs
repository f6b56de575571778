//! Canvases through the doors, on both engines.

use std::{collections::BTreeSet, sync::Arc};

use adjutant::tools::catalogue;
use futures::future::join_all;
use mcp::{Caller, Code, Scope};
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Server, Setup, on_both};

fn shape(value: &Value, wanted: &str) {
    let keys = value.as_object().unwrap_or_else(|| panic!("{value}")).keys().map(String::as_str);
    let (keys, wanted): (BTreeSet<&str>, _) = (keys.collect(), wanted.split(' ').collect());
    assert_eq!(keys, wanted, "{value}");
}

fn node(id: &str) -> Value {
    json!({ "id": id, "role": "box", "label": id, "x": 0, "y": 1.5, "w": 9, "h": -2, "extra": [1] })
}

/// A flow of these nodes, with an edge from each to the next.
fn flow(ids: &[&str]) -> Value {
    let nodes: Vec<Value> = ids.iter().map(|id| node(id)).collect();
    let edges: Vec<Value> = ids
        .windows(2)
        .map(|pair| json!({ "from": pair[0], "to": pair[1], "label": "go" }))
        .collect();
    json!({ "schema": "flow.v1", "nodes": nodes, "edges": edges })
}

fn put(state: &Value) -> Value {
    json!({ "locus": "cv", "kind": "flow", "state": state })
}

fn with(mut value: Value, name: &str, member: impl Into<Value>) -> Value {
    value[name] = member.into();
    value
}

#[tokio::test]
async fn a_canvas_is_written_read_cleared_and_put_back() {
    for (server, _database) in on_both(Setup::default).await {
        let post = async |path: &str, body: Value| server.post(path, body).await.result();
        let none = post("/canvas/get", json!({ "locus": "cv" })).await;
        shape(&none, "locus kind state rev by note updated");
        assert_eq!(
            (&none["state"], &none["rev"], &none["kind"]),
            (&Value::Null, &json!(0), &json!("flow"))
        );

        let first = with(with(put(&flow(&["a", "b"])), "by", "dana"), "note", "first");
        let written = post("/canvas/put", with(first.clone(), "locus", "C_V").clone()).await;
        assert_eq!(written["locus"], "c-v");
        let written = post("/canvas/put", first).await;
        shape(&written, "locus kind rev changed updated state committed_at");
        assert_eq!((&written["rev"], &written["changed"]), (&json!(1), &json!(true)));
        assert_eq!(written["state"]["rev"], 1);
        let again = post("/canvas/put", with(put(&flow(&["a", "b"])), "notify", true)).await;
        assert_eq!(
            (&again["changed"], &again["committed_at"]),
            (&json!(false), &written["committed_at"])
        );
        assert!(again.get("notified").is_none(), "{again}");

        let read = post("/canvas/get", json!({ "locus": "cv" })).await;
        shape(&read, "locus kind state rev by note updated created");
        assert_eq!(
            (&read["by"], &read["note"], &read["state"]),
            (&json!("dana"), &json!("first"), &written["state"])
        );
        assert_eq!(read["state"]["nodes"][1]["extra"], json!([1]));

        // As text, with a revision of its own, and the board is told.
        let text = with(flow(&["a"]), "rev", 7).to_string();
        let told =
            with(with(with(put(&json!(text)), "notify", true), "by", "eve"), "expected_rev", 1);
        let told = post("/canvas/put", told).await;
        assert_eq!((&told["rev"], &told["state"]["rev"]), (&json!(7), &json!(7)));
        let item = post("/todo/list", json!({ "locus": "cv" })).await[0].take();
        assert_eq!(
            (&item["id"], &item["type"], &item["source"]),
            (&told["notified"], &json!("request"), &json!("canvas.put"))
        );
        assert_eq!(item["text"], "[canvas] flow updated by eve (rev 7)");

        let design = json!({ "locus": "cv", "kind": "Design", "state": { "shapes": [] } });
        assert_eq!(post("/canvas/put", design).await["rev"], 1);
        let rows = server.get("/canvas/list?locus=cv").await.result();
        shape(&rows[0], "locus kind rev by note updated");
        assert_eq!(
            (&rows[0]["kind"], &rows[1]["kind"], &rows[1]["rev"]),
            (&json!("design"), &json!("flow"), &json!(7))
        );
        let page = post("/canvas/list", json!({ "page": true, "limit": 2 })).await;
        assert_eq!(page["next"], "cv/design");
        let page = post("/canvas/list", json!({ "page": true, "after": page["next"] })).await;
        assert_eq!((&page["items"][0]["kind"], &page["next"]), (&json!("flow"), &Value::Null));

        let cleared = post("/canvas/clear", json!({ "locus": "cv", "kind": "flow" })).await;
        shape(&cleared, "locus kind removed committed_at");
        assert_eq!(cleared["removed"], true);
        let cleared = post("/canvas/clear", json!({ "locus": "cv", "kind": "flow" })).await;
        assert_eq!(cleared["removed"], false);
        assert_eq!(post("/canvas/get", json!({ "locus": "cv" })).await["state"], Value::Null);

        let history = post("/canvas/history", json!({ "locus": "cv" })).await;
        shape(&history[0], "rev by note ts bytes");
        assert_eq!(
            (&history[0]["rev"], &history[1]["rev"], &history[1]["by"]),
            (&json!(7), &json!(1), &json!("dana"))
        );
        let page =
            post("/canvas/history", json!({ "locus": "cv", "page": true, "limit": 1 })).await;
        let page = json!({ "locus": "cv", "page": true, "after": page["next"] });
        assert_eq!(post("/canvas/history", page).await["items"][0]["rev"], 1);
        let then = server.get("/canvas/get?locus=cv&rev=1").await.result();
        shape(&then, "locus kind state rev by note updated");
        assert_eq!((&then["state"], &then["note"]), (&written["state"], &json!("first")));
        let back = post("/canvas/put", with(put(&then["state"]), "expected_rev", 0)).await;
        assert_eq!((&back["rev"], &back["changed"]), (&json!(8), &json!(true)));
        let missing = server.post("/canvas/get", json!({ "locus": "cv", "rev": 3 })).await;
        assert_eq!(missing.status, 404);
        assert!(missing.fault().1.contains("1 to 8"), "{}", missing.text);
    }
}

/// Each of these is told its place and its remedy, and the canvas is as it was.
#[tokio::test]
async fn what_breaks_a_rule_is_refused_with_its_place_and_changes_nothing() {
    for (server, _database) in on_both(Setup::default).await {
        server.post("/canvas/put", put(&flow(&["a", "b"]))).await.result();
        let before = server.post("/canvas/get", json!({ "locus": "cv" })).await.result();
        let sound = flow(&["a", "b"]);
        let many: Vec<Value> = (0..601).map(|nth| node(&format!("n{nth}"))).collect();
        let shapes = json!({ "shapes": vec![json!({ "x": 0, "y": 0, "w": 1, "h": 1 }); 301] });
        for (body, says) in [
            (
                put(&with(sound.clone(), "edges", json!([{ "from": "a", "to": "zz" }]))),
                "`edges[0].to` `zz` is the id of no node",
            ),
            (
                put(&with(sound.clone(), "nodes", json!([node("a"), node("a")]))),
                "`nodes[1].id` `a` is the id of another node",
            ),
            (
                put(&with(sound.clone(), "nodes", json!([with(node("a"), "x", "1")]))),
                "`nodes[0].x` must be a finite number",
            ),
            (put(&with(sound.clone(), "nodes", many)), "601"),
            (put(&with(sound.clone(), "schema", "flow.v2")), "`flow.v1`"),
            (put(&with(sound.clone(), "rev", -1)), "`rev` must be a whole number"),
            (put(&json!("{\"schema\": \"flow.v1\", \"nodes\": [{\"x\": 1e999}]}")), "no JSON"),
            (put(&json!("words")), "no JSON"),
            (put(&json!([1])), "takes string or object"),
            (with(put(&shapes), "kind", "design"), "`shapes` has 301"),
            (with(put(&sound), "kind", "chart"), "`design` or `flow`"),
            (with(put(&sound), "locus", "c.v"), "must match"),
            (with(put(&sound), "by", "a\u{1b}b"), "control character"),
            (with(put(&sound), "note", "a\0b"), "NUL"),
            (json!({ "locus": "cv", "kind": "flow" }), "state"),
        ] {
            let reply = server.post("/canvas/put", body).await;
            let (code, words) = reply.fault();
            assert_eq!((reply.status, &*code), (400, "invalid"), "{words}");
            assert!(words.contains(says), "{words}");
        }
        // Numbers that JSON has not, as the bytes of a request.
        for number in ["NaN", "Infinity", "1e999", "-1e999"] {
            let node = format!(
                "{{\"id\":\"a\",\"role\":\"r\",\"label\":\"l\",\"x\":{number},\"y\":0,\"w\":1,\"h\":1}}"
            );
            let body = format!(
                "{{\"locus\":\"cv\",\"kind\":\"flow\",\"state\":{{\"schema\":\"flow.v1\",\"nodes\":[{node}]}}}}"
            );
            let request = server.request(Method::POST, "/canvas/put");
            let reply = request.header("content-type", "application/json").body(body).send().await;
            assert_eq!(
                (reply.status, &*reply.fault().0),
                (400, "invalid"),
                "{number}: {}",
                reply.text
            );
        }
        // The largest, a byte more, and characters that are escaped on the way.
        let design = |pad: &str| json!({ "locus": "large", "kind": "design", "state": { "shapes": [], "pad": pad } });
        let room = 524_288 - json!({ "pad": "", "shapes": [] }).to_string().len();
        let over = server.post("/canvas/put", design(&"x".repeat(room + 1))).await;
        assert_eq!((over.status, over.fault().0.as_str()), (413, "too_large"));
        assert!(over.fault().1.contains("524289 bytes"), "{}", over.text);
        let escaped = "\\u00e9".repeat(room / 2);
        let body = format!(
            "{{\"locus\":\"large\",\"kind\":\"design\",\"state\":{{\"shapes\":[],\"pad\":\"{escaped}\"}}}}"
        );
        assert!(body.len() > 1 << 20);
        let request = server.request(Method::POST, "/canvas/put");
        let largest =
            request.header("content-type", "application/json").body(body).send().await.result();
        assert_eq!(largest["state"]["pad"].as_str().unwrap().chars().count(), room / 2);
        for (name, length) in [("by", 41), ("note", 501)] {
            let reply =
                server.post("/canvas/put", with(put(&sound), name, "n".repeat(length))).await;
            assert_eq!(reply.status, 413, "{}", reply.text);
        }
        assert_eq!(server.post("/canvas/get", json!({ "locus": "cv" })).await.result(), before);
        let rows = server.post("/canvas/history", json!({ "locus": "cv" })).await.result();
        assert_eq!(rows.as_array().unwrap().len(), 1);
        for (path, body) in [
            ("/canvas/list", json!({ "after": "x" })),
            ("/canvas/history", json!({ "locus": "cv", "after": "x" })),
            ("/canvas/get", json!({ "locus": "cv", "kind": "x" })),
            ("/canvas/clear", json!({ "locus": "cv" })),
        ] {
            assert_eq!(server.post(path, body).await.status, 400, "{path}");
        }
    }
}

/// A stale write says the current revision, and of many at once exactly one stands.
#[tokio::test]
async fn a_change_that_was_not_read_is_not_written_over() {
    for (server, _database) in on_both(Setup::default).await {
        for round in 0..5 {
            let read = server.post("/canvas/get", json!({ "locus": "cv" })).await.result();
            let rev = read["rev"].as_i64().unwrap();
            let writes = (0..8).map(|writer| {
                let state = flow(&[&format!("r{round}"), &format!("w{writer}")]);
                let body = with(put(&state), "expected_rev", rev);
                let server = &server;
                async move { server.post("/canvas/put", body).await }
            });
            let replies = join_all(writes).await;
            let (won, lost): (Vec<_>, Vec<_>) =
                replies.iter().partition(|reply| reply.status == 200);
            assert_eq!(won.len(), 1);
            for reply in lost {
                let body = reply.json();
                assert_eq!((reply.status, &body["kind"]), (409, &json!("stale")), "{body}");
                assert_eq!(body["rev"], rev + 1);
            }
            let stands = server.post("/canvas/get", json!({ "locus": "cv" })).await.result();
            assert_eq!(stands["state"], won[0].json()["result"]["state"]);
        }
    }
}

/// What a token may not reach is not there for it, by whatever tool.
#[tokio::test]
async fn a_caller_of_one_locus_sees_and_changes_that_one_alone() {
    let server = Server::start("").await;
    for locus in ["mine", "theirs"] {
        server.post("/canvas/put", with(put(&flow(&["a"])), "locus", locus)).await.result();
    }
    let mut caller = Caller::new("one", Scope::Write);
    caller.rights.loci = Some(["mine".to_owned()].into());
    let caller = Arc::new(caller);
    let call = async |tool: &str, arguments: Value| {
        let cx = mcp::Call::new(server.app.clone(), caller.clone(), "t");
        catalogue().get(tool, &caller)?.invoke(arguments, cx).await.map(|reply| reply.value)
    };
    for (tool, arguments) in [
        ("canvas_get", json!({ "locus": "theirs" })),
        ("canvas_get", json!({ "locus": "theirs", "rev": 1 })),
        ("canvas_put", with(put(&flow(&["b"])), "locus", "theirs")),
        ("canvas_list", json!({ "locus": "theirs" })),
        ("canvas_clear", json!({ "locus": "theirs", "kind": "flow" })),
        ("canvas_history", json!({ "locus": "theirs" })),
    ] {
        assert_eq!(call(tool, arguments).await.unwrap_err().code, Code::Forbidden, "{tool}");
    }
    let rows = call("canvas_list", json!({})).await.unwrap();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["locus"]), (1, &json!("mine")));
    call("canvas_put", with(put(&flow(&["b"])), "locus", "mine")).await.unwrap();
    let mut reader = Caller::new("reader", Scope::Read);
    reader.rights.loci = Some(["mine".to_owned()].into());
    for tool in ["canvas_put", "canvas_clear"] {
        assert!(catalogue().get(tool, &reader).is_err(), "{tool}");
    }
}

/// A canvas outlives the server, and its change is in the stream under the earlier server's name.
#[tokio::test]
async fn a_canvas_outlives_the_server() {
    let server = Server::start("").await;
    let written = server.post("/canvas/put", put(&flow(&["a"]))).await.result();
    let wait = json!({ "after": 0, "kinds": "canvas", "timeout_s": 5 });
    let told = server.post("/events/wait", wait).await.result();
    let event = &told["events"][0];
    assert_eq!(
        (&event["locus"], &event["id"], &event["op"]),
        (&json!("cv"), &json!("flow"), &json!("insert"))
    );
    let server = server.restart().await;
    let read = server.post("/canvas/get", json!({ "locus": "cv" })).await.result();
    assert_eq!((&read["state"], &read["rev"]), (&written["state"], &json!(1)));
}
