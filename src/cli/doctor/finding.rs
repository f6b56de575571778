//! What a check of `doctor` found.

use serde_json::{Value, json};

use crate::{cli::table::Tone, untrusted};

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// As it should be.
    Ok,
    /// It works, and is probably not meant.
    Warning,
    /// It must be mended.
    Wrong,
    /// Not looked at, for a reason.
    Skipped,
}

impl Verdict {
    /// The name in the table and in JSON.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Wrong => "wrong",
            Self::Skipped => "skipped",
        }
    }

    /// How it is meant.
    pub(super) fn tone(self) -> Tone {
        match self {
            Self::Ok => Tone::Good,
            Self::Warning => Tone::Warn,
            Self::Wrong => Tone::Bad,
            Self::Skipped => Tone::Dim,
        }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// What was checked, such as `roster`.
    pub(super) check: &'static str,
    /// Which one of them: a backend's id; empty where there is but one.
    pub(super) subject: String,
    /// How it ended.
    pub(super) verdict: Verdict,
    /// What was found and, where something is to be done, what.
    pub(super) words: String,
}

impl Finding {
    /// A finding of a check that there is one of.
    pub(super) fn new(check: &'static str, verdict: Verdict, words: impl Into<String>) -> Self {
        Self { check, subject: String::new(), verdict, words: words.into() }
    }

    /// Of this one.
    pub(super) fn of(mut self, subject: &str) -> Self {
        subject.clone_into(&mut self.subject);
        self
    }

    /// The finding as JSON.
    pub(super) fn document(&self) -> Value {
        let subject = (!self.subject.is_empty()).then_some(&self.subject);
        json!({
            "check": self.check,
            "subject": subject,
            "result": self.verdict.as_str(),
            "words": untrusted::project(&self.words).0,
        })
    }
}
