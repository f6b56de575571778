//! Reading exchanges: lists of what is short in them, and single ones whole.

use mcp::Rights;
use serde_json::json;

use super::{
    Key, Query, Row,
    row::{absent, counted, heads, wholes},
};
use crate::store::{Conn, Error, Stmt, Store, names::ExchangeId};

/// How many characters of texts [`whole`] reads at once; a first row is read whatever it has.
pub const MOST_WHOLE: i64 = 4_000_000;

/// The newest exchanges first, without what is long in them, and whether more follow. Those of loci
/// that the reader does not reach are left out.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn list(
    store: &Store,
    query: Query<'_>,
    rights: &Rights,
) -> Result<(Vec<Row>, bool), Error> {
    let mut conn = store.read().await?;
    let reached = rights.loci.as_ref();
    let mut rows = match (query.session, query.locus, reached) {
        (Some(session), ..) => of_session(&mut conn, query, session, rights).await?,
        (None, Some(locus), _) if rights.reaches(locus.as_str()) => {
            of_locus(&mut conn, query, locus.as_str()).await?
        }
        (None, Some(_), _) => Vec::new(),
        (None, None, None) => of_all(&mut conn, query).await?,
        (None, None, Some(loci)) => {
            let mut rows = Vec::new();
            for locus in loci {
                rows.extend(of_locus(&mut conn, query, locus).await?);
            }
            rows.sort_by_key(|row| std::cmp::Reverse((row.ts, row.number)));
            rows
        }
    };
    let most = usize::try_from(query.limit).unwrap_or_default();
    let is_more = rows.len() > most;
    rows.truncate(most);
    Ok((rows, is_more))
}

/// What every list is of, see [`window`]: with which origin, and what more.
macro_rules! windows {
    ($origin:literal, $more:literal) => {
        heads!(
            "WHERE (ts, id) < ($1, $2) AND ts >= $3 AND ",
            $origin,
            " AND ($5 = 0 OR ",
            counted!(),
            ")",
            $more,
            " ORDER BY ts DESC, id DESC LIMIT $6"
        )
    };
}

/// Any origin where none is asked for.
macro_rules! of_any_origin {
    ($more:literal) => {
        windows!("($4 = '' OR origin = $4)", $more)
    };
}

/// Those of a locus: the index on it serves, or the one on the locus and the origin.
async fn of_locus(conn: &mut Conn, query: Query<'_>, locus: &str) -> Result<Vec<Row>, Error> {
    const ANY: &str = of_any_origin!(" AND locus = $7");
    const OF_ORIGIN: &str = windows!("origin = $4", " AND locus = $7");
    let text = if query.origin.is_some() { OF_ORIGIN } else { ANY };
    read(window(conn.sql(text), query).bind(locus)).await
}

/// Those of everybody.
async fn of_all(conn: &mut Conn, query: Query<'_>) -> Result<Vec<Row>, Error> {
    const TEXT: &str = of_any_origin!("");
    read(window(conn.sql(TEXT), query)).await
}

/// Those of a session.
async fn of_session(
    conn: &mut Conn,
    query: Query<'_>,
    session: &str,
    rights: &Rights,
) -> Result<Vec<Row>, Error> {
    const SQLITE: &str = of_any_origin!(
        " AND session_id = $7 AND session_id <> '' AND ($8 IS NULL OR locus = $8) AND ($9 IS NULL OR locus IN (SELECT value FROM json_each($9)))"
    );
    const POSTGRES: &str = of_any_origin!(
        " AND session_id = $7 AND session_id <> '' AND ($8 IS NULL OR locus = $8) AND ($9 IS NULL OR locus IN (SELECT jsonb_array_elements_text($9::jsonb)))"
    );
    let text = conn.pick(SQLITE, POSTGRES);
    let statement = window(conn.sql(text), query).bind(session);
    let statement = statement.bind(query.locus.map(|locus| locus.as_str().to_owned()));
    read(statement.bind(reached(rights))).await
}

/// Binds what every list is asked by: one row more than fits.
fn window<'c>(statement: Stmt<'c>, query: Query<'_>) -> Stmt<'c> {
    let after = query.after.unwrap_or(Key::FIRST);
    statement
        .bind(after.ts)
        .bind(after.number)
        .bind(query.since.unwrap_or(i64::MIN))
        .bind(query.origin.map_or("", super::Origin::name))
        .bind(i64::from(query.counted))
        .bind(query.limit.saturating_add(1))
}

async fn read(statement: Stmt<'_>) -> Result<Vec<Row>, Error> {
    statement.all().await?.iter().map(Row::read).collect()
}

/// The loci that a reader reaches, as JSON; `None` when all are.
pub(super) fn reached(rights: &Rights) -> Option<String> {
    rights.loci.as_ref().map(|loci| json!(loci).to_string())
}

/// Puts what is long into rows of a list, the first ones first, as long as their texts have no more
/// than [`MOST_WHOLE`] characters together; the others stay as they are.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn whole(store: &Store, rows: &mut [Row]) -> Result<(), Error> {
    let (mut total, mut wanted) = (0, Vec::new());
    for row in rows.iter() {
        total += row.prompt_chars.saturating_add(row.response_chars);
        if total > MOST_WHOLE && !wanted.is_empty() {
            break;
        }
        wanted.push(row.number);
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let mut conn = store.read().await?;
    let text = conn.pick(
        wholes!("WHERE id IN (SELECT value FROM json_each($1))"),
        wholes!("WHERE id IN (SELECT jsonb_array_elements_text($1::jsonb)::bigint)"),
    );
    let found = conn.sql(text).bind(json!(wanted).to_string()).all().await?;
    for row in &found {
        let row = Row::read(row)?;
        // One that grew meanwhile is shown as it is now.
        if let Some(place) = rows.iter_mut().find(|place| place.number == row.number) {
            *place = row;
        }
    }
    Ok(())
}

/// One exchange, whole.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn get(store: &Store, id: ExchangeId, rights: &Rights) -> Result<Row, Error> {
    let mut conn = store.read().await?;
    let found = conn.sql(wholes!("WHERE id = $1")).bind(id.number()).opt().await?;
    let row = found.as_ref().map(Row::read).transpose()?;
    row.filter(|row| rights.reaches(&row.locus)).ok_or_else(|| absent(id))
}
