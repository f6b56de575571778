//! The rolling reduction: what exchanges of a locus tell its next seat, folded row by row into one
//! state. Pure: no clock, no files, no network, no model; the same state and rows give the same
//! state again.
//!
//! The rules and their bounds are those of the earlier server's reducer, so that a state which it
//! left can be taken up. Where that reducer misread a transcript, a [`Fix`] says how it is read
//! here; [`reduce`] has all of them, and [`reduce_with`] serves the test that compares the two.
//! Digits are the ASCII ones throughout.

mod blockers;
mod calls;
mod command;
mod counts;
mod fixes;
mod handoff;
mod objective;
mod outcome;
mod paths;
mod position;
mod questions;
mod row;
mod state;
mod steps;
mod text;
mod unit;
mod work;

#[cfg(test)]
mod tests;

pub use fixes::{Fix, Fixes};
pub use handoff::words;
pub use position::Position;
pub use row::{Pointers, Row};
pub use state::{MOST_TEXT, State};

use unit::Unit;

/// The state after `rows`, which came after `prev`, the oldest first. `locus` is named in the text
/// for the next seat.
///
/// `reduce(s, &[], l)` is `s` for every `s` that came from here.
pub fn reduce(prev: &State, rows: &[Row], locus: &str) -> State {
    reduce_with(Fixes::all(), prev, rows, locus)
}

/// The same with some fixes switched off: for comparison with the earlier reducer alone.
pub fn reduce_with(fixes: Fixes, prev: &State, rows: &[Row], locus: &str) -> State {
    let prev = prev.within_bounds(fixes);
    if rows.is_empty() && fixes.has(Fix::FixedPoint) {
        return if prev.init_prompt.is_empty() { told(prev, locus, fixes) } else { prev };
    }
    let units: Vec<Unit<'_>> = rows.iter().map(|row| Unit::of(row, fixes)).collect();
    let objective = objective::next(&prev.objective, &units, fixes);
    let work = work::next(&prev, &units, fixes);
    let is_new = !prev.objective.is_empty() && objective != prev.objective;
    let blockers = blockers::next(&prev.blockers, &units, is_new, fixes);
    let next_steps = steps::next(&prev.next_steps, &units, &work.done);
    let listed = [&work.done, &work.in_progress, &blockers, &next_steps];
    let key_paths = paths::next(&prev.key_paths, &units, &listed);
    let open_questions = questions::next(&prev.open_questions, &units);
    let state = State {
        objective,
        done: work.done,
        in_progress: work.in_progress,
        blockers,
        next_steps,
        key_paths,
        open_questions,
        init_prompt: String::new(),
    };
    told(state, locus, fixes)
}

/// The state with its text for the next seat.
fn told(state: State, locus: &str, fixes: Fixes) -> State {
    let init_prompt = handoff::init_prompt(&state, locus);
    State { init_prompt, ..state }.within_bounds(fixes)
}
