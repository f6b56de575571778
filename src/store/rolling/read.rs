//! Rolling states read. Who may see those of a locus is the caller's to know.

use super::{Past, Row, row::columns};
use crate::store::{Conn, Error, names::Locus};

/// The newest state of a locus.
///
/// # Errors
/// Those of the store.
pub async fn newest(conn: &mut Conn, locus: &Locus) -> Result<Option<Row>, Error> {
    const TEXT: &str =
        concat!("SELECT ", columns!(), " FROM rolling WHERE locus = $1 ORDER BY id DESC LIMIT 1");
    conn.sql(TEXT).bind(locus.as_str()).opt().await?.as_ref().map(Row::read).transpose()
}

/// The states of a locus, the newest first: those with lower numbers than `below`, at most `limit`.
///
/// # Errors
/// Those of the store.
pub async fn history(
    conn: &mut Conn,
    locus: &Locus,
    below: Option<i64>,
    limit: i64,
) -> Result<Vec<Past>, Error> {
    const TEXT: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM rolling WHERE locus = $1 AND id < $2 ORDER BY id DESC LIMIT $3"
    );
    let stmt = conn.sql(TEXT).bind(locus.as_str()).bind(below.unwrap_or(i64::MAX)).bind(limit);
    stmt.all().await?.iter().map(Past::read).collect()
}
