//! Addresses as a client makes them of a template: RFC 6570 writes all but plain letters as `%40`.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What `{name}` of a template leaves as it is
/// (<https://www.rfc-editor.org/rfc/rfc6570#section-3.2.2>).
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A part of an address, in its one spelling.
pub(super) fn part(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// What a part of an address says; nothing where it is no text.
pub(super) fn said(part: &str) -> Option<String> {
    Some(percent_decode_str(part).decode_utf8().ok()?.into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_part_says_what_it_was_made_of(text in "(?s).{0,40}") {
            let made = part(&text);
            prop_assert!(made.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte)));
            prop_assert_eq!(said(&made), Some(text));
        }
    }
}
