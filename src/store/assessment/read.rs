//! Assessments read.

use mcp::Rights;

use super::{Row, row::columns};
use crate::store::{Conn, Error};

/// What is at the newest assessment of a locus; who may see it is the caller's to know.
///
/// # Errors
/// Those of the store.
pub async fn latest(conn: &mut Conn, locus: &str) -> Result<Option<Row>, Error> {
    const TEXT: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM assessments WHERE locus = $1 ORDER BY id DESC LIMIT 1"
    );
    conn.sql(TEXT).bind(locus).opt().await?.as_ref().map(Row::read).transpose()
}

/// The newest assessments of loci that await a closer look, by locus from `after` on: at most
/// `limit`, of loci within reach alone.
///
/// # Errors
/// Those of the store.
pub async fn pending(
    conn: &mut Conn,
    rights: &Rights,
    after: Option<&str>,
    limit: i64,
) -> Result<Vec<Row>, Error> {
    // From name to name by the index, however many rows each has.
    const TEXT: &str = concat!(
        "WITH RECURSIVE named (locus) AS (\
         SELECT min(locus) FROM assessments WHERE locus >= $1 \
         UNION ALL \
         SELECT (SELECT min(a.locus) FROM assessments a WHERE a.locus > named.locus) FROM named WHERE named.locus IS NOT NULL) \
         SELECT ",
        columns!(),
        " FROM assessments WHERE id IN (\
         SELECT (SELECT max(a.id) FROM assessments a WHERE a.locus = named.locus) FROM named) \
         AND pending ORDER BY locus LIMIT $2"
    );
    if let Some(loci) = &rights.loci {
        let mut found = Vec::new();
        for locus in loci.iter().filter(|locus| after.is_none_or(|after| locus.as_str() > after)) {
            found.extend(latest(conn, locus).await?.filter(|row| row.pending));
            if i64::try_from(found.len()).is_ok_and(|count| count >= limit) {
                break;
            }
        }
        return Ok(found);
    }
    // `!` comes before every character of a name: behind `after`, and before all that follow it.
    let from = after.map(|after| format!("{after}!")).unwrap_or_default();
    let rows = conn.sql(TEXT).bind(from).bind(limit).all().await?;
    rows.iter().map(Row::read).collect()
}
