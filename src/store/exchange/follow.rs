//! The exchanges of a locus in the order in which they were, from a position on: what a rolling
//! state is folded from.

use super::{Row, row::wholes};
use crate::store::{Conn, Error, names::Locus};

/// The most rows of one reading.
pub const MOST: usize = 400;

/// How many rows are read in one statement, and after how many characters of texts no further
/// statement is made: so much is in memory at once, and one statement's rows more.
const STEP: usize = 50;
const CHARS: i64 = 16_000_000;

/// Up to where exchanges were read: the last one's time and number. Times alone would pass over what
/// was at the same time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// When it was, in microseconds of UTC.
    pub ts: i64,
    /// Its number.
    pub id: i64,
}

impl Position {
    /// Before everything at a moment, in microseconds of UTC, and behind everything before it.
    pub fn before(ts: i64) -> Self {
        Self { ts, id: 0 }
    }

    /// The position of a row.
    pub fn of(row: &Row) -> Self {
        Self { ts: row.ts, id: row.number }
    }
}

/// The exchanges of a locus behind a position, the oldest first and whole: at most [`MOST`], and
/// fewer where they are very long. None are left when none come.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn following(conn: &mut Conn, locus: &Locus, after: Position) -> Result<Vec<Row>, Error> {
    const TEXT: &str = wholes!("WHERE locus = $1 AND (ts, id) > ($2, $3) ORDER BY ts, id LIMIT $4");
    let (mut rows, mut chars, mut after) = (Vec::new(), 0, after);
    while rows.len() < MOST && chars < CHARS {
        let step = STEP.min(MOST - rows.len());
        let found = conn
            .sql(TEXT)
            .bind(locus.as_str())
            .bind(after.ts)
            .bind(after.id)
            .bind(i64::try_from(step).unwrap_or(i64::MAX))
            .all()
            .await?;
        for row in &found {
            let row = Row::read(row)?;
            chars += row.prompt_chars.saturating_add(row.response_chars);
            after = Position::of(&row);
            rows.push(row);
        }
        if found.len() < step {
            break;
        }
    }
    Ok(rows)
}
