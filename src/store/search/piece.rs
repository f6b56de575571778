//! A piece of work on the index: what changed is read first, with nobody waiting, and written in one
//! transaction that says where the next one goes on. Of two that work at once one writes.

use std::{collections::HashSet, fmt::Write as _};

use sha2::{Digest as _, Sha256};

use super::{Indexed, Key, expression, index::State, work};
use crate::{
    reading::find::rules,
    store::{
        Conn, Error, Store, Tx,
        feed::{Ends, MOST},
    },
};

/// How many records are in a piece at most, and how many bytes of texts and one text more: others
/// who write wait for one piece.
pub(super) const RECORDS: usize = 128;
pub(super) const BYTES: usize = 2 << 20;

/// How many changes are looked through at once.
const CHANGES: i64 = 512;

/// How many changes that came to nothing are read again by the next search before their end is
/// written down: reading is cheaper, up to there.
const IDLE: usize = 64;
const FAR: i64 = 1_000;

/// What is to be written.
pub(super) struct Piece {
    jobs: Vec<Job>,
    next: State,
    /// Changes beyond `next.seq` that are in this piece.
    ahead: Vec<i64>,
    /// Whether what was asked for is in the index afterwards.
    pub(super) is_done: bool,
    /// Whether it is not worth a transaction.
    pub(super) is_idle: bool,
}

/// What is to be done with one record.
struct Job {
    key: Key,
    /// Its row in the index, where it has one.
    row: Option<i64>,
    /// What is to be there; nothing where the record is gone.
    entry: Option<Entry>,
}

struct Entry {
    locus: String,
    digest: String,
    words: String,
}

/// A record as it was read, beside what the index has of it.
pub(super) struct Draft {
    key: Key,
    row: Option<(i64, String)>,
    text: Option<(String, String)>,
}

impl Draft {
    /// A record, read; `row` is its row in the index with the digest, where that is known.
    pub(super) async fn read(
        conn: &mut Conn,
        kind: &Indexed,
        key: Key,
        row: Option<(i64, String)>,
    ) -> Result<Self, Error> {
        let stmt = conn.sql(kind.text).bind(&*key.home).bind(&*key.name).bind(key.number);
        let text = match stmt.opt().await? {
            Some(row) => Some((row.get(0)?, row.get(1)?)),
            None => None,
        };
        Ok(Self { key, row, text })
    }

    /// A record that is gone, of which the index has a row.
    pub(super) fn gone(key: Key, row: i64) -> Self {
        Self { key, row: Some((row, String::new())), text: None }
    }

    pub(super) fn bytes(&self) -> usize {
        self.text.as_ref().map_or(0, |(text, _)| text.len())
    }

    /// What it comes to; nothing where the index has it as it is.
    fn job(self, kind: &str) -> Option<Job> {
        let Self { key, row, text } = self;
        let (row, known) = row.map_or((None, None), |(row, digest)| (Some(row), Some(digest)));
        let Some((text, locus)) = text else {
            return row.is_some().then_some(Job { key, row, entry: None });
        };
        let digest = digest(&locus, &text);
        if known.as_ref() == Some(&digest) {
            return None;
        }
        let words = expression::content(kind, &text);
        Some(Job { key, row, entry: Some(Entry { locus, digest, words }) })
    }
}

fn digest(locus: &str, text: &str) -> String {
    let mut hash = Sha256::new();
    for part in [&*rules().to_string(), locus, text] {
        // No part has a NUL.
        hash.update(part);
        hash.update([0]);
    }
    hash.finalize().iter().take(16).fold(String::new(), |mut hex, byte| {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

impl Piece {
    /// The piece that drafts come to.
    pub(super) async fn of(kind: &Indexed, drafts: Vec<Draft>, next: State) -> Result<Self, Error> {
        let bytes = drafts.iter().map(Draft::bytes).sum();
        let kind = kind.kind;
        let jobs =
            work(bytes, move || drafts.into_iter().filter_map(|draft| draft.job(kind)).collect());
        let jobs = jobs.await?;
        Ok(Self { jobs, next, ahead: Vec::new(), is_done: false, is_idle: false })
    }

    /// Writes it, if nobody else wrote since `turn`; whether it did.
    pub(super) async fn write(
        &self,
        store: &Store,
        kind: &Indexed,
        turn: i64,
    ) -> Result<bool, Error> {
        store
            .again(async || {
                let mut tx = store.begin().await?;
                let at = self.next.at.clone().unwrap_or_else(|| Key::numbered(0));
                let moved = tx
                    .sql("UPDATE search_state SET turn = turn + 1, seq = $3, walked = $4, number = $5, home = $6, name = $7 WHERE kind = $1 AND turn = $2")
                    .bind(kind.kind)
                    .bind(turn)
                    .bind(self.next.seq)
                    .bind(i64::from(self.next.at.is_none()))
                    .bind(at.number)
                    .bind(at.home)
                    .bind(at.name)
                    .run()
                    .await?;
                if moved == 0 {
                    return Ok(false);
                }
                for job in &self.jobs {
                    job.write(&mut tx, kind).await?;
                }
                for seq in &self.ahead {
                    tx.sql("INSERT INTO search_ahead (kind, seq) VALUES ($1, $2) ON CONFLICT DO NOTHING")
                        .bind(kind.kind)
                        .bind(*seq)
                        .run()
                        .await?;
                }
                tx.sql("DELETE FROM search_ahead WHERE kind = $1 AND seq <= $2")
                    .bind(kind.kind)
                    .bind(self.next.seq)
                    .run()
                    .await?;
                tx.commit().await?;
                Ok(true)
            })
            .await
    }
}

impl Job {
    async fn write(&self, tx: &mut Tx, kind: &Indexed) -> Result<(), Error> {
        let is_sqlite = tx.is_sqlite();
        match (&self.entry, self.row) {
            (Some(entry), Some(row)) => {
                let text = tx.pick(
                    "UPDATE search_docs SET locus = $2, digest = $3 WHERE id = $1",
                    "UPDATE search_docs SET locus = $2, digest = $3, words = array_to_tsvector(string_to_array($4, ' ')) WHERE id = $1",
                );
                let stmt = tx.sql(text).bind(row).bind(&*entry.locus).bind(&*entry.digest);
                if !is_sqlite {
                    stmt.bind(&*entry.words).run().await?;
                    return Ok(());
                }
                stmt.run().await?;
                tx.sql("UPDATE search_words SET words = $2 WHERE rowid = $1")
                    .bind(row)
                    .bind(&*entry.words)
                    .run()
                    .await?;
            }
            (Some(entry), None) => {
                let text = tx.pick(
                    "INSERT INTO search_docs (kind, number, home, name, locus, digest) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
                    "INSERT INTO search_docs (kind, number, home, name, locus, digest, words) VALUES ($1, $2, $3, $4, $5, $6, array_to_tsvector(string_to_array($7, ' '))) RETURNING id",
                );
                let Key { number, home, name } = &self.key;
                let stmt = tx.sql(text).bind(kind.kind).bind(*number).bind(&**home).bind(&**name);
                let stmt = stmt.bind(&*entry.locus).bind(&*entry.digest);
                if !is_sqlite {
                    stmt.bind(&*entry.words).one().await?;
                    return Ok(());
                }
                let row: i64 = stmt.one().await?.get(0)?;
                tx.sql("INSERT INTO search_words (rowid, words) VALUES ($1, $2)")
                    .bind(row)
                    .bind(&*entry.words)
                    .run()
                    .await?;
            }
            (None, Some(row)) => {
                tx.sql("DELETE FROM search_docs WHERE id = $1").bind(row).run().await?;
                if is_sqlite {
                    tx.sql("DELETE FROM search_words WHERE rowid = $1").bind(row).run().await?;
                }
            }
            (None, None) => {}
        }
        Ok(())
    }
}

/// The next changes of the feed. Those that are committed count, also where an older transaction may
/// still come behind them: they are noted, and the place to go on from stays before them.
pub(super) async fn changes(
    conn: &mut Conn,
    kind: &Indexed,
    state: &State,
    ends: &Ends,
    target: i64,
) -> Result<Piece, Error> {
    let is_sqlite = conn.is_sqlite();
    let rows = conn
        .sql(
            "SELECT seq, locus, id FROM events WHERE kind = $1 AND seq > $2 AND seq <= $3 \
             AND NOT EXISTS (SELECT 1 FROM search_ahead WHERE search_ahead.kind = $1 AND search_ahead.seq = events.seq) \
             ORDER BY seq LIMIT $4",
        )
        .bind(kind.kind)
        .bind(state.seq)
        // There nothing comes in behind, and what came since is for the next time.
        .bind(if is_sqlite { ends.seen } else { i64::MAX })
        .bind(CHANGES)
        .all()
        .await?;
    let mut is_part = i64::try_from(rows.len()).is_ok_and(|count| count == CHANGES);
    let (mut known, mut taken, mut drafts, mut bytes) =
        (HashSet::new(), Vec::new(), Vec::<Draft>::new(), 0);
    for row in &rows {
        if drafts.len() == RECORDS || bytes >= BYTES {
            is_part = true;
            break;
        }
        taken.push(row.get::<i64>(0)?);
        let (locus, id): (String, String) = (row.get(1)?, row.get(2)?);
        let Some(key) = (kind.key)(&locus, &id) else { continue };
        if known.insert(key.clone()) {
            let indexed = indexed(conn, kind, &key).await?;
            let draft = Draft::read(conn, kind, key, indexed).await?;
            bytes += draft.bytes();
            drafts.push(draft);
        }
    }
    let last = taken.last().copied().unwrap_or(state.seq);
    let upto = if is_part { last.min(ends.seen) } else { ends.seen };
    let next = State { seq: state.seq.max(upto), ..state.clone() };
    let is_done = !is_part || last >= target;
    let mut piece = Piece::of(kind, drafts, next).await?;
    let far = if is_sqlite { FAR } else { FAR * MOST };
    piece.is_idle =
        is_done && piece.jobs.is_empty() && taken.len() < IDLE && piece.next.seq - state.seq < far;
    taken.retain(|seq| *seq > piece.next.seq);
    piece.ahead = taken;
    piece.is_done = is_done;
    Ok(piece)
}

/// The row of a record in the index, with its digest.
async fn indexed(
    conn: &mut Conn,
    kind: &Indexed,
    key: &Key,
) -> Result<Option<(i64, String)>, Error> {
    let row = conn
        .sql("SELECT id, digest FROM search_docs WHERE kind = $1 AND number = $2 AND home = $3 AND name = $4")
        .bind(kind.kind)
        .bind(key.number)
        .bind(&*key.home)
        .bind(&*key.name)
        .opt()
        .await?;
    row.map(|row| Ok((row.get(0)?, row.get(1)?))).transpose()
}
