//! Sessions that say something of themselves.

use mcp::Rights;

use super::{HANDOFF, KEPT_DAYS, KIND, MOST_WORD, Session, columns, hold_own, id};
use crate::store::{Committed, Error, Store, Tx, feed::Op, text};

/// How many sessions go in one transaction.
const BATCH: i64 = 500;

/// What a session says of itself; what is empty stays as it was.
#[derive(Debug, Clone, Copy, Default)]
pub struct Registration<'a> {
    /// Its id.
    pub session_id: &'a str,
    /// Whose it is.
    pub locus: &'a str,
    /// The login that it runs under.
    pub login: &'a str,
    /// The machine.
    pub host: &'a str,
    /// Its process; 0: as it was.
    pub pid: i64,
    /// The configuration directory of its harness.
    pub config_dir: &'a str,
    /// The terminal that it sits in.
    pub tmux: &'a str,
    /// The model that it talks to.
    pub model: &'a str,
    /// The session that it goes on with.
    pub predecessor: &'a str,
}

impl<'a> Registration<'a> {
    fn checked(self) -> Result<Self, Error> {
        let word = |name: &str, given: &'a str| text::line(name, given.trim(), MOST_WORD);
        Ok(Self {
            session_id: id("session_id", self.session_id)?,
            locus: self.locus,
            login: word("login", self.login)?,
            host: word("host", self.host)?,
            pid: self.pid,
            config_dir: word("config_dir", self.config_dir)?,
            tmux: word("tmux", self.tmux)?,
            model: word("model", self.model)?,
            predecessor: text::line("predecessor", self.predecessor.trim(), super::MOST_SESSION)?,
        })
    }

    /// The session after this.
    fn upon(self, old: &Session, now: i64) -> Session {
        let or = |new: &str, old: &str| if new.is_empty() { old } else { new }.to_owned();
        Session {
            locus: or(self.locus, &old.locus),
            login: or(self.login, &old.login),
            host: or(self.host, &old.host),
            pid: if self.pid == 0 { old.pid } else { self.pid },
            config_dir: or(self.config_dir, &old.config_dir),
            tmux: or(self.tmux, &old.tmux),
            model: or(self.model, &old.model),
            predecessor: or(self.predecessor, &old.predecessor),
            started: if old.started == 0 { now } else { old.started },
            last_seen: old.last_seen.max(now),
            ..old.clone()
        }
    }
}

/// A session of which nothing is known yet.
fn blank(session: &str, home: &str) -> Session {
    let none = String::new;
    Session {
        session_id: session.to_owned(),
        locus: home.to_owned(),
        login: none(),
        host: none(),
        pid: 0,
        config_dir: none(),
        tmux: none(),
        model: none(),
        predecessor: none(),
        started: 0,
        last_seen: 0,
        handoff: none(),
        handoff_at: 0,
        resumed_by: none(),
        resumed_at: 0,
    }
}

/// Takes down what a session says of itself. `home` is whose a new one is that does not say; `None`
/// where only one that is there already can be meant.
///
/// # Errors
/// [`Error::Conflict`] for one that the caller does not reach; [`Error::Invalid`], also for a new one
/// without a home; [`Error::TooLarge`]; those of a write.
pub async fn register(
    store: &Store,
    registration: Registration<'_>,
    home: Option<&str>,
    rights: &Rights,
) -> Result<(Session, Committed), Error> {
    let said = registration.checked()?;
    say(store, said.session_id, home, rights, |old, now| said.upon(old, now)).await
}

/// Takes down what a session leaves to whoever goes on with it; it replaces what it left before.
///
/// # Errors
/// As [`register`].
pub async fn leave(
    store: &Store,
    session: &str,
    doc: &str,
    home: Option<&str>,
    rights: &Rights,
) -> Result<(Session, Committed), Error> {
    let session = id("session_id", session)?;
    let (least, most) = HANDOFF;
    text::block("doc", doc, most)?;
    if doc.trim().chars().count() < least {
        return Err(Error::Invalid(format!(
            "`doc` is too thin to go on from: say in at least {least} characters what the successor must know"
        )));
    }
    say(store, session, home, rights, |old, now| Session {
        handoff: doc.to_owned(),
        handoff_at: now,
        last_seen: old.last_seen.max(now),
        ..old.clone()
    })
    .await
}

async fn say(
    store: &Store,
    session: &str,
    home: Option<&str>,
    rights: &Rights,
    word: impl Fn(&Session, i64) -> Session + Sync,
) -> Result<(Session, Committed), Error> {
    let word = &word;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.now();
            let old = hold_own(&mut tx, session, rights).await?;
            let Some(old) = old else {
                let home = home.ok_or_else(|| homeless(session))?;
                let new = word(&blank(session, home), now);
                if !insert(&mut tx, &new).await? {
                    // Another replica was first.
                    return Err(Error::Retry);
                }
                tx.event(KIND, &new.locus, session, Op::Insert).await?;
                return Ok((new, tx.commit().await?));
            };
            let new = word(&old, now);
            put(&mut tx, &new).await?;
            // That it was seen is no news.
            if (Session { last_seen: old.last_seen, ..new.clone() }) != old {
                tx.event(KIND, &new.locus, session, Op::Update).await?;
            }
            Ok((new, tx.commit().await?))
        })
        .await
}

fn homeless(session: &str) -> Error {
    Error::Invalid(format!(
        "session `{session}` is new and this token is for several loci: register it with its `locus` first (`seat_session_register`)"
    ))
}

async fn put(tx: &mut Tx, new: &Session) -> Result<(), Error> {
    let text = "UPDATE claude_sessions SET locus = $2, login = $3, host = $4, pid = $5, config_dir = $6, tmux = $7, model = $8, predecessor = $9, started = $10, last_seen = $11, handoff = $12, handoff_at = $13, resumed_by = $14, resumed_at = $15 WHERE session_id = $1";
    bind(tx, text, new).await.map(drop)
}

async fn insert(tx: &mut Tx, new: &Session) -> Result<bool, Error> {
    let text = concat!(
        "INSERT INTO claude_sessions (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT (session_id) DO NOTHING"
    );
    Ok(bind(tx, text, new).await? == 1)
}

/// Runs a statement whose places are the columns.
async fn bind(tx: &mut Tx, text: &'static str, session: &Session) -> Result<u64, Error> {
    tx.sql(text)
        .bind(&*session.session_id)
        .bind(&*session.locus)
        .bind(&*session.login)
        .bind(&*session.host)
        .bind(session.pid)
        .bind(&*session.config_dir)
        .bind(&*session.tmux)
        .bind(&*session.model)
        .bind(&*session.predecessor)
        .bind(session.started)
        .bind(session.last_seen)
        .bind(&*session.handoff)
        .bind(session.handoff_at)
        .bind(&*session.resumed_by)
        .bind(session.resumed_at)
        .run()
        .await
}

/// Removes the sessions of which nothing was heard in the last [`KEPT_DAYS`]. How many there were.
///
/// # Errors
/// Those of a write.
pub async fn prune(store: &Store) -> Result<usize, Error> {
    let mut count = 0;
    loop {
        let batch = store
            .again(async || {
                let mut tx = store.begin().await?;
                let before = tx.now() - KEPT_DAYS * 86_400_000_000;
                let rows = tx
                    .sql("DELETE FROM claude_sessions WHERE last_seen <= $1 AND resumed_at <= $1 AND session_id IN (SELECT session_id FROM claude_sessions WHERE last_seen <= $1 AND resumed_at <= $1 LIMIT $2) RETURNING session_id, locus")
                    .bind(before)
                    .bind(BATCH)
                    .all()
                    .await?;
                for row in &rows {
                    let (session, locus): (String, String) = (row.get(0)?, row.get(1)?);
                    tx.event(KIND, &locus, &session, Op::Delete).await?;
                }
                tx.commit().await?;
                Ok(rows.len())
            })
            .await?;
        count += batch;
        if i64::try_from(batch).is_ok_and(|batch| batch < BATCH) {
            return Ok(count);
        }
    }
}
