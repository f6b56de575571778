//! Rollovers: the rule, and what is stored of it on both engines.

mod machine;
mod rule;
mod store;

use mcp::{Rights, Scope};

use super::*;
use crate::store::names::Keeper;

fn all() -> Rights {
    Rights { scope: Scope::Operator, loci: None }
}

fn only(locus: &str) -> Rights {
    Rights { scope: Scope::Write, loci: Some([locus.to_owned()].into()) }
}

fn locus(name: &str) -> Keeper {
    Keeper::parse(name).unwrap()
}

fn full(session: &str) -> Action<'_> {
    Action::Observe { session, context_tokens: THRESHOLD, idle_s: IDLE_GATE_S }
}
