//! Numbers of a JSON document that a reader would change without a word: told before it is read.

/// The first number that is beyond both 64-bit integers and double floats as it is written: an
/// integer of more than 64 bits, or a fraction so small that it would become 0. Linear, without
/// memory of its own; what is no JSON has none or any.
pub fn unkept(json: &[u8]) -> Option<&str> {
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at = behind_string(json, at + 1),
            b'-' | b'0'..=b'9' => {
                let token = token(json.get(at..)?);
                if !is_kept(token) {
                    return Some(token);
                }
                at += token.len().max(1);
            }
            _ => at += 1,
        }
    }
    None
}

/// The place behind a string that begins there.
fn behind_string(json: &[u8], mut at: usize) -> usize {
    while let Some(found) = json.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if json.get(at - 1) == Some(&b'"') {
            return at;
        }
        at += 1;
    }
    json.len()
}

/// The number that a text begins with.
fn token(text: &[u8]) -> &str {
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let end = text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len());
    text.get(..end).and_then(|token| str::from_utf8(token).ok()).unwrap_or_default()
}

fn is_kept(token: &str) -> bool {
    let digits = token.split(['e', 'E']).next().unwrap_or_default();
    if token.contains(['.', 'e', 'E']) {
        let is_zero = !digits.contains(|c: char| matches!(c, '1'..='9'));
        return is_zero || token.parse::<f64>().is_ok_and(|number| number != 0.0);
    }
    // No integer of so few digits has more than 64 bits.
    token.len() < 19 || token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok()
}

/// What is said of it.
pub(crate) fn words(number: &str) -> String {
    let shown: String = number.chars().take(60).collect();
    let rest = if shown.len() < number.len() { "…" } else { "" };
    format!(
        "the number `{shown}{rest}` is out of range and would be changed: integers have 64 bits, other numbers are double floats; send it as a text"
    )
}

/// A refusal of arguments with such a number, if there is one.
///
/// # Errors
/// [`crate::Code::Invalid`], which names it.
pub fn check(json: &[u8]) -> Result<(), crate::Fault> {
    unkept(json).map_or(Ok(()), |number| Err(crate::Fault::invalid(words(number))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_would_be_changed_is_named() {
        for (text, wanted) in [
            (r#"{"a":123456789012345678901234567890}"#, Some("123456789012345678901234567890")),
            (r#"{"a":[-9223372036854775809]}"#, Some("-9223372036854775809")),
            ("18446744073709551616", Some("18446744073709551616")),
            (r#"["a\"1",1e-400]"#, Some("1e-400")),
            ("18446744073709551615", None),
            ("[-9223372036854775808,1e30,0.1,-0,0e999,1E5,-0.0]", None),
            (r#"{"12345678901234567890123":"12345678901234567890123"}"#, None),
            (r#""\\",123456789012345678901234567890"#, Some("123456789012345678901234567890")),
            ("", None),
            ("-", None),
            ("\"", None),
        ] {
            assert_eq!(unkept(text.as_bytes()), wanted, "{text}");
        }
    }

    proptest! {
        /// Whatever a document of ours says reads back as it is.
        #[test]
        fn what_was_written_from_numbers_is_kept(
            whole in any::<i64>(), big in any::<u64>(), float in any::<f64>(), text in "\\PC{0,20}",
        ) {
            prop_assume!(float.is_finite());
            let value = json!([whole, big, float, { text.clone(): text }]);
            let json = value.to_string();
            prop_assert_eq!(unkept(json.as_bytes()), None);
            let read: Value = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(read.get(1), value.get(1));
        }

        #[test]
        fn any_bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            unkept(&bytes);
        }
    }
}
