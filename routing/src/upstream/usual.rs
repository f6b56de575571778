//! The chunk that nearly every event of a stream is, read straight into its parts: a tree of values
//! for each event would be the largest part of what an answer costs. What is not exactly this, by a
//! member more or another type, is no usual chunk and is left to the rules that take anything.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

/// See the module. What is absent or null is `None`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chunk<'a> {
    #[serde(rename = "id")]
    _id: Option<&'a str>,
    object: Option<&'a str>,
    #[serde(rename = "created")]
    _created: Option<u64>,
    pub(super) model: Option<Text<'a>>,
    choices: Vec<Choice<'a>>,
    pub(super) usage: Option<Value>,
    pub(super) system_fingerprint: Option<Text<'a>>,
    pub(super) service_tier: Option<Text<'a>>,
}

/// One choice of a chunk.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    pub(super) delta: Option<Delta<'a>>,
    pub(super) finish_reason: Option<Text<'a>>,
    #[serde(rename = "logprobs")]
    _logprobs: Option<()>,
}

/// What a choice adds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Delta<'a> {
    #[serde(rename = "role")]
    _role: Option<&'a str>,
    pub(super) content: Option<Text<'a>>,
    pub(super) reasoning_content: Option<Text<'a>>,
    #[serde(rename = "refusal")]
    _refusal: Option<()>,
    #[serde(rename = "tool_calls")]
    _tool_calls: Option<()>,
}

/// A text, borrowed where nothing in it is escaped.
#[derive(Debug, Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

impl<'a> Chunk<'a> {
    /// Reads a usual chunk; `None` says nothing of what else it may be.
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let chunk: Self = serde_json::from_slice(data).ok()?;
        (chunk.object != Some("error") && chunk.choices.len() <= 1).then_some(chunk)
    }

    /// The choice that was asked for.
    pub(super) fn choice(&mut self) -> Option<Choice<'a>> {
        self.choices.pop().filter(|choice| choice.index.is_none_or(|index| index == 0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;
    use crate::upstream::fold::Fold;

    #[test]
    fn the_chunks_of_the_usual_servers_are_usual_and_odd_ones_are_not() {
        let usual = [
            r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
            r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","service_tier":"default","system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":"a\n"},"logprobs":null,"finish_reason":null}],"usage":null}"#,
            r#"{"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"created":1,"id":"c","model":"m","system_fingerprint":"b1","object":"chat.completion.chunk"}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}"#,
        ];
        for text in usual {
            assert!(Chunk::read(text.as_bytes()).is_some(), "{text}");
        }
        let odd = [
            r#"{"choices":[{"message":{"content":"a"}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{}]}}]}"#,
            r#"{"choices":[{"delta":{}},{"delta":{}}]}"#,
            r#"{"choices":[],"choices":[]}"#,
            r#"{"choices":[],"object":"error"}"#,
            r#"{"choices":[],"error":{"message":"no"}}"#,
            r#"{"choices":[],"id":7}"#,
            r#"{"choices":[{"delta":{"content":"\ud83d"}}]}"#,
            r#"{"model":"m"}"#,
            r#"{"choices":[]} more"#,
            "[]",
        ];
        for text in odd {
            assert!(Chunk::read(text.as_bytes()).is_none(), "{text}");
        }
    }

    fn some(
        name: &'static str,
        values: Vec<Value>,
    ) -> impl Strategy<Value = Option<(String, Value)>> {
        proptest::option::of(proptest::sample::select(values).prop_map(move |v| (name.into(), v)))
    }

    fn object(members: Vec<Option<(String, Value)>>) -> Value {
        members.into_iter().flatten().collect::<Map<_, _>>().into()
    }

    fn delta() -> impl Strategy<Value = Value> {
        let texts = || vec![json!("a\n\"ü\""), json!(""), json!(null), json!(["x"]), json!(1)];
        let role = some("role", vec![json!("assistant"), json!(null), json!(1)]);
        let tools = some("tool_calls", vec![json!(null), json!([]), json!([{"id": "t"}])]);
        let more = some("extra", vec![json!(null), json!("e")]);
        (role, some("content", texts()), some("reasoning_content", texts()), tools, more)
            .prop_map(|(a, b, c, d, e)| object(vec![a, b, c, d, e]))
    }

    fn choice() -> impl Strategy<Value = Value> {
        let index = some("index", vec![json!(0), json!(1), json!(null), json!("0"), json!(-1)]);
        let finish = some("finish_reason", vec![json!("stop"), json!(""), json!(null), json!(1)]);
        let logprobs = some("logprobs", vec![json!(null), json!({"content": []})]);
        let delta = proptest::option::of(delta().prop_map(|delta| ("delta".to_owned(), delta)));
        (index, finish, logprobs, delta).prop_map(|(a, b, c, d)| object(vec![a, b, c, d]))
    }

    fn chunk() -> impl Strategy<Value = Value> {
        let head =
            some("object", vec![json!("chat.completion.chunk"), json!("error"), json!(null)]);
        let id = some("id", vec![json!("x"), json!(1)]);
        let model = some("model", vec![json!("m"), json!(""), json!(null), json!(1)]);
        let print = some("system_fingerprint", vec![json!("f"), json!("g"), json!(null), json!(1)]);
        let tier = some("service_tier", vec![json!("t"), json!("")]);
        let usages = vec![json!({"prompt_tokens": 3, "completion_tokens": 4}), json!({}), json!(1)];
        let choices = proptest::collection::vec(choice(), 0..3)
            .prop_map(|choices| Some(("choices".to_owned(), Value::Array(choices))));
        (head, id, model, print, tier, some("usage", usages), choices)
            .prop_map(|(a, b, c, d, e, f, g)| object(vec![a, b, c, d, e, f, g]))
    }

    proptest! {
        #[test]
        fn a_usual_chunk_is_taken_as_any_chunk_is(
            chunks in proptest::collection::vec(chunk(), 1..4),
        ) {
            let (mut short, mut long) = (Fold::default(), Fold::default());
            for chunk in chunks {
                let data = chunk.to_string();
                let took = match Chunk::read(data.as_bytes()) {
                    Some(usual) => short.usual(usual),
                    None => short.chunk(chunk.clone()),
                };
                prop_assert_eq!(took, long.chunk(chunk));
            }
            prop_assert_eq!(short, long);
        }
    }
}
