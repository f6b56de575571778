//! The rolling reduction over JSON lines, for comparison with the earlier server's reducer.
//!
//! A line of the input is a transcript with the sets of fixes to read it with; the line that
//! answers it has, for each set, the state after each roll. `tests/compat/reduce.py` drives it.
//!
//! ```text
//! {"locus": "alpha", "prev": null, "most": 400, "rows": [{"ts": 1, "id": 1, "prompt": "…", "response": "…", "pointers": {}}],
//!  "rolls": [{"rows": 1, "force": false}], "fixes": [[], ["counts"]]}
//! ```

use std::io::{self, BufRead as _, Write as _};

use adjutant::reduce::{Fix, Fixes, Pointers, Position, Row, State, reduce_with};
use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;

/// A transcript, and how it is rolled.
#[derive(Deserialize)]
struct Transcript {
    locus: String,
    /// The state before the first roll.
    prev: Option<State>,
    /// The most rows of one roll.
    most: usize,
    /// In the order in which they were recorded.
    rows: Vec<Recorded>,
    rolls: Vec<Roll>,
    /// The sets of fixes to read it with.
    fixes: Vec<Vec<String>>,
}

#[derive(Deserialize)]
struct Recorded {
    ts: i64,
    id: i64,
    prompt: String,
    response: String,
    pointers: Value,
}

/// One roll.
#[derive(Deserialize)]
struct Roll {
    /// How many rows were recorded by then.
    rows: usize,
    /// Whether it folds although there is nothing new.
    force: bool,
}

fn main() -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let transcript: Transcript = serde_json::from_str(&line?).context("no transcript")?;
        let states = transcript
            .fixes
            .iter()
            .map(|names| {
                let fixes = names.iter().map(|name| name.parse::<Fix>()).collect::<Result<_, _>>();
                Ok(rolled(&transcript, fixes.map_err(anyhow::Error::msg)?))
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        serde_json::to_writer(&mut out, &states)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The state after each roll.
fn rolled(transcript: &Transcript, fixes: Fixes) -> Vec<State> {
    let mut state = transcript.prev.clone().unwrap_or_default();
    let mut upto = Position::default();
    let mut states = Vec::new();
    for roll in &transcript.rolls {
        let mut new: Vec<(Position, &Recorded)> = transcript
            .rows
            .iter()
            .take(roll.rows)
            .map(|row| (Position { ts: row.ts, id: row.id }, row))
            .filter(|(at, _)| upto.is_before(*at, fixes))
            .collect();
        new.sort_unstable_by_key(|(at, _)| *at);
        new.truncate(transcript.most);
        if !new.is_empty() || roll.force {
            let rows: Vec<Row> = new.iter().map(|(_, row)| row.row()).collect();
            state = reduce_with(fixes, &state, &rows, &transcript.locus);
            upto = new.last().map_or(upto, |(at, _)| *at);
        }
        states.push(state.clone());
    }
    states
}

impl Recorded {
    fn row(&self) -> Row {
        Row {
            prompt: self.prompt.clone(),
            response: self.response.clone(),
            pointers: Pointers::of(&self.pointers),
        }
    }
}
