//! All records of a kind gone through by key, beside the rows of the index: what is missing or of
//! other rules is written, what is gone goes.

use std::collections::BTreeMap;

use super::{
    Indexed, Key,
    index::State,
    piece::{BYTES, Draft, Piece, RECORDS},
};
use crate::store::{Conn, Error, Row};

/// The next records behind a key.
pub(super) async fn walk(
    conn: &mut Conn,
    kind: &Indexed,
    state: &State,
    at: &Key,
) -> Result<Piece, Error> {
    let most = i64::try_from(RECORDS).unwrap_or(i64::MAX);
    let rows = conn
        .sql(kind.keys)
        .bind(&*at.home)
        .bind(&*at.name)
        .bind(at.number)
        .bind(most)
        .all()
        .await?;
    let key = |row: &Row| -> Result<Key, Error> {
        Ok(Key { home: row.get(0)?, name: row.get(1)?, number: row.get(2)? })
    };
    let records = rows.iter().map(key).collect::<Result<Vec<_>, _>>()?;
    let rows = conn
        .sql(
            "SELECT home, name, number, id, digest FROM search_docs \
             WHERE kind = $1 AND (number, home, name) > ($2, $3, $4) ORDER BY number, home, name LIMIT $5",
        )
        .bind(kind.kind)
        .bind(at.number)
        .bind(&*at.home)
        .bind(&*at.name)
        .bind(most)
        .all()
        .await?;
    let mut indexed = BTreeMap::new();
    for row in &rows {
        indexed.insert(key(row)?, (row.get::<i64>(3)?, row.get::<String>(4)?));
    }
    // Behind the last of a full page there may be more: what is known ends there.
    let last_record = records.last().filter(|_| records.len() == RECORDS);
    let last_row = indexed.keys().last().filter(|_| indexed.len() == RECORDS);
    let mut end = match (last_record, last_row) {
        (Some(one), Some(other)) => Some(one.min(other).clone()),
        (one, other) => one.or(other).cloned(),
    };
    let (mut drafts, mut bytes) = (Vec::<Draft>::new(), 0);
    let is_within = |key: &Key, end: &Option<Key>| end.as_ref().is_none_or(|end| key <= end);
    for record in records {
        if !is_within(&record, &end) {
            break;
        }
        let row = indexed.remove(&record);
        let draft = Draft::read(conn, kind, record.clone(), row).await?;
        bytes += draft.bytes();
        drafts.push(draft);
        if bytes >= BYTES {
            end = Some(record);
        }
    }
    for (record, (row, _)) in indexed {
        if is_within(&record, &end) {
            drafts.push(Draft::gone(record, row));
        }
    }
    Piece::of(kind, drafts, State { at: end, ..state.clone() }).await
}
