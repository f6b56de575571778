//! The sections of each type of item: their names, and what each has to hold.

use std::fmt;

/// A type of item whose form is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Commands for a person to run.
    Operator,
    /// A question for a person to decide.
    Proposal,
}

impl Kind {
    /// The kind of a board type, whatever its case; `None` for those that are not checked.
    pub fn of(name: &str) -> Option<Self> {
        let name = name.trim();
        [Self::Operator, Self::Proposal]
            .into_iter()
            .find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Proposal => "proposal",
        }
    }

    /// The sections that an item must have, in their usual order.
    pub(super) fn required(self) -> &'static [Section] {
        use Section::{
            Decision, Do, Expect, Gate, Options, Problem, Rec, Run, Sketch, Verify, Who, Why,
        };
        match self {
            Self::Operator => &[Why, Who, Gate, Do, Verify, Expect, Run],
            Self::Proposal => &[Problem, Options, Rec, Decision, Sketch],
        }
    }

    /// The names by which sections go, in small letters, words parted by one space. A name stands
    /// before every other that it begins with.
    pub(super) fn names(self) -> &'static [(&'static str, Section)] {
        match self {
            Self::Operator => OPERATOR,
            Self::Proposal => PROPOSAL,
        }
    }

    /// What an item has to be, in one clause.
    pub(super) fn rule(self) -> &'static str {
        match self {
            Self::Operator => {
                "an operator item has the sections WHY:, WHO:, GATE:, DO:, VERIFY: and EXPECT:, the commands of DO: and VERIFY: in ```bash fences; RUN: is built from them when it is left out"
            }
            Self::Proposal => {
                "a proposal has the sections PROBLEM:, OPTIONS: (lines `A) …`, `B) …`), REC:, DECISION: and SKETCH:, the last in a ```text fence"
            }
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const OPERATOR: &[(&str, Section)] = &[
    ("why", Section::Why),
    ("who", Section::Who),
    ("worker", Section::Who),
    ("gate-check", Section::Gate),
    ("gate check", Section::Gate),
    ("gate", Section::Gate),
    ("where", Section::Where),
    ("directory", Section::Where),
    ("dir", Section::Where),
    ("cwd", Section::Where),
    ("do", Section::Do),
    ("commands", Section::Do),
    ("command", Section::Do),
    ("cmds", Section::Do),
    ("cmd", Section::Do),
    ("steps", Section::Do),
    ("verify", Section::Verify),
    ("check", Section::Verify),
    ("expected output", Section::Expect),
    ("expected", Section::Expect),
    ("expect", Section::Expect),
    ("run", Section::Run),
    ("script", Section::Run),
    ("rollback script", Section::RollbackRun),
    ("rollback run", Section::RollbackRun),
    ("undo run", Section::RollbackRun),
    ("rollback", Section::Rollback),
    ("undo", Section::Rollback),
    ("revert", Section::Rollback),
];

const PROPOSAL: &[(&str, Section)] = &[
    ("problem", Section::Problem),
    ("options", Section::Options),
    ("recommendation", Section::Rec),
    ("recommend", Section::Rec),
    ("rec", Section::Rec),
    ("decision", Section::Decision),
    ("implementation sketch", Section::Sketch),
    ("implementation", Section::Sketch),
    ("sketch", Section::Sketch),
    ("plan", Section::Sketch),
];

/// A section of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Why the commands are to be run.
    Why,
    /// Who does the work.
    Who,
    /// What must hold before.
    Gate,
    /// The directory to be in.
    Where,
    /// The commands.
    Do,
    /// The commands that show that it worked.
    Verify,
    /// What those print.
    Expect,
    /// All of it as one script.
    Run,
    /// The commands that take it back, or `none` and why.
    Rollback,
    /// Those as one script.
    RollbackRun,
    /// What is wrong.
    Problem,
    /// What could be done, in lines `A) …`.
    Options,
    /// What is recommended.
    Rec,
    /// What is to be decided.
    Decision,
    /// How it would be done.
    Sketch,
}

/// What a section has to hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Anything, even nothing.
    Free,
    /// Some text.
    Prose,
    /// Fenced text.
    Text,
    /// Fenced commands.
    Commands,
}

impl Section {
    /// The name as it is written in a header.
    pub fn name(self) -> &'static str {
        match self {
            Self::Why => "WHY",
            Self::Who => "WHO",
            Self::Gate => "GATE",
            Self::Where => "WHERE",
            Self::Do => "DO",
            Self::Verify => "VERIFY",
            Self::Expect => "EXPECT",
            Self::Run => "RUN",
            Self::Rollback => "ROLLBACK",
            Self::RollbackRun => "ROLLBACK RUN",
            Self::Problem => "PROBLEM",
            Self::Options => "OPTIONS",
            Self::Rec => "REC",
            Self::Decision => "DECISION",
            Self::Sketch => "SKETCH",
        }
    }

    pub(super) fn content(self) -> Content {
        match self {
            Self::Where | Self::Options => Content::Free,
            Self::Why
            | Self::Who
            | Self::Gate
            | Self::Expect
            | Self::Problem
            | Self::Rec
            | Self::Decision => Content::Prose,
            Self::Do | Self::Verify | Self::Run | Self::Rollback | Self::RollbackRun => {
                Content::Commands
            }
            Self::Sketch => Content::Text,
        }
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
