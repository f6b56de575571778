//! Sessions of a harness, as they say of themselves, and what each leaves to whoever goes on with it.
//!
//! A session registers where it runs and what came before it; what it does not say stays as it was.
//! It may leave one text, its handoff, which a later one replaces. A successor that takes it up says
//! so ([`resume`]), which also ends the rollover that waited for it. A session of which nothing was
//! heard for [`KEPT_DAYS`] goes.

mod left;
mod resume;
#[cfg(test)]
mod tests;
mod write;

pub use self::{
    left::{Left, left},
    resume::{Resumed, Took, resume},
    write::{Registration, leave, prune, register},
};
use mcp::Rights;

pub(super) use self::resume::writer_taken_up;
use super::{Error, Row, Tx};

/// The kind of these records in the feed; the id is the session's.
pub const KIND: &str = "seat_session";

/// The fewest and the most characters of a handoff: less is too little to go on with.
pub const HANDOFF: (usize, usize) = (40, 262_144);

/// The most characters of a session's id.
pub const MOST_SESSION: usize = 128;

/// The most characters of what else a session says of itself.
pub const MOST_WORD: usize = 400;

/// For how many days a session of which nothing is heard is kept.
pub const KEPT_DAYS: i64 = 90;

/// A session. Times are in microseconds of UTC, 0 where there is none; texts are empty where there is
/// none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id, as its harness gave it.
    pub session_id: String,
    /// Whose it is; empty: nobody's in particular.
    pub locus: String,
    /// The login that it runs under.
    pub login: String,
    /// The machine.
    pub host: String,
    /// Its process; 0 when nobody said.
    pub pid: i64,
    /// The configuration directory of its harness.
    pub config_dir: String,
    /// The terminal that it sits in.
    pub tmux: String,
    /// The model that it talks to.
    pub model: String,
    /// The session that it goes on with.
    pub predecessor: String,
    /// When it was first registered.
    pub started: i64,
    /// When it last said anything.
    pub last_seen: i64,
    /// What it left.
    pub handoff: String,
    /// When it left that.
    pub handoff_at: i64,
    /// The session that took that up last.
    pub resumed_by: String,
    /// When.
    pub resumed_at: i64,
}

/// The columns of a [`Session`], in its order.
macro_rules! columns {
    () => {
        "session_id, locus, login, host, pid, config_dir, tmux, model, predecessor, started, last_seen, handoff, handoff_at, resumed_by, resumed_at"
    };
}
use columns;

impl Session {
    fn read(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            session_id: row.get(0)?,
            locus: row.get(1)?,
            login: row.get(2)?,
            host: row.get(3)?,
            pid: row.get(4)?,
            config_dir: row.get(5)?,
            tmux: row.get(6)?,
            model: row.get(7)?,
            predecessor: row.get(8)?,
            started: row.get(9)?,
            last_seen: row.get(10)?,
            handoff: row.get(11)?,
            handoff_at: row.get(12)?,
            resumed_by: row.get(13)?,
            resumed_at: row.get(14)?,
        })
    }
}

/// A session's id, without blanks around it.
fn id<'t>(name: &str, given: &'t str) -> Result<&'t str, Error> {
    let id = super::text::line(name, given.trim(), MOST_SESSION)?;
    if id.is_empty() {
        return Err(Error::Invalid(format!(
            "`{name}` is empty: give the id of the session, as its harness has it"
        )));
    }
    Ok(id)
}

/// The session as it is, held until the end of the transaction by a write that changes nothing.
async fn hold(tx: &mut Tx, session: &str) -> Result<Option<Session>, Error> {
    let row = tx
        .sql(concat!(
            "UPDATE claude_sessions SET last_seen = last_seen WHERE session_id = $1 RETURNING ",
            columns!()
        ))
        .bind(session)
        .opt()
        .await?;
    row.as_ref().map(Session::read).transpose()
}

/// As [`hold`], of one that the caller reaches.
async fn hold_own(tx: &mut Tx, session: &str, rights: &Rights) -> Result<Option<Session>, Error> {
    match hold(tx, session).await? {
        Some(other) if !rights.reaches(&other.locus) => Err(Error::Conflict(format!(
            "session `{session}` is not of a locus that this token reaches: use one that does"
        ))),
        found => Ok(found),
    }
}
