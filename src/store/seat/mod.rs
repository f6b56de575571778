//! Seats: what was last said of the terminals at a locus, and whether that still counts.
//!
//! Somebody beside a seat reports it from time to time; a seat may also promise heartbeats, and
//! then these alone say that it lives. Each word counts for a term, measured in the time of leases,
//! so that nobody makes a seat live or die by setting a clock. Past its term a word that it lives
//! counts no more: the seat is then `unknown`, never `running`. That it ended is only what somebody
//! said, and a crash is told from a stop.

mod read;
mod rule;
#[cfg(test)]
mod tests;
mod write;

use mcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::{
    read::{Filter, list},
    write::{beat, prune, report, settle, sweep},
};
use super::{Error, Row, names::Keeper};

/// The kind of these records in the feed.
pub const KIND: &str = "seat";

/// How long a report that a seat lives counts, where no heartbeat was promised, in seconds.
pub const REPORT_S: i64 = 90;

/// The shortest, the usual and the longest term of a heartbeat, in seconds.
pub const TTL_S: (i64, i64, i64) = (15, 300, 86_400);

/// The longest status, in characters of its JSON.
pub const LONGEST_STATUS: usize = 200_000;

/// The longest of the other texts, in characters.
pub const LONGEST_TEXT: usize = 200;

/// For how many days a seat that nobody speaks of is kept.
pub const KEPT_DAYS: i64 = 30;

const SECOND: i64 = 1_000_000;

/// Which terminal of a locus it is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[schemars(crate = "mcp::schemars")]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A multi-client terminal.
    Mct,
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// A model on the machine itself.
    Local,
    /// A shell.
    Shell,
    /// The keeper of the locus.
    Keeper,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Mct, Self::ClaudeCode, Self::Codex, Self::Local, Self::Shell, Self::Keeper];

    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mct => "mct",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Local => "local",
            Self::Shell => "shell",
            Self::Keeper => "keeper",
        }
    }

    /// The kind of a name, in any case.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the right ones.
    pub fn parse(name: &str) -> Result<Self, Error> {
        let found =
            Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name.trim()));
        found.ok_or_else(|| {
            let all = Self::ALL.map(|kind| format!("`{}`", kind.name())).join(", ");
            let given = crate::untrusted::one_line(name, 40);
            Error::Invalid(format!("`seat` is one of {all}, not `{given}`"))
        })
    }
}

/// How a seat stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Somebody said that it lives, and that counts.
    Running,
    /// Somebody said that it ended in order.
    Stopped,
    /// Somebody said that it ended otherwise.
    Crashed,
    /// It lived by the last word, which counts no more.
    Unknown,
}

/// Whose word is the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Somebody's beside the seat.
    Report,
    /// Its own.
    Heartbeat,
}

impl Source {
    fn name(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Heartbeat => "heartbeat",
        }
    }
}

/// What somebody says of a seat: all of it, and what is left out is unknown again.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Whose seat it is.
    pub locus: Keeper,
    /// Which one.
    pub seat: Kind,
    /// Whether it lives.
    pub alive: bool,
    /// Where it does not: whether it ended otherwise than in order.
    pub crashed: bool,
    /// Its process.
    pub pid: Option<i64>,
    /// For how long it has been idle, in seconds.
    pub age_s: i64,
    /// The model that it talks to.
    pub model: String,
    /// The harness's session.
    pub session_id: String,
    /// Whether the reporter holds its credentials to be good.
    pub auth_ok: Option<bool>,
    /// The machine.
    pub host: String,
    /// The login there.
    pub login: String,
    /// More, of the reporter's own.
    pub status: Map<String, Value>,
    /// When it was started, in seconds of UTC; `None`: as it was.
    pub started: Option<i64>,
}

/// A heartbeat: the seat lives, and says so again within a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beat {
    /// Whose seat it is.
    pub locus: Keeper,
    /// Which one.
    pub seat: Kind,
    /// The lease that it keeps; another one takes over. Empty: the one that there is, or a new one.
    pub lease_id: String,
    /// The term in seconds, brought within [`TTL_S`]; `None`: the usual one.
    pub ttl_s: Option<i64>,
    /// Its process; `None`: as it was.
    pub pid: Option<i64>,
}

/// A seat as it was last spoken of.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Whose seat it is.
    pub locus: Keeper,
    /// Which one.
    pub seat: Kind,
    /// The last word: whether it lives.
    alive: bool,
    /// How it ended, where the last word is that it did.
    crashed: bool,
    /// Its process.
    pub pid: Option<i64>,
    /// For how long it had been idle, in seconds.
    pub age_s: i64,
    /// The model that it talks to.
    pub model: String,
    /// The harness's session.
    pub session_id: String,
    /// Whether the reporter holds its credentials to be good.
    pub auth_ok: Option<bool>,
    /// The machine.
    pub host: String,
    /// The login there.
    pub login: String,
    /// More, of the reporter's own.
    pub status: Map<String, Value>,
    /// When it was started, in seconds of UTC.
    pub started: Option<i64>,
    /// Whose word is the last.
    pub source: Source,
    /// When it was last spoken of, in microseconds of UTC.
    pub reported: i64,
    heard: i64,
    /// The lease of its heartbeats; empty when none was promised.
    pub lease_id: String,
    /// The term of a heartbeat in seconds; 0 when none was promised.
    pub ttl_s: i64,
    /// Its last heartbeat, in microseconds of UTC; 0: never.
    pub heartbeat_at: i64,
    beat: i64,
    until: i64,
    lapsed: bool,
}

/// The columns of a [`Record`], in its order.
macro_rules! columns {
    () => {
        "locus, seat, alive, crashed, pid, age_s, model, session_id, auth_ok, host, login, status, started, source, reported, heard, lease_id, ttl_s, heartbeat_at, beat, until, lapsed"
    };
}
use columns;

impl Record {
    fn of(row: &Row) -> Result<Self, Error> {
        let damaged = |what: &str| Error::Internal(format!("a seat has no right `{what}`"));
        let source: String = row.get(13)?;
        Ok(Self {
            locus: row.get::<String>(0)?.parse().map_err(|_| damaged("locus"))?,
            seat: Kind::parse(&row.get::<String>(1)?).map_err(|_| damaged("seat"))?,
            alive: row.get(2)?,
            crashed: row.get(3)?,
            pid: row.get(4)?,
            age_s: row.get(5)?,
            model: row.get(6)?,
            session_id: row.get(7)?,
            auth_ok: row.get(8)?,
            host: row.get(9)?,
            login: row.get(10)?,
            status: serde_json::from_str(&row.get::<String>(11)?).map_err(|_| damaged("status"))?,
            started: row.get(12)?,
            source: if source == "heartbeat" { Source::Heartbeat } else { Source::Report },
            reported: row.get(14)?,
            heard: row.get(15)?,
            lease_id: row.get(16)?,
            ttl_s: row.get(17)?,
            heartbeat_at: row.get(18)?,
            beat: row.get(19)?,
            until: row.get(20)?,
            lapsed: row.get(21)?,
        })
    }
}

/// A seat as it stands at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Seat {
    /// What was last said.
    pub record: Record,
    /// What follows from it now.
    pub state: State,
    /// Whether nothing has been heard for longer than a report counts, and no heartbeat counts.
    pub stale: bool,
    /// Seconds since it was last spoken of.
    pub reported_ago_s: i64,
    /// Seconds since its last heartbeat; `None`: never.
    pub heartbeat_ago_s: Option<i64>,
    /// Whether a heartbeat was promised and is overdue.
    pub lease_expired: bool,
}
