//! Who calls, and what they may see and do.

use std::collections::BTreeSet;

use tokio_util::sync::CancellationToken;

use crate::{Code, Fault, Scope, Spec};

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

impl Rights {
    /// Whether the records of this locus are the caller's to see and change; those of nobody (an
    /// empty locus) are so only where all are.
    pub fn reaches(&self, locus: &str) -> bool {
        self.loci.as_ref().is_none_or(|loci| loci.contains(locus))
    }

    /// Refuses a locus that the caller named and does not reach. What was found by another key (an
    /// id) and is out of reach is "not found" instead, in the words of its absence.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub fn named(&self, locus: &str) -> Result<(), Fault> {
        if self.reaches(locus) {
            return Ok(());
        }
        let loci = self.loci.iter().flatten().map(|locus| format!("`{locus}`"));
        let loci = loci.collect::<Vec<_>>().join(", ");
        Err(Fault::new(
            Code::Forbidden,
            format!(
                "this token reaches the records of {loci} alone: name one of these, or use a token that reaches further"
            ),
        ))
    }
}

/// An authenticated caller.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The token's name, for records and logs; never the token.
    pub name: String,
    /// What the token may do.
    pub rights: Rights,
    /// Which tools it has.
    pub profile: Profile,
    /// What it may spend on backends in one day of UTC, in millionths of a US dollar. `None`: no
    /// bound. 0: it may hand nothing to any backend, unpaid ones included.
    pub budget: Option<u64>,
    /// Cancelled when the token is revoked or expires: whatever is being answered to it ends then,
    /// and so do its sessions.
    pub ended: CancellationToken,
}

/// Two are equal when they are one token's with the same rights; whether it has ended is no part
/// of that.
impl PartialEq for Caller {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.rights == other.rights
            && self.profile == other.profile
            && self.budget == other.budget
    }
}

impl Eq for Caller {}

impl Caller {
    /// A caller of that scope with every tool that it permits, no budget and no end.
    pub fn new(name: impl Into<String>, scope: Scope) -> Self {
        Self {
            name: name.into(),
            rights: Rights { scope, loci: None },
            profile: Profile::default(),
            budget: None,
            ended: CancellationToken::new(),
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
