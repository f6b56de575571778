//! Who is asked, and what there is when nobody can be.

use fake::Fake;
use serde_json::{Value, json};

use super::{DOC, answers, ask, fails, holds, statuses};
use crate::harness::{Server, Setup, backend, local};

fn body(more: &Value) -> Value {
    let mut body = json!({ "question": "which colour is the cart?", "text": DOC });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// Who answered, each fake model saying its own name.
async fn who(server: &Server, fake: &Fake, more: Value) -> Value {
    for model in ["first-m", "second-m", "reader-m", "paid-m", "both-m"] {
        let says = json!({ "choices": [{ "message": { "content": "{\"answer\": \"x\"}" }, "finish_reason": "stop" }] });
        fake.script(model, [fake::Step::json(&says)]);
    }
    ask(server, body(&more)).await["backend"].take()
}

fn roster(fake: &Fake) -> String {
    let api = |entry: String| entry.replace("\"local\"", "\"api\"");
    backend("first", fake, "first-m")
        + &backend("second", fake, "second-m")
        + &(backend("reader", fake, "reader-m") + "good_at = [\"summarization\"]\n")
        + &api(backend("paid", fake, "paid-m"))
        + &api(backend("both-paid", fake, "both-m"))
        + &backend("both", fake, "both-m")
        + &backend("shut", fake, "shut-m").replace("can_delegate = true", "")
}

#[tokio::test]
async fn whom_the_call_names_is_asked_then_whom_the_operator_named() {
    let fake = Fake::start().await;
    let server = Setup::new(&roster(&fake)).settings("[billing]\nenabled = true").start().await;
    for (more, wanted) in [
        (json!({}), "reader"),
        (json!({ "target": "second" }), "second"),
        (json!({ "target": "second", "model": "first" }), "second"),
        (json!({ "model": "second" }), "second"),
        (json!({ "model": " second-m " }), "second"),
        (json!({ "model": "paid-m" }), "paid"),
        (json!({ "model": "both-m" }), "both"),
    ] {
        assert_eq!(who(&server, &fake, more.clone()).await, wanted, "{more}");
    }
    fake.reset();
    for (more, status, words) in [
        (json!({ "model": "nobody" }), 404, "`first` (first-m), `second` (second-m)"),
        (json!({ "model": "shut-m" }), 404, "`first` (first-m)"),
        (json!({ "target": "nobody" }), 404, "`first`, `second`"),
        (json!({ "target": "shut" }), 409, "can_delegate"),
    ] {
        let (was, fault) = fails(&server, body(&more)).await;
        assert!(was == status && fault["error"].as_str().unwrap().contains(words), "{fault}");
    }
    assert_eq!(fake.stats().count, 0);
    for (variables, wanted) in [
        (&[("ADJUTANT__B__MODEL", "second")][..], "second"),
        (&[("TOOLSERVER_B_MODEL", "second-m"), ("HANDOFF_POLISH_MODEL", "first")], "second"),
        (&[("HANDOFF_JUDGE_MODEL", "first"), ("HANDOFF_POLISH_MODEL", "second")], "second"),
        (&[("HANDOFF_JUDGE_MODEL", "first-m")], "first"),
        (&[("ADJUTANT__B__MODEL", "both-m")], "both"),
    ] {
        let setup = variables
            .iter()
            .fold(Setup::new(&roster(&fake)), |setup, (name, value)| setup.env(name, value));
        let server = setup.start().await;
        assert_eq!(who(&server, &fake, json!({})).await, wanted, "{variables:?}");
        assert_eq!(who(&server, &fake, json!({ "model": "reader-m" })).await, "reader");
    }
    let plain = backend("one", &fake, "first-m") + &backend("two", &fake, "second-m");
    let server = Server::start(&plain).await;
    assert_eq!(who(&server, &fake, json!({})).await, "one");
}

/// A setting is no call that names a paid backend, and what it names may be gone.
#[tokio::test]
async fn what_the_setting_names_is_paid_or_gone_and_another_is_asked_and_said() {
    let fake = Fake::start().await;
    for model in ["paid", "paid-m", "gone"] {
        let setup = Setup::new(&roster(&fake)).settings("[billing]\nenabled = true");
        let server = setup.env("TOOLSERVER_B_MODEL", model).start().await;
        fake.script("reader-m", [answers("red", &[])]);
        let reply = server.post("/b/ask", body(&json!({}))).await.json();
        assert_eq!(reply["result"]["backend"], "reader");
        let warning = reply["warnings"][0].as_str().unwrap();
        assert!(warning.contains("`b.model`") && warning.contains(model), "{warning}");
    }
    assert_eq!(fake.stats_of("paid-m").count, 0);
}

/// Nobody fits or answers: the passages that fit best, verbatim, and no answer.
#[tokio::test]
async fn without_a_model_the_best_passages_come_verbatim() {
    let fake = Fake::start().await;
    let once = "retry = { attempts = 1 }\n";
    let extract = "[[backend]]\nid = \"cutter\"\ntier = \"local\"\nkind = \"extract\"\ncan_delegate = true\ngood_at = [\"summarization\"]\n";
    let text = format!(
        "\u{feff}{}\r\n\r\nThe cart is red — 🙂.\r\n",
        "Nothing is here.\r\n\r\n".repeat(100)
    );
    for (roster, more, words) in [
        (String::new(), json!({}), "no enabled local backend"),
        (local(&fake, "e503") + once, json!({}), "`local`: status 503"),
        (local(&fake, "e429") + once, json!({ "target": "local" }), "`local`"),
        (local(&fake, "html") + once, json!({ "model": "html" }), "`local`"),
        (local(&fake, "close") + once, json!({}), "`local`"),
        (
            local(&fake, "firsttoken-60000") + once + "timeouts = { first_token = \"50ms\" }\n",
            json!({}),
            "`local`",
        ),
        (extract.to_owned(), json!({}), "`cutter` is no model"),
        (extract.to_owned(), json!({ "target": "cutter" }), "`cutter` is no model"),
    ] {
        let server = Server::start(&roster).await;
        let mut arguments = body(&more);
        arguments["text"] = json!(text);
        arguments["max_excerpts"] = json!(1);
        let reply = ask(&server, arguments).await;
        assert_eq!((&reply["answer"], &reply["degraded"]), (&Value::Null, &json!(true)), "{reply}");
        assert_eq!((&reply["model"], &reply["clipped"]), (&Value::Null, &json!(false)));
        assert!(reply["reason"].as_str().unwrap().contains(words), "{}", reply["reason"]);
        assert_eq!(statuses(&reply), ["verified"]);
        assert!(reply["excerpts"][0]["text"].as_str().unwrap().contains("The cart is red — 🙂."));
        holds(&reply, &text);
        for name in ["excerpts", "source", "chars", "usage"] {
            assert!(reply.get(name).is_some(), "{name}");
        }
    }
    // A model that costs more than what extracts is asked all the same.
    let server = Server::start(
        &(extract.to_owned() + &(local(&fake, "m") + "good_at = [\"summarization\"]\n")),
    )
    .await;
    fake.script("m", [answers("red", &["the cart is red"])]);
    assert_eq!(ask(&server, body(&json!({}))).await["backend"], "local");
}

/// What the caller or the operator has to mend is no reason to answer less: it is an error.
#[tokio::test]
async fn what_has_to_be_mended_is_an_error_and_no_poorer_answer() {
    let fake = Fake::start().await;
    let paid = backend("paid", &fake, "m").replace("\"local\"", "\"api\"")
        + "cost = { input_per_mtok = 0, output_per_mtok = 1000000 }\n";
    let server = Server::start(&(local(&fake, "e401") + &paid)).await;
    let (status, fault) = fails(&server, body(&json!({}))).await;
    assert!(status == 502 && fault["error"].as_str().unwrap().contains("`key`"), "{fault}");
    assert_eq!(fails(&server, body(&json!({ "target": "paid" }))).await.0, 409);
    assert_eq!(fails(&server, body(&json!({ "model": "m" }))).await.0, 409);
    let server = Setup::new(&paid).settings("[billing]\nenabled = true").start().await;
    let token = server.mint(json!({ "name": "t", "scope": "delegate", "budget_usd": 10 })).await;
    let request = server.request(reqwest::Method::POST, "/b/ask").token(Some(&token));
    let refused = request.json(body(&json!({ "target": "paid" }))).send().await;
    assert_eq!((refused.status, refused.fault().0.as_str()), (429, "exhausted"));
    assert_eq!(fake.stats_of("m").count, 0);
}

/// A caller that leaves stops the work.
#[tokio::test]
async fn a_caller_that_leaves_stops_the_backend() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "hang")).await;
    let call = server.request(reqwest::Method::POST, "/b/ask").json(body(&json!({})));
    let held = tokio::task::JoinSet::from_iter([async move { call.open().await.status() }]);
    assert!(fake.wait_for(|stats| stats.open == 1).await);
    drop(held);
    assert!(fake.wait_for(|stats| stats.open == 0).await);
}
