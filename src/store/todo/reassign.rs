//! Moving a whole board to another locus.

use super::KIND;
use crate::store::{
    Conn, Error, Store,
    feed::Op,
    names::{BoardId, BoardType, Locus},
};

/// How many items move in one transaction: each is told twice in the feed, where it left and where
/// it came.
const STEP: i64 = 1_000;

/// How many of the items that stay are named.
const NAMED: usize = 100;

/// An item that does not move: the other board has one of the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stayed {
    /// The item.
    pub id: BoardId,
    /// Its key.
    pub reference: String,
    /// The item of that key on the other board.
    pub other: BoardId,
}

/// What a move found and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reassigned {
    /// Items on the board that was left.
    pub matched: i64,
    /// Items that moved.
    pub moved: i64,
    /// When the last of them stood, in microseconds of UTC; `None` when none moved.
    pub at: Option<i64>,
    /// How many do not move.
    pub left: i64,
    /// The first 100 of these, by number.
    pub stayed: Vec<Stayed>,
}

/// Moves every item of a board (`from` empty: those of nobody) to another, but for those whose own
/// key the other board has already, which are named; with `dry` only counts and names them. Long boards move in several steps,
/// each of which stands by itself: the same again goes on.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn reassign(
    store: &Store,
    from: &str,
    to: &Locus,
    dry: bool,
) -> Result<Reassigned, Error> {
    let mut conn = store.read().await?;
    let matched = conn
        .sql("SELECT count(*) FROM todos WHERE locus = $1")
        .bind(from)
        .one()
        .await?
        .get::<i64>(0)?;
    drop(conn);
    let mut outcome = Reassigned { matched, moved: 0, at: None, left: 0, stayed: Vec::new() };
    if from == to.as_str() {
        return Ok(outcome);
    }
    if !dry {
        loop {
            let (moved, at) = store.again(async || step(store, from, to).await).await?;
            if moved == 0 {
                break;
            }
            outcome.moved += moved;
            outcome.at = Some(at);
        }
    }
    let mut conn = store.read().await?;
    (outcome.left, outcome.stayed) = stayed(&mut conn, from, to).await?;
    Ok(outcome)
}

/// The items whose key the other board has too: how many, and the first of them.
async fn stayed(conn: &mut Conn, from: &str, to: &Locus) -> Result<(i64, Vec<Stayed>), Error> {
    let text = "SELECT count(*) FROM todos t JOIN todos o ON o.locus = $2 AND o.ref = t.ref AND o.ref <> '' WHERE t.locus = $1 AND t.ref <> ''";
    let left = conn.sql(text).bind(from).bind(to.as_str()).long().one().await?.get(0)?;
    let text = "SELECT t.id, t.type, t.ref, o.id, o.type FROM todos t JOIN todos o ON o.locus = $2 AND o.ref = t.ref AND o.ref <> '' WHERE t.locus = $1 AND t.ref <> '' ORDER BY t.id LIMIT $3";
    let most = i64::try_from(NAMED).unwrap_or(i64::MAX);
    let rows = conn.sql(text).bind(from).bind(to.as_str()).bind(most).long().all().await?;
    let named = rows.iter().map(|row| {
        Ok(Stayed {
            id: id(row.get(0)?, &row.get::<String>(1)?)?,
            reference: row.get(2)?,
            other: id(row.get(3)?, &row.get::<String>(4)?)?,
        })
    });
    Ok((left, named.collect::<Result<_, Error>>()?))
}

fn id(number: i64, kind: &str) -> Result<BoardId, Error> {
    let kind =
        BoardType::of(kind).ok_or_else(|| Error::Internal(format!("a type `{kind}` is stored")))?;
    Ok(BoardId::new(kind, number))
}

async fn step(store: &Store, from: &str, to: &Locus) -> Result<(i64, i64), Error> {
    let mut tx = store.begin().await?;
    let now = tx.now();
    if !tx.is_sqlite() {
        // No key may come to the other board between the look and the move.
        tx.sql("LOCK TABLE todos IN SHARE ROW EXCLUSIVE MODE").run().await?;
    }
    let rows = tx
        .sql("UPDATE todos SET locus = $2, updated = $3 WHERE id IN (SELECT t.id FROM todos t WHERE t.locus = $1 AND (t.ref = '' OR NOT EXISTS (SELECT 1 FROM todos o WHERE o.locus = $2 AND o.ref = t.ref AND o.ref <> '')) ORDER BY t.id LIMIT $4) RETURNING id, type")
        .bind(from)
        .bind(to.as_str())
        .bind(now)
        .bind(STEP)
        .long()
        .all()
        .await?;
    for row in &rows {
        let id = id(row.get(0)?, &row.get::<String>(1)?)?.to_string();
        tx.event(KIND, from, &id, Op::Delete).await?;
        tx.event(KIND, to.as_str(), &id, Op::Insert).await?;
    }
    let committed = tx.commit().await?;
    Ok((i64::try_from(rows.len()).unwrap_or(i64::MAX), committed.at))
}
