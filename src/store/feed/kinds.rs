//! The kinds of records that the feed tells of: one line each.

use mcp::Scope;

/// A kind of record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Its name in the feed.
    pub name: &'static str,
    /// What the earlier server's stream called it; kinds that it did not tell of have a name like
    /// those.
    pub table: &'static str,
    /// Whether its records are numbered, with a letter in front: the earlier server's stream had the
    /// number alone.
    pub numbered: bool,
    /// The scope that a reader of its rows needs.
    pub scope: Scope,
}

const fn read(name: &'static str, table: &'static str) -> Kind {
    Kind { name, table, numbered: false, scope: Scope::Read }
}

const fn numbered(name: &'static str, table: &'static str) -> Kind {
    Kind { numbered: true, ..read(name, table) }
}

/// Every kind, by name.
pub const KINDS: &[Kind] = &[
    read("archive", "conversation_archives"),
    read("assessment", "assessments"),
    read("board", "board"),
    read("canvas", "canvas"),
    numbered("exchange", "exchanges"),
    numbered("handoff", "handoffs"),
    read("instruction", "instructions"),
    read("ledger", "ledgers"),
    read("locus", "loci"),
    read("message", "messages"),
    numbered("prompt", "prompts"),
    read("rolling", "handoff_state"),
    read("rollover", "seat_rollovers"),
    read("seat", "seat_state"),
    read("seat_session", "claude_sessions"),
    read("session", "sessions"),
    numbered("todo", "todos"),
    Kind { scope: Scope::Operator, ..read("token", "tokens") },
];

impl Kind {
    /// The kind of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_there_once_and_in_order() {
        assert!(KINDS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for kind in KINDS {
            assert_eq!(Kind::named(kind.name), Some(kind));
        }
        assert_eq!(Kind::named("nothing"), None);
    }
}
