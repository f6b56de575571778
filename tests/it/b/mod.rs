//! Questions about texts, ledgers and files, at the door.

mod answer;
mod backend;
mod source;
mod window;

use fake::{Fake, Step};
use serde_json::{Value, json};

use crate::harness::Server;

const DOC: &str = "# Ledger: cart\n\n## Goal\n- the cart is red\n";

/// A model's whole reply.
fn says(content: &str) -> Step {
    Step::json(&json!({
        "model": "fake",
        "choices": [{ "message": { "content": content }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19 },
    }))
}

/// A model's reply as it should be.
fn answers(answer: &str, excerpts: &[&str]) -> Step {
    says(&json!({ "answer": answer, "excerpts": excerpts }).to_string())
}

/// Asks, and gives the reply.
async fn ask(server: &Server, arguments: Value) -> Value {
    server.post("/b/ask", arguments).await.result()
}

/// Asks in vain: the status and the whole body.
async fn fails(server: &Server, arguments: Value) -> (u16, Value) {
    let reply = server.post("/b/ask", arguments).await;
    (reply.status, reply.json())
}

/// What the fake was shown last as the user's message.
fn shown(fake: &Fake) -> String {
    let last = fake.log().pop().unwrap().body;
    last["messages"][1]["content"].as_str().unwrap().to_owned()
}

/// Every excerpt that is given as a quotation is the source's at its offsets, on its line.
fn holds(reply: &Value, source: &str) {
    for excerpt in reply["excerpts"].as_array().unwrap() {
        let text = excerpt["text"].as_str().unwrap();
        if excerpt["status"] == "unverified" {
            let none = (&Value::Null, &Value::Null, &Value::Null);
            assert_eq!((&excerpt["start"], &excerpt["end"], &excerpt["line"]), none);
            continue;
        }
        let at = |name: &str| usize::try_from(excerpt[name].as_u64().unwrap()).unwrap();
        assert_eq!(&source[at("start")..at("end")], text, "{excerpt}");
        let before = source[..at("start")].replace("\r\n", "\n").replace('\r', "\n");
        assert_eq!(at("line"), 1 + before.matches('\n').count(), "{excerpt}");
    }
}

fn statuses(reply: &Value) -> Vec<&str> {
    let excerpts = reply["excerpts"].as_array().unwrap();
    excerpts.iter().map(|excerpt| excerpt["status"].as_str().unwrap()).collect()
}
