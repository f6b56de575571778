//! Handoffs over HTTP and the Model Context Protocol, on both engines.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{
    Server, Setup, on_both,
    station::{Play, Station},
};

const S1: &str = "11111111-2222-4222-8222-222222222221";
const S2: &str = "11111111-2222-4222-8222-222222222222";

/// Every member of a row that clients of the earlier server read.
const MEMBERS: [&str; 28] = [
    "brief",
    "by",
    "claimed_at",
    "claimed_by",
    "consumed_at",
    "consumed_by",
    "created",
    "dir",
    "fork",
    "id",
    "ledger_rev",
    "ledger_task",
    "locus",
    "login",
    "mode",
    "seat",
    "session_id",
    "source_session",
    "spawn_note",
    "ssh",
    "state",
    "station",
    "station_handle",
    "status",
    "task",
    "text",
    "tmux",
    "updated",
];

pub(crate) fn is_row(row: &Value) {
    for member in MEMBERS {
        assert!(row.get(member).is_some_and(|value| !value.is_null()), "no `{member}`: {row}");
    }
    assert_eq!((&row["status"], &row["brief"]), (&row["state"], &row["text"]));
    assert!(row["created"].as_i64().unwrap() > 1_600_000_000, "{row}");
    assert!(row["created"].as_i64().unwrap() < 100_000_000_000, "{row}");
}

/// A set-up with this station.
pub(crate) fn with(station: &Station) -> Setup {
    Setup::new("").env("HANDOFF_SPAWN_URL", &station.spawn_url())
}

async fn fault(server: &Server, path: &str, body: Value) -> (u16, String) {
    let reply = server.post(path, body).await;
    (reply.status, reply.fault().1)
}

#[tokio::test]
async fn a_handoff_goes_from_one_session_to_the_next() {
    for (server, _database) in on_both(|| Setup::new("")).await {
        let none =
            server.post("/handoff/pull", json!({"locus": "ho", "session_id": S1})).await.result();
        assert_eq!((&none["found"], &none["locus"]), (&json!(false), &json!("ho")));
        assert!(none["reason"].as_str().unwrap().contains("handoff_list"), "{none}");
        let ledger = json!({"locus": "ho", "task": "cart", "doc": "## Goal\n- red\n"});
        server.post("/ledger/put", ledger).await.result();
        let asked = json!({"locus": "HO", "text": "go on", "by": "t", "source_session": S1});
        let left = server.post("/handoff/request", asked).await.result();
        is_row(&left);
        assert_eq!((&left["state"], &left["mode"]), (&json!("open"), &json!("seat")));
        assert_eq!((&left["ledger_task"], &left["ledger_rev"]), (&json!("cart"), &json!(1)));
        assert_eq!(left["spawn"]["ok"], false);
        assert!(left["committed_at"].is_string() && left["note"].is_string());
        for part in ["hook", "pull", "seat", "state"] {
            assert!(left["where"][part].is_string(), "{left}");
        }
        let id = left["id"].as_str().unwrap();
        let board = server.post("/todo/list", json!({"locus": "ho"})).await.result();
        assert_eq!(board[0]["text"], format!("HANDOFF {id} for ho: go on"));
        let read = server.post("/handoff/pull", json!({"locus": "ho"})).await.result();
        assert_eq!((&read["found"], &read["state"]), (&json!(true), &json!("open")));
        assert!(read.get("committed_at").is_none());
        let mine = json!({"locus": "ho", "session_id": S2});
        let given = server.post("/handoff/pull", mine.clone()).await.result();
        assert_eq!(
            (&given["id"], &given["state"], &given["consumed_by"]),
            (&json!(id), &json!("consumed"), &json!(S2))
        );
        assert_eq!(given["ledger"], json!({"task": "cart", "rev": 1}));
        assert_eq!(given["previous"]["session_id"], S1);
        assert_eq!(
            (&given["previous"]["runs"], &given["previous"]["turns"]),
            (&json!(0), &json!([]))
        );
        is_row(&given["row"]);
        let text = given["text"].as_str().unwrap();
        for part in [
            &format!("# Session init prompt (handoff {id} — locus ho)\n"),
            "by session 11111111 (t) · state consumed · task cart.\n\ngo on\n",
            "## State of record\n- ledger: `ledger_get locus=ho task=cart` (rev 1, updated 20",
            "todo_list locus=ho",
            "## Previous seat\n- session 11111111: nothing captured",
            "## This handoff\n",
            &format!("handoff_claim id={id} status=done"),
        ] {
            assert!(text.contains(part), "no {part:?}: {text}");
        }
        assert_eq!(server.post("/handoff/pull", mine).await.result()["id"], id);
        let (status, words) =
            fault(&server, "/handoff/pull", json!({"id": id, "session_id": S1})).await;
        assert!(
            status == 409 && words.contains("consume=false") && words.contains("11111111"),
            "{words}"
        );
        let read = json!({"id": id, "session_id": S1, "consume": false});
        assert_eq!(server.post("/handoff/pull", read).await.result()["consumed_by"], S2);
        let done =
            server.post("/handoff/claim", json!({"id": id, "status": "done"})).await.result();
        is_row(&done);
        assert_eq!((&done["changed"], &done["state"]), (&json!(true), &json!("done")));
        let again =
            server.post("/handoff/claim", json!({"id": id, "status": "done"})).await.result();
        assert_eq!(
            (&again["changed"], &again["committed_at"]),
            (&json!(false), &done["committed_at"])
        );
    }
}

/// What the session before was asked, where that was recorded and the reader reaches it.
#[tokio::test]
async fn the_session_before_is_told_with_what_it_was_asked() {
    for (server, _database) in on_both(|| Setup::new("")).await {
        let left = json!({"locus": "ho", "text": "go on", "source_session": S1});
        server.post("/handoff/request", left).await.result();
        for nth in 0..9 {
            let body = json!({
                "locus": "other", "session_id": S1, "turn": nth.to_string(), "response": "",
                "prompt": format!("question {nth}\n{}", "x".repeat(200)), "ts": 1_790_000_000 + nth,
                "model": if nth == 2 { "m-1" } else { "" },
            });
            server.post("/exchange/record", body).await.result();
        }
        let harness = json!({"locus": "other", "session_id": S1, "response": "", "prompt": "<task-notification>x"});
        server.post("/exchange/record", harness).await.result();
        let read = server.post("/handoff/pull", json!({"locus": "ho"})).await.result();
        let previous = &read["previous"];
        assert_eq!((&previous["runs"], &previous["last_ts"]), (&json!(6), &json!(1_790_000_008)));
        let turns = previous["turns"].as_array().unwrap();
        assert!(
            turns.len() == 6 && turns[0].as_str().unwrap().starts_with("question 3 xxx"),
            "{read}"
        );
        assert_eq!(turns[5].as_str().unwrap().chars().count(), 120);
        let text = read["text"].as_str().unwrap();
        let words = format!(
            "- session 11111111: last heard of 2026-09-21T14:13:28.000Z, model not told; `exchange_list session_id={S1} full=true`.\n  - asked: question 3"
        );
        assert!(text.contains(&words), "{text}");
        let station = server.post("/handoff/station", json!({"locus": "ho"})).await.result();
        assert!(station["init_prompt"].as_str().unwrap().contains(&words), "{station}");
        let token = server.mint(json!({"name": "one", "scope": "write", "loci": ["ho"]})).await;
        let request = server.request(reqwest::Method::POST, "/handoff/pull").token(Some(&token));
        let hidden = request.json(json!({"locus": "ho"})).send().await.result();
        assert_eq!(
            (&hidden["previous"]["runs"], &hidden["previous"]["pointer"]),
            (&json!(0), &json!(""))
        );
    }
}

#[tokio::test]
async fn a_ledger_that_moved_on_is_told_with_the_revision_of_then() {
    let server = Server::start("").await;
    for doc in ["one", "two"] {
        server
            .post("/ledger/put", json!({"locus": "ho", "task": "cart", "doc": doc}))
            .await
            .result();
        if doc == "one" {
            // The older name of its text.
            let left =
                server.post("/handoff/request", json!({"locus": "ho", "brief": "go on"})).await;
            assert_eq!(left.result()["text"], "go on");
            assert_eq!(left.json().get("warnings"), None);
        }
    }
    let read = server.post("/handoff/pull", json!({"locus": "ho"})).await.result();
    assert_eq!((&read["ledger"]["rev"], &read["row"]["ledger_rev"]), (&json!(2), &json!(1)));
    assert!(read["text"].as_str().unwrap().contains("(rev 2, 1 when this was left"), "{read}");
    assert_eq!(read["previous"], Value::Null);
}

#[tokio::test]
async fn what_is_wrong_is_told_with_its_status_and_its_remedy() {
    let server = Server::start("").await;
    let id = server
        .post("/handoff/request", json!({"locus": "ho", "text": "go on"}))
        .await
        .result()["id"]
        .clone();
    server.post("/handoff/claim", json!({"id": id})).await.result();
    for (path, body, status, words) in [
        ("request", json!({"locus": "ho"}), 400, "`text` is empty"),
        ("request", json!({"text": "go on"}), 400, "locus"),
        ("request", json!({"locus": "h o", "text": "go on"}), 400, "`h o`"),
        ("request", json!({"locus": "ho", "text": "go on", "task": "nothing"}), 404, "ledger_put"),
        ("request", json!({"locus": "ho", "text": "go on", "fork": true}), 400, "adjutant mcp"),
        (
            "request",
            json!({"locus": "ho", "text": "go on", "seat": "sofa"}),
            400,
            "`claude` or `keeper`",
        ),
        (
            "request",
            json!({"locus": "ho", "text": "go on", "ssh": "no address"}),
            400,
            "user@host[:port]",
        ),
        ("request", json!({"locus": "ho", "text": "x".repeat(16_001)}), 413, "16000"),
        ("list", json!({"status": "bogus"}), 400, "`consumed`"),
        ("list", json!({"mode": "bogus"}), 400, "`seat` or `pull`"),
        ("list", json!({"after": "bogus"}), 400, "`after`"),
        ("pull", json!({}), 400, "neither `locus` nor `id`"),
        ("pull", json!({"id": "nonsense"}), 400, "`nonsense`"),
        ("pull", json!({"id": "h99999"}), 404, "handoff_list"),
        ("claim", json!({"id": "t1"}), 400, "`t1`"),
        ("claim", json!({"status": "done"}), 400, "id"),
        ("claim", json!({"id": "h99999"}), 404, "handoff_list"),
        ("claim", json!({"id": id, "status": "zzz"}), 400, "`abandoned`"),
        ("claim", json!({"id": id, "status": "spun"}), 409, "`consumed`"),
        ("claim", json!({"id": id, "status": "pending"}), 409, "cannot become open"),
        ("claim", json!({"id": id, "status": "consumed"}), 400, "session_id"),
    ] {
        let (found, told) = fault(&server, &format!("/handoff/{path}"), body.clone()).await;
        assert!(found == status && told.contains(words), "{path} {body}: {found} {told}");
    }
    // A number is as good as a text.
    let number: i64 = id.as_str().unwrap()[1..].parse().unwrap();
    assert_eq!(
        server.post("/handoff/claim", json!({"id": number})).await.result()["changed"],
        false
    );
}

#[tokio::test]
async fn lists_are_arrays_or_pages() {
    let server = Server::start("").await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let left = server.post("/handoff/request", json!({"locus": "ho", "text": "go on"})).await;
        ids.insert(0, left.result()["id"].clone());
    }
    let list = server.get("/handoff/list?locus=ho&status=pending").await.result();
    let listed: Vec<_> = list.as_array().unwrap().iter().map(|row| row["id"].clone()).collect();
    assert_eq!(listed, ids);
    list.as_array().unwrap().iter().for_each(is_row);
    let page = server.post("/handoff/list", json!({"page": true, "limit": 2})).await.result();
    assert_eq!((page["items"].as_array().unwrap().len(), &page["next"]), (2, &ids[1]));
    let rest = json!({"page": true, "limit": 2, "after": page["next"]});
    let rest = server.post("/handoff/list", rest).await.result();
    assert_eq!((&rest["items"][0]["id"], &rest["next"]), (&ids[2], &Value::Null));
    assert_eq!(server.post("/handoff/list", json!({"mode": "pull"})).await.result(), json!([]));
}

/// Whatever a station answers, the handoff stands, and says what came of it.
#[tokio::test]
async fn a_seat_is_asked_for_and_every_answer_is_told() {
    let station = Station::start().await;
    let server = with(&station).start().await;
    let move_to = |locus: &str| json!({"locus": locus, "text": "go on", "ssh": "me@127.0.0.1:2222", "dir": "/srv/app", "source_session": S1});
    let spun = server.post("/handoff/request", move_to("ho-spun")).await.result();
    is_row(&spun);
    assert_eq!((&spun["state"], &spun["tmux"]), (&json!("spun"), &json!("my-seat")));
    assert_eq!(
        spun["spawn"],
        json!({"ok": true, "error": "", "handle": "alpha:my-seat", "session": "my-seat", "session_id": "", "station": "alpha", "verified": true})
    );
    assert_eq!(spun["where"]["seat"], "alpha:my-seat");
    let order = station.orders()[0].body.clone();
    assert_eq!(
        (&order["handoff"], &order["ssh"], &order["brief"]),
        (&spun["id"], &json!("me@127.0.0.1:2222"), &json!("go on"))
    );
    assert!(order.get("resume").is_none() && order.get("name").is_none(), "{order}");
    for (locus, play, note, named) in [
        ("ho-vague", Play::unverified(), "unverified ", true),
        (
            "ho-refused",
            Play::json(409, &json!({"error": "a seat of that name runs"})),
            "refused ",
            false,
        ),
        ("ho-broken", Play::json(500, &json!({"error": "no terminal"})), "refused ", false),
        ("ho-old", Play::Reply(405, String::new()), "not asked ", false),
        ("ho-gone", Play::Close, "unknown ", false),
        ("ho-cut", Play::Cut, "unknown ", false),
        ("ho-html", Play::Reply(200, "<html>".to_owned()), "unknown ", false),
        ("ho-silent", Play::json(200, &json!({"ok": true})), "unknown ", false),
    ] {
        station.on_spin(play);
        let left = server.post("/handoff/request", move_to(locus)).await.result();
        is_row(&left);
        assert_eq!((&left["state"], &left["tmux"]), (&json!("open"), &json!("")), "{left}");
        assert!(left["spawn_note"].as_str().unwrap().starts_with(note), "{left}");
        assert_eq!((&left["spawn"]["ok"], left["spawn"]["error"] == ""), (&json!(named), false));
        assert_eq!(left["spawn"].get("verified"), named.then_some(&json!(false)));
        let mine = json!({"locus": locus, "session_id": S2});
        assert_eq!(server.post("/handoff/pull", mine).await.result()["id"], left["id"]);
    }
    let before = station.orders().len();
    for more in [json!({"spawn": false, "ssh": "me@h"}), json!({})] {
        let mut body = json!({"locus": "ho-off", "text": "go on"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let left = server.post("/handoff/request", body).await.result();
        assert_eq!((&left["state"], &left["spawn"]["ok"]), (&json!("open"), &json!(false)));
    }
    assert_eq!(station.orders().len(), before);
    // A copy of the session is asked for as one, or not at all.
    station.on_spin(Play::verified());
    let mut fork = move_to("ho-fork");
    fork["fork"] = json!(true);
    assert_eq!(server.post("/handoff/request", fork.clone()).await.result()["state"], "spun");
    let order = station.orders().last().unwrap().body.clone();
    assert_eq!((&order["resume"], &order["fork"]), (&json!(S1), &json!(true)));
    station.on_probe(Play::json(200, &json!({"ok": true, "features": []})));
    let before = station.orders().len();
    assert_eq!(server.post("/handoff/request", fork).await.result()["state"], "open");
    assert_eq!(station.orders().len(), before);
}

#[tokio::test]
async fn the_station_is_asked_what_it_can_do_and_what_waits_is_shown_with_it() {
    let station = Station::start().await;
    let server = with(&station).start().await;
    let asked = server.get("/handoff/station").await.result();
    assert_eq!(
        asked,
        json!({"ok": true, "url": station.spawn_url(), "features": ["resume"], "station": "alpha", "error": ""})
    );
    let none = server.post("/handoff/station", json!({"locus": "ho"})).await.result();
    assert_eq!(
        (&none["handoff"], &none["init_prompt"], &none["layer"]),
        (&Value::Null, &json!(""), &json!(""))
    );
    assert!(none["reason"].is_string());
    let left =
        server.post("/handoff/request", json!({"locus": "ho", "text": "go on"})).await.result();
    let some = server.post("/handoff/station", json!({"locus": "ho"})).await.result();
    assert_eq!(some["handoff"]["id"], left["id"]);
    assert_eq!(some["handoff"]["state"], "open", "it is only read");
    assert!(
        some["init_prompt"].as_str().unwrap().contains("go on") && some.get("reason").is_none()
    );
    assert!(some["layer"].as_str().unwrap().contains("handoff_pull locus=ho"), "{some}");
    for (play, words) in [
        (Play::Reply(405, String::new()), "too old"),
        (Play::json(401, &json!({})), "station.spawn_token"),
        (Play::Reply(200, "<html>".to_owned()), "station.spawn_url"),
        (Play::Close, "http://127.0.0.1"),
    ] {
        station.on_probe(play);
        let asked = server.get("/handoff/station").await.result();
        assert_eq!((&asked["ok"], &asked["features"]), (&json!(false), &json!([])));
        assert!(asked["error"].as_str().unwrap().contains(words), "{asked}");
    }
    let bare = Server::start("").await.get("/handoff/station").await.result();
    assert_eq!((&bare["ok"], &bare["url"]), (&json!(false), &json!("")));
    assert!(bare["error"].as_str().unwrap().contains("station.spawn_url"), "{bare}");
}

/// What a session left: the empty record for one that is not known, whatever its id looks like.
#[tokio::test]
async fn what_a_session_left_is_read_by_its_id() {
    for (server, _database) in on_both(|| Setup::new("")).await {
        for (path, id) in [(S1, S1), ("none", "none"), ("a%20b%00", "a b\0"), ("none/", "none")] {
            let reply = server.get(&format!("/handoff/{path}")).await;
            let empty = json!({"session_id": id, "handoff": "", "resumed_by": "", "resumed_at": 0});
            assert_eq!(reply.result(), empty);
        }
        assert_eq!(server.request(Method::GET, "/handoff/x").token(None).send().await.status, 401);
        let app = &server.app;
        let mut tx = app.store.begin().await.unwrap();
        tx.sql("INSERT INTO claude_sessions (session_id, locus, handoff, resumed_by, resumed_at) VALUES ('s1', 'alpha', 'go on', 's2', 5000000)")
            .run()
            .await
            .unwrap();
        tx.commit().await.unwrap();
        let whole =
            json!({"session_id": "s1", "handoff": "go on", "resumed_by": "s2", "resumed_at": 5});
        assert_eq!(server.get("/handoff/s1").await.result(), whole);
        let other = server.mint(json!({"name": "other", "scope": "read", "loci": ["beta"]})).await;
        let reply = server.request(Method::GET, "/handoff/s1").token(Some(&other)).send().await;
        assert_eq!(reply.result()["handoff"], "");
    }
}

#[tokio::test]
async fn a_token_of_one_locus_sees_and_moves_no_other() {
    let server = Server::start("").await;
    let left = server
        .post("/handoff/request", json!({"locus": "beta", "text": "a secret"}))
        .await
        .result();
    let token = server.mint(json!({"name": "alpha", "scope": "destroy", "loci": ["alpha"]})).await;
    let ask = async |path: &str, body: Value| {
        let reply = server.request(Method::POST, path).token(Some(&token)).json(body).send().await;
        assert!(!reply.text.contains("secret"), "{path}: {}", reply.text);
        reply
    };
    for path in ["/handoff/request", "/handoff/pull", "/handoff/list", "/handoff/station"] {
        let reply = ask(path, json!({"locus": "beta", "text": "x", "session_id": S1})).await;
        assert_eq!(reply.status, 403, "{path}");
    }
    for id in [left["id"].clone(), json!("h99999")] {
        for path in ["/handoff/pull", "/handoff/claim", "/session/spin", "/session/release"] {
            let reply = ask(path, json!({"id": id, "session_id": S1})).await;
            let words = reply.fault().1.replace(id.as_str().unwrap(), "X");
            assert_eq!(
                (reply.status, &*words),
                (404, "no handoff `X`: `handoff_list` names those that there are")
            );
        }
    }
    assert_eq!(ask("/handoff/list", json!({})).await.result(), json!([]));
    assert_eq!(ask("/session/list", json!({})).await.result(), json!([]));
    let pull = json!({"session_id": S1, "ssh": "me@h", "dir": "/d", "locus": "beta"});
    assert_eq!(ask("/session/pull", pull).await.status, 403);
}

/// A model that reads text alone begins with the prompt itself.
#[tokio::test]
async fn over_mcp_the_prompt_is_the_first_text() {
    let server = Server::start("").await;
    let call = async |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        server.post("/mcp", body).await.json()["result"].clone()
    };
    let left = call("handoff_request", json!({"locus": "ho", "text": "go on"})).await;
    let id = left["structuredContent"]["id"].clone();
    let given = call("handoff_pull", json!({"locus": "ho", "session_id": S1})).await;
    assert_eq!(given["content"][0]["text"], given["structuredContent"]["text"]);
    let facts = given["content"][1]["text"].as_str().unwrap();
    assert_eq!(
        facts,
        format!("id={} locus=ho state=consumed consumed_by={S1}", id.as_str().unwrap())
    );
    let taken = call("handoff_pull", json!({"id": id, "session_id": S2})).await;
    assert!(
        taken["isError"] == true
            && taken["content"][0]["text"].as_str().unwrap().contains("consume=false")
    );
    let listed = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let listed = server.post("/mcp", listed).await.json()["result"]["tools"].clone();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let ours = |name: &&&str| name.starts_with("handoff_") || name.starts_with("session_");
    assert_eq!(
        names.iter().filter(ours).collect::<Vec<_>>(),
        [&"handoff_pull", &"handoff_request"]
    );
}
