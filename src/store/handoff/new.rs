//! A handoff that a session leaves.

use super::{
    Harness, Mode, Row, checks,
    row::{columns, tell},
    spin,
};
use crate::{
    store::{
        Committed, Error, Store, Tx,
        feed::Op,
        ledger,
        names::{BoardType, Locus, SessionUuid, Task},
        text,
        todo::{self, Priority},
    },
    untrusted,
};

/// The most characters of what a successor is told.
pub const MOST_TEXT: usize = 16_000;

/// How much of it the item on the board repeats, in characters.
const SHOWN: usize = 120;

/// A handoff to be.
#[derive(Debug, Clone, Copy)]
pub struct New<'a> {
    /// Whose it is.
    pub locus: &'a Locus,
    /// What the successor must know, at most [`MOST_TEXT`] characters.
    pub text: &'a str,
    /// The ledger that goes with it; `None`: the active one of the locus, if there is one.
    pub task: Option<&'a Task>,
    /// Whether a seat goes on with a copy of the session that leaves it.
    pub fork: bool,
    /// The session that leaves it.
    pub source_session: &'a str,
    /// Where a seat is to be; empty for the station's own machine.
    pub ssh: &'a str,
    /// The directory to work in.
    pub dir: &'a str,
    /// The login to work under.
    pub login: &'a str,
    /// What is to sit there.
    pub seat: Harness,
    /// Who leaves it.
    pub by: &'a str,
}

impl New<'_> {
    fn check(&self) -> Result<Draft<'_>, Error> {
        if self.text.trim().is_empty() {
            return Err(Error::Invalid(
                "`text` is empty: say what the successor must know, in a few hundred words"
                    .to_owned(),
            ));
        }
        text::block("text", self.text, MOST_TEXT).map_err(|error| match error {
            Error::TooLarge(words) => {
                Error::TooLarge(format!("{words}, or put it into a ledger and name that as `task`"))
            }
            other => other,
        })?;
        let source_session = checks::session("source_session", self.source_session)?;
        if self.fork && source_session.is_empty() {
            return Err(Error::Invalid(
                "`fork` needs `source_session`, the session to go on with: the stdio bridge `adjutant mcp` fills it from the environment of a session; over plain HTTP give it"
                    .to_owned(),
            ));
        }
        if self.fork {
            SessionUuid::parse(source_session)?;
        }
        Ok(Draft {
            mode: Mode::Seat,
            locus: self.locus.as_str(),
            source_session,
            session_id: "",
            fork: self.fork,
            ssh: checks::ssh(self.ssh)?,
            dir: checks::dir(self.dir)?,
            login: checks::login(self.login)?,
            seat: self.seat,
            brief: self.text,
            task: "",
            ledger_rev: 0,
            by: checks::by(self.by)?,
            tmux: "",
        })
    }
}

/// Leaves a handoff, with an item on the board of its locus. With `spin` the caller has the order
/// for its seat: the station is asked after this, and what comes of it goes to [`super::settle`].
///
/// # Errors
/// [`Error::Invalid`], [`Error::TooLarge`]; [`Error::NotFound`] for a ledger that is not there.
pub async fn request(store: &Store, new: New<'_>, spin: bool) -> Result<(Row, Committed), Error> {
    let draft = new.check()?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let head = ledger::find(&mut tx, new.locus, new.task).await?;
            if let (Some(task), None) = (new.task, &head) {
                return Err(Error::NotFound(format!(
                    "no ledger `{}/{task}`: write it with `ledger_put` first, or leave `task` out for the active one",
                    new.locus
                )));
            }
            let (task, ledger_rev) = head.map(|head| (head.task, head.rev)).unwrap_or_default();
            let draft = Draft { task: &task, ledger_rev, ..draft };
            let row = insert(&mut tx, draft, spin).await?;
            let shown = untrusted::one_line(&row.brief, SHOWN);
            let words = format!("HANDOFF {} for {}: {shown}", row.id(), row.locus);
            board(&mut tx, &row, &row.by, new.locus, &words).await?;
            Ok((row, tx.commit().await?))
        })
        .await
}

/// The item that tells people of it.
pub(super) async fn board(
    tx: &mut Tx,
    row: &Row,
    by: &str,
    locus: &Locus,
    words: &str,
) -> Result<(), Error> {
    let source = format!("handoff {}", row.id());
    let new = todo::New {
        priority: Some(Priority::High),
        by,
        source: &source,
        ..todo::New::of(BoardType::Operator, locus, words)
    };
    todo::add_in(tx, new).await.map(drop)
}

/// The columns of a new row, checked.
#[derive(Clone, Copy)]
pub(super) struct Draft<'a> {
    pub(super) mode: Mode,
    pub(super) locus: &'a str,
    pub(super) source_session: &'a str,
    pub(super) session_id: &'a str,
    pub(super) fork: bool,
    pub(super) ssh: &'a str,
    pub(super) dir: &'a str,
    pub(super) login: &'a str,
    pub(super) seat: Harness,
    pub(super) brief: &'a str,
    pub(super) task: &'a str,
    pub(super) ledger_rev: i64,
    pub(super) by: &'a str,
    pub(super) tmux: &'a str,
}

/// Writes a new row; with `spin` it has the first order for its seat.
pub(super) async fn insert(tx: &mut Tx, draft: Draft<'_>, spin: bool) -> Result<Row, Error> {
    let now = tx.now();
    let until = if spin { spin::until(tx).await? } else { 0 };
    let note = if spin { spin::asking(now) } else { String::new() };
    let row = tx
        .sql(concat!(
            "INSERT INTO handoffs (mode, status, locus, source_session, session_id, fork, ssh, dir, login, seat, brief, task, ledger_rev, author, created, updated, tmux, spawn_note, spin_fence, spin_until) VALUES ($1, 'open', $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, $15, $16, $17, $18) RETURNING ",
            columns!()
        ))
        .bind(draft.mode.name())
        .bind(draft.locus)
        .bind(draft.source_session)
        .bind(draft.session_id)
        .bind(draft.fork)
        .bind(draft.ssh)
        .bind(draft.dir)
        .bind(draft.login)
        .bind(draft.seat.name())
        .bind(draft.brief)
        .bind(draft.task)
        .bind(draft.ledger_rev)
        .bind(draft.by)
        .bind(now)
        .bind(draft.tmux)
        .bind(note)
        .bind(i64::from(spin))
        .bind(until)
        .one()
        .await?;
    let row = Row::read(&row)?;
    tell(tx, &row, Op::Insert).await?;
    Ok(row)
}
