//! A message that is not JSON, or is too long to be read: what is wrong with it, in words, and the
//! id of the request that it was meant to be, so that its caller does not wait for ever.

use serde_json::Value;

/// The longest id that is looked for, in bytes.
const LONGEST: usize = 512;

/// What is wrong with a text, and what to do: what the parser says, but for texts that are no UTF-8
/// and for half characters, of which it says too little.
pub fn why(json: &[u8], error: &serde_json::Error) -> String {
    if let Err(error) = str::from_utf8(json) {
        return format!("it is not UTF-8 from byte {} on: send JSON in UTF-8", error.valid_up_to());
    }
    let words = error.to_string();
    if words.starts_with("unexpected end of hex escape")
        || words.starts_with("lone leading surrogate")
    {
        return format!(
            "a string holds a lone surrogate, half of a character such as `\\ud83d` without the other half, at line {} column {}: cut texts between whole characters, or write `\\ufffd` in its place",
            error.line(),
            error.column()
        );
    }
    words
}

/// The id of a request, as far as it can be told: a text or a number in the member `id` of the
/// object that the text begins.
pub fn id(json: &[u8]) -> Option<Value> {
    let mut scan = Scan::default();
    scan.feed(json);
    scan.id()
}

/// Whether the scan is within a string.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Inside {
    #[default]
    Nothing,
    Text,
    /// Behind a backslash.
    Escape,
}

/// What of the object comes next.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Name,
    /// The value of the id.
    Id,
    /// Another's value.
    Other,
    /// Nothing: the text is no object, or its end was seen.
    Over,
}

/// Looks for the id in a text that comes in pieces, and keeps no more of it than that.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    depth: usize,
    inside: Inside,
    part: Part,
    /// The name or value at hand: only those of the object itself.
    word: Vec<u8>,
    found: Option<Value>,
}

impl Scan {
    /// The next piece.
    pub(crate) fn feed(&mut self, json: &[u8]) {
        for byte in json {
            if self.part == Part::Over {
                return;
            }
            self.byte(*byte);
        }
    }

    /// What was found: the last one counts, as it does where the text can be read.
    pub(crate) fn id(self) -> Option<Value> {
        self.found
    }

    fn byte(&mut self, byte: u8) {
        if self.inside != Inside::Nothing {
            self.inside = match (self.inside, byte) {
                (Inside::Text, b'\\') => Inside::Escape,
                (Inside::Text, b'"') => Inside::Nothing,
                _ => Inside::Text,
            };
            return self.keep(byte);
        }
        match byte {
            b'"' => {
                self.inside = Inside::Text;
                self.keep(byte);
            }
            b'{' | b'[' => {
                if self.depth == 0 && byte == b'[' {
                    self.part = Part::Over;
                }
                self.depth += 1;
                if self.part == Part::Id && self.depth > 1 {
                    // What is nested is no id.
                    (self.part, self.found) = (Part::Other, None);
                }
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.value();
                    self.part = Part::Over;
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b',' if self.depth == 1 => self.value(),
            b':' if self.depth == 1 => {
                self.part = if self.word == b"\"id\"" { Part::Id } else { Part::Other };
                self.word.clear();
            }
            // A mark of the byte order may stand before it.
            _ if byte.is_ascii_whitespace() => {}
            _ if self.depth == 0 => {
                if !b"\xef\xbb\xbf".contains(&byte) {
                    self.part = Part::Over;
                }
            }
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.part != Part::Other && self.word.len() <= LONGEST {
            self.word.push(byte);
        }
    }

    /// A member's value is over.
    fn value(&mut self) {
        if self.part == Part::Id && self.word.len() <= LONGEST {
            let value = serde_json::from_slice::<Value>(&self.word).ok();
            self.found = value.filter(|id| id.is_string() || id.is_number());
        }
        self.part = Part::Name;
        self.word.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_is_found_wherever_it_stands_in_the_object_itself() {
        for (text, found) in [
            (r#"{"id":7,"a":"\ud83d"}"#, json!(7)),
            (r#" {"a":{"id":1,"b":["id"]},"t":"\"id\":2","id" : "x\"y" }"#, json!("x\"y")),
            (r#"{"params":{"x":"}{\ud83d"},"jsonrpc":"2.0","id":3}"#, json!(3)),
            (r#"{"id":8,"a":nope"#, json!(8)),
            (r#"{"id":{"id":4}}"#, Value::Null),
            (r#"{"id":null}"#, Value::Null),
            (r#"{"id":12"#, Value::Null),
            (r#"[{"id":5}]"#, Value::Null),
            (r#"x{"id":5}"#, Value::Null),
            (r#"{"id":"\ud83d"}"#, Value::Null),
            ("", Value::Null),
        ] {
            assert_eq!(id(text.as_bytes()).unwrap_or_default(), found, "{text}");
        }
        assert_eq!(id(b"\xef\xbb\xbf{\"a\":\"\xff\",\"id\":6}"), Some(json!(6)));
    }

    #[test]
    fn halves_of_characters_and_other_encodings_are_named_with_the_remedy() {
        let words = |text: &[u8]| why(text, &serde_json::from_slice::<Value>(text).unwrap_err());
        for half in [
            r#"["\ud83d"]"#,
            r#"["\ud83d."]"#,
            r#"["\ud83d\n"]"#,
            r#"["\ud83dA"]"#,
            r#"["\ude00"]"#,
        ] {
            let words = words(half.as_bytes());
            assert!(
                words.contains("lone surrogate") && words.contains("cut texts"),
                "{half}: {words}"
            );
        }
        assert!(words(b"[\"\xff\"]").contains("not UTF-8 from byte 2"));
        assert!(words(b"[").starts_with("EOF"));
    }

    proptest! {
        /// Where the text can be read, what is found is what stands there, in however many pieces.
        #[test]
        fn what_is_found_is_what_a_reader_finds(
            text in r#"\{("id"|"a"|"\\u0041"|1|2\.5|null|[{}\[\]:,] ?){0,12}\}"#,
            cut in any::<prop::sample::Index>(),
        ) {
            let at = cut.index(text.len() + 1);
            let mut scan = Scan::default();
            scan.feed(&text.as_bytes()[..at]);
            scan.feed(&text.as_bytes()[at..]);
            let found = scan.id();
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                let there = value.get("id").filter(|id| id.is_string() || id.is_number());
                prop_assert_eq!(found.as_ref(), there);
            }
        }
    }
}
