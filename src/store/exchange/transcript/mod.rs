//! A transcript of Claude Code made into turns: one for each message of the operator, with what was
//! answered to it. Thoughts are left out, results of tools are cut to what tells them apart, and what
//! was touched and run goes into the pointers. Pure.
//!
//! A transcript is one JSON object a line. What is no JSON is passed over and counted, whatever else
//! is odd is read as far as it goes.

mod content;
mod line;
mod trim;
mod turn;

use serde_json::Value;

use self::{
    content::Parts,
    line::{mended, moment, text},
    turn::Open,
};
use super::Content;

/// By what turns of transcripts are recorded.
pub const SOURCE: &str = "claude-code-transcript";

/// How the echoes of local commands begin, which are no turns.
const ECHOES: [&str; 3] = ["<command-name>", "<local-command-stdout>", "<local-command-caveat>"];

/// What a transcript holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Primed {
    /// Its turns, in their order.
    pub turns: Vec<Content>,
    /// How many turns were cut to what a record holds.
    pub clipped: usize,
    /// Lines that are no JSON, and the number of the first, from 1.
    pub odd: Odd,
}

/// Lines that are no JSON object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Odd {
    /// How many there are.
    pub count: usize,
    /// The number of the first, from 1; 0 when there is none.
    pub first: usize,
}

/// Makes turns of a transcript.
pub fn prime(transcript: &str) -> Primed {
    let mut reader = Reader::default();
    for (nth, line) in transcript.lines().enumerate() {
        let line = line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\0' | '\u{feff}'));
        if line.is_empty() {
            continue;
        }
        if let Some(row) = parsed(line) {
            reader.row(&row);
            continue;
        }
        reader.odd.count += 1;
        if reader.odd.first == 0 {
            reader.odd.first = nth + 1;
        }
    }
    reader.finish()
}

/// The object of a line.
fn parsed(line: &str) -> Option<Value> {
    let value = serde_json::from_str::<Value>(line);
    // JavaScript writes halves of characters, which are no text.
    let value = value.or_else(|error| match mended(line) {
        Some(line) => serde_json::from_str(&line),
        None => Err(error),
    });
    value.ok().filter(Value::is_object)
}

/// Reads row by row.
#[derive(Default)]
struct Reader {
    turns: Vec<Open>,
    /// What each call of a model cost, by its message's id: it is written once for each block of it.
    calls: turn::Calls,
    odd: Odd,
}

impl Reader {
    fn row(&mut self, row: &Value) {
        match text(row, "type") {
            "user" => self.user(row),
            "assistant" => self.assistant(row),
            "attachment" => self.attachment(row),
            _ => {}
        }
    }

    /// Something in the user's role: results of tools, which belong to the turn at hand, and words,
    /// which begin another.
    fn user(&mut self, row: &Value) {
        let parts = Parts::of(&row["message"]["content"]);
        let has_results = !parts.results.is_empty();
        if has_results && let Some(turn) = self.turns.last_mut() {
            turn.results(parts.results);
            // Words that came with results: a message of the operator's own, or the harness's.
            if !is_operators(&parts.text) {
                return;
            }
        }
        let words = parts.text.trim();
        if ECHOES.iter().any(|echo| words.starts_with(echo)) {
            return;
        }
        self.turns.push(Open::asked(row, words));
    }

    fn assistant(&mut self, row: &Value) {
        let message = &row["message"];
        if self.turns.is_empty() {
            self.turns.push(Open::asked(row, ""));
        }
        let nth = self.turns.len() - 1;
        let Some(turn) = self.turns.last_mut() else { return };
        self.calls.note(nth, message);
        turn.answered(row, Parts::of(&message["content"]));
    }

    /// A message of the operator that was sent while the model was at work.
    fn attachment(&mut self, row: &Value) {
        let about = &row["attachment"];
        let is_human = about["humanTurn"] == true || text(&about["origin"], "kind") == "human";
        if text(about, "type") != "queued_command" || !is_human {
            return;
        }
        let parts = Parts::of(&about["prompt"]);
        let words = parts.text.trim();
        if !words.is_empty() {
            self.turns.push(Open::asked(row, words).in_between());
        }
    }

    fn finish(self) -> Primed {
        let Self { turns, calls, odd } = self;
        let mut primed = Primed { odd, ..Primed::default() };
        let mut last = 0;
        for (turn, tokens) in turns.into_iter().zip(calls.sums()) {
            // Without a time of its own a turn is as old as the one before.
            let ts = if turn.ts() == 0 { last } else { turn.ts() };
            last = last.max(ts);
            let Some((content, clipped)) = turn.close(tokens, ts) else { continue };
            primed.clipped += usize::from(clipped);
            primed.turns.push(content);
        }
        primed
    }
}

fn is_operators(words: &str) -> bool {
    let is_said = !words.trim().is_empty();
    is_said && super::classify(words).0 == super::Origin::Operator
}

/// When a row was written, in microseconds of UTC; 0 when it does not say.
fn written(row: &Value) -> i64 {
    moment(text(row, "timestamp"))
}
