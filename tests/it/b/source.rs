//! Ledgers and files as sources.

use std::{fs, os::unix::fs::symlink};

use fake::Fake;
use mcp::Code;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::{DOC, answers, ask, fails, holds, shown, statuses};
use crate::{
    harness::{Setup, local, on_both},
    loci::call_as,
};

/// A ledger is read at one revision, the newest or an older one, and the reply says which.
#[tokio::test]
async fn a_ledger_is_read_at_the_revision_that_is_named() {
    let fake = Fake::start().await;
    for (server, _database) in on_both(|| Setup::new(&local(&fake, "m"))).await {
        let blue = DOC.replace("red", "blue");
        for doc in [DOC, &blue] {
            let put = json!({ "locus": "bq", "task": "cart", "doc": doc });
            assert_eq!(server.post("/ledger/put", put).await.status, 200);
        }
        for (more, rev, doc) in [
            (json!({}), 2, &*blue),
            (json!({ "ledger_task": "cart" }), 2, &blue),
            (json!({ "ledger_task": "", "text": "", "model": "", "target": "" }), 2, &blue),
            (json!({ "ledger_task": "cart", "rev": 2 }), 2, &blue),
            (json!({ "ledger_task": "cart", "rev": 1 }), 1, DOC),
        ] {
            let mut body = json!({ "question": "which colour?", "ledger_locus": "BQ" });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            fake.script("m", [answers("red", &["the cart is red", "the cart is blue"])]);
            let reply = ask(&server, body).await;
            assert_eq!(
                (&reply["source"]["label"], &reply["source"]["rev"]),
                (&json!("ledger:bq/cart"), &json!(rev)),
                "{more}"
            );
            let wanted =
                if rev == 1 { ["verified", "unverified"] } else { ["unverified", "verified"] };
            assert_eq!(statuses(&reply), wanted, "{reply}");
            holds(&reply, doc);
            assert!(shown(&fake).ends_with(&format!("SOURCE (ledger:bq/cart):\n{doc}")));
        }
        fake.reset();
        for (body, status, words) in [
            (json!({ "ledger_locus": "bq-none" }), 404, "no active ledger of `bq-none`"),
            (json!({ "ledger_locus": "bq", "ledger_task": "x" }), 404, "no ledger `bq/x`"),
            (json!({ "ledger_locus": "bq", "ledger_task": "cart", "rev": 9 }), 404, "1 to 2"),
            (json!({ "ledger_locus": "bq", "rev": 1 }), 400, "`ledger_task`"),
            (json!({ "ledger_task": "cart" }), 400, "`ledger_locus`"),
            (json!({ "text": "x", "rev": 1 }), 400, "`ledger_locus`"),
            (json!({ "ledger_locus": "/" }), 400, "locus"),
        ] {
            let mut body = body;
            body["question"] = json!("why?");
            let (was, fault) = fails(&server, body).await;
            assert!(was == status && fault["error"].as_str().unwrap().contains(words), "{fault}");
        }
        let body = json!({ "question": "which colour?", "ledger_locus": "bq" });
        let refused = call_as(&server.app, &["other"], "b_ask", body.clone()).await.unwrap_err();
        assert_eq!(refused.code, Code::Forbidden, "{refused}");
        assert_eq!(fake.stats().count, 0);
        fake.script("m", [answers("blue", &[])]);
        assert_eq!(call_as(&server.app, &["bq"], "b_ask", body).await.unwrap()["answer"], "blue");
    }
}

#[tokio::test]
async fn files_are_off_until_a_directory_is_opened() {
    let fake = Fake::start().await;
    let server = Setup::new(&local(&fake, "m")).start().await;
    let here = server.path("adjutant.toml");
    for path in [here.to_str().unwrap(), "adjutant.toml", "/nonexistent/file", "~/x"] {
        let (status, fault) = fails(&server, json!({ "question": "what?", "path": path })).await;
        assert!(
            status == 400 && fault["error"].as_str().unwrap().contains("`[files] roots`"),
            "{fault}"
        );
    }
    assert_eq!(fake.stats().count, 0);
}

#[tokio::test]
async fn files_below_a_root_are_read_and_nothing_else_is() {
    let fake = Fake::start().await;
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    fs::create_dir_all(at("open/sub")).unwrap();
    fs::create_dir(at("open-evil")).unwrap();
    for name in ["open/sub/cart.md", "open-evil/secret.md", "secret.md"] {
        fs::write(at(name), DOC).unwrap();
    }
    fs::write(at("open/latin1.md"), b"caf\xe9").unwrap();
    fs::write(at("open/blank.md"), "\u{feff}\r\n").unwrap();
    fs::File::create(at("open/large.md")).unwrap().set_len(16 * 1024 * 1024 + 1).unwrap();
    symlink("../secret.md", at("open/link.md")).unwrap();
    symlink(at("secret.md"), at("open/absolute.md")).unwrap();
    symlink("/dev/zero", at("open/zero")).unwrap();
    symlink("sub/cart.md", at("open/inside.md")).unwrap();
    mknodat(CWD, at("open/pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let root = at("open").to_str().unwrap().to_owned();
    let server = Setup::new(&local(&fake, "m"))
        .settings(&format!("[files]\nroots = [{root:?}]"))
        .start()
        .await;
    for path in [format!("{root}/sub/cart.md"), "sub/cart.md".to_owned(), "inside.md".to_owned()] {
        fake.script("m", [answers("red", &["the cart is red"])]);
        let reply = ask(&server, json!({ "question": "which colour?", "path": path })).await;
        assert_eq!(statuses(&reply), ["verified"]);
        assert_eq!(reply["source"]["label"], format!("file:{path}"));
        holds(&reply, DOC);
    }
    fake.reset();
    for (path, status, words) in [
        (format!("{root}/../secret.md"), 400, "leads out"),
        (format!("{root}-evil/secret.md"), 400, "leads out"),
        ("../secret.md".to_owned(), 400, "leads out"),
        ("link.md".to_owned(), 400, "leads out"),
        ("absolute.md".to_owned(), 400, "leads out"),
        ("zero".to_owned(), 400, "leads out"),
        ("/etc/hostname".to_owned(), 400, "leads out"),
        ("/proc/self/environ".to_owned(), 400, "leads out"),
        ("pipe".to_owned(), 400, "no regular file"),
        ("sub".to_owned(), 400, "no regular file"),
        (root.clone(), 400, "no regular file"),
        ("latin1.md".to_owned(), 400, "not UTF-8 from byte 3"),
        ("sub/cart.md\0".to_owned(), 400, "control character"),
        ("blank.md".to_owned(), 400, "is blank"),
        ("none.md".to_owned(), 404, "there is none"),
        ("large.md".to_owned(), 413, "16.0 MiB"),
    ] {
        let (was, fault) = fails(&server, json!({ "question": "which?", "path": path })).await;
        let error = fault["error"].as_str().unwrap();
        assert!(was == status && error.contains(words), "{path}: {was} {fault}");
    }
    assert_eq!(fake.stats().count, 0);
}

#[tokio::test]
async fn a_root_that_is_not_there_is_told_of_at_the_start() {
    let setup = Setup::new("").settings("[files]\nroots = [\"/nowhere/at/all\"]");
    let failure = setup.try_start().await.err().unwrap().to_string();
    assert!(failure.contains("/nowhere/at/all"), "{failure}");
}
