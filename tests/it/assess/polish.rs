//! Another wording by a backend: taken within its bounds, and never in anybody's way.

use fake::{Fake, Step};

use super::*;
use crate::harness::{Setup, local, until};

/// A model's whole reply.
fn words(objective: &str, init_prompt: &str) -> Step {
    let content = json!({ "objective": objective, "init_prompt": init_prompt }).to_string();
    Step::json(&json!({
        "model": "wordy-7b",
        "choices": [{ "message": { "content": content }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19 },
    }))
}

fn text() -> String {
    format!("You take over. {}", "Mind the login test. ".repeat(40))
}

async fn begun(fake: &Fake, behaviour: &str) -> Server {
    let server = Server::start(&local(fake, behaviour)).await;
    said(&server, "alpha", 1, "Fix the flaky login test.", "").await;
    server
}

fn asked() -> Value {
    json!({ "locus": "alpha", "force": true, "polish": true })
}

#[tokio::test]
async fn a_wording_within_its_bounds_becomes_the_state() {
    let fake = Fake::start().await;
    let server = begun(&fake, "m").await;
    fake.script("m", [words("Mend the login test.", &text())]);
    let reply = roll(&server, asked()).await;
    assert_eq!(
        (&reply["polish"], &reply["model"]),
        (&json!("polished:wordy-7b"), &json!("deterministic+polish:wordy-7b"))
    );
    assert_eq!(reply["state"]["objective"], "Mend the login test.");
    assert_eq!(reply["init_prompt"], text().trim());
    let read = post(&server, "/assess/state", json!({ "locus": "alpha" })).await;
    assert_eq!((&read["state"], &read["model"]), (&reply["state"], &reply["model"]));
    let sent = fake.log()[0].body.clone();
    assert_eq!((&sent["max_tokens"], &sent["temperature"]), (&json!(900), &json!(0)));
    assert_eq!(sent["response_format"], json!({ "type": "json_object" }));
    let given: Value =
        serde_json::from_str(sent["messages"][1]["content"].as_str().unwrap()).unwrap();
    assert_eq!(given["objective"], "Fix the flaky login test.");
    // Without being asked for it does not happen.
    said(&server, "alpha", 2, "", "I go on.").await;
    let plain = roll(&server, json!({ "locus": "alpha" })).await;
    assert_eq!((&plain["polish"], &plain["model"]), (&json!("off"), &json!("deterministic")));
    assert_eq!(fake.stats().count, 1);
}

#[tokio::test]
async fn a_reply_out_of_its_bounds_leaves_the_state() {
    let fake = Fake::start().await;
    let server = begun(&fake, "m").await;
    let plain = roll(&server, json!({ "locus": "alpha" })).await;
    for reply in [
        words("", &text()),
        words(&"x".repeat(301), &text()),
        words("Mend it.", "Too short."),
        words("Mend it.", &"word ".repeat(501)),
        words("Mend it.", &format!("# {}", text())),
        Step::json(
            &json!({ "model": "m", "choices": [{ "message": { "content": "I cannot." }, "finish_reason": "stop" }] }),
        ),
    ] {
        fake.script("m", [reply]);
        let reply = roll(&server, asked()).await;
        assert!(reply["polish"].as_str().unwrap().starts_with("rejected: "), "{reply}");
        assert_eq!((&reply["state"], &reply["model"]), (&plain["state"], &json!("deterministic")));
    }
}

#[tokio::test]
async fn a_backend_that_fails_or_is_not_there_does_not_matter() {
    let fake = Fake::start().await;
    let server = begun(&fake, "e404").await;
    let reply = roll(&server, asked()).await;
    assert!(reply["polish"].as_str().unwrap().starts_with("failed: "), "{reply}");
    assert_eq!(
        (&reply["folds"], &reply["state"]["objective"]),
        (&json!(1), &json!("Fix the flaky login test."))
    );
    let alone = Server::start("").await;
    let reply = roll(&alone, asked()).await;
    let note = reply["polish"].as_str().unwrap();
    assert!(note.starts_with("skipped: ") || note.starts_with("failed: "), "{note}");
    // Nor does a token that may not spend.
    let token = server.mint(json!({ "name": "poor", "scope": "write", "budget_usd": 0 })).await;
    let (status, reply) = with_token(&server, &token, "/assess/roll", asked()).await;
    assert_eq!(status, 200, "{reply}");
    assert!(reply["result"]["polish"].as_str().unwrap().contains("budget"), "{reply}");
}

/// A server that does not know the further members is asked without them.
#[tokio::test]
async fn a_server_that_does_not_take_json_mode_is_asked_in_words_alone() {
    let fake = Fake::start().await;
    let server = begun(&fake, "m").await;
    fake.script("m", ["e400".into(), words("Mend the login test.", &text())]);
    assert_eq!(roll(&server, asked()).await["polish"], "polished:wordy-7b");
    assert!(fake.log()[1].body.get("response_format").is_none());
}

/// While one call waits for a backend, others roll the same locus up and do not wait.
#[tokio::test]
async fn a_wording_in_flight_is_in_nobodys_way() {
    let fake = Fake::start().await;
    let server = begun(&fake, "slow-1500").await;
    let first = async { roll(&server, asked()).await };
    let second = async {
        until("the first call is at the backend", async || fake.stats().count == 1).await;
        said(&server, "alpha", 2, "Write the release notes.", "").await;
        roll(&server, asked()).await
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(second["polish"], "skipped: busy");
    assert_eq!(
        (&second["n_exchanges"], &second["state"]["objective"]),
        (&json!(1), &json!("Write the release notes."))
    );
    assert!(!first["polish"].as_str().unwrap().starts_with("polished"), "{first}");
    assert_eq!(fake.stats().count, 1);
    let read = post(&server, "/assess/state", json!({ "locus": "alpha" })).await;
    assert_eq!(read["state"], second["state"]);
}

#[tokio::test]
async fn the_earlier_names_of_the_settings_count() {
    let fake = Fake::start().await;
    let roster = local(&fake, "other") + &crate::harness::backend("wordy", &fake, "m");
    let setup = Setup::new(&roster).env("HANDOFF_POLISH", "1").env("HANDOFF_POLISH_MODEL", "m");
    let server = setup.start().await;
    said(&server, "alpha", 1, "Fix the flaky login test.", "").await;
    fake.script("m", [words("Mend the login test.", &text())]);
    assert_eq!(roll(&server, json!({ "locus": "alpha" })).await["polish"], "polished:wordy-7b");
    let off = json!({ "locus": "alpha", "force": true, "polish": false });
    assert_eq!(roll(&server, off).await["polish"], "off");
}
