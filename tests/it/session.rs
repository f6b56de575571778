//! Sessions pulled into a seat, whatever the station answers.

use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    handoff::{is_row, with},
    harness::{
        Server, Setup, on_both,
        station::{Play, Station},
        until,
    },
};

fn id(nth: u32) -> String {
    format!("{nth:08}-3333-4333-8333-333333333333")
}

fn pull(nth: u32, more: &Value) -> Value {
    let mut body = json!({"session_id": id(nth), "ssh": "me@127.0.0.1:2222", "dir": "/srv/app"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[tokio::test]
async fn a_session_says_what_is_known_of_it() {
    let server = Server::start("").await;
    let whole =
        json!({"session_id": id(1), "ssh": "me@h", "dir": "/d", "user": "me", "machine": "box"});
    let known = server.post("/session/identity", whole.clone()).await.result();
    assert_eq!(known["complete"], true);
    for (name, value) in whole.as_object().unwrap() {
        assert_eq!(&known[name], value);
    }
    for lacking in [
        json!({}),
        json!({"session_id": id(1)}),
        json!({"session_id": "nonsense", "ssh": "me@h", "dir": "/d"}),
    ] {
        let known = server.post("/session/identity", lacking).await.result();
        assert_eq!(known["complete"], false);
        let hint = known["hint"].as_str().unwrap();
        assert!(hint.contains("adjutant mcp") && hint.contains("CLAUDE_CODE_SESSION_ID"), "{hint}");
    }
}

#[tokio::test]
async fn a_session_goes_on_in_a_verified_seat_and_is_released() {
    let station = Station::start().await;
    for (server, _database) in on_both(|| with(&station)).await {
        let before = station.orders().len();
        let body = pull(1, &json!({"brief": "go on", "name": "my-seat", "user": "ann"}));
        let pulled = server.post("/session/pull", body).await.result();
        is_row(&pulled["handoff"]);
        assert_eq!(
            (&pulled["status"], &pulled["locus"], &pulled["tmux"]),
            (&json!("spun"), &json!("my-seat"), &json!("my-seat"))
        );
        assert_eq!(
            (&pulled["machine_locus"], &pulled["handle"]),
            (&json!("127-0-0-1-ann"), &json!("alpha:my-seat"))
        );
        assert_eq!(pulled["handoff"]["ssh"], "ann@127.0.0.1:2222");
        assert_eq!(
            pulled["station"],
            json!({"ok": true, "url": station.spawn_url(), "features": ["resume"], "station": "alpha", "error": "",
                "spun": true, "handle": "alpha:my-seat", "tmux": "my-seat", "resumed": id(1)})
        );
        assert!(pulled["note"].is_string() && pulled["committed_at"].is_string());
        let order = station.orders()[before].body.clone();
        assert_eq!(
            order,
            json!({"id": order["id"], "handoff": pulled["handoff"]["id"], "seat": "claude", "ssh": "ann@127.0.0.1:2222",
                "dir": "/srv/app", "user": "ann", "brief": "go on", "locus": "my-seat", "resume": id(1), "fork": true, "name": "my-seat"})
        );
        let handoff = pulled["handoff"]["id"].clone();
        let again = server.post("/session/spin", json!({"id": handoff})).await.result();
        assert_eq!(
            (&again["status"], &again["note"]),
            (&json!("spun"), &json!("already seated: alpha:my-seat"))
        );
        assert_eq!(station.orders().len(), before + 1);
        let listed = server.get("/session/list?status=spun").await.result();
        is_row(&listed[0]);
        assert_eq!((&listed[0]["id"], &listed[0]["locus_status"]), (&handoff, &json!("active")));
        assert_eq!(listed[0]["pointer"]["handle"], "alpha:my-seat");
        let released = server.post("/session/release", json!({"id": handoff})).await.result();
        assert_eq!((&released["state"], &released["changed"]), (&json!("done"), &json!(true)));
        let again = server.post("/session/release", json!({"id": handoff})).await.result();
        assert_eq!(
            (&again["changed"], &again["committed_at"]),
            (&json!(false), &released["committed_at"])
        );
        assert_eq!(server.get("/session/list").await.result()[0]["locus_status"], "archived");
        let refused = server.post("/session/spin", json!({"id": handoff})).await;
        assert!(refused.status == 409 && refused.fault().1.contains("is done"), "{}", refused.text);
        assert_eq!(station.orders().len(), before + 1, "the seat is not ended, nor made again");
    }
}

/// S30: whatever the station answers, the session stays registered with its id and the asked-for
/// name, the reason is kept, and the next try asks for the same seat.
#[tokio::test]
async fn s30_no_answer_of_a_station_loses_a_session() {
    let station = Station::start().await;
    for (server, _database) in on_both(|| with(&station)).await {
        for (nth, (play, note)) in (10..).zip([
            (Play::unverified(), "unverified "),
            (Play::json(409, &json!({"error": "a seat of that name runs"})), "refused "),
            (Play::json(500, &json!({"error": "no terminal"})), "refused "),
            (Play::Reply(500, String::new()), "unknown "),
            (Play::Reply(405, String::new()), "not asked "),
            (Play::Reply(502, "<html>".to_owned()), "unknown "),
            (Play::Reply(200, "<html>".to_owned()), "unknown "),
            (Play::Reply(200, "{\"handle\":".to_owned()), "unknown "),
            (Play::json(200, &json!({"ok": true})), "unknown "),
            (
                Play::json(200, &json!({"handle": "x", "verified": true, "resumed": "another"})),
                "unverified ",
            ),
            (Play::Close, "unknown "),
            (Play::Cut, "unknown "),
            (Play::Redirect(format!("{}/elsewhere", station.serve_url())), "unknown "),
        ]) {
            station.on_spin(play.clone());
            let name = format!("seat-{nth}");
            let pulled =
                server.post("/session/pull", pull(nth, &json!({"name": name}))).await.result();
            let row = &pulled["handoff"];
            is_row(row);
            assert_eq!(
                (&row["state"], &row["session_id"], &row["tmux"]),
                (&json!("open"), &json!(id(nth)), &json!(name)),
                "{play:?}"
            );
            assert!(row["spawn_note"].as_str().unwrap().starts_with(note), "{play:?}: {row}");
            assert_eq!(
                (&pulled["status"], &pulled["station"]["spun"]),
                (&json!("open"), &json!(false))
            );
            assert!(!pulled["station"]["error"].as_str().unwrap().is_empty(), "{pulled}");
            let words = pulled["note"].as_str().unwrap();
            assert!(
                words.contains(&format!("session_spin id={}", row["id"].as_str().unwrap())),
                "{words}"
            );
            // Once more in vain, then as it should be.
            let spin = json!({"id": row["id"]});
            let vain = server.post("/session/spin", spin.clone()).await.result();
            assert_eq!((&vain["status"], &vain["handoff"]["tmux"]), (&json!("open"), &json!(name)));
            station.on_spin(Play::json(
                200,
                &json!({"handle": "tmux:it", "session": name, "verified": true}),
            ));
            let spun = server.post("/session/spin", spin).await.result();
            assert_eq!(
                (&spun["status"], &spun["handle"]),
                (&json!("spun"), &json!("tmux:it")),
                "{play:?}"
            );
            let orders = station.orders();
            let asked = orders.iter().filter(|order| order.body["resume"] == json!(id(nth)));
            assert!(asked.clone().all(|order| order.body["name"] == json!(name)), "{play:?}");
        }
    }
}

/// A station that cannot go on with a session is never asked for a seat: it would be a fresh one.
#[tokio::test]
async fn no_fresh_seat_is_ever_asked_for() {
    let station = Station::start().await;
    let server = with(&station).start().await;
    for (nth, play) in (1..).zip([
        Play::Reply(405, String::new()),
        Play::json(200, &json!({"ok": true, "features": ["fork"]})),
        Play::json(200, &json!({"ok": false, "error": "no tmux"})),
        Play::json(401, &json!({})),
        Play::Reply(200, "<html>".to_owned()),
        Play::Close,
    ]) {
        station.on_probe(play.clone());
        let pulled = server.post("/session/pull", pull(nth, &json!({}))).await.result();
        assert_eq!(
            (&pulled["status"], &pulled["handle"]),
            (&json!("open"), &json!("")),
            "{play:?}"
        );
        assert_eq!(pulled["locus"], format!("sess-{nth:08}"));
    }
    assert!(station.orders().is_empty());
    let bare = Server::start("").await;
    let pulled = bare.post("/session/pull", pull(1, &json!({}))).await.result();
    assert_eq!((&pulled["status"], &pulled["station"]["ok"]), (&json!("open"), &json!(false)));
    assert!(pulled["station"]["error"].as_str().unwrap().contains("station.spawn_url"), "{pulled}");
    let gone = with(&station);
    drop(station);
    let pulled = gone.start().await.post("/session/pull", pull(1, &json!({}))).await.result();
    assert!(
        pulled["handoff"]["spawn_note"].as_str().unwrap().starts_with("not asked "),
        "{pulled}"
    );
}

/// While a station thinks, no other call asks it for that seat; a caller that goes away leaves the
/// session open, and what is known of it.
#[tokio::test(flavor = "multi_thread")]
async fn one_call_at_a_time_asks_for_a_seat() {
    let station = Station::start().await;
    for (server, _database) in on_both(|| with(&station)).await {
        let server = Arc::new(server);
        let before = station.orders().len();
        station.on_spin(Play::Hang);
        let mut waiting = JoinSet::new();
        let calling = server.clone();
        waiting.spawn(async move { calling.post("/session/pull", pull(7, &json!({}))).await });
        until("the station is asked", async || station.orders().len() > before).await;
        let listed = server.get("/session/list").await.result();
        let row = listed[0].clone();
        assert_eq!((&row["state"], &row["session_id"]), (&json!("open"), &json!(id(7))));
        assert!(row["spawn_note"].as_str().unwrap().contains("no answer is known"), "{row}");
        let mut tasks = JoinSet::new();
        for _ in 0..8 {
            let (server, spin) = (server.clone(), json!({"id": row["id"]}));
            tasks.spawn(async move { server.post("/session/spin", spin).await });
        }
        for refused in tasks.join_all().await {
            assert!(
                refused.status == 409 && refused.fault().1.contains("is being seated"),
                "{}",
                refused.text
            );
        }
        waiting.shutdown().await;
        assert_eq!(station.orders().len(), before + 1);
        // The term of the order passes.
        let mut tx = server.app.store.begin().await.unwrap();
        tx.sql("UPDATE handoffs SET spin_until = 1 WHERE spin_until > 0").run().await.unwrap();
        tx.commit().await.unwrap();
        station.on_spin(Play::verified());
        let spun = server.post("/session/spin", json!({"id": row["id"]})).await.result();
        assert_eq!(
            (&spun["status"], &spun["handoff"]["session_id"]),
            (&json!("spun"), &json!(id(7)))
        );
    }
}

/// Two replicas over one database ask a station once.
#[tokio::test(flavor = "multi_thread")]
async fn two_replicas_ask_for_one_seat() {
    let Some(database) = fake::Database::create().await else { return };
    let station = Station::start().await;
    let mut servers = Vec::new();
    for _ in 0..2 {
        let setup = with(&station).env("ADJUTANT_DATABASE_URL", &database.url());
        servers.push(Arc::new(setup.start().await));
    }
    station.on_spin(Play::json(409, &json!({"error": "not now"})));
    let pulled = servers[0].post("/session/pull", pull(8, &json!({}))).await.result();
    let spin = json!({"id": pulled["handoff"]["id"]});
    let before = station.orders().len();
    station.on_spin(Play::Hang);
    let mut tasks = JoinSet::new();
    for nth in 0..16 {
        let (server, spin) = (servers[nth % 2].clone(), spin.clone());
        tasks.spawn(async move { server.post("/session/spin", spin).await });
    }
    for _ in 0..15 {
        let refused = tasks.join_next().await.unwrap().unwrap();
        assert!(
            refused.status == 409 && refused.fault().1.contains("is being seated"),
            "{}",
            refused.text
        );
    }
    until("the station is asked", async || station.orders().len() > before).await;
    tasks.shutdown().await;
    assert_eq!(station.orders().len(), before + 1);
}

#[tokio::test]
async fn what_is_wrong_is_told_with_its_status_and_its_remedy() {
    let server = Server::start("").await;
    let seat = server
        .post("/handoff/request", json!({"locus": "ho", "text": "go on"}))
        .await
        .result()["id"]
        .clone();
    let open =
        server.post("/session/pull", pull(1, &json!({}))).await.result()["handoff"]["id"].clone();
    for (path, body, status, words) in [
        ("pull", json!({"ssh": "me@h", "dir": "/d"}), 400, "CLAUDE_CODE_SESSION_ID"),
        ("pull", json!({"session_id": id(1), "dir": "/d"}), 400, "TOOLSERVER_SELF_SSH"),
        (
            "pull",
            json!({"session_id": id(1), "ssh": "me@h"}),
            400,
            "`dir` is missing: the stdio bridge `adjutant mcp`",
        ),
        ("pull", json!({"session_id": "nonsense", "ssh": "me@h", "dir": "/d"}), 400, "`nonsense`"),
        ("pull", pull(1, &json!({"ssh": "no address"})), 400, "user@host[:port]"),
        ("pull", pull(1, &json!({"user": "-x"})), 400, "user@host[:port]"),
        ("pull", pull(1, &json!({"name": "My Seat!"})), 400, "name"),
        ("pull", pull(1, &json!({"locus": "a.b"})), 400, "`a.b`"),
        ("pull", pull(1, &json!({"seat": "sofa"})), 400, "`claude` or `keeper`"),
        ("pull", pull(1, &json!({"brief": "x".repeat(4_001)})), 413, "4000"),
        ("pull", pull(1, &json!({"dir": "d".repeat(201)})), 413, "200"),
        ("list", json!({"status": "bogus"}), 400, "`spun`"),
        ("spin", json!({"id": "nonsense"}), 400, "`nonsense`"),
        ("spin", json!({}), 400, "id"),
        ("spin", json!({"id": "h99999"}), 404, "handoff_list"),
        ("spin", json!({"id": seat}), 409, "handoff_pull"),
        ("release", json!({"id": open, "status": "open"}), 400, "`done` or `abandoned`"),
        ("release", json!({"id": seat}), 409, "handoff_claim"),
        ("release", json!({"id": "h99999"}), 404, "handoff_list"),
    ] {
        let reply = server.post(&format!("/session/{path}"), body.clone()).await;
        let told = reply.fault().1;
        assert!(
            reply.status == status && told.contains(words),
            "{path} {body}: {} {told}",
            reply.status
        );
    }
    let pulled = server.post("/handoff/pull", json!({"id": open, "session_id": id(9)})).await;
    assert!(pulled.status == 409 && pulled.fault().1.contains("session_spin"), "{}", pulled.text);
}

/// What clients of the earlier server call and this one has not: an answer at once, by path and by
/// name, to who may call at all; listed nowhere.
#[tokio::test]
async fn what_is_not_here_says_so_at_once() {
    let server = Setup::new("").start().await;
    for name in [
        "claude_dirs",
        "claude_dir_pick",
        "claude_oauth_token",
        "permit_pending",
        "permit_answer",
        "station_list",
        "pypit_bind_session",
    ] {
        let path = format!("/{}", name.replacen('_', "/", 1));
        let mut told = Vec::new();
        for reply in [
            server.post(&path, json!({})).await,
            server.post(&format!("{path}/"), json!({"x": 1})).await,
            server.get(&path).await,
            server.post("/ts/call", json!({"name": name, "arguments": {}})).await,
        ] {
            assert_eq!((reply.status, &*reply.fault().0), (503, "unavailable"), "{name}");
            told.push(reply.fault().1);
        }
        assert!(told.windows(2).all(|pair| pair[0] == pair[1]), "{told:?}");
        assert_eq!(
            server.request(Method::POST, &path).token(None).json(json!({})).send().await.status,
            401
        );
    }
    for name in ["node_list", "role_list", "cred_list", "claude_/x"] {
        let path = format!("/{}", name.replacen('_', "/", 1));
        assert_eq!(server.post(&path, json!({})).await.status, 404, "{path}");
    }
    let flat = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    for text in [
        server.get("/endpoints").await.text,
        server.get("/prefixes").await.text,
        server.get("/openapi.json").await.text,
        server.post("/mcp?mode=flat", flat).await.text,
        server.post("/ts/list", json!({})).await.text,
    ] {
        for area in ["claude", "permit", "pypit"] {
            assert!(
                !text.contains(&format!("/{area}")) && !text.contains(&format!("\"{area}_")),
                "{area}"
            );
        }
    }
}
