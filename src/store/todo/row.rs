//! One item as it is stored.

use mcp::Rights;

use crate::store::{
    self, Conn, Error, Moment,
    names::{BoardId, BoardType},
};

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Nobody is at it.
    Open,
    /// Somebody says that they are at it.
    Doing,
    /// Nothing is left to do.
    Done,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Open, Self::Doing, Self::Done];

    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Doing => "doing",
            Self::Done => "done",
        }
    }

    /// The status of a name, in any case.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name().eq_ignore_ascii_case(name.trim()))
    }
}

/// How much an item presses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Priority {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl Priority {
    /// Every priority.
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// The priority of a name, in any case.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.name().eq_ignore_ascii_case(name.trim()))
    }
}

/// An item. Times are in microseconds of UTC, 0 where there is none; texts are empty where there is
/// none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its number.
    pub number: i64,
    /// What it is.
    pub kind: BoardType,
    /// How far it is.
    pub status: Status,
    /// How much it presses, when that was said.
    pub priority: Option<Priority>,
    /// What it says, in short.
    pub text: String,
    /// What it says, at length.
    pub note: String,
    /// Who wrote it.
    pub by: String,
    /// By what it was written.
    pub source: String,
    /// Whose board it is on.
    pub locus: String,
    /// When it was written.
    pub created: i64,
    /// When its content last changed; claims do not count.
    pub updated: i64,
    /// The writer's own key, one of a kind at its locus.
    pub reference: String,
    /// What came with that key, as a hash: tells a repetition from something else.
    pub digest: String,
    /// How often it was claimed.
    pub attempts: i64,
    /// The fencing token of the newest claim; 0 before the first.
    pub fence: i64,
    /// Who claimed it last and has neither released it nor been replaced; see [`Row::is_held`].
    pub claimed_by: String,
    /// When.
    pub claimed_at: i64,
    /// For how many seconds.
    pub lease_s: i64,
    /// Until when, by the clock of leases.
    pub lease_until: i64,
    /// Who delivered it.
    pub delivered_by: String,
    /// When.
    pub delivered_at: i64,
    /// The session that sent it.
    pub sender_session: String,
    /// The lease that it was sent under.
    pub sender_lease: String,
    /// The locus that it was sent from.
    pub sender_locus: String,
}

/// The columns that [`Row::read`] reads, in its order.
macro_rules! columns {
    () => {
        "id, type, status, priority, text, note, author, source, locus, created, updated, ref, digest, attempts, fence, claimed_by, claimed_at, lease_s, lease_until, delivered_by, delivered_at, sender_session, sender_lease, sender_locus"
    };
}
pub(in crate::store) use columns;

impl Row {
    /// Reads the columns of `columns!`.
    pub(in crate::store) fn read(row: &store::Row) -> Result<Self, Error> {
        let (kind, status, priority): (String, String, String) =
            (row.get(1)?, row.get(2)?, row.get(3)?);
        let odd = |what: &str, word: &str| Error::Internal(format!("a {what} `{word}` is stored"));
        let priority = match &*priority {
            "" => None,
            word => Some(Priority::of(word).ok_or_else(|| odd("priority", word))?),
        };
        Ok(Self {
            number: row.get(0)?,
            kind: BoardType::of(&kind).ok_or_else(|| odd("type", &kind))?,
            status: Status::of(&status).ok_or_else(|| odd("status", &status))?,
            priority,
            text: row.get(4)?,
            note: row.get(5)?,
            by: row.get(6)?,
            source: row.get(7)?,
            locus: row.get(8)?,
            created: row.get(9)?,
            updated: row.get(10)?,
            reference: row.get(11)?,
            digest: row.get(12)?,
            attempts: row.get(13)?,
            fence: row.get(14)?,
            claimed_by: row.get(15)?,
            claimed_at: row.get(16)?,
            lease_s: row.get(17)?,
            lease_until: row.get(18)?,
            delivered_by: row.get(19)?,
            delivered_at: row.get(20)?,
            sender_session: row.get(21)?,
            sender_lease: row.get(22)?,
            sender_locus: row.get(23)?,
        })
    }

    /// Its id, with the letter of its type.
    pub fn id(&self) -> BoardId {
        BoardId::new(self.kind, self.number)
    }

    /// Whether a lease on it is live.
    pub fn is_held(&self, at: Moment) -> bool {
        !self.claimed_by.is_empty() && self.lease_until > at.lease
    }

    /// When its lease ends or ended, in microseconds of UTC; `None` when nobody has claimed it.
    pub fn lease_expires(&self, at: Moment) -> Option<i64> {
        let claimed = !self.claimed_by.is_empty();
        claimed.then(|| at.wall.saturating_add(self.lease_until.saturating_sub(at.lease)))
    }
}

/// The words for an id that nothing is known of, whether there is no such item or not for this
/// caller.
pub(super) fn absent(id: BoardId) -> Error {
    Error::NotFound(format!("no todo `{id}`: `todo_list` names those that there are"))
}

/// A row that was found by its number, when it is the one that is meant and may be touched.
pub(super) fn meant(row: Option<Row>, id: BoardId, rights: &Rights) -> Result<Row, Error> {
    let row = row.filter(|row| rights.reaches(&row.locus)).ok_or_else(|| absent(id))?;
    id.fits(row.kind)?;
    Ok(row)
}

/// The row of a number, whoever may see it; with `lock` nobody else changes it until the
/// transaction ends.
pub(super) async fn by_number(
    conn: &mut Conn,
    number: i64,
    lock: bool,
) -> Result<Option<Row>, Error> {
    const PLAIN: &str = concat!("SELECT ", columns!(), " FROM todos WHERE id = $1");
    const LOCKED: &str = concat!("SELECT ", columns!(), " FROM todos WHERE id = $1 FOR UPDATE");
    // SQLite has one writer.
    let text = if lock { conn.pick(PLAIN, LOCKED) } else { PLAIN };
    conn.sql(text).bind(number).opt().await?.as_ref().map(Row::read).transpose()
}
