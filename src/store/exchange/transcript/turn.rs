//! One turn while it is read.

use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write as _,
};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    super::{
        Content, MOST_TEXT, Tokens,
        content::{MOST_MODEL, MOST_SESSION},
    },
    SOURCE,
    content::Parts,
    line::text,
    trim::{cut, errors},
    written,
};

/// How many calls and results of a turn are told, and how many files, commands and errors its
/// pointers have.
const CALLS: usize = 40;
const RESULTS: usize = 40;
const FILES: usize = 30;
const COMMANDS: usize = 20;
const ERRORS: usize = 8;

/// The most characters of a line that tells of an error.
const ERROR: usize = 400;

/// The digits of the name that is made for a turn which has none.
const DIGITS: usize = 30;

/// A turn while it is read.
#[derive(Default)]
pub(super) struct Open {
    turn: String,
    session: String,
    ts: i64,
    model: String,
    prompt: String,
    text: Vec<String>,
    calls: Vec<String>,
    count: usize,
    results: Vec<String>,
    files: BTreeSet<String>,
    commands: Vec<String>,
    mid_turn: bool,
}

impl Open {
    /// A turn that begins with a row.
    pub(super) fn asked(row: &Value, words: &str) -> Self {
        Self {
            turn: text(row, "uuid").to_owned(),
            session: text(row, "sessionId").to_owned(),
            ts: written(row),
            prompt: words.to_owned(),
            ..Self::default()
        }
    }

    /// The same, sent while the model was at work on the one before.
    pub(super) fn in_between(self) -> Self {
        Self { mid_turn: true, ..self }
    }

    /// When it began; 0 when no row says.
    pub(super) fn ts(&self) -> i64 {
        self.ts
    }

    /// Results of tools that it called.
    pub(super) fn results(&mut self, results: Vec<String>) {
        let room = RESULTS.saturating_sub(self.results.len());
        self.results.extend(results.into_iter().take(room));
    }

    /// A part of the answer.
    pub(super) fn answered(&mut self, row: &Value, parts: Parts) {
        let model = text(&row["message"], "model");
        if !model.is_empty() {
            model.clone_into(&mut self.model);
        }
        if self.session.is_empty() {
            text(row, "sessionId").clone_into(&mut self.session);
        }
        if self.ts == 0 {
            self.ts = written(row);
        }
        let words = parts.text.trim();
        if !words.is_empty() {
            self.text.push(words.to_owned());
        }
        self.count += parts.calls.len();
        for call in parts.calls {
            if self.calls.len() < CALLS {
                self.calls.push(call.shown);
            }
            if self.commands.len() < COMMANDS {
                self.commands.extend(call.command);
            }
            self.files.extend(call.files);
            // The first by name are told.
            while self.files.len() > FILES {
                self.files.pop_last();
            }
        }
    }

    /// The turn as it is recorded, and whether it was cut; `None` when nothing was said in it. `ts` is
    /// its time, as far as it is known.
    pub(super) fn close(self, tokens: Tokens, ts: i64) -> Option<(Content, bool)> {
        if self.prompt.is_empty() && self.text.is_empty() && self.calls.is_empty() {
            return None;
        }
        let mut response = self.text.join("\n");
        if !self.calls.is_empty() {
            response.push_str("\n[tools] ");
            response.push_str(&self.calls.join("; "));
        }
        if !self.results.is_empty() {
            response.push_str("\n[results]\n");
            response.push_str(&self.results.join("\n---\n"));
        }
        let mut pointers = json!({
            "source": SOURCE,
            "files": self.files,
            "commands": self.commands,
            "errors": errors(&response, ERRORS, ERROR),
            "tool_calls": self.count,
        });
        if self.mid_turn {
            pointers["mid_turn"] = json!(true);
        }
        let mut is_cut = false;
        let mut bounded = |text: String, most: usize| {
            let kept = cut(&text, most);
            is_cut |= kept.len() < text.len();
            kept.to_owned()
        };
        let turn = match line(&self.turn) {
            turn if turn.trim().is_empty() => name(&self.session, self.ts, &self.prompt),
            turn => turn,
        };
        let mut content = Content {
            turn,
            session_id: line(&bounded(self.session, MOST_SESSION)),
            source: SOURCE.to_owned(),
            model: line(&bounded(self.model, MOST_MODEL)),
            origin: None,
            ts,
            primed: ts,
            tokens,
            pointers: Some(pointers),
            prompt: bounded(self.prompt, MOST_TEXT),
            response: bounded(response, MOST_TEXT),
        };
        content.classify();
        Some((content, is_cut))
    }
}

/// A name for a turn that has none, made of what it is: the same turn has the same name again.
fn name(session: &str, ts: i64, prompt: &str) -> String {
    let mut hash = Sha256::new();
    for part in [session, &*ts.to_string(), prompt] {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(part);
    }
    let mut name = "d-".to_owned();
    for byte in hash.finalize().iter().take(DIGITS / 2) {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name
}

/// A word in one line.
fn line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// What the calls of a model cost, each once.
#[derive(Default)]
pub(super) struct Calls {
    /// The turn that a call is of, and what it cost, by the id of its message.
    by_id: HashMap<String, (usize, [i64; 4])>,
    /// The turns up to the last that has one.
    turns: usize,
}

impl Calls {
    /// What each member of a message's usage counts.
    const NAMES: [&str; 4] =
        ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];

    /// Notes what a message says that its call cost: of several that say it of one call, the most.
    pub(super) fn note(&mut self, turn: usize, message: &Value) {
        let Some(usage) = message["usage"].as_object() else { return };
        self.turns = self.turns.max(turn + 1);
        // Without an id all blocks of a turn are taken for one call.
        let id = match text(message, "id") {
            "" => format!("\0{turn}"),
            id => id.to_owned(),
        };
        let (_, counts) = self.by_id.entry(id).or_insert((turn, [0; 4]));
        for (count, name) in counts.iter_mut().zip(Self::NAMES) {
            let said = usage.get(name).and_then(Value::as_i64).unwrap_or_default();
            *count = (*count).max(said.clamp(0, MOST_TOKENS));
        }
    }

    /// What each turn cost, without end.
    pub(super) fn sums(self) -> impl Iterator<Item = Tokens> {
        let mut sums = vec![None::<[i64; 4]>; self.turns];
        for (turn, counts) in self.by_id.into_values() {
            let Some(sum) = sums.get_mut(turn) else { continue };
            let sum = sum.get_or_insert([0; 4]);
            for (total, count) in sum.iter_mut().zip(counts) {
                *total = total.saturating_add(count).min(MOST_TOKENS);
            }
        }
        sums.into_iter()
            .map(|sum| sum.map_or_else(Tokens::default, tokens))
            .chain(std::iter::repeat_with(Tokens::default))
    }
}

/// The most tokens of one kind that a turn is believed to have.
const MOST_TOKENS: i64 = 100_000_000_000;

fn tokens([input, output, cache_read, cache_creation]: [i64; 4]) -> Tokens {
    let total = input + output + cache_read + cache_creation;
    Tokens {
        total: (total > 0).then_some(total),
        input: Some(input),
        output: Some(output),
        cache_read: Some(cache_read),
        cache_creation: Some(cache_creation),
        ..Tokens::default()
    }
}
