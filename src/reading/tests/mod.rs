//! Each rule by examples, and all of them on random texts.

use super::*;

mod align;
mod check;
mod chunk;
mod hostile;
mod property;
mod rank;
mod reply;
mod words;

/// Holds a quotation against a source and gives what must be true of every excerpt back: its
/// status, its text, and the line.
fn checked(raw: &str, quote: &str) -> (Status, String, Option<usize>) {
    let excerpt = Source::new(raw).check(quote);
    match (excerpt.start, excerpt.end) {
        (Some(start), Some(end)) => {
            assert_ne!(excerpt.status, Status::Unverified);
            assert_eq!(raw.get(start..end), Some(excerpt.text.as_str()), "{quote:?}");
        }
        offsets => {
            assert_eq!((excerpt.status, offsets), (Status::Unverified, (None, None)));
            assert_eq!((excerpt.text.as_str(), excerpt.line), (quote, None));
        }
    }
    (excerpt.status, excerpt.text, excerpt.line)
}

fn verified(raw: &str, quote: &str) -> (String, Option<usize>) {
    let (status, text, line) = checked(raw, quote);
    assert_eq!(status, Status::Verified, "{quote:?} in {raw:?}");
    (text, line)
}

fn repaired(raw: &str, quote: &str) -> String {
    let (status, text, _) = checked(raw, quote);
    assert_eq!(status, Status::Repaired, "{quote:?} in {raw:?}");
    text
}

fn unverified(raw: &str, quote: &str) {
    assert_eq!(checked(raw, quote).0, Status::Unverified, "{quote:?} in {raw:?}");
}
