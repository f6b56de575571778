//! Sessions pulled into a seat, and released from it.

use mcp::Rights;
use serde_json::{Value, json};

use super::{
    Harness, Mode, Row, State, checks,
    new::{Draft, board, insert},
    row::{by_id, columns, reached, tell},
    shift::no_move,
};
use crate::{
    store::{
        Committed, Error, Store, Tx,
        feed::Op,
        locus::{self, Endpoint, Kind, LONGEST_GOAL, Pointer, Record, Registration},
        names::{HandoffId, Keeper, Locus, Seat, SessionUuid},
        text,
    },
    untrusted,
};

/// The most characters of what a pulled session is told.
pub const MOST_BRIEF: usize = 4_000;

/// A session that is to go on in a seat.
#[derive(Debug, Clone, Copy)]
pub struct Sitting<'a> {
    /// The session.
    pub session: &'a SessionUuid,
    /// Where it runs, as `user@host[:port]`.
    pub ssh: &'a str,
    /// Its working directory, where its transcript belongs.
    pub dir: &'a str,
    /// What it is to do in its seat, at most [`MOST_BRIEF`] characters.
    pub brief: &'a str,
    /// What is to sit there.
    pub seat: Harness,
    /// Whether the seat goes on with a copy of it.
    pub fork: bool,
    /// The name of its seat.
    pub name: Option<&'a Seat>,
    /// Its locus; `None`: the name of its seat, else `sess-` and the first digits of its id.
    pub locus: Option<&'a Keeper>,
    /// What its machine is called, for the locus of one that is not registered; empty: its host.
    pub machine: &'a str,
}

impl Sitting<'_> {
    /// The locus that it gets.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub fn locus(&self) -> Result<Keeper, Error> {
        Ok(match (self.locus, self.name) {
            (Some(locus), _) => locus.clone(),
            (None, Some(name)) => Keeper::parse(name.as_str())?,
            (None, None) => Keeper::parse(&format!("sess-{}", self.session.short()))?,
        })
    }
}

/// Registers a session that is to go on in a seat: its machine where that is not known, its
/// handoff, its locus, and an item on its board. The caller has the order for its seat: the station
/// is asked after this, and what comes of it goes to [`super::settle`].
///
/// # Errors
/// [`Error::Invalid`], [`Error::TooLarge`]; [`Error::Conflict`] when its locus stands for something
/// else.
pub async fn sit(
    store: &Store,
    sitting: Sitting<'_>,
    rights: &Rights,
) -> Result<(Row, Keeper, Committed), Error> {
    text::block("brief", sitting.brief, MOST_BRIEF)?;
    text::line("machine", sitting.machine, checks::MOST_NAME)?;
    let dir = checks::dir(sitting.dir)?;
    let ssh = checks::ssh(sitting.ssh)?;
    let place = ssh.parse::<Endpoint>()?;
    let name = sitting.locus()?;
    let tmux = sitting.name.map_or(name.as_str(), |name| name.as_str());
    let session = sitting.session.as_str();
    let draft = Draft {
        mode: Mode::Pull,
        locus: name.as_str(),
        source_session: session,
        session_id: session,
        fork: sitting.fork,
        ssh,
        dir,
        login: &place.user,
        seat: sitting.seat,
        brief: sitting.brief,
        task: "",
        ledger_rev: 0,
        by: "",
        tmux,
    };
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let machine = machine(&mut tx, &place, sitting.machine, rights).await?;
            let row = insert(&mut tx, draft, true).await?;
            register(&mut tx, &name, &row, &place, &machine.locus).await?;
            let wish = untrusted::one_line(&row.brief, 120);
            let wish = if wish.is_empty() { "session pull requested" } else { &*wish };
            let words = format!(
                "PULL {}: {} session {} @ {ssh}:{dir} → station seat {tmux} — {wish}",
                row.id(),
                row.seat.name(),
                sitting.session.short(),
            );
            board(&mut tx, &row, "session-pull", &Locus::from(name.clone()), &words).await?;
            Ok((row, machine.locus, tx.commit().await?))
        })
        .await
}

/// The locus of the session's machine: the one that stands for the place, else a new one.
async fn machine(
    tx: &mut Tx,
    place: &Endpoint,
    called: &str,
    rights: &Rights,
) -> Result<Record, Error> {
    if let Some(known) = locus::at(tx, place).await?
        && rights.reaches(known.locus.as_str())
    {
        return Ok(known);
    }
    let goal = format!("{place}, from where a session was pulled");
    if let Some(wish) = Keeper::slug(&format!("{called}-{}", place.user))
        && !called.trim().is_empty()
    {
        let registration = Registration {
            goal: goal.clone(),
            endpoint: place.to_string(),
            ..Registration::new(wish, Kind::Station)
        };
        let record = locus::default_in(tx, &registration).await?;
        let stands_for = record.ssh().map(|ssh| ssh.place);
        if record.kind == Kind::Station && stands_for.as_ref() == Some(place) {
            return Ok(record);
        }
    }
    locus::machine_in(tx, place, &goal).await
}

/// Registers the session's locus, or says more of the one that it has.
async fn register(
    tx: &mut Tx,
    name: &Keeper,
    row: &Row,
    place: &Endpoint,
    machine: &Keeper,
) -> Result<(), Error> {
    let goal = format!("session {} of {}:{}", row.source_short(), row.ssh, row.dir);
    let members = [
        ("session_id", json!(row.session_id)),
        ("ssh", json!({ "host": place.host, "user": place.user, "port": place.port, "key": "" })),
        ("dir", json!(row.dir)),
        ("login", json!(row.login)),
        ("seat", json!(row.seat.name())),
        ("mode", json!(row.mode.name())),
        ("fork", json!(row.fork)),
        ("handoff_id", json!(row.id())),
        ("tmux", json!(row.tmux)),
        ("machine_locus", json!(machine)),
        ("requested", json!(row.created.div_euclid(1_000_000))),
        // What a seat before this one left there.
        ("handle", Value::Null),
        ("station", Value::Null),
        ("spun", Value::Null),
    ];
    let pointer: Pointer =
        members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let registration = Registration {
        goal: untrusted::one_line(&goal, LONGEST_GOAL),
        endpoint: place.to_string(),
        pointer: Some(pointer),
        reactivate: true,
        ..Registration::new(name.clone(), Kind::Session)
    };
    let record = locus::default_in(tx, &registration).await?;
    let named = |record: &Record, key: &str, value: &str| {
        record.pointer.as_ref().and_then(|pointer| pointer.get(key)?.as_str()) == Some(value)
    };
    if named(&record, "handoff_id", &row.id().to_string()) {
        return Ok(());
    }
    // It was there: nobody changes it between this look and the write.
    lock(tx, name).await?;
    let record = locus::get(tx, name).await?.unwrap_or(record);
    let is_ours = named(&record, "session_id", &row.session_id);
    let is_free = record.kind == Kind::Session && record.status == locus::Status::Archived;
    if !is_ours && !is_free {
        return Err(Error::Conflict(format!(
            "the locus `{name}` stands for something else already: give the session another `name` or `locus`"
        )));
    }
    locus::register_in(tx, &registration).await.map(drop)
}

/// Holds the row of a locus until the end of the transaction; SQLite has one writer anyway.
async fn lock(tx: &mut Tx, name: &Keeper) -> Result<(), Error> {
    if !tx.is_sqlite() {
        let text = "SELECT locus FROM loci WHERE locus = $1 FOR UPDATE";
        tx.sql(text).bind(name.as_str()).opt().await?;
    }
    Ok(())
}

/// A session that was released, or was so already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Released {
    /// Its handoff as it is now.
    pub row: Row,
    /// Whether it was not released before.
    pub changed: bool,
    /// That it stands.
    pub committed: Committed,
}

/// Ends a pulled session, and archives its locus unless another seat of it is still wanted. The
/// seat itself goes on: whoever sits there ends it.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Conflict`] for a handoff that is no session, and for one that ended
/// in another way; [`Error::Invalid`] for a state that is no end.
pub async fn release(
    store: &Store,
    id: HandoffId,
    to: State,
    rights: &Rights,
) -> Result<Released, Error> {
    if !to.is_over() {
        return Err(Error::Invalid("`status` is `done` or `abandoned`".to_owned()));
    }
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.now();
            let row = tx
                .sql(concat!(
                    "UPDATE handoffs SET status = $2, updated = $3 WHERE id = $1 AND mode = 'pull' AND $4 LIKE '%,' || status || ',%' RETURNING ",
                    columns!()
                ))
                .bind(id.number())
                .bind(to.name())
                .bind(now)
                .bind(to.before())
                .opt()
                .await?;
            if let Some(row) = row {
                let row = reached(Some(Row::read(&row)?), id, rights)?;
                tell(&mut tx, &row, Op::Update).await?;
                archive(&mut tx, &row).await?;
                let committed = tx.commit().await?;
                return Ok(Released { row, changed: true, committed });
            }
            let row = by_id(&mut tx, id, rights).await?;
            if row.mode == Mode::Seat {
                return Err(Error::Conflict(format!(
                    "handoff `{id}` is a text for a successor and no session: `handoff_claim` ends it"
                )));
            }
            if row.state != to {
                return Err(if row.state.may_become(to) { Error::Retry } else { no_move(&row, to) });
            }
            // On the disk before it is said.
            let committed = tx.commit().await?;
            Ok(Released { row, changed: false, committed })
        })
        .await
}

/// Archives the locus of a session that was released, unless it is wanted for another seat.
async fn archive(tx: &mut Tx, row: &Row) -> Result<(), Error> {
    let Ok(name) = Keeper::parse(&row.locus) else { return Ok(()) };
    // Of two that are released at once, the second sees the first.
    lock(tx, &name).await?;
    let others = tx
        .sql("SELECT count(*) FROM handoffs WHERE locus = $1 AND mode = 'pull' AND id <> $2 AND status NOT IN ('done', 'abandoned')")
        .bind(&*row.locus)
        .bind(row.number)
        .one()
        .await?;
    if others.get::<i64>(0)? == 0 {
        locus::archive_in(tx, &name).await?;
    }
    Ok(())
}
