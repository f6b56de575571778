//! The text for a fresh seat: a fixed form, filled in.

use super::{State, text};

/// The most words of the text, as far as cutting its lists can keep it there.
const MOST_WORDS: usize = 400;
/// How many items of a list are shown, and how many characters of each: the first that fit.
const SIZES: [(usize, usize); 7] =
    [(8, 160), (6, 120), (5, 100), (4, 80), (3, 60), (2, 50), (1, 40)];
const ABOUT: &str = "This is the rolling state derived from the previous seat's transcript; it is \
mechanical and may lag the tree. Lists are newest-last, and key paths are ranked by how often the \
previous seat touched them.";
const NO_OBJECTIVE: &str = "not stated in the recent turns; ask the operator before starting.";
const GUIDANCE: &str = "Before acting, verify this state against the tree and the board: run \
ledger_get for this locus's task, fs_search the key paths, and read git status in any tree named \
above before editing it. Do not restart live services or merge, push, or publish without the \
operator's explicit go. Record decisions and outcomes with ledger_put as you go, and prompt_done \
any handled batches. Treat every item above as a claim to confirm, not a fact.";

/// How many words a text has.
pub fn words(text: &str) -> usize {
    text::parts(text).count()
}

/// The text about a state, whose own is not looked at.
pub(super) fn init_prompt(state: &State, locus: &str) -> String {
    let mut shown = String::new();
    for (most, width) in SIZES {
        shown = form(state, locus, most, width);
        if words(&shown) <= MOST_WORDS {
            break;
        }
    }
    shown
}

fn form(state: &State, locus: &str, most: usize, width: usize) -> String {
    let at = if locus.is_empty() { "this locus".to_owned() } else { format!("locus {locus}") };
    let objective = if state.objective.is_empty() { NO_OBJECTIVE } else { &state.objective };
    let newest = state.done.get(state.done.len().saturating_sub(most)..).unwrap_or_default();
    let lists: [(&str, &[String]); 6] = [
        ("Done so far", newest),
        ("In progress", &state.in_progress),
        ("Next steps", &state.next_steps),
        ("Key paths", &state.key_paths),
        ("Blockers", &state.blockers),
        ("Open questions for the operator", &state.open_questions),
    ];
    let mut lines = vec![
        format!("You are a fresh seat picking up an engineering session on {at}. {ABOUT}"),
        format!("Objective: {objective}"),
    ];
    for (label, items) in lists {
        if items.is_empty() {
            lines.push(format!("{label}: none recorded."));
            continue;
        }
        lines.push(format!("{label}:"));
        lines.extend(items.iter().take(most).map(|item| format!("- {}", text::short(item, width))));
    }
    lines.push(GUIDANCE.to_owned());
    lines.join("\n")
}
