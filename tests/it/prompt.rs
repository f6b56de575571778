//! The operator's inbox through the doors, on both engines.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, symlink},
    path::Path,
};

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Server, Setup, on_both};

/// `hello` as base64.
const HELLO: &str = "aGVsbG8=";

fn submit(text: &str) -> Value {
    json!({ "locus": "pr", "text": text })
}

/// The directories of prompts on the shelf.
fn shelf(server: &Server) -> Vec<String> {
    let entries = fs::read_dir(server.path("data/prompts")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_prompt_is_kept_whole_read_and_finished() {
    for (server, _database) in on_both(Setup::default).await {
        let post = async |path: &str, body: Value| server.post(path, body).await.result();
        let given = json!({
            "locus": "PR", "text": "paint it", "by": "dana", "session": "s-1", "source": "web",
            "files": [
                { "name": "a.txt", "type": "text/plain", "b64": HELLO },
                { "name": "../../evil.sh", "dataUrl": format!("data:text/x-sh;base64,{HELLO}") },
                { "name": "a.txt", "b64": "" },
            ],
        });
        let sent = post("/prompt/submit", given).await;
        assert_eq!(
            (&sent["id"], &sent["locus"], &sent["session"]),
            (&json!("p1"), &json!("pr"), &json!("s-1"))
        );
        assert_eq!(sent["files"], json!(["a.txt", "_._.._evil.sh", "_a.txt"]));
        let dir = Path::new(sent["path"].as_str().unwrap());
        assert!(
            dir.starts_with(server.path("data/prompts").canonicalize().unwrap())
                || dir.starts_with(server.path("data/prompts"))
        );
        assert_eq!(fs::read_to_string(sent["prompt_path"].as_str().unwrap()).unwrap(), "paint it");
        for (name, text) in [("a.txt", "hello"), ("_._.._evil.sh", "hello"), ("_a.txt", "")] {
            assert_eq!(fs::read_to_string(dir.join(name)).unwrap(), text);
            assert_eq!(fs::metadata(dir.join(name)).unwrap().mode() & 0o077, 0);
        }
        assert!(sent["pointer"].as_str().unwrap().contains("3 attached"), "{sent}");
        let item = post("/todo/list", json!({ "locus": "pr" })).await[0].take();
        assert_eq!(
            (&item["id"], &item["type"], &item["priority"]),
            (&sent["board_id"], &json!("operator"), &json!("high"))
        );
        assert_eq!(
            item["note"],
            format!("[prompt] p1 from dana\n{}", sent["pointer"].as_str().unwrap())
        );

        let bare = post("/prompt/submit", submit("second")).await;
        assert_eq!((&bare["id"], &bare["session"]), (&json!("p2"), &json!("repl")));
        let rows = server.get("/prompt/list?locus=pr").await.result();
        assert_eq!(
            (&rows[0]["id"], &rows[1]["id"], &rows[0]["source"]),
            (&json!("p2"), &json!("p1"), &json!("station"))
        );
        assert_eq!(rows[1]["files"][1], json!({ "name": "_._.._evil.sh", "type": "", "size": 5 }));
        let page = post("/prompt/list", json!({ "page": true, "limit": 1 })).await;
        let page = post("/prompt/list", json!({ "page": true, "after": page["next"] })).await;
        assert_eq!((&page["items"][0]["id"], &page["next"]), (&json!("p1"), &Value::Null));

        let read = post("/prompt/get", json!({ "id": "1", "with_files": true })).await;
        assert_eq!((&read["text"], &read["pointer"]), (&json!("paint it"), &sent["pointer"]));
        assert_eq!(
            (&read["files"][0]["b64"], &read["files"][2]["b64"]),
            (&json!(HELLO), &json!(""))
        );
        let one =
            post("/prompt/get", json!({ "id": "P1", "with_files": true, "file": "_a.txt" })).await;
        assert!(one["files"][0].get("b64").is_none() && one["files"][2]["b64"] == "", "{one}");
        assert!(post("/prompt/get", json!({ "id": "p1" })).await["files"][0].get("b64").is_none());

        let done = post("/prompt/done", json!({ "id": "p1" })).await;
        assert_eq!((&done["status"], done["committed_at"].is_string()), (&json!("done"), true));
        let item = post("/todo/list", json!({ "locus": "pr", "status": "done" })).await[0].take();
        assert_eq!(item["id"], sent["board_id"]);
        let delivered = post("/prompt/done", json!({ "id": "p2", "status": "delivered" })).await;
        assert_eq!(delivered["status"], "delivered");
        assert_eq!(post("/prompt/list", json!({ "locus": "pr" })).await, json!([]));
        assert_eq!(
            post("/prompt/list", json!({ "status": "" })).await.as_array().unwrap().len(),
            2
        );
        assert_eq!(shelf(&server).len(), 2);
        // The next start finds all of it.
        let server = server.restart().await;
        let read =
            server.post("/prompt/get", json!({ "id": "p1", "with_files": true })).await.result();
        assert_eq!(read["files"][0]["b64"], HELLO);
    }
}

#[tokio::test]
async fn what_is_odd_or_too_large_is_refused_and_nothing_of_it_is_kept() {
    for (server, _database) in on_both(Setup::default).await {
        let file = |file: Value| json!({ "locus": "pr", "text": "x", "files": [file] });
        let many = vec![json!({ "name": "x", "b64": HELLO }); 21];
        for (body, status, says) in [
            (submit(""), 400, "`text` is empty"),
            (submit("a\0b"), 400, "NUL"),
            (json!({ "text": "x" }), 400, "locus"),
            (json!({ "locus": "p.r", "text": "x" }), 400, "must match"),
            (file(json!({ "name": "x", "b64": "!!!" })), 400, "is no base64"),
            (file(json!({ "name": "x" })), 400, "needs its bytes once"),
            (file(json!({ "name": "x", "dataUrl": "http://x" })), 400, "dataUrl"),
            (file(json!(5)), 400, "`b64`"),
            (json!({ "locus": "pr", "text": "x", "files": "x" }), 400, "files"),
            (file(json!({ "name": "x", "type": "a\nb", "b64": HELLO })), 400, "control character"),
            (json!({ "locus": "pr", "text": "x", "by": "a\nb" }), 400, "control character"),
            (json!({ "locus": "pr", "text": "x", "files": many }), 413, "21"),
            (submit(&"x".repeat(262_145)), 413, "262145"),
            (json!({ "locus": "pr", "text": "x", "by": "b".repeat(81) }), 413, "`by`"),
        ] {
            let reply = server.post("/prompt/submit", body).await;
            assert_eq!(reply.status, status, "{}", reply.text);
            assert!(reply.fault().1.contains(says), "{says}: {}", reply.text);
        }
        for (path, body, status) in [
            ("/prompt/get", json!({ "id": "p9" }), 404),
            ("/prompt/get", json!({ "id": "x1" }), 400),
            ("/prompt/done", json!({ "id": "p9" }), 404),
            ("/prompt/done", json!({ "id": "p1", "status": "gone" }), 400),
            ("/prompt/list", json!({ "status": "gone" }), 400),
            ("/prompt/list", json!({ "after": "x" }), 400),
        ] {
            assert_eq!(server.post(path, body).await.status, status, "{path}");
        }
        assert_eq!(shelf(&server), [""; 0]);
        assert_eq!(server.post("/prompt/list", json!({ "status": "" })).await.result(), json!([]));
        server.post("/prompt/submit", submit("x")).await.result();
        let unknown = json!({ "id": "p1", "with_files": true, "file": "../lock" });
        assert_eq!(server.post("/prompt/get", unknown).await.status, 404);
    }
}

/// All prompts share one bound: what does not fit leaves neither a row nor a file.
#[tokio::test]
async fn the_quota_holds_for_rows_and_files_alike() {
    for (server, _database) in
        on_both(|| Setup::new("").settings("[prompts]\nquota = \"100 B\"")).await
    {
        server.post("/prompt/submit", submit(&"x".repeat(60))).await.result();
        let over = server.post("/prompt/submit", submit(&"x".repeat(41))).await;
        assert_eq!((over.status, over.fault().0.as_str()), (413, "too_large"));
        assert!(over.fault().1.contains("`prompts.quota` is 100"), "{}", over.text);
        assert_eq!(shelf(&server).len(), 1);
        server.post("/prompt/submit", submit(&"x".repeat(40))).await.result();
        assert_eq!(server.post("/prompt/submit", submit("x")).await.status, 413);
        assert_eq!(shelf(&server).len(), 2);
        assert_eq!(
            server
                .post("/todo/list", json!({ "locus": "pr" }))
                .await
                .result()
                .as_array()
                .unwrap()
                .len(),
            2
        );
    }
}

/// What somebody planted in the data directory is neither followed nor answered, and a file that is
/// gone takes no other with it.
#[tokio::test]
async fn a_file_that_is_not_what_was_submitted_is_told_and_the_others_come() {
    let server = Server::start("").await;
    fs::write(server.path("precious"), "precious").unwrap();
    let given = json!({ "locus": "pr", "text": "x", "files": [
        { "name": "kept", "b64": HELLO }, { "name": "gone", "b64": HELLO },
        { "name": "link", "b64": HELLO }, { "name": "grown", "b64": HELLO },
    ] });
    let sent = server.post("/prompt/submit", given).await.result();
    let dir = Path::new(sent["path"].as_str().unwrap());
    fs::remove_file(dir.join("gone")).unwrap();
    fs::remove_file(dir.join("link")).unwrap();
    symlink(server.path("precious"), dir.join("link")).unwrap();
    fs::write(dir.join("grown"), "hello, and more").unwrap();
    let read = server.post("/prompt/get", json!({ "id": "p1", "with_files": true })).await.result();
    assert_eq!(read["files"][0]["b64"], HELLO);
    for (nth, says) in
        [(1, "has not kept it"), (2, "not what was submitted"), (3, "not what was submitted")]
    {
        let file = &read["files"][nth];
        assert!(
            file.get("b64").is_none() && file["error"].as_str().unwrap().contains(says),
            "{file}"
        );
    }
    // In the place of the whole inbox: then the server does not start.
    let server = Server::start("").await;
    let data = server.path("data");
    fs::remove_dir_all(data.join("prompts")).unwrap();
    symlink(server.path(""), data.join("prompts")).unwrap();
    let reply = server.post("/prompt/submit", submit("x")).await;
    assert_eq!(reply.status, 503, "{}", reply.text);
    assert!(!server.path("prompt.md").exists());
}

#[tokio::test]
async fn a_caller_sees_and_changes_the_prompts_of_its_own_loci_alone() {
    let server = Server::start("").await;
    let token = server.mint(json!({ "name": "one", "scope": "write", "loci": ["mine"] })).await;
    let call = async |path: &str, body: Value| {
        server.request(Method::POST, path).token(Some(&token)).json(body).send().await
    };
    server.post("/prompt/submit", json!({ "locus": "theirs", "text": "secret" })).await.result();
    call("/prompt/submit", json!({ "locus": "mine", "text": "x" })).await.result();
    assert_eq!(call("/prompt/submit", json!({ "locus": "theirs", "text": "x" })).await.status, 403);
    assert_eq!(call("/prompt/list", json!({ "locus": "theirs" })).await.status, 403);
    let rows = call("/prompt/list", json!({})).await.result();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["id"]), (1, &json!("p2")));
    for (path, body) in [
        ("/prompt/get", json!({ "id": "p1", "with_files": true })),
        ("/prompt/done", json!({ "id": "p1" })),
    ] {
        let hidden = call(path, body.clone()).await;
        let mut missing = body;
        missing["id"] = json!("p99");
        let missing = call(path, missing).await;
        assert_eq!((hidden.status, missing.status), (404, 404));
        assert_eq!(hidden.fault().1, missing.fault().1.replace("p99", "p1"));
    }
    let theirs = server.post("/prompt/get", json!({ "id": "p1" })).await.result();
    assert_eq!(theirs["status"], "open");
}
