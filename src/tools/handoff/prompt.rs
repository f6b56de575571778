//! What the session that goes on is told. Pure.

use super::previous::Previous;
use crate::{
    clock,
    store::{handoff::Row, ledger::Head},
};

/// The whole text, with which the session begins.
pub(super) fn text(row: &Row, ledger: Option<&Head>, previous: Option<&Previous>) -> String {
    let (id, locus) = (row.id(), &row.locus);
    let by = if row.by.is_empty() { String::new() } else { format!(" ({})", row.by) };
    let task = if row.task.is_empty() { "none" } else { &row.task };
    let record = match ledger {
        Some(head) => {
            let Head { task, rev, .. } = head;
            let since = if *rev == row.ledger_rev {
                String::new()
            } else {
                format!(", {} when this was left", row.ledger_rev)
            };
            let updated = clock::rfc3339(head.updated);
            format!(
                "ledger: `ledger_get locus={locus} task={task}` (rev {rev}{since}, updated {updated}). Read it first, and write to it as you go on (`ledger_patch`, `ledger_put`)."
            )
        }
        None if row.task.is_empty() => "ledger: none active.".to_owned(),
        None => format!("ledger: `{}`, which is there no more.", row.task),
    };
    let previous = previous.map_or_else(|| "no session is named.".to_owned(), Previous::words);
    format!(
        "# Session init prompt (handoff {id} — locus {locus})\n\
         Requested {} by {}{by} · state {} · task {task}.\n\n\
         {}\n\n\
         ## State of record\n\
         - {record}\n\
         - board: `todo_list locus={locus} status=open`\n\
         ## Previous seat\n\
         - {previous}\n\
         ## This handoff\n\
         - Say that you are at it: `handoff_claim id={id}`. When what it asks for is finished: `handoff_claim id={id} status=done`.\n\
         - To read it again: `handoff_pull id={id} consume=false`.\n",
        clock::rfc3339(row.created),
        session(row),
        row.state.name(),
        row.brief.trim_end(),
    )
}

/// One paragraph that points to it, for what starts a session.
pub(super) fn layer(row: &Row) -> String {
    let (id, locus) = (row.id(), &row.locus);
    format!(
        "Handoff {id} waits at locus {locus} ({}, left {} by {}, {} characters). If no text that begins with `# Session init prompt` is in your context, get it now with `handoff_pull locus={locus} id={id}` and your session id, which makes it yours. When what it asks for is finished: `handoff_claim id={id} status=done`.",
        row.state.name(),
        clock::rfc3339(row.created),
        session(row),
        row.brief.chars().count(),
    )
}

fn session(row: &Row) -> String {
    match row.source_short() {
        short if short.is_empty() => "an unnamed session".to_owned(),
        short => format!("session {short}"),
    }
}
