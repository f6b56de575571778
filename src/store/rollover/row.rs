//! A rollover as it is stored.

use super::{IDLE_GATE_S, THRESHOLD};
use crate::{
    store::{self, Error, names::Keeper},
    untrusted,
};

/// The word of a closed set that a text names.
fn one_of<T: Copy>(
    what: &str,
    text: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<T, Error> {
    let found = all.iter().find(|one| name(**one).eq_ignore_ascii_case(text.trim()));
    found.copied().ok_or_else(|| {
        let all: Vec<String> = all.iter().map(|one| format!("`{}`", name(*one))).collect();
        let given = untrusted::one_line(text, 40);
        Error::Invalid(format!("`{what}` is one of {}, not `{given}`", all.join(", ")))
    })
}

/// Which seat of a locus rolls over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seat {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
}

impl Seat {
    /// Every seat that does.
    pub const ALL: [Self; 2] = [Self::ClaudeCode, Self::Codex];

    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// The seat of a name, in any case.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the right ones.
    pub fn parse(text: &str) -> Result<Self, Error> {
        one_of("seat", text, &Self::ALL, Self::name)
    }
}

/// How far a rollover is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// There never was one.
    None,
    /// It waits for the session's handoff.
    Pending,
    /// The handoff is there.
    Handoff,
    /// The seat is started anew.
    Restarting,
    /// The successor takes the handoff up.
    Resuming,
    /// The successor goes on.
    Done,
    /// It was given up, or no handoff came.
    Cancelled,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::Pending,
        Self::Handoff,
        Self::Restarting,
        Self::Resuming,
        Self::Done,
        Self::Cancelled,
    ];

    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Pending => "pending",
            Self::Handoff => "handoff",
            Self::Restarting => "restarting",
            Self::Resuming => "resuming",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }

    fn parse(text: &str) -> Result<Self, Error> {
        one_of("phase", text, &Self::ALL, Self::name)
    }

    /// Whether it is under way.
    pub fn is_active(self) -> bool {
        self == Self::Pending || self.has_handoff()
    }

    /// Whether the handoff is there and nobody has gone on yet.
    pub fn has_handoff(self) -> bool {
        matches!(self, Self::Handoff | Self::Restarting | Self::Resuming)
    }
}

/// What happens to the seat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Its context is cleared.
    #[default]
    Clear,
    /// Its harness is started anew.
    Restart,
}

impl Mode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Clear, Self::Restart];

    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Restart => "restart",
        }
    }

    /// The mode of a name, in any case.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the right ones.
    pub fn parse(text: &str) -> Result<Self, Error> {
        one_of("mode", text, &Self::ALL, Self::name)
    }
}

/// The rollover of a seat. Times are in microseconds of UTC, 0 where there is none; texts are empty
/// where there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rollover {
    /// Whose seat it is.
    pub locus: Keeper,
    /// Which one.
    pub seat: Seat,
    /// The session that gives way.
    pub session_id: String,
    /// How far it is.
    pub phase: Phase,
    /// What happens to the seat.
    pub mode: Mode,
    /// How full the context was.
    pub context_tokens: i64,
    /// What the successor goes on from: `locus/task` of a ledger, or `session:<id>`.
    pub handoff_id: String,
    /// When it was asked for.
    pub requested: i64,
    /// When it last changed.
    pub updated: i64,
    /// Until when a pending one waits, in the time of leases.
    pub(super) until: i64,
    /// At how many tokens of context a session of this seat rolls over.
    pub threshold: i64,
    /// After how many idle seconds.
    pub idle_gate_s: i64,
    /// The terminal that is started anew.
    pub restart_tmux: String,
    /// The session that goes on.
    pub successor: String,
    /// Since when.
    pub resumed: i64,
    /// Why it was given up.
    pub note: String,
}

/// The columns of a [`Rollover`], in its order.
macro_rules! columns {
    () => {
        "locus, seat, session_id, phase, mode, context_tokens, handoff_id, requested, updated, until, threshold, idle_gate_s, restart_tmux, successor, resumed, note"
    };
}
pub(super) use columns;

impl Rollover {
    /// That of a seat that never rolled over.
    pub(super) fn none(locus: &Keeper, seat: Seat) -> Self {
        Self {
            locus: locus.clone(),
            seat,
            session_id: String::new(),
            phase: Phase::None,
            mode: Mode::Clear,
            context_tokens: 0,
            handoff_id: String::new(),
            requested: 0,
            updated: 0,
            until: 0,
            threshold: THRESHOLD,
            idle_gate_s: IDLE_GATE_S,
            restart_tmux: String::new(),
            successor: String::new(),
            resumed: 0,
            note: String::new(),
        }
    }

    pub(super) fn read(row: &store::Row) -> Result<Self, Error> {
        let damaged = |_| Error::Internal("a rollover is not stored as it should be".to_owned());
        let locus: String = row.get(0)?;
        Ok(Self {
            locus: Keeper::parse(&locus).map_err(Error::from).map_err(damaged)?,
            seat: Seat::parse(&row.get::<String>(1)?).map_err(damaged)?,
            session_id: row.get(2)?,
            phase: Phase::parse(&row.get::<String>(3)?).map_err(damaged)?,
            mode: Mode::parse(&row.get::<String>(4)?).map_err(damaged)?,
            context_tokens: row.get(5)?,
            handoff_id: row.get(6)?,
            requested: row.get(7)?,
            updated: row.get(8)?,
            until: row.get(9)?,
            threshold: row.get(10)?,
            idle_gate_s: row.get(11)?,
            restart_tmux: row.get(12)?,
            successor: row.get(13)?,
            resumed: row.get(14)?,
            note: row.get(15)?,
        })
    }
}
