//! Where the earlier reducer misread transcripts, each as a flag.

use std::{fmt, str::FromStr};

/// One way in which this reduction reads better than the earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Fix {
    /// The counts of a test run are read as numbers: `0 failed, 12 passed` has passed.
    Counts = 1,
    /// Several acknowledgements in a row are one: `yes, go ahead` is no objective.
    Acknowledgements = 1 << 1,
    /// What looks like a call inside the argument of another is none.
    Calls = 1 << 2,
    /// `Error:` in the middle of a sentence is no failure.
    Errors = 1 << 3,
    /// A blocker shows the line that says what failed, not the first one that says so.
    Lines = 1 << 4,
    /// A roll goes on behind the row that it ended with, not behind the second of it.
    Positions = 1 << 5,
    /// Without rows nothing changes.
    FixedPoint = 1 << 6,
}

impl Fix {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Counts,
        Self::Acknowledgements,
        Self::Calls,
        Self::Errors,
        Self::Lines,
        Self::Positions,
        Self::FixedPoint,
    ];

    /// Its name where the two reducers are compared.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counts => "counts",
            Self::Acknowledgements => "acknowledgements",
            Self::Calls => "calls",
            Self::Errors => "errors",
            Self::Lines => "lines",
            Self::Positions => "positions",
            Self::FixedPoint => "fixed_point",
        }
    }
}

impl fmt::Display for Fix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Fix {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|fix| fix.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            format!("no fix is called `{name}`: there are {known}")
        })
    }
}

/// A set of fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fixes(u8);

impl Fixes {
    /// Every fix: what the product reads with.
    pub const fn all() -> Self {
        Self(0x7f)
    }

    /// No fix: the earlier reducer's reading.
    pub const fn none() -> Self {
        Self(0)
    }

    /// Whether it is in the set.
    pub const fn has(self, fix: Fix) -> bool {
        self.0 & fix as u8 != 0
    }
}

impl FromIterator<Fix> for Fixes {
    fn from_iter<I: IntoIterator<Item = Fix>>(fixes: I) -> Self {
        Self(fixes.into_iter().fold(0, |set, fix| set | fix as u8))
    }
}
