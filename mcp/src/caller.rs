//! Who calls, and what they may see and do.

use std::collections::BTreeSet;

use crate::{Scope, Spec};

/// Which tools a caller has: `allowed` counts on every face, `listed` is what `tools/list` shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// Names of the tools that the caller may call. `None`: all that the scope permits.
    pub allowed: Option<BTreeSet<String>>,
    /// Names of the tools that are listed. `None`: those marked core.
    pub listed: Option<BTreeSet<String>>,
}

/// What a caller may read: applied wherever a record of another caller could be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rights {
    /// The caller's scope.
    pub scope: Scope,
    /// The loci whose records are theirs. `None`: all.
    pub loci: Option<BTreeSet<String>>,
}

/// An authenticated caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The token's name, for records and logs; never the token.
    pub name: String,
    /// What the token may do.
    pub rights: Rights,
    /// Which tools it has.
    pub profile: Profile,
}

impl Caller {
    /// A caller of that scope with every tool that it permits.
    pub fn new(name: impl Into<String>, scope: Scope) -> Self {
        Self {
            name: name.into(),
            rights: Rights { scope, loci: None },
            profile: Profile::default(),
        }
    }

    /// Whether the tool exists for this caller.
    pub fn allows(&self, spec: &Spec) -> bool {
        let named = self.profile.allowed.as_ref().is_none_or(|names| names.contains(spec.name));
        named && self.rights.scope >= spec.scope
    }

    /// Whether `tools/list` shows the tool to this caller.
    pub fn lists(&self, spec: &Spec) -> bool {
        let listed =
            self.profile.listed.as_ref().map_or(spec.core, |names| names.contains(spec.name));
        listed && self.allows(spec)
    }
}
