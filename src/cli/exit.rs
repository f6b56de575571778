//! How a command ends: the number that a script sees, and the words that a person reads.

use std::{fmt, process::ExitCode};

use serde_json::{Map, Value};

use super::words;
use crate::untrusted;

/// The exit codes of every command. A number keeps its meaning for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Ok = 0,
    /// Something else went wrong.
    Failed = 1,
    /// The command line, the settings, the roster or the arguments are wrong.
    Usage = 2,
    /// The token is missing or wrong, or does not reach the locus that was named.
    Auth = 3,
    /// Another server has the data directory.
    SecondInstance = 4,
    /// No such target, tool or category.
    NotFound = 5,
    /// The thing is not in the state that the call needs.
    Conflict = 6,
    /// No backend fits.
    NoFit = 7,
    /// It may go well later.
    Temporary = 8,
    /// Part of a batch failed.
    Partial = 9,
    /// `doctor` found something wrong, or the records or a backup are damaged.
    Unhealthy = 10,
    /// Stopped by Ctrl-C.
    Interrupted = 130,
}

impl Exit {
    /// Every code with what it means, for the help and the reference.
    pub const ALL: &'static [(Self, &'static str)] = &[
        (Self::Ok, "done"),
        (Self::Failed, "something else went wrong, such as a file that cannot be written"),
        (Self::Usage, "the command line, the settings, the roster or the arguments are wrong"),
        (
            Self::Auth,
            "the token is missing or wrong, or does not reach the locus that was named (a tool that it does not reach is 5: to it there is none)",
        ),
        (Self::SecondInstance, "another server runs on the data directory already"),
        (
            Self::NotFound,
            "there is no such target, tool or category, or not for this token, or nothing was found",
        ),
        (
            Self::Conflict,
            "the thing is not in the state that the call needs, such as a disabled target",
        ),
        (Self::NoFit, "no backend fits"),
        (
            Self::Temporary,
            "it may go well later: no server, a full queue, a failing backend, a deadline",
        ),
        (Self::Partial, "part of a batch failed or had no backend that fits"),
        (Self::Unhealthy, "`doctor` found something wrong, or the records or a backup are damaged"),
        (Self::Interrupted, "stopped by Ctrl-C"),
    ];

    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The exit code for the `code` and `kind` of a server's fault.
    pub fn of_fault(code: &str, kind: Option<&str>) -> Self {
        match (code, kind) {
            (_, Some("no_local")) => Self::NoFit,
            ("invalid" | "too_large", _) => Self::Usage,
            ("unauthenticated" | "forbidden", _) => Self::Auth,
            ("not_found", _) => Self::NotFound,
            ("conflict", _) => Self::Conflict,
            ("saturated" | "exhausted" | "upstream" | "unavailable" | "deadline", _) => {
                Self::Temporary
            }
            _ => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// What to do about a token that the server does not take.
const TOKEN: &str = "the server does not take this token, or not any more: set `ADJUTANT_TOKEN` to one \
    that `adjutant token mint` made, to what `ADJUTANT_OPERATOR_TOKEN` was at its start, or to what the \
    file `operator.token` of its data directory holds";

/// Why a command failed. Without words it ends quietly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What the script sees.
    pub exit: Exit,
    /// What the person reads: the thing and the remedy.
    pub message: String,
    /// The server's own words, for `--json`.
    pub document: Option<Value>,
}

impl Error {
    /// A failure with its words.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), document: None }
    }

    /// A fault of the server: the body of its answer, `{"error", "code", …}`.
    pub fn of_fault(body: Map<String, Value>) -> Self {
        let word = |name: &str| body.get(name).and_then(Value::as_str);
        let exit = Exit::of_fault(word("code").unwrap_or_default(), word("kind"));
        let mut message = word("error").unwrap_or("the server gave no reason").to_owned();
        match (word("code"), word("hint")) {
            // That hint is for those who write requests themselves.
            (Some("unauthenticated"), Some(_)) => TOKEN.clone_into(&mut message),
            (_, Some(hint)) => message = format!("{message}: {hint}"),
            (_, None) => {}
        }
        if let Some(seconds) = body.get("retry_after").and_then(Value::as_u64) {
            message = format!("{message} (again in {seconds} s)");
        }
        let message = words::with_commands(&message);
        let (message, _) = untrusted::project(&message);
        Self { exit, message: message.into_owned(), document: Some(body.into()) }
    }

    /// As `adjutant delegate` says it: with its flags for the arguments that they stand for.
    #[must_use]
    pub(super) fn in_flags(mut self) -> Self {
        self.message = words::with_flags(&self.message);
        self
    }

    /// The person gave something that cannot be right.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Something else.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// The reader of our output left (`| head`): nothing is wrong.
    pub fn reader_left() -> Self {
        Self::new(Exit::Ok, "")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<crate::config::Error> for Error {
    fn from(error: crate::config::Error) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        Self::failed(format!("{error:#}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_of_the_server_has_its_exit_code() {
        use mcp::Code;
        for (code, exit) in [
            (Code::Invalid, Exit::Usage),
            (Code::Unauthenticated, Exit::Auth),
            (Code::Forbidden, Exit::Auth),
            (Code::NotFound, Exit::NotFound),
            (Code::Conflict, Exit::Conflict),
            (Code::TooLarge, Exit::Usage),
            (Code::Saturated, Exit::Temporary),
            (Code::Exhausted, Exit::Temporary),
            (Code::Internal, Exit::Failed),
            (Code::Upstream, Exit::Temporary),
            (Code::Unavailable, Exit::Temporary),
            (Code::Deadline, Exit::Temporary),
        ] {
            assert_eq!(Exit::of_fault(code.as_str(), None), exit, "{}", code.as_str());
        }
        assert_eq!(Exit::of_fault("unavailable", Some("no_local")), Exit::NoFit);
        assert_eq!(Exit::of_fault("", None), Exit::Failed);
    }

    #[test]
    fn a_fault_keeps_its_words_and_when_to_come_again() {
        let body = serde_json::json!({"error": "the queue is full\u{7}", "code": "saturated", "retry_after": 3});
        let error = Error::of_fault(body.as_object().cloned().unwrap());
        assert_eq!(error.exit, Exit::Temporary);
        assert_eq!(error.message, "the queue is full\\u{7} (again in 3 s)");
        assert_eq!(error.document, Some(body));
    }

    #[test]
    fn the_codes_are_told_apart() {
        let mut codes: Vec<u8> = Exit::ALL.iter().map(|(exit, _)| exit.code()).collect();
        codes.dedup();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 130]);
    }
}
