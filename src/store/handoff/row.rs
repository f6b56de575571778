//! One handoff as it is stored.

use mcp::Rights;

use super::State;
use crate::{
    store::{self, Conn, Error, Tx, feed::Op, names::HandoffId},
    untrusted,
};

/// What a handoff is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A text for the session that goes on with the work.
    Seat,
    /// A session that is to go on in a seat of a station.
    Pull,
}

impl Mode {
    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seat => "seat",
            Self::Pull => "pull",
        }
    }

    /// The mode of a name, in any case.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the right ones.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let all = [Self::Seat, Self::Pull];
        let word = text.trim();
        all.into_iter().find(|mode| mode.name().eq_ignore_ascii_case(word)).ok_or_else(|| {
            let given = untrusted::one_line(text, 40);
            Error::Invalid(format!("`mode` is `seat` or `pull`, not `{given}`"))
        })
    }
}

/// What sits in a seat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Harness {
    /// A session of Claude Code.
    #[default]
    Claude,
    /// A keeper.
    Keeper,
}

impl Harness {
    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Keeper => "keeper",
        }
    }

    /// The harness of a name, in any case; `claude` for an empty one.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the right ones.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let word = text.trim();
        if word.is_empty() {
            return Ok(Self::default());
        }
        let all = [Self::Claude, Self::Keeper];
        all.into_iter().find(|seat| seat.name().eq_ignore_ascii_case(word)).ok_or_else(|| {
            let given = untrusted::one_line(text, 40);
            Error::Invalid(format!("`seat` is `claude` or `keeper`, not `{given}`"))
        })
    }
}

/// A handoff. Times are in microseconds of UTC, 0 where there is none; texts are empty where there
/// is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its number.
    pub number: i64,
    /// What it is for.
    pub mode: Mode,
    /// How far it is.
    pub state: State,
    /// Whose it is.
    pub locus: String,
    /// The session that it comes from.
    pub source_session: String,
    /// The session that its seat goes on with; nothing ever changes it.
    pub session_id: String,
    /// Whether a seat goes on with a copy of the session.
    pub fork: bool,
    /// Where the seat is to be, as `user@host[:port]`.
    pub ssh: String,
    /// The directory to work in.
    pub dir: String,
    /// The login to work under.
    pub login: String,
    /// What is to sit there.
    pub seat: Harness,
    /// What the successor must know.
    pub brief: String,
    /// The ledger of the locus that goes with it.
    pub task: String,
    /// The revision of that at the time.
    pub ledger_rev: i64,
    /// Who left it.
    pub by: String,
    /// When it was left.
    pub created: i64,
    /// When it last changed.
    pub updated: i64,
    /// Who claimed it.
    pub claimed_by: String,
    /// When.
    pub claimed_at: i64,
    /// The session that received it.
    pub consumed_by: String,
    /// When.
    pub consumed_at: i64,
    /// The name of the seat: the one that is asked for, until a verified seat has another.
    pub tmux: String,
    /// What the station calls itself.
    pub station: String,
    /// What the seat is reached by, verified or not.
    pub station_handle: String,
    /// What came of asking the station.
    pub spawn_note: String,
    /// The token of the newest order for a seat; 0 before the first.
    pub spin_fence: i64,
}

/// The columns that [`Row::read`] reads, in its order.
macro_rules! columns {
    () => {
        "id, mode, status, locus, source_session, session_id, fork, ssh, dir, login, seat, brief, task, ledger_rev, author, created, updated, claimed_by, claimed_at, consumed_by, consumed_at, tmux, station, station_handle, spawn_note, spin_fence"
    };
}
pub(super) use columns;

/// How many columns that are.
pub(super) const COLUMNS: usize = 26;

impl Row {
    /// Reads the columns of `columns!`.
    pub(super) fn read(row: &store::Row) -> Result<Self, Error> {
        let (mode, state, seat): (String, String, String) =
            (row.get(1)?, row.get(2)?, row.get(10)?);
        let odd =
            |_| Error::Internal(format!("a handoff is stored as `{mode}` `{state}` `{seat}`"));
        Ok(Self {
            number: row.get(0)?,
            mode: Mode::parse(&mode).map_err(odd)?,
            state: State::parse(&state).map_err(odd)?,
            locus: row.get(3)?,
            source_session: row.get(4)?,
            session_id: row.get(5)?,
            fork: row.get(6)?,
            ssh: row.get(7)?,
            dir: row.get(8)?,
            login: row.get(9)?,
            seat: Harness::parse(&seat).map_err(odd)?,
            brief: row.get(11)?,
            task: row.get(12)?,
            ledger_rev: row.get(13)?,
            by: row.get(14)?,
            created: row.get(15)?,
            updated: row.get(16)?,
            claimed_by: row.get(17)?,
            claimed_at: row.get(18)?,
            consumed_by: row.get(19)?,
            consumed_at: row.get(20)?,
            tmux: row.get(21)?,
            station: row.get(22)?,
            station_handle: row.get(23)?,
            spawn_note: row.get(24)?,
            spin_fence: row.get(25)?,
        })
    }

    /// Its id.
    pub fn id(&self) -> HandoffId {
        HandoffId::new(self.number)
    }

    /// The session that it comes from, by the first eight characters of its id.
    pub fn source_short(&self) -> String {
        self.source_session.chars().take(8).collect()
    }
}

/// The words for an id that nothing is known of, whether there is no such handoff or not for this
/// caller.
pub(super) fn absent(id: HandoffId) -> Error {
    Error::NotFound(format!("no handoff `{id}`: `handoff_list` names those that there are"))
}

/// The row of an id, if there is one and it may be seen.
pub(super) async fn by_id(conn: &mut Conn, id: HandoffId, rights: &Rights) -> Result<Row, Error> {
    let row = conn
        .sql(concat!("SELECT ", columns!(), " FROM handoffs WHERE id = $1"))
        .bind(id.number())
        .opt()
        .await?;
    reached(row.as_ref().map(Row::read).transpose()?, id, rights)
}

/// A row that was found or changed by its id, if it may be seen; otherwise the transaction that
/// changed it is to be given up.
pub(super) fn reached(row: Option<Row>, id: HandoffId, rights: &Rights) -> Result<Row, Error> {
    row.filter(|row| rights.reaches(&row.locus)).ok_or_else(|| absent(id))
}

/// Tells the feed of a change: of the handoff, and of the session where one is pulled.
pub(super) async fn tell(tx: &mut Tx, row: &Row, op: Op) -> Result<(), Error> {
    let id = row.id().to_string();
    tx.event(super::KIND, &row.locus, &id, op).await?;
    if row.mode == Mode::Pull {
        tx.event(super::SESSION, &row.locus, &id, op).await?;
    }
    Ok(())
}
