//! Reading boards.

use mcp::Rights;

use super::{Row, Status, row::columns};
use crate::store::{Error, Store, names::Locus};

/// Where a page ended: the locus and the id of its last item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The locus.
    pub locus: String,
    /// The id within it.
    pub item_id: String,
}

/// In which order items come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order<'a> {
    /// What changed last comes first.
    Newest,
    /// By locus and id, from behind a key: an order that no change alters.
    Name(Option<&'a Key>),
}

/// Which items are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// Of this board alone.
    pub locus: Option<&'a Locus>,
    /// Only these.
    pub status: Option<Status>,
    /// In this order.
    pub order: Order<'a>,
    /// At most so many.
    pub limit: i64,
}

/// Items, at most as many as are wanted, and whether more follow. Those of loci that the reader does
/// not reach are left out.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn list(
    store: &Store,
    query: Query<'_>,
    rights: &Rights,
) -> Result<(Vec<Row>, bool), Error> {
    let mut conn = store.read().await?;
    let locus = query.locus.map(Locus::as_str);
    let (status, more) = (query.status.map(Status::name), query.limit.saturating_add(1));
    let found = match query.order {
        Order::Newest => {
            let text = conn.pick(
                concat!("SELECT ", columns!(), " FROM board WHERE ($1 IS NULL OR locus IN (SELECT value FROM json_each($1))) AND ($2 IS NULL OR locus = $2) AND ($3 IS NULL OR status = $3) ORDER BY updated DESC, locus, item_id LIMIT $4"),
                concat!("SELECT ", columns!(), " FROM board WHERE ($1 IS NULL OR locus IN (SELECT jsonb_array_elements_text($1::jsonb))) AND ($2 IS NULL OR locus = $2) AND ($3 IS NULL OR status = $3) ORDER BY updated DESC, locus, item_id LIMIT $4"),
            );
            let statement = conn.sql(text).bind(reached(rights)).bind(locus).bind(status);
            statement.bind(more).all().await?
        }
        Order::Name(after) => {
            let (after_locus, after_id) = after.map_or(("", ""), |key| (&key.locus, &key.item_id));
            let text = conn.pick(
                concat!("SELECT ", columns!(), " FROM board WHERE ($1 IS NULL OR locus IN (SELECT value FROM json_each($1))) AND ($2 IS NULL OR locus = $2) AND ($3 IS NULL OR status = $3) AND (locus, item_id) > ($5, $6) ORDER BY locus, item_id LIMIT $4"),
                concat!("SELECT ", columns!(), " FROM board WHERE ($1 IS NULL OR locus IN (SELECT jsonb_array_elements_text($1::jsonb))) AND ($2 IS NULL OR locus = $2) AND ($3 IS NULL OR status = $3) AND (locus, item_id) > ($5, $6) ORDER BY locus, item_id LIMIT $4"),
            );
            let statement = conn.sql(text).bind(reached(rights)).bind(locus).bind(status);
            statement.bind(more).bind(after_locus).bind(after_id).all().await?
        }
    };
    let mut rows = found.iter().map(Row::read).collect::<Result<Vec<_>, _>>()?;
    let wanted = usize::try_from(query.limit).unwrap_or_default();
    let is_more = rows.len() > wanted;
    rows.truncate(wanted);
    Ok((rows, is_more))
}

/// How many items a locus has on its board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The locus.
    pub locus: String,
    /// What the locus is.
    pub kind: String,
    /// What it is for.
    pub goal: String,
    /// Where it is.
    pub endpoint: String,
    /// Whether it is `active` or `archived`.
    pub locus_status: String,
    /// Its items.
    pub items: i64,
    /// Those that are open.
    pub open: i64,
    /// Those that somebody is at.
    pub doing: i64,
    /// Those that are done.
    pub done: i64,
    /// When one of them last changed, in microseconds of UTC; `None` when there are none.
    pub last_update: Option<i64>,
}

/// The counts of every registered locus that the reader reaches, by name.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn counts(store: &Store, rights: &Rights) -> Result<Vec<Count>, Error> {
    let mut conn = store.read().await?;
    let text = conn.pick(
        "SELECT l.locus, l.kind, l.goal, l.endpoint, l.status, count(b.item_id), count(CASE WHEN b.status = 'open' THEN 1 END), count(CASE WHEN b.status = 'doing' THEN 1 END), count(CASE WHEN b.status = 'done' THEN 1 END), max(b.updated) FROM loci l LEFT JOIN board b ON b.locus = l.locus WHERE $1 IS NULL OR l.locus IN (SELECT value FROM json_each($1)) GROUP BY l.locus, l.kind, l.goal, l.endpoint, l.status ORDER BY l.locus",
        "SELECT l.locus, l.kind, l.goal, l.endpoint, l.status, count(b.item_id), count(CASE WHEN b.status = 'open' THEN 1 END), count(CASE WHEN b.status = 'doing' THEN 1 END), count(CASE WHEN b.status = 'done' THEN 1 END), max(b.updated) FROM loci l LEFT JOIN board b ON b.locus = l.locus WHERE $1 IS NULL OR l.locus IN (SELECT jsonb_array_elements_text($1::jsonb)) GROUP BY l.locus, l.kind, l.goal, l.endpoint, l.status ORDER BY l.locus",
    );
    let rows = conn.sql(text).bind(reached(rights)).all().await?;
    rows.iter()
        .map(|row| {
            Ok(Count {
                locus: row.get(0)?,
                kind: row.get(1)?,
                goal: row.get(2)?,
                endpoint: row.get(3)?,
                locus_status: row.get(4)?,
                items: row.get(5)?,
                open: row.get(6)?,
                doing: row.get(7)?,
                done: row.get(8)?,
                last_update: row.get(9)?,
            })
        })
        .collect()
}

/// The loci that a reader reaches, as JSON; `None` when all are.
fn reached(rights: &Rights) -> Option<String> {
    rights.loci.as_ref().map(|loci| serde_json::json!(loci).to_string())
}
