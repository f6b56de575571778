//! What a message says.

use serde_json::{Map, Value};

use crate::store::Error;

/// The longest body, in bytes of its JSON.
pub const LONGEST: usize = 65_536;

/// A JSON object within the bound, with its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    object: Map<String, Value>,
    text: String,
}

impl Body {
    /// Takes an object.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub fn new(object: Map<String, Value>) -> Result<Self, Error> {
        let text = serde_json::to_string(&object)
            .map_err(|error| Error::Internal(format!("the body of a message: {error}")))?;
        if text.len() > LONGEST {
            let size = text.len();
            return Err(Error::TooLarge(format!(
                "`body` has {size} bytes as JSON, and may have {LONGEST}: send a pointer to what is longer"
            )));
        }
        Ok(Self { object, text })
    }

    /// Reads what was stored.
    pub(super) fn stored(text: String) -> Result<Self, Error> {
        match serde_json::from_str(&text) {
            Ok(object) => Ok(Self { object, text }),
            Err(error) => Err(Error::Internal(format!("the body of a message: {error}"))),
        }
    }

    /// The object.
    pub fn object(&self) -> &Map<String, Value> {
        &self.object
    }

    /// The object, taken out.
    pub fn into_object(self) -> Map<String, Value> {
        self.object
    }

    /// Its JSON.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it says the same, whatever the order of its members.
    pub(super) fn says(&self, other: &Self) -> bool {
        self.object == other.object
    }

    /// What the board shows of it: `text` or `message`, where they are words. The board cannot hold
    /// a NUL, which is shown there as `␀`; the message itself keeps it.
    pub(super) fn words(&self) -> Option<String> {
        ["text", "message"].iter().find_map(|name| {
            let words = match self.object.get(*name)? {
                Value::String(text) => text.replace('\0', "\u{2400}"),
                Value::Null | Value::Bool(false) => return None,
                other => other.to_string(),
            };
            (!words.trim().is_empty()).then_some(words)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(value: &Value) -> Result<Body, Error> {
        Body::new(value.as_object().unwrap().clone())
    }

    #[test]
    fn a_body_is_what_it_says_and_not_how_it_is_written() {
        let one = body(&json!({ "a": 1, "b": [true, null] })).unwrap();
        assert!(one.says(&body(&json!({ "b": [true, null], "a": 1 })).unwrap()));
        assert!(!one.says(&body(&json!({ "b": [true], "a": 1 })).unwrap()));
        assert!(!one.says(&body(&json!({ "a": "1", "b": [true, null] })).unwrap()));
    }

    #[test]
    fn a_body_of_the_longest_fits_and_one_more_byte_does_not() {
        let of = |count: usize| body(&json!({ "t": "x".repeat(count) }));
        let empty = of(0).unwrap().text().len();
        assert_eq!(of(LONGEST - empty).unwrap().text().len(), LONGEST);
        let error = of(LONGEST - empty + 1).unwrap_err().to_string();
        assert!(error.contains("65537") && error.contains("65536"), "{error}");
    }

    #[test]
    fn the_board_shows_the_words_of_a_body() {
        for (value, wanted) in [
            (json!({ "text": "look", "message": "other" }), Some("look")),
            (json!({ "text": " ", "message": "other" }), Some("other")),
            (json!({ "text": "a\0b" }), Some("a\u{2400}b")),
            (json!({ "text": { "a": 1 } }), Some("{\"a\":1}")),
            (json!({ "text": null }), None),
            (json!({}), None),
        ] {
            assert_eq!(body(&value).unwrap().words().as_deref(), wanted, "{value}");
        }
    }
}
