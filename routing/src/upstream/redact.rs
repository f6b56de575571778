//! Takes keys out of whatever a backend sends back.

use reqwest::header::AUTHORIZATION;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::{Answer, Failure};

/// What stands where a secret stood.
const MASK: &str = "[redacted]";

/// Shorter values are no secrets but placeholders such as `none` or `ollama`, which an answer may
/// well contain.
const SHORTEST: usize = 8;

/// The secrets of one call.
#[derive(Debug, Default)]
pub(super) struct Redactor {
    secrets: Vec<SecretString>,
}

impl Redactor {
    /// The key, and the values of those headers whose names say that they are secret.
    pub(super) fn new<'a>(
        key: Option<&SecretString>,
        headers: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Self {
        let mut secrets: Vec<SecretString> = key.into_iter().cloned().collect();
        for (name, value) in headers {
            if is_secret(name) {
                // A scheme in front is no part of the secret: an echo may leave it out.
                let value = value.rsplit(' ').next().unwrap_or(value);
                secrets.push(SecretString::from(value));
            }
        }
        secrets.retain(|secret| secret.expose_secret().len() >= SHORTEST);
        Self { secrets }
    }

    /// The text without secrets. At its end, where it may have been cut, the beginning of a secret
    /// goes too.
    pub(super) fn text(&self, text: String) -> String {
        let mut text = text;
        for secret in &self.secrets {
            let secret = secret.expose_secret();
            if text.contains(secret) {
                text = text.replace(secret, MASK);
            }
            // Secrets are ASCII, so a cut inside one is never inside a character.
            let cut = (SHORTEST..secret.len()).rev().find(|&n| text.ends_with(&secret[..n]));
            if let Some(cut) = cut {
                text.truncate(text.len() - cut);
                text.push_str(MASK);
            }
        }
        text
    }

    pub(super) fn failure(&self, mut failure: Failure) -> Failure {
        failure.message = self.text(failure.message);
        failure.partial = failure.partial.map(|partial| self.text(partial));
        failure
    }

    pub(super) fn answer(&self, mut answer: Answer) -> Answer {
        if self.secrets.is_empty() {
            return answer;
        }
        answer.text = self.text(answer.text);
        answer.reasoning = answer.reasoning.map(|reasoning| self.text(reasoning));
        answer.model = self.text(answer.model);
        answer.finish_reason = self.text(answer.finish_reason);
        for call in &mut answer.tool_calls {
            self.value(call);
        }
        let unknown = std::mem::take(&mut answer.unknown);
        let mut unknown = Value::Object(unknown);
        self.value(&mut unknown);
        if let Value::Object(unknown) = unknown {
            answer.unknown = unknown;
        }
        answer
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(std::mem::take(text)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => {
                let taken = std::mem::take(members);
                *members = taken
                    .into_iter()
                    .map(|(name, mut value)| {
                        self.value(&mut value);
                        (self.text(name), value)
                    })
                    .collect();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn is_secret(header: &str) -> bool {
    let name = header.to_ascii_lowercase();
    name == AUTHORIZATION.as_str()
        || ["key", "token", "secret", "password", "cookie", "auth", "credential"]
            .iter()
            .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    const KEY: &str = "sk-canary-0123456789";

    fn redactor() -> Redactor {
        Redactor::new(Some(&SecretString::from(KEY)), &BTreeMap::new())
    }

    #[test]
    fn d28_a_key_is_taken_out_wherever_it_stands() {
        let redactor = redactor();
        assert_eq!(redactor.text(format!("a {KEY} b {KEY}")), "a [redacted] b [redacted]");
        assert_eq!(redactor.text(format!("cut at {}", &KEY[..12])), "cut at [redacted]");
        assert_eq!(redactor.text("sk-can".into()), "sk-can", "too little to be told");
        let answer = Answer {
            text: KEY.into(),
            reasoning: Some(KEY.into()),
            tool_calls: vec![json!({"function": {"arguments": format!("{{\"k\":\"{KEY}\"}}")}})],
            unknown: json!({KEY: [KEY, {"x": KEY}], "n": 1}).as_object().cloned().unwrap(),
            model: KEY.into(),
            finish_reason: KEY.into(),
            ..Answer::default()
        };
        let shown = format!("{:?}", redactor.answer(answer));
        assert!(!shown.contains("canary"), "{shown}");
        assert!(!format!("{redactor:?}").contains("canary"));
    }

    #[test]
    fn d28_secret_headers_count_and_placeholders_do_not() {
        let headers: BTreeMap<String, String> = [
            ("api-key", "azure-canary-1"),
            ("Authorization", "Basic basic-canary-2"),
            ("x-team", "infrastructure"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let redactor = Redactor::new(Some(&SecretString::from("ollama")), &headers);
        let text = "ollama infrastructure azure-canary-1 basic-canary-2".to_owned();
        assert_eq!(redactor.text(text), "ollama infrastructure [redacted] [redacted]");
    }
}
