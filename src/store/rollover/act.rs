//! Words about rollovers, taken down.

use mcp::Rights;

use super::{
    Action, KIND, Mode, Rollover, SECOND, Seat, TERM_S,
    evidence::Evidence,
    row::columns,
    rule::{Moment, Step, expired},
};
use crate::store::{
    Committed, Error, Store, Tx,
    feed::Op,
    names::Keeper,
    seat::{self, Filter, State},
    text,
};

/// The most characters of a session's id, and of a terminal's name.
const MOST_SESSION: usize = 128;
const MOST_TMUX: usize = 400;

/// How many rollovers are changed in one transaction.
const BATCH: i64 = 500;

/// The most seats that are looked at for [`request_all`].
const MOST_SEATS: i64 = 5_000;

/// What a word came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acted {
    /// The rollover as it stands.
    pub rollover: Rollover,
    /// What is missing, where that kept it from going on.
    pub waiting: Option<String>,
    /// That the change stands; `None` where nothing is another.
    pub committed: Option<Committed>,
}

/// The rollover of a seat as it stands.
///
/// # Errors
/// Those of a read.
pub async fn status(store: &Store, locus: &Keeper, seat: Seat) -> Result<Rollover, Error> {
    let mut conn = store.read().await?;
    let lease = store.lease_time(&mut conn).await?;
    let row = conn
        .sql(concat!("SELECT ", columns!(), " FROM seat_rollovers WHERE locus = $1 AND seat = $2"))
        .bind(locus.as_str())
        .bind(seat.name())
        .opt()
        .await?;
    let found = row.as_ref().map(Rollover::read).transpose()?;
    Ok(found.unwrap_or_else(|| Rollover::none(locus, seat)).at(lease))
}

/// Takes down what somebody says of the rollover of a seat.
///
/// # Errors
/// [`Error::Conflict`] for what does not follow from how it stands; [`Error::Invalid`],
/// [`Error::TooLarge`]; [`Error::NotFound`] for a ledger; those of a write.
pub async fn act(
    store: &Store,
    locus: &Keeper,
    seat: Seat,
    action: Action<'_>,
    rights: &Rights,
) -> Result<Acted, Error> {
    let action = action.checked()?;
    if let Action::Observe { .. } = action {
        // Seats are observed all the time, and mostly nothing follows: that needs no writer.
        let rollover = status(store, locus, seat).await?;
        let now = Moment { wall: 0, lease: 0 };
        if rollover.step(&action, &Evidence::Nothing, now)? == Step::Same {
            return Ok(Acted { rollover, waiting: None, committed: None });
        }
    }
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let (rollover, waiting) = step(&mut tx, locus, seat, action, rights).await?;
            // Also where nothing is another: on the disk before it is said.
            let committed = tx.commit().await?;
            Ok(Acted { rollover, waiting, committed: Some(committed) })
        })
        .await
}

/// One word within a transaction.
async fn step(
    tx: &mut Tx,
    locus: &Keeper,
    seat: Seat,
    action: Action<'_>,
    rights: &Rights,
) -> Result<(Rollover, Option<String>), Error> {
    let now = Moment { wall: tx.now(), lease: tx.lease_time().await? };
    let stored = hold(tx, locus, seat).await?;
    let old = stored.clone().unwrap_or_else(|| Rollover::none(locus, seat)).at(now.lease);
    let reported;
    let (action, evidence) = match action {
        Action::Request { session: "", context_tokens, mode } => {
            reported = reported_session(tx, locus, seat).await?;
            (Action::Request { session: &reported, context_tokens, mode }, Evidence::Nothing)
        }
        Action::Handoff { session, handoff_id } => {
            (action, Evidence::find(tx, session, handoff_id, rights).await?)
        }
        other => (other, Evidence::Nothing),
    };
    let (new, waiting) = match old.step(&action, &evidence, now)? {
        Step::Changed(new) => (*new, None),
        Step::Same => (old, None),
        Step::Waits(words) => (old, Some(words)),
    };
    match stored {
        // That its term is over may be the only news.
        Some(stored) if stored == new => {}
        Some(_) => {
            put(tx, &new).await?;
            tx.event(KIND, locus.as_str(), seat.name(), Op::Update).await?;
        }
        None if new == Rollover::none(locus, seat) => {}
        None => {
            if !insert(tx, &new).await? {
                // Another replica was first.
                return Err(Error::Retry);
            }
            tx.event(KIND, locus.as_str(), seat.name(), Op::Insert).await?;
        }
    }
    Ok((new, waiting))
}

impl Action<'_> {
    /// Holds what callers gave against its bounds.
    fn checked(self) -> Result<Self, Error> {
        let session = |name: &str, given| text::line(name, given, MOST_SESSION).map(drop);
        match self {
            Self::Observe { session: id, .. }
            | Self::Request { session: id, .. }
            | Self::Resuming { session: id }
            | Self::Complete { session: id }
            | Self::Cancel { session: id } => session("session_id", id)?,
            Self::Handoff { session: id, handoff_id } => {
                session("session_id", id)?;
                text::line("handoff_id", handoff_id, MOST_TMUX)?;
            }
            Self::Restarting { session: id, tmux } => {
                session("session_id", id)?;
                text::line("tmux", tmux, MOST_TMUX)?;
            }
            Self::Resumed { session: id, successor } => {
                session("session_id", id)?;
                session("successor", successor)?;
            }
            Self::Configure { .. } => {}
        }
        if let Self::Observe { context_tokens, .. } | Self::Request { context_tokens, .. } = self
            && context_tokens < 0
        {
            return Err(Error::Invalid(
                "`context_tokens` is a number of tokens, 0 or more".to_owned(),
            ));
        }
        Ok(self)
    }
}

/// The session that the seat was last reported with; empty when it was with none.
async fn reported_session(tx: &mut Tx, locus: &Keeper, seat: Seat) -> Result<String, Error> {
    let row = tx
        .sql("SELECT session_id FROM seats WHERE locus = $1 AND seat = $2")
        .bind(locus.as_str())
        .bind(seat.name())
        .opt()
        .await?;
    row.map_or_else(|| Ok(String::new()), |row| row.get(0))
}

/// The rollover as it is, held until the end of the transaction by a write that changes nothing.
async fn hold(tx: &mut Tx, locus: &Keeper, seat: Seat) -> Result<Option<Rollover>, Error> {
    let row = tx
        .sql(concat!(
            "UPDATE seat_rollovers SET updated = updated WHERE locus = $1 AND seat = $2 RETURNING ",
            columns!()
        ))
        .bind(locus.as_str())
        .bind(seat.name())
        .opt()
        .await?;
    row.as_ref().map(Rollover::read).transpose()
}

async fn put(tx: &mut Tx, new: &Rollover) -> Result<(), Error> {
    let text = "UPDATE seat_rollovers SET session_id = $3, phase = $4, mode = $5, context_tokens = $6, handoff_id = $7, requested = $8, updated = $9, until = $10, threshold = $11, idle_gate_s = $12, restart_tmux = $13, successor = $14, resumed = $15, note = $16 WHERE locus = $1 AND seat = $2";
    bind(tx, text, new).await.map(drop)
}

async fn insert(tx: &mut Tx, new: &Rollover) -> Result<bool, Error> {
    let text = concat!(
        "INSERT INTO seat_rollovers (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) ON CONFLICT (locus, seat) DO NOTHING"
    );
    Ok(bind(tx, text, new).await? == 1)
}

/// Runs a statement whose places are the columns.
async fn bind(tx: &mut Tx, text: &'static str, new: &Rollover) -> Result<u64, Error> {
    tx.sql(text)
        .bind(new.locus.as_str())
        .bind(new.seat.name())
        .bind(&*new.session_id)
        .bind(new.phase.name())
        .bind(new.mode.name())
        .bind(new.context_tokens)
        .bind(&*new.handoff_id)
        .bind(new.requested)
        .bind(new.updated)
        .bind(new.until)
        .bind(new.threshold)
        .bind(new.idle_gate_s)
        .bind(&*new.restart_tmux)
        .bind(&*new.successor)
        .bind(new.resumed)
        .bind(&*new.note)
        .run()
        .await
}

/// What became of one seat that was asked to roll over with all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Whose seat it is.
    pub locus: String,
    /// The session that it was last reported with.
    pub session_id: String,
    /// Why it was left alone; `None` where a rollover is pending now.
    pub skipped: Option<&'static str>,
}

/// Asks every seat of that name that the caller reaches to roll over: those that run with a session
/// and are not at it already. A seat is asked by itself: one that fails stops those behind it, and
/// the same call again goes on.
///
/// # Errors
/// Those of a write.
pub async fn request_all(
    store: &Store,
    seat: Seat,
    mode: Mode,
    rights: &Rights,
) -> Result<(Vec<Asked>, i64), Error> {
    let filter = Filter {
        locus: None,
        seat: Some(seat::Kind::parse(seat.name())?),
        ghosts: false,
        loci: rights.loci.as_ref(),
        after: None,
        most: MOST_SEATS,
    };
    let mut asked = Vec::new();
    let mut at = store.now();
    for found in seat::list(store, filter).await? {
        let (locus, session_id) = (found.record.locus, found.record.session_id);
        let skipped = if found.state != State::Running || session_id.is_empty() {
            Some("not alive / no session id")
        } else {
            let before = status(store, &locus, seat).await?;
            if before.phase.is_active() && before.session_id == session_id {
                Some("roll already pending")
            } else {
                let action = Action::Request { session: &session_id, context_tokens: 0, mode };
                let acted = act(store, &locus, seat, action, rights).await?;
                at = acted.committed.map_or(at, |committed| committed.at);
                None
            }
        };
        asked.push(Asked { locus: locus.to_string(), session_id, skipped });
    }
    Ok((asked, at))
}

/// Cancels the pending rollovers whose term is over, and says so in the feed. How many there were.
///
/// # Errors
/// Those of a write.
pub async fn sweep(store: &Store) -> Result<usize, Error> {
    let mut count = 0;
    loop {
        let mut conn = store.read().await?;
        let lease = store.lease_time(&mut conn).await?;
        let due = conn
            .sql("SELECT 1 FROM seat_rollovers WHERE phase = 'pending' AND until <= $1 LIMIT 1")
            .bind(lease)
            .opt()
            .await?;
        drop(conn);
        if due.is_none() {
            return Ok(count);
        }
        count += store
            .again(async || {
                let mut tx = store.begin().await?;
                let now = tx.now();
                let rows = tx
                    .sql("UPDATE seat_rollovers SET phase = 'cancelled', note = $2, updated = $3 WHERE phase = 'pending' AND until <= $1 AND (locus, seat) IN (SELECT locus, seat FROM seat_rollovers WHERE phase = 'pending' AND until <= $1 LIMIT $4) RETURNING locus, seat")
                    .bind(lease)
                    .bind(expired())
                    .bind(now)
                    .bind(BATCH)
                    .all()
                    .await?;
                for row in &rows {
                    let (locus, seat): (String, String) = (row.get(0)?, row.get(1)?);
                    tx.event(KIND, &locus, &seat, Op::Update).await?;
                }
                tx.commit().await?;
                Ok(rows.len())
            })
            .await?;
    }
}

/// To be called once before anybody speaks, on SQLite: the steady time of this process begins where
/// the machine's clock stood, so what is pending waits for one fresh term.
///
/// # Errors
/// Those of a write.
pub(in crate::store) async fn fresh_terms(store: &Store) -> Result<(), Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let until = tx.lease_time().await? + TERM_S * SECOND;
            tx.sql("UPDATE seat_rollovers SET until = $1 WHERE phase = 'pending'")
                .bind(until)
                .run()
                .await?;
            tx.commit().await?;
            Ok(())
        })
        .await
}
