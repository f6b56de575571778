//! `adjutant token …`.

use serde_json::json;

use super::Cli;
use crate::harness::Server;

#[tokio::test]
async fn a_token_is_minted_shown_once_listed_and_revoked() {
    let server = Server::start("").await;
    let run = async |arguments: &[&str]| {
        Cli::new(&[&["token"], arguments].concat()).to(&server).end().await
    };
    let none = run(&["list"]).await;
    assert!(none.code == Some(0) && none.err.contains("adjutant token mint"), "{none:?}");
    let flags = ["--locus", "web_7", "--locus", "a", "--ttl", "30d", "--budget", "2.50"];
    let minted = run(&[&["mint", "ci", "--scope", "delegate"][..], &flags].concat()).await;
    assert_eq!(minted.code, Some(0), "{minted:?}");
    let secret = minted.out.trim_end();
    assert!(secret.starts_with("adj_") && minted.out == format!("{secret}\n"), "{minted:?}");
    assert!(minted.err.contains("`ci` stands until 20") && !minted.err.contains(secret));
    let with = async |arguments: &[&str]| {
        Cli::new(arguments).to(&server).env("ADJUTANT_TOKEN", secret).end().await
    };
    assert_eq!(with(&["targets"]).await.code, Some(0));
    let listed = run(&["list"]).await;
    for word in ["ci", "active", "delegate", "a web-7", "2.5"] {
        assert!(listed.out.contains(word), "{word}: {}", listed.out);
    }
    assert!(!listed.out.contains(secret));
    let rows = run(&["list", "--json"]).await.json();
    assert_eq!((&rows[0]["loci"], &rows[0]["state"]), (&json!(["a", "web-7"]), &json!("active")));
    assert!(rows[0]["last_used"].is_string());
    with(&["token", "list"]).await.failed(5, "/token/list");
    run(&["mint", "ci", "--scope", "read"]).await.failed(6, "`ci`");
    let revoked = run(&["revoke", "ci"]).await;
    assert!(revoked.out.starts_with("`ci` was revoked at 20"), "{revoked:?}");
    assert!(run(&["revoke", "ci"]).await.out.contains("already"));
    with(&["targets"]).await.failed(3, "adjutant token mint");
    let json = run(&["mint", "second", "--scope", "operator", "--json"]).await.json();
    assert_eq!(json["token"].as_str().unwrap().len(), 68);
}

#[tokio::test]
async fn slips_are_told_in_flags() {
    let server = Server::start("").await;
    let run = async |arguments: &[&str]| {
        Cli::new(&[&["token"], arguments].concat()).to(&server).end().await
    };
    run(&["mint", "a"]).await.failed(2, "--scope");
    run(&["mint", "a", "--scope", "admin"])
        .await
        .failed(2, "read, delegate, write, destroy, operator");
    run(&["mint", "a", "--scope", "read", "--ttl", "soon"]).await.failed(2, "--ttl");
    run(&["mint", "a", "--scope", "read", "--ttl", "10ms"]).await.failed(2, "`--ttl` in seconds");
    run(&["mint", "a", "--scope", "read", "--budget", "-1"]).await.failed(2, "`--budget`");
    run(&["mint", "a", "--scope", "read", "--profile", "x"]).await.failed(2, "`[profiles.x]`");
    run(&["revoke", "nobody"]).await.failed(5, "`adjutant token list`");
}
