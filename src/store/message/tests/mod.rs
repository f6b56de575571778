//! Messages, on both engines.

mod machine;
mod once;
mod rules;

use mcp::{Rights, Scope};
use serde_json::{Value, json};

use super::*;
use crate::store::{Error, Store, tests::Fixture};

/// The rights of who reaches everything.
fn all() -> Rights {
    Rights { scope: Scope::Operator, loci: None }
}

/// The rights of who reaches one locus.
fn only(locus: &str) -> Rights {
    Rights { scope: Scope::Destroy, loci: Some([locus.to_owned()].into()) }
}

fn address(text: &str) -> Address {
    Address::parse(text).unwrap()
}

fn body(value: &Value) -> Body {
    Body::new(value.as_object().unwrap().clone()).unwrap()
}

/// Sends words from `alpha`; an empty key is none.
async fn try_post(store: &Store, to: &str, words: &str, key: &str) -> Result<Receipt, Error> {
    let (to, from, body) = ([address(to)], address("alpha"), body(&json!({ "text": words })));
    let post = Post { from: Some(&from), reference: key, ..plain(&to, &body) };
    Ok(send(store, post).await?.0.remove(0))
}

async fn post(store: &Store, to: &str, words: &str) -> Message {
    try_post(store, to, words, "").await.unwrap().message
}

fn plain<'a>(to: &'a [Address], body: &'a Body) -> Post<'a> {
    Post { to, from: None, body, reply_to: "", reference: "", session: "", lease: "" }
}

/// Takes up to so many messages of a locus.
async fn take(store: &Store, to: &str, role: Role, limit: i64) -> Vec<Message> {
    drain(store, Drain { to, role, since: 0, limit, by: "p" }).await.unwrap().0
}

/// All messages of a status, page by page.
async fn listed(store: &Store, to: &str, role: Role, status: Status) -> Vec<Message> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let filter = Filter { to, role, status, since: 0 };
        let (page, next) = list(store, filter, Window { after, limit: 3 }).await.unwrap();
        found.extend(page);
        after = next;
        if after.is_none() {
            return found;
        }
    }
}

async fn answer(store: &Store, to: &str, words: &str, rights: &Rights) -> Result<Replied, Error> {
    let body = body(&json!({ "text": words }));
    reply(store, Response { to, from: None, body: &body, reference: "" }, rights).await
}

fn texts(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.body.object()["text"].as_str().unwrap()).collect()
}

fn is_absent<T: std::fmt::Debug>(outcome: &Result<T, Error>) -> bool {
    matches!(outcome, Err(Error::NotFound(words)) if words.starts_with("no message"))
}
