//! JSON as backends write it. A model that stops between the halves of a character makes some
//! servers send half a surrogate pair or a piece of UTF-8: that is one character lost, and no
//! reason to lose the answer.

use serde_json::Value;

/// Reads a document; where it is not JSON only for broken characters, each of them is U+FFFD.
pub(super) fn read(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(bytes).or_else(|error| {
        let text = String::from_utf8_lossy(bytes);
        serde_json::from_str(&mended(&text)).map_err(|_still| error)
    })
}

/// The text with every escape of a lone surrogate replaced by that of U+FFFD.
fn mended(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (kept, length) = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (escape.get(..12), 12),
            (Some(0xd800..=0xdfff), _) => (Some("\\ufffd"), 6),
            (Some(_), _) => (escape.get(..6), 6),
            // Another escape is two characters, the second of which may be of any length.
            (None, _) => {
                let length = escape.chars().take(2).map(char::len_utf8).sum();
                (escape.get(..length), length)
            }
        };
        out.push_str(kept.unwrap_or_default());
        rest = escape.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// The code unit of a `\uXXXX` that the text starts with.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_broken_character_costs_one_character() {
        for (text, wanted) in [
            (&br#"{"a":"x\ud83d"}"#[..], "x\u{fffd}"),
            (br#"{"a":"\udc00\ud83d\ude42"}"#, "\u{fffd}🙂"),
            (br#"{"a":"\\ud83d \" \ud83d\n"}"#, "\\ud83d \" \u{fffd}\n"),
            (b"{\"a\":\"\xe6\x97\"}", "\u{fffd}"),
        ] {
            assert_eq!(read(text).unwrap(), json!({ "a": wanted }));
        }
        assert!(read(br#"{"a":"#).is_err());
    }

    proptest! {
        #[test]
        fn what_is_json_is_read_as_it_is(text in "\\PC*") {
            let value = json!({ "a": text });
            prop_assert_eq!(read(value.to_string().as_bytes()).unwrap(), value.clone());
            prop_assert_eq!(mended(&value.to_string()), value.to_string());
        }
    }
}
