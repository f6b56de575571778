//! What a tool declares of itself, and the hints that follow from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a token may do; each scope includes those before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Looks; changes nothing.
    Read,
    /// Spends backends' time and tokens; changes no record of its own.
    Delegate,
    /// Creates and changes records.
    Write,
    /// Cannot be undone by another call.
    Destroy,
    /// Tokens, roster edits, restore, migrate, purge.
    Operator,
}

impl Scope {
    /// Every scope, the least first.
    pub const ALL: [Self; 5] =
        [Self::Read, Self::Delegate, Self::Write, Self::Destroy, Self::Operator];

    /// The name in settings, replies and the OpenAPI document.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Delegate => "delegate",
            Self::Write => "write",
            Self::Destroy => "destroy",
            Self::Operator => "operator",
        }
    }

    /// The scope of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

/// The declaration of one tool. Start from [`Spec::new`] and set what differs.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "a declaration: each flag is a separate promise")]
pub struct Spec {
    /// `area_verb`; the name on MCP and in the catalogue.
    pub name: &'static str,
    /// `/area/verb`; the route.
    pub path: &'static str,
    /// A short title for people.
    pub title: &'static str,
    /// What it is for and what it costs, for a model.
    pub about: &'static str,
    /// The scope that a caller needs.
    pub scope: Scope,
    /// Whether `tools/list` shows it by default (at most 24 are).
    pub core: bool,
    /// Whether calling it again with the same arguments changes nothing more.
    pub idempotent: bool,
    /// Whether it replaces or removes what was there, though its scope is below `destroy`.
    pub tightened: bool,
    /// Whether it reaches systems outside this one.
    pub egress: bool,
    /// Whether it runs other tools by name: its hints are then the weakest promise of all.
    pub dispatches: bool,
    /// The operations it is made of, when it is made of several.
    pub uses: &'static [&'static str],
    /// Other names of arguments that clients know them by, each with the name that the schema has.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Optional arguments that say what is written. A call that gives none of them, and gives one
    /// that the tool does not know, is refused: its content came under a wrong name.
    pub content: &'static [&'static str],
}

/// The hints of the Model Context Protocol, all four always stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's own four flags")]
pub struct Hints {
    /// It changes nothing.
    pub read_only_hint: bool,
    /// It may remove or replace what was there.
    pub destructive_hint: bool,
    /// Repeating it changes nothing more.
    pub idempotent_hint: bool,
    /// It reaches systems outside this one.
    pub open_world_hint: bool,
}

impl Spec {
    /// A read tool that is shown only where everything is listed.
    pub const fn new(name: &'static str, path: &'static str, scope: Scope) -> Self {
        Self {
            name,
            path,
            title: name,
            about: "",
            scope,
            core: false,
            idempotent: false,
            tightened: false,
            egress: false,
            dispatches: false,
            uses: &[],
            aliases: &[],
            content: &[],
        }
    }

    /// The part of the name before the first `_`; the whole name when there is none.
    pub fn area(&self) -> &'static str {
        self.name.split_once('_').map_or(self.name, |(area, _)| area)
    }

    /// The hints, derived and never typed.
    pub fn hints(&self) -> Hints {
        if self.dispatches {
            return Hints {
                read_only_hint: false,
                destructive_hint: true,
                idempotent_hint: false,
                open_world_hint: true,
            };
        }
        let read = self.scope == Scope::Read;
        Hints {
            read_only_hint: read,
            destructive_hint: self.scope >= Scope::Destroy || self.tightened,
            idempotent_hint: read || self.idempotent,
            open_world_hint: self.egress,
        }
    }
}
