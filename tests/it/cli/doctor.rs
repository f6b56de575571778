//! `adjutant doctor`.

use std::{fs, os::unix::fs::PermissionsExt as _};

use fake::Fake;
use serde_json::{Value, json};

use super::Cli;
use crate::harness::{Server, backend, local};

/// The results of one check, with their words.
fn of<'r>(report: &'r Value, check: &str) -> Vec<(&'r str, &'r str)> {
    let all = report["checks"].as_array().unwrap().iter();
    let these = all.filter(|finding| finding["check"] == check);
    these
        .map(|finding| (finding["result"].as_str().unwrap(), finding["words"].as_str().unwrap()))
        .collect()
}

#[tokio::test]
async fn a_set_up_that_works_is_ok() {
    let fake = Fake::start().await;
    fake.set_models(json!({"data": [{"id": "ok"}]}));
    let server = Server::start(&local(&fake, "ok")).await;
    let run = |arguments: &[&str]| {
        Cli::new(arguments)
            .env("ADJUTANT_DATA_DIR", server.path("data"))
            .env("ADJUTANT_ROSTER", server.path("roster.toml"))
            .env("ADJUTANT_CONFIG", server.path("adjutant.toml"))
    };
    let report = run(&["doctor", "--json"]).end().await.json();
    assert_eq!(report["ok"], true);
    for (check, says) in [
        ("settings", "adjutant.toml"),
        ("roster", "1 backend"),
        ("data directory", "data"),
        ("disk", "free"),
        ("token", "operator.token"),
        ("clock", "20"),
        ("server", "answers at http://127.0.0.1:"),
        ("backend", "up, "),
    ] {
        let found = of(&report, check);
        // A crowded machine may have little room.
        let is_fine = found.iter().all(|(result, _)| *result == "ok" || check == "disk");
        assert!(
            is_fine && found.iter().any(|(_, words)| words.contains(says)),
            "{check}: {found:?}"
        );
    }
    let table = run(&["doctor"]).end().await;
    assert!(table.code == Some(0) && table.out.starts_with("CHECK"), "{table:?}");
    assert!(!table.out.contains(&server.token));
}

#[tokio::test]
async fn what_is_wrong_is_named_and_the_exit_code_tells() {
    let fake = Fake::start().await;
    let home = Cli::new(&["doctor"]);
    let key = home.file("key", "sk-canary-0123456789\n");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let data = home.home.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(data.join("endpoint.json"), "{}").unwrap();
    let roster = backend("up", &fake, "ok")
        + &format!("key = \"file:{}\"\n", key.display())
        + &backend("gone", &fake, "ok").replace(&fake.url(), "http://127.0.0.1:1/v1")
        + &backend("keyless", &fake, "ok")
        + "key = \"env:NO_SUCH_KEY\"\n"
        + "[[backend]]\nid = \"prog\"\ntier = \"sub\"\nkind = \"cli\"\ncmd = [\"no-such-program\"]\n";
    let roster = home.file("roster.toml", roster);
    let cli = Cli::at(&home.home, &["doctor", "--json"])
        .env("ADJUTANT_ROSTER", &roster)
        .env("ADJUTANT_DATA_DIR", &data)
        .env("ADJUTANT_OPERATOR_TOKEN", "short-canary");
    let ended = cli.end().await;
    assert_eq!(ended.code, Some(10), "{ended:?}");
    assert!(!ended.out.contains("canary") && !ended.err.contains("canary"), "{ended:?}");
    let report = ended.document();
    assert_eq!(report["ok"], false);
    let results: Vec<&str> = of(&report, "backend").iter().map(|(result, _)| *result).collect();
    assert_eq!(&results[1..], ["wrong", "wrong", "wrong"], "{report}");
    for (check, result, says) in [
        ("key", "warning", "chmod 600"),
        ("data directory", "warning", "chmod 700"),
        ("token", "wrong", "openssl rand"),
        ("server", "warning", "left of one that was killed"),
        ("backend", "wrong", "NO_SUCH_KEY"),
        ("backend", "wrong", "no-such-program"),
    ] {
        let found = of(&report, check);
        assert!(
            found.iter().any(|(r, words)| *r == result && words.contains(says)),
            "{check}: {found:?}"
        );
    }
}

#[tokio::test]
async fn broken_settings_and_a_broken_roster_are_all_told_at_once() {
    let cli = Cli::new(&["doctor", "--json"]);
    let settings = cli.file("adjutant.toml", "[server]\nlisten = 7\n[rooting]\nx = 1\n");
    let ended = cli.env("ADJUTANT_CONFIG", &settings).end().await;
    assert_eq!(ended.code, Some(10), "{ended:?}");
    let report = ended.document();
    assert!(of(&report, "settings").iter().all(|(result, _)| *result == "wrong"), "{report}");
    assert_eq!(of(&report, "clock").len(), 1);

    let cli = Cli::new(&["doctor", "--json"]);
    let roster = cli.file("roster.toml", "[[backend]]\nid = \"A\"\ntier = \"x\"\n");
    let ended = cli.env("ADJUTANT_ROSTER", &roster).end().await;
    assert_eq!(ended.code, Some(10), "{ended:?}");
    let report = ended.document();
    assert!(of(&report, "roster").len() >= 2, "{report}");
    assert!(
        of(&report, "roster")
            .iter()
            .all(|(r, words)| *r == "wrong" && words.contains("roster.toml:")),
        "{report}"
    );
}

#[tokio::test]
async fn nothing_set_up_at_all_is_a_warning_and_nothing_is_made() {
    let cli = Cli::new(&["doctor"]);
    let home = cli.home.clone();
    let ended = cli.end().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("adjutant roster discover"), "{ended:?}");
    assert_eq!(super::files(home.path()), Vec::<std::path::PathBuf>::new());
}
