//! The registry of loci, by every door.

use std::{collections::BTreeSet, sync::Arc};

use adjutant::{app::App, tools::catalogue};
use mcp::{Caller, Code, Fault, Scope};
use serde_json::{Value, json};

use crate::harness::{Server, Setup};

/// The keys of an object, sorted.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Calls a tool as a caller that reaches these loci alone.
pub(crate) async fn call_as(
    app: &App,
    loci: &[&str],
    tool: &str,
    arguments: Value,
) -> Result<Value, Fault> {
    let mut caller = Caller::new("t", Scope::Destroy);
    caller.rights.loci =
        Some(loci.iter().map(|locus| (*locus).to_owned()).collect::<BTreeSet<_>>());
    let entry = catalogue().get(tool, &caller)?;
    let cx = mcp::Call::new(app.clone(), Arc::new(caller), "t");
    entry.invoke(arguments, cx).await.map(|reply| reply.value)
}

/// The servers to test on: SQLite, and PostgreSQL where there is one.
pub(crate) async fn on_both(setup: impl Fn() -> Setup, test: impl AsyncFn(Server)) {
    test(setup().start().await).await;
    if let Some(database) = fake::Database::create().await {
        test(setup().env("ADJUTANT_DATABASE_URL", &database.url()).start().await).await;
    }
}

#[tokio::test]
async fn a_locus_is_registered_found_archived_and_taken_back() {
    on_both(Setup::default, async |server: Server| {
        let first = json!({"locus": "LO_1", "goal": "the first", "endpoint": "me@127.0.0.1:22"});
        let row = server.post("/loci/register", first).await.result();
        let earlier =
            ["created", "endpoint", "goal", "kind", "locus", "pointer", "status", "updated"];
        assert!(earlier.iter().all(|key| keys(&row).contains(key)), "{row}");
        assert_eq!(
            (&row["locus"], &row["kind"], &row["pointer"]),
            (&json!("lo-1"), &json!("station"), &Value::Null)
        );
        assert_eq!((&row["source"], &row["status"]), (&json!("registry"), &json!("active")));
        assert!(row["committed_at"].as_str().unwrap().ends_with('Z'));
        assert!((1_700_000_000..5_000_000_000_i64).contains(&row["created"].as_i64().unwrap()));

        // As a string, as a client of the command line sends it.
        let pointer = r#"{"serve_url": "http://127.0.0.1:9", "a": {"b": 1}}"#;
        server.post("/loci/register", json!({"locus": "lo-2", "pointer": pointer})).await.result();
        let patch = json!({"locus": "lo-2", "pointer": {"serve_url": null, "c": 2}});
        let row = server.post("/loci/register", patch).await.result();
        assert_eq!(row["pointer"], json!({"a": {"b": 1}, "c": 2}));

        let row = server.post("/loci/archive", json!({"locus": "lo-1"})).await.result();
        assert_eq!(row["status"], "archived");
        server.post("/loci/archive", json!({"locus": "lo-1"})).await.result();
        let row = server.post("/loci/register", json!({"locus": "lo-1", "goal": "again"})).await;
        assert_eq!(row.result()["status"], "archived");
        let listed = server.get("/loci/list").await.result();
        let names = |rows: &Value| -> Vec<String> {
            let rows = rows.as_array().unwrap().iter();
            rows.map(|row| row["locus"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(&listed), ["lo-2"]);
        assert!(listed[0].as_object().unwrap().contains_key("node"));
        let of = async |query: Value| names(&server.post("/loci/list", query).await.result());
        assert_eq!(of(json!({"status": "archived"})).await, ["lo-1"]);
        assert_eq!(of(json!({"status": "", "kind": ""})).await, ["lo-1", "lo-2"]);
        assert_eq!(of(json!({"kind": "vm"})).await, [""; 0]);
        let back = json!({"locus": "lo-1", "reactivate": true});
        assert_eq!(server.post("/loci/register", back).await.result()["status"], "active");
        let nodes = server.post("/loci/nodes", json!({})).await.result();
        assert_eq!(
            nodes[0],
            json!({"locus": "lo-1", "kind": "station", "status": "active", "node": null})
        );

        let page = json!({"page": true, "limit": 1});
        let page = server.post("/loci/list", page).await.result();
        assert_eq!(names(&page["items"]), ["lo-1"]);
        let rest = json!({"page": true, "after": page["next"]});
        let rest = server.post("/loci/list", rest).await.result();
        assert_eq!((names(&rest["items"]), &rest["next"]), (vec!["lo-2".to_owned()], &Value::Null));
    })
    .await;
}

#[tokio::test]
async fn what_is_wrong_is_told_by_code_and_names_the_remedy() {
    let server = Setup::default().start().await;
    for (path, body, code, says) in [
        ("register", json!({"locus": "-lo"}), "invalid", "must match"),
        ("register", json!({"locus": "lo.5"}), "invalid", "must match"),
        ("register", json!({"goal": "x"}), "invalid", "locus"),
        ("register", json!({"locus": "a", "kind": "castle"}), "invalid", "station"),
        ("register", json!({"locus": "a", "pointer": "words"}), "invalid", "object"),
        (
            "register",
            json!({"locus": "a", "endpoint": "no address"}),
            "invalid",
            "user@host[:port]",
        ),
        ("register", json!({"locus": "a", "goal": "g".repeat(401)}), "too_large", "400"),
        (
            "register",
            json!({"locus": "a", "pointer": {"a": "x".repeat(8_000)}}),
            "too_large",
            "8000",
        ),
        ("archive", json!({"locus": "none"}), "not_found", "`none`"),
        ("list", json!({"kind": "castle"}), "invalid", "`session`"),
        ("list", json!({"status": "bogus"}), "invalid", "`archived`"),
        ("list", json!({"after": "x"}), "invalid", "next"),
        ("pointers", json!({"kind": "castle"}), "invalid", "`ssh`"),
    ] {
        let reply = server.post(&format!("/loci/{path}"), body.clone()).await;
        let (was, words) = reply.fault();
        assert!(was == code && words.contains(says), "{path} {body}: {was} {words}");
    }
    assert_eq!(server.post("/loci/list", json!({"status": ""})).await.result(), json!([]));
}

#[tokio::test]
async fn the_feed_of_pointers_has_the_shape_that_clients_know() {
    on_both(Setup::default, async |server: Server| {
        let ssh = json!({"host": "127.0.0.1", "user": "me", "port": 22});
        for body in [
            json!({"locus": "by-endpoint", "endpoint": "me@127.0.0.1"}),
            json!({"locus": "by-pointer", "kind": "ssh", "pointer": {"ssh": ssh}}),
            json!({"locus": "nowhere", "kind": "vm"}),
            json!({"locus": "sess", "kind": "session", "pointer": {"session_id": "s-1", "dir": "/srv", "login": "me", "ssh": ssh}}),
            json!({"locus": "gone", "endpoint": "me@127.0.0.1"}),
        ] {
            server.post("/loci/register", body).await.result();
        }
        server.post("/loci/archive", json!({"locus": "gone"})).await.result();
        let feed = server.post("/loci/pointers", json!({})).await.result();
        assert_eq!(keys(&feed), ["count", "sessions", "source", "ssh_hosts", "ts"]);
        assert_eq!(feed["source"], "toolserver");
        assert_eq!(feed["count"], json!({"ssh_hosts": 2, "sessions": 1}));
        assert_eq!(keys(&feed["ssh_hosts"]), ["by-endpoint", "by-pointer"]);
        let host = &feed["ssh_hosts"]["by-pointer"];
        assert_eq!(keys(host), ["goal", "host", "key", "kind", "locus", "node", "port", "updated", "user"]);
        assert_eq!((&host["port"], &host["key"]), (&json!(22), &json!("")));
        let mut session = feed["sessions"][0].clone();
        session["updated"] = json!(0);
        assert_eq!(session, json!({
            "dir": "/srv", "fork": true, "goal": "", "handle": "", "handoff_id": "", "locus": "sess",
            "login": "me", "mode": "pull", "seat": "claude", "session_id": "s-1",
            "ssh": {"host": "127.0.0.1", "key": "", "port": 22, "user": "me"},
            "station": "", "tmux": "", "updated": 0,
        }));
        let only = server.get("/loci/pointers?kind=ssh").await.result();
        assert_eq!(only["count"], json!({"ssh_hosts": 1, "sessions": 0}));
    })
    .await;
}

#[tokio::test]
async fn the_loci_of_the_settings_are_there_and_stay_as_somebody_left_them() {
    let earlier = "home-box=me@127.0.0.1|the machine itself, other_box=you@10.0.0.2:2222";
    let server = Setup::default().env("TOOLSERVER_DEFAULT_LOCI", earlier).start().await;
    let rows = server.post("/loci/list", json!({})).await.result();
    assert_eq!(rows.as_array().unwrap().len(), 2, "{rows}");
    assert_eq!(
        (&rows[0]["locus"], &rows[0]["goal"]),
        (&json!("home-box"), &json!("the machine itself"))
    );
    assert_eq!(
        (&rows[0]["endpoint"], &rows[1]["endpoint"]),
        (&json!("me@127.0.0.1"), &json!("you@10.0.0.2:2222"))
    );
    assert_eq!(
        rows[0]["pointer"],
        json!({"ssh": {"host": "127.0.0.1", "user": "me", "port": 22, "key": ""}})
    );
    server.post("/loci/archive", json!({"locus": "other-box"})).await.result();
    let server = server.restart().await;
    let rows = server.post("/loci/list", json!({"status": ""})).await.result();
    assert_eq!((&rows[1]["locus"], &rows[1]["status"]), (&json!("other-box"), &json!("archived")));
    // Archived is not absent; what was never registered is shown as what it is.
    let mut app = server.app.clone();
    let mut absent = app.default_loci[0].clone();
    absent.locus = "absent".parse().unwrap();
    app.default_loci = app.default_loci.iter().cloned().chain([absent]).collect();
    let all = ["home-box", "other-box", "absent"];
    let feed = call_as(&app, &all, "loci_pointers", json!({})).await.unwrap();
    assert_eq!(keys(&feed["ssh_hosts"]), ["absent", "home-box"]);
    assert_eq!(feed["ssh_hosts"]["absent"]["default"], true);
    assert!(feed["ssh_hosts"]["home-box"].get("default").is_none());
    let feed = call_as(&app, &["home-box"], "loci_pointers", json!({})).await.unwrap();
    assert_eq!(keys(&feed["ssh_hosts"]), ["home-box"]);

    let wrong = Setup::default().settings("[loci]\ndefault = [\"a.b=me@h\"]").try_start().await;
    let words = wrong.err().unwrap().to_string();
    assert!(words.contains("`loci.default`") && words.contains("a.b"), "{words}");
}

/// The machine itself, where nothing else is said: once, however often it starts.
#[tokio::test]
async fn the_machine_registers_itself_once() {
    let setup = Setup::default()
        .env("LOGNAME", "dana_x")
        .env("ADJUTANT__LOCI__MACHINE", "true")
        .settings("[loci]\nstation_user = \"\"");
    let server = setup.start().await;
    let feed = server.post("/loci/pointers", json!({})).await.result();
    let hosts = feed["ssh_hosts"].as_object().unwrap();
    assert_eq!(hosts.len(), 1, "{feed}");
    let (name, host) = hosts.iter().next().unwrap();
    assert!(name.ends_with("-dana-x") && host["user"] == "dana_x", "{feed}");
    assert!(host["host"].as_str().unwrap().parse::<std::net::IpAddr>().is_ok());
    let before = server.post("/loci/list", json!({})).await.result();
    let server = server.restart().await;
    assert_eq!(server.post("/loci/list", json!({})).await.result(), before);
}

#[tokio::test]
async fn a_caller_sees_and_touches_its_own_loci_alone() {
    let server = Setup::default().start().await;
    for locus in ["mine", "theirs"] {
        server.post("/loci/register", json!({"locus": locus, "endpoint": "me@h"})).await.result();
    }
    let app = &server.app;
    let mine = async |tool: &str, arguments: Value| call_as(app, &["mine"], tool, arguments).await;
    let rows = mine("loci_list", json!({})).await.unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert_eq!(mine("loci_nodes", json!({})).await.unwrap().as_array().unwrap().len(), 1);
    let feed = mine("loci_pointers", json!({})).await.unwrap();
    assert_eq!(keys(&feed["ssh_hosts"]), ["mine"]);
    // There or not: the same words.
    let theirs = mine("loci_archive", json!({"locus": "theirs"})).await.unwrap_err();
    let none = mine("loci_archive", json!({"locus": "none"})).await.unwrap_err();
    assert_eq!((theirs.code, &theirs.message), (Code::Forbidden, &none.message));
    assert!(mine("loci_register", json!({"locus": "theirs", "goal": "x"})).await.is_err());
    mine("loci_register", json!({"locus": "mine", "goal": "x"})).await.unwrap();
}
