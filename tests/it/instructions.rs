//! The tree of instructions through the doors, on both engines.

use std::{collections::BTreeSet, os::unix::fs::symlink};

use adjutant::tools::catalogue;
use mcp::{Caller, Scope};
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Server, Setup, on_both};

const OWN: [&str; 3] = ["instructions/delegation", "instructions/records", "tools/toolserver"];

fn add(path: &str, text: &str) -> Value {
    json!({ "path": path, "text": text })
}

#[tokio::test]
async fn a_document_is_contributed_once_and_shown_with_whose_it_is() {
    for (server, _database) in on_both(Setup::default).await {
        let post = async |path: &str, body: Value| server.post(path, body).await.result();
        let given = json!({
            "path": "/Instructions/web-7/deploy/", "text": "# Deploying\n\n1. <b>carefully</b>\n",
            "created_by": "dana",
        });
        let added = post("/instructions/add", given.clone()).await;
        assert_eq!(
            (&added["created"], &added["key"]),
            (&json!(true), &json!("instructions/web-7/deploy"))
        );
        assert_eq!(
            (&added["path"], &added["title"]),
            (&json!("/instructions/web-7/deploy/"), &json!("Deploying"))
        );
        assert_eq!(
            added["read"],
            json!({ "name": "instructions_read", "arguments": { "path": "instructions/web-7/deploy" } })
        );
        assert!(added["committed_at"].is_string());
        let again = server.post("/instructions/add", given).await;
        assert_eq!((again.status, again.fault().0.as_str()), (409, "conflict"));

        let tree = server.get("/instructions/tree").await.result();
        assert_eq!(tree["count"], 4);
        let keys: Vec<&str> = tree["documents"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["key"].as_str().unwrap())
            .collect();
        assert!(keys.is_sorted() && OWN.iter().all(|own| keys.contains(own)), "{keys:?}");
        let contributed = &tree["documents"][2];
        assert_eq!(
            (&contributed["source"], &contributed["created_by"]),
            (&json!("contributed"), &json!("dana"))
        );
        assert!(
            contributed["token"].as_str().is_some_and(|token| !token.is_empty()),
            "{contributed}"
        );
        assert!(tree["documents"][0].get("token").is_none(), "{tree}");

        // By the tool and by its route, with a slash at its end or not.
        let read = post("/instructions/read", json!({ "path": "instructions/web-7/deploy" })).await;
        let text = read["text"].as_str().unwrap();
        let (whose, rest) = text.split_once("\n\n").unwrap();
        assert_eq!(rest, "# Deploying\n\n1. <b>carefully</b>\n");
        let token = contributed["token"].as_str().unwrap();
        assert!(
            whose.starts_with("> Contributed by \"dana\"") && whose.contains(&format!("`{token}`")),
            "{whose}"
        );
        assert_eq!(
            (&read["content_type"], &read["title"]),
            (&json!("text/markdown"), &json!("Deploying"))
        );
        for url in ["/instructions/web-7/deploy", "/instructions/web-7/deploy/"] {
            let page = server.get(url).await;
            assert_eq!(
                (page.status, page.header("content-type")),
                (200, "text/markdown; charset=utf-8")
            );
            assert_eq!(page.text, text);
        }
        // The server's own are their texts alone.
        let guide = post("/instructions/read", json!({})).await;
        assert_eq!(
            (&guide["key"], &guide["source"]),
            (&json!("tools/toolserver"), &json!("built-in"))
        );
        for url in ["/tools/toolserver", "/tools/toolserver/"] {
            assert_eq!(server.get(url).await.text, guide["text"].as_str().unwrap());
        }
        for own in &OWN[..2] {
            assert!(server.get(&format!("/{own}/")).await.text.starts_with("# "));
        }

        let wrong = json!({ "path": "instructions/web-7/deploy", "confirm": "instructions/web-7" });
        assert_eq!(server.post("/instructions/remove", wrong).await.status, 400);
        let right = json!({ "path": "instructions/web-7/deploy", "confirm": "/instructions/web-7/deploy/" });
        assert_eq!(
            post("/instructions/remove", right.clone()).await["removed"],
            "instructions/web-7/deploy"
        );
        assert_eq!(server.post("/instructions/remove", right).await.status, 404);
        let own = json!({ "path": "tools/toolserver", "confirm": "tools/toolserver" });
        assert_eq!(server.post("/instructions/remove", own).await.status, 409);
        assert_eq!(server.get("/instructions/web-7/deploy").await.status, 404);
    }
}

/// No path leads anywhere but to a document, whatever lies on the disk.
#[tokio::test]
async fn a_path_that_escapes_is_refused() {
    for (server, _database) in on_both(Setup::default).await {
        std::fs::create_dir(server.path("data/instructions")).unwrap();
        symlink("/etc", server.path("data/instructions/etc")).unwrap();
        let tree = server.post("/instructions/tree", json!({})).await.result();
        for path in [
            "..",
            "../x",
            "/etc/passwd",
            "instructions",
            "instructions/",
            "instructions/..",
            "instructions/../x",
            "instructions/a/../../x",
            "instructions/%2e%2e/x",
            "instructions/%2E%2E",
            "instructions/a%2fb",
            "instructions/a\0b",
            "instructions/a\\b",
            "instructions/a//b",
            "instructions/.a",
            "//instructions/a",
            "instructions/a b",
            "instructions/\u{2024}\u{2024}/x",
            "tools/other",
            "file:///etc/passwd",
            "instructions/a/b/c/d/e/f/g/h/i",
        ] {
            let read = server.post("/instructions/read", json!({ "path": path })).await;
            assert_eq!(
                (read.status, read.fault().0.as_str()),
                (400, "invalid"),
                "{path:?}: {}",
                read.text
            );
            let given = server.post("/instructions/add", add(path, "text")).await;
            assert_eq!(given.status, 400, "{path:?}: {}", given.text);
            assert!(given.fault().1.contains("1 to 8 parts"), "{}", given.text);
        }
        for path in
            ["tools/toolserver", "instructions/tree", "instructions/read", "instructions/add"]
        {
            assert_eq!(
                server.post("/instructions/add", add(path, "text")).await.status,
                400,
                "{path}"
            );
        }
        // A link on the disk means nothing.
        assert_eq!(server.get("/instructions/etc/passwd").await.status, 404);
        // As the bytes of a request: no client cleans them up first.
        for target in [
            "/instructions/../healthz",
            "/instructions/%2e%2e/x",
            "/instructions/%2e%2e%2fx",
            "/instructions/..%2f..%2fetc/passwd",
            "/instructions/a%00b",
            "/instructions/a//b",
            "/instructions/%ff",
            "/instructions//etc/passwd",
            "/instructions/.hidden",
        ] {
            let head = format!(
                "GET {target} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
                server.address(),
                server.token
            );
            let answer = server.raw(head.as_bytes()).await;
            assert!(answer.starts_with("HTTP/1.1 400"), "{target}: {answer}");
            assert!(answer.contains("\"code\":\"invalid\""), "{answer}");
        }
        for (url, status) in [
            ("/instructions/none", 404),
            ("/instructions/", 404),
            ("/instructions", 404),
            ("/tools/other", 404),
            ("/tools", 404),
        ] {
            assert_eq!(server.get(url).await.status, status, "{url}");
        }
        assert_eq!(
            server.request(Method::POST, "/tools/toolserver").json(json!({})).send().await.status,
            405
        );
        // What is too large or blank leaves nothing either.
        for (body, status) in [
            (add("instructions/a", " \n"), 400),
            (add("instructions/a", "a\0b"), 400),
            (json!({ "path": "instructions/a" }), 400),
            (json!({ "path": "instructions/a", "text": "x", "created_by": "a\nb" }), 400),
            (json!({ "path": "instructions/a", "text": "x", "title": "t".repeat(201) }), 413),
            (add("instructions/a", &"x".repeat(262_145)), 413),
        ] {
            let reply = server.post("/instructions/add", body).await;
            assert_eq!(reply.status, status, "{}", reply.text);
        }
        assert_eq!(server.post("/instructions/tree", json!({})).await.result(), tree);
        server
            .post("/instructions/add", add("instructions/a", &"x".repeat(262_144)))
            .await
            .result();
    }
}

/// A document of a locus is for who reaches it; nobody writes for others.
#[tokio::test]
async fn a_caller_reads_and_writes_what_its_token_reaches() {
    let server = Server::start("").await;
    let one = server.mint(json!({ "name": "one", "scope": "destroy", "loci": ["mine"] })).await;
    let two =
        server.mint(json!({ "name": "two", "scope": "destroy", "loci": ["mine", "theirs"] })).await;
    let low = server.mint(json!({ "name": "low", "scope": "read" })).await;
    let call = async |token: &str, path: &str, body: Value| {
        server.request(Method::POST, path).token(Some(token)).json(body).send().await
    };
    server.post("/instructions/add", add("instructions/everybodys", "x")).await.result();
    let theirs = json!({ "path": "instructions/theirs", "text": "x", "locus": "theirs" });
    server.post("/instructions/add", theirs).await.result();
    let mine = call(&one, "/instructions/add", add("instructions/mine", "x")).await.result();
    assert_eq!(mine["locus"], "mine");
    let foreign = json!({ "path": "instructions/foreign", "text": "x", "locus": "theirs" });
    assert_eq!(call(&one, "/instructions/add", foreign).await.status, 403);
    assert_eq!(call(&two, "/instructions/add", add("instructions/whose", "x")).await.status, 400);
    assert_eq!(call(&low, "/instructions/add", add("instructions/low", "x")).await.status, 404);
    let tree = call(&one, "/instructions/tree", json!({})).await.result();
    assert_eq!(tree["count"], 5);
    let get = async |token: &str, path: &str| {
        server.request(Method::GET, path).token(Some(token)).send().await
    };
    for (path, status) in [("everybodys", 200), ("mine", 200), ("theirs", 404), ("records", 200)] {
        assert_eq!(get(&one, &format!("/instructions/{path}")).await.status, status, "{path}");
    }
    let gone = json!({ "path": "instructions/theirs", "confirm": "instructions/theirs" });
    assert_eq!(call(&one, "/instructions/remove", gone).await.status, 404);
    let gone = json!({ "path": "instructions/everybodys", "confirm": "instructions/everybodys" });
    let refused = call(&one, "/instructions/remove", gone).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.text.contains("everybody's"), "{}", refused.text);
    assert_eq!(get(&one, "/instructions/everybodys").await.status, 200);
    assert_eq!(get(&two, "/instructions/theirs").await.status, 200);
    // Whose it is names the token that it came with, whatever its author calls itself.
    let shown = get(&two, "/instructions/mine").await.text;
    assert!(shown.contains("token `one`") && shown.contains("`mine`"), "{shown}");
    // Where the tool is not, its routes are not either.
    let settings = "[profiles.few]\nallowed = [\"ledger_get\"]\n";
    let server = Setup::new("").settings(settings).start().await;
    let few = server.mint(json!({ "name": "few", "scope": "read", "profile": "few" })).await;
    for path in ["/tools/toolserver", "/instructions/records"] {
        let reply = server.request(Method::GET, path).token(Some(&few)).send().await;
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(server.get(path).await.status, 200, "{path}");
        assert_eq!(
            server.request(Method::GET, path).token(None).send().await.status,
            401,
            "{path}"
        );
    }
}

/// What the documents name is there, so that a model that follows them gets on.
#[tokio::test]
async fn the_documents_name_tools_and_documents_that_there_are() {
    let server = Server::start("").await;
    let names: BTreeSet<&str> = catalogue().entries().iter().map(|entry| entry.spec.name).collect();
    let areas: BTreeSet<&str> =
        catalogue().entries().iter().map(|entry| entry.spec.area()).collect();
    let caller = Caller::new("t", Scope::Write);
    let mut named = BTreeSet::new();
    for own in OWN {
        let text = server.get(&format!("/{own}")).await.text;
        assert!((1_500..6_000).contains(&text.len()), "{own}: {} bytes", text.len());
        for word in text.split('`').skip(1).step_by(2) {
            let is_tool = word.split_once('_').is_some_and(|(area, _)| areas.contains(area));
            if is_tool && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
                assert!(names.contains(word), "{own} names `{word}`");
                assert!(catalogue().get(word, &caller).is_ok(), "{own}: `{word}` is for few");
                named.insert(word.to_owned());
            }
            if word.starts_with("instructions/") {
                assert!(OWN.contains(&word), "{own} names `{word}`");
            }
        }
    }
    for core in catalogue().entries().iter().filter(|entry| entry.spec.core) {
        let name = core.spec.name;
        assert!(
            named.contains(name) || name == "delegate",
            "no document names the core tool `{name}`"
        );
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "instructions_read", "arguments": {} } });
    let reply = server.post("/mcp", body).await.json();
    assert!(
        reply["result"]["content"][0]["text"].as_str().unwrap().starts_with("# Using this server"),
        "{reply}"
    );
}
