//! JSON-RPC messages as they come in on the plain path.

use std::{borrow::Cow, fmt};

use rmcp::model::RequestId;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, SeqAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

use super::refusal::Refusal;

/// One message of a client.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// Wants an answer.
    Request { id: RequestId, method: String, params: Option<Value> },
    /// Wants none: a notification, or an answer to something that was never asked here.
    Silent,
}

/// A body.
#[derive(Debug)]
pub(super) enum Incoming {
    One(Message),
    Batch(Vec<Result<Message, Refusal>>),
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    params: Option<Value>,
    #[serde(default)]
    result: Option<IgnoredAny>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

/// `null` is a value here, unlike an absent member.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Reads a body: one message, or a batch of at most `most`.
pub(super) fn read(body: &[u8], most: usize) -> Result<Incoming, Refusal> {
    if body.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'[') {
        return message(body).map(Incoming::One);
    }
    let mut json = serde_json::Deserializer::from_slice(body);
    let items = Items(most).deserialize(&mut json).and_then(|items| json.end().map(|()| items));
    let items = items.map_err(|error| match error.classify() {
        serde_json::error::Category::Data => Refusal::not_a_message(error.to_string()),
        _ => Refusal::not_json(body, &error),
    })?;
    if items.is_empty() {
        return Err(Refusal::not_a_message("an empty batch asks nothing").in_band());
    }
    Ok(Incoming::Batch(items.into_iter().map(|item| message(item.get().as_bytes())).collect()))
}

/// The items of a list, at most so many: a body of nothing but commas must not cost more than it
/// brings.
struct Items(usize);

impl<'de> DeserializeSeed<'de> for Items {
    type Value = Vec<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Items {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a batch of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            if items.len() == self.0 {
                let words = format!("a batch holds at most {} messages", self.0);
                return Err(serde::de::Error::custom(words));
            }
            items.push(item);
        }
        Ok(items)
    }
}

fn message(text: &[u8]) -> Result<Message, Refusal> {
    let wire: Wire<'_> = serde_json::from_slice(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => not_a_message(text, &error.to_string()),
        _ => Refusal::not_json(text, &error),
    })?;
    if wire.jsonrpc.as_deref() != Some("2.0") {
        return Err(not_a_message(text, "`jsonrpc` must be \"2.0\""));
    }
    let answers = wire.result.is_some() || wire.error.is_some();
    match (wire.method, wire.id) {
        (Some(_), _) if answers => {
            Err(not_a_message(text, "a message has `method` or `result`, not both"))
        }
        (Some(_), None) => Ok(Message::Silent),
        (Some(method), Some(id)) => {
            let id = serde_json::from_value(id)
                .map_err(|_| not_a_message(text, "`id` must be a string or an integer"))?;
            Ok(Message::Request { id, method: method.into_owned(), params: wire.params })
        }
        (None, _) if answers => Ok(Message::Silent),
        (None, _) => Err(not_a_message(text, "`method` is missing")),
    }
}

/// JSON that is no message, about its id where it has a usable one.
fn not_a_message(text: &[u8], why: &str) -> Refusal {
    #[derive(Deserialize)]
    struct Id {
        id: Option<Value>,
    }
    let id = serde_json::from_slice(text).ok().and_then(|Id { id }| id);
    let id = id.filter(|id| id.is_string() || id.is_number()).unwrap_or_default();
    Refusal::not_a_message(format!("no JSON-RPC 2.0 message: {why}")).about(id)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn code(body: &str) -> i64 {
        let refusal = read(body.as_bytes(), 3).unwrap_err();
        refusal.message(false)["error"]["code"].as_i64().unwrap()
    }

    #[test]
    fn requests_notifications_and_answers_are_told_apart() {
        let body = br#" {"jsonrpc":"2.0","id":"a","method":"ping","params":{"x":1}}"#;
        let Incoming::One(Message::Request { id, method, params }) = read(body, 3).unwrap() else {
            panic!("no request")
        };
        assert_eq!((id, method.as_str()), (RequestId::String("a".into()), "ping"));
        assert_eq!(params, Some(json!({"x": 1})));
        for silent in [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            let read = read(silent.as_bytes(), 3).unwrap();
            assert!(matches!(read, Incoming::One(Message::Silent)), "{silent}");
        }
    }

    #[test]
    fn what_is_not_json_and_what_is_no_message_have_their_own_codes() {
        for broken in ["", "{", "nope", "[1,", "\u{7}"] {
            assert_eq!(code(broken), -32_700, "{broken}");
        }
        for odd in [
            "1",
            "{}",
            "[]",
            "[1,2,3,4]",
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":2}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
        ] {
            assert_eq!(code(odd), -32_600, "{odd}");
        }
        assert_eq!(
            read(&[b'"', 0xff, b'"'], 3).unwrap_err().message(false)["error"]["code"],
            -32_700
        );
    }

    #[test]
    fn an_error_names_the_request_where_it_can() {
        let refusal = read(br#"{"id":7,"method":"ping"}"#, 3).unwrap_err();
        assert_eq!(refusal.message(false)["id"], 7);
        let refusal = read(b"{", 3).unwrap_err();
        assert_eq!(refusal.clone().message(false)["id"], Value::Null);
        assert!(refusal.message(true).get("id").is_none());
    }

    proptest! {
        /// Whatever comes, it is read or refused as one of the two errors, about an id or none.
        #[test]
        fn every_body_is_read_or_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..60),
            text in r#"[\[{]?("jsonrpc"|"2\.0"|"id"|"method"|"result"|null|-?[0-9]{1,30}|[{}\[\]:, ]){0,12}"#,
        ) {
            for body in [bytes.as_slice(), text.as_bytes()] {
                let Err(refusal) = read(body, 3) else { continue };
                let message = refusal.message(false);
                prop_assert!([-32_700, -32_600].contains(&message["error"]["code"].as_i64().unwrap()));
                prop_assert!(message["id"].is_null() || message["id"].is_string() || message["id"].is_number());
            }
        }
    }

    #[test]
    fn one_bad_message_spoils_no_batch() {
        let body = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}, 5]"#;
        let Incoming::Batch(items) = read(body, 3).unwrap() else { panic!("no batch") };
        assert!(items[0].is_ok());
        assert!(items[1].is_err());
    }
}
