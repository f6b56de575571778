//! Whether an exchange gives reason to look again at what its locus is at. Where it does, that is
//! noted as an assessment that awaits a closer look, in the transaction of the exchange.

use super::{Content, Origin};
use crate::store::{Error, Tx, feed::Op};

/// The kind of assessments in the feed; their ids are numbers.
pub(in crate::store) const ASSESSMENT: &str = "assessment";

/// How long a locus is left alone after an assessment, and after how long any exchange is reason for
/// another one.
const FLOOR: i64 = 60 * SECOND;
const CEILING: i64 = 3_600 * SECOND;

/// How strong a signal is reason for one in between.
const STRONG: f64 = 0.5;

/// How many words that ask for something make the strongest signal.
const WORDS: usize = 6;

/// How much of a prompt is looked at, in characters.
const LOOKED_AT: usize = 8_000;

/// The most characters of what an assessment says of an item.
const SUMMARY: usize = 300;

/// How many open items are looked through for one that is meant.
const ITEMS: i64 = 100;

const SECOND: i64 = 1_000_000;

/// Words that ask for something: each may be followed by anything that is no part of a word.
const ASKING: &[&str] = &[
    "please",
    "can you",
    "could you",
    "need to",
    "needs to",
    "should",
    "todo",
    "task",
    "fix",
    "build",
    "make",
    "add",
    "implement",
    "create",
    "setup",
    "set up",
    "deploy",
    "investigate",
    "handle",
    "remember to",
];

/// What was judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tripwire {
    /// Whether there is reason.
    pub fired: bool,
    /// How much the prompt asks for, from 0 to 1.
    pub signal: f64,
    /// How old the last assessment of the locus was, in seconds, where there is one.
    pub age_s: Option<i64>,
    /// The number of the assessment that was noted.
    pub assessment: Option<i64>,
}

/// How much an exchange asks for: by the operator's words alone.
pub(super) fn signal(content: &Content) -> f64 {
    if content.origin == Some(Origin::Harness) {
        return 0.0;
    }
    let head: String = content.prompt.chars().take(LOOKED_AT).collect();
    let asked = asked(&head.to_lowercase()).min(WORDS);
    #[expect(clippy::cast_precision_loss, reason = "a few words")]
    let signal = asked as f64 / WORDS as f64;
    signal
}

/// How many words of a text in small letters ask for something.
fn asked(text: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut count, mut before) = (0, None);
    for (at, c) in text.char_indices() {
        let begins = is_word(c) && !before.is_some_and(is_word);
        before = Some(c);
        let rest = &text[at..];
        let asks =
            |word: &&str| rest.strip_prefix(*word).is_some_and(|rest| !rest.starts_with(is_word));
        if begins && ASKING.iter().any(asks) {
            count += 1;
        }
    }
    count
}

/// Whether a signal is reason for an assessment, so many microseconds after the last one.
fn is_reason(signal: f64, age: Option<i64>) -> bool {
    age.is_none_or(|age| age >= CEILING || (signal >= STRONG && age >= FLOOR))
}

/// Judges an exchange of a locus, and notes an assessment where there is reason.
pub(super) async fn judge(tx: &mut Tx, locus: &str, signal: f64) -> Result<Tripwire, Error> {
    let last = tx
        .sql("SELECT ts FROM assessments WHERE locus = $1 ORDER BY id DESC LIMIT 1")
        .bind(locus)
        .opt()
        .await?;
    let now = tx.now();
    let age = last.map(|row| row.get::<i64>(0)).transpose()?.map(|ts| now.saturating_sub(ts));
    let age_s = age.map(|age| age.div_euclid(SECOND));
    if !is_reason(signal, age) {
        return Ok(Tripwire { fired: false, signal, age_s, assessment: None });
    }
    let focus = focus(tx, locus).await?;
    let made = tx
        .sql("INSERT INTO assessments (locus, ts, focus_item_id, focus_summary, fulfilled, rationale, assessed_by, pending, signal) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id")
        .bind(locus)
        .bind(now)
        .bind(focus.as_ref().map(|(number, _)| *number))
        .bind(focus.as_ref().map_or("", |(_, text)| text))
        .bind(focus.as_ref().map(|_| false))
        .bind(format!("an exchange was recorded (signal {signal:.2}): a closer look is awaited"))
        .bind("tripwire")
        .bind(true)
        .bind(signal)
        .one()
        .await?;
    let number: i64 = made.get(0)?;
    tx.event(ASSESSMENT, locus, &number.to_string(), Op::Insert).await?;
    Ok(Tripwire { fired: true, signal, age_s, assessment: Some(number) })
}

/// The newest open item of the locus's board that is meant: its number and what it says.
pub(in crate::store) async fn focus(
    tx: &mut Tx,
    locus: &str,
) -> Result<Option<(i64, String)>, Error> {
    let rows = tx
        .sql("SELECT id, text FROM todos WHERE locus = $1 AND status = 'open' ORDER BY id DESC LIMIT $2")
        .bind(locus)
        .bind(ITEMS)
        .all()
        .await?;
    for row in &rows {
        let text: String = row.get(1)?;
        if !is_trial(&text) {
            return Ok(Some((row.get(0)?, text.chars().take(SUMMARY).collect())));
        }
    }
    Ok(None)
}

/// Whether an item was written to try something out.
fn is_trial(text: &str) -> bool {
    let text = text.to_lowercase();
    let words: Vec<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|w| !w.is_empty())
        .collect();
    let follows = |pair: &[&str]| match pair {
        ["test", next] => ["todo", "proposal", "operator", "ask"].contains(next),
        ["capability", next] => *next == "test",
        _ => false,
    };
    let begins = text.trim_start().starts_with("test") && words.first() == Some(&"test");
    begins || words.windows(2).any(follows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_ask_are_counted_whole_and_in_any_case() {
        for (text, count) in [
            ("please fix the build", 3),
            ("Could you set up the task? We need to DEPLOY it.", 5),
            ("setup, add; add", 3),
            ("pleased prefix fixes building rebuild todos", 0),
            ("remember  to", 0),
            ("", 0),
        ] {
            assert_eq!(asked(&text.to_lowercase()), count, "{text}");
        }
    }

    #[test]
    fn a_locus_is_left_alone_for_a_minute_and_looked_at_again_after_an_hour() {
        for (signal, age, fires) in [
            (0.0, None, true),
            (1.0, Some(FLOOR - 1), false),
            (0.5, Some(FLOOR), true),
            (0.4, Some(CEILING - 1), false),
            (0.0, Some(CEILING), true),
            (1.0, Some(-FLOOR), false),
        ] {
            assert_eq!(is_reason(signal, age), fires, "{signal} {age:?}");
        }
    }

    #[test]
    fn items_of_trials_are_passed_over() {
        for text in ["test", " Test: x", "a test todo", "a capability test", "TEST ask"] {
            assert!(is_trial(text), "{text}");
        }
        for text in ["testing it", "the test fails", "(test) x", "contest todo", ""] {
            assert!(!is_trial(text), "{text}");
        }
    }
}
