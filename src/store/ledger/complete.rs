//! The names of ledgers that begin with what somebody wrote of one.

use super::super::{Conn, Error, names::Locus};

/// Loci that have a ledger, from this text on in order; at most so many.
///
/// # Errors
/// Those of the store.
pub async fn loci_from(conn: &mut Conn, begun: &str, limit: i64) -> Result<Vec<String>, Error> {
    // From one locus to the next by the key: a locus may have many ledgers.
    let text = "WITH RECURSIVE found (locus) AS (\
         SELECT min(locus) FROM ledgers WHERE locus >= $1 \
         UNION ALL \
         SELECT (SELECT min(ledgers.locus) FROM ledgers WHERE ledgers.locus > found.locus) FROM found WHERE found.locus IS NOT NULL\
         ) SELECT locus FROM found WHERE locus IS NOT NULL LIMIT $2";
    let rows = conn.sql(text).bind(begun).bind(limit).all().await?;
    rows.iter().map(|row| row.get(0)).collect()
}

/// Tasks of a locus that have a ledger, from this text on in order; at most so many.
///
/// # Errors
/// Those of the store.
pub async fn tasks_from(
    conn: &mut Conn,
    locus: &Locus,
    begun: &str,
    limit: i64,
) -> Result<Vec<String>, Error> {
    let text = "SELECT task FROM ledgers WHERE locus = $1 AND task >= $2 ORDER BY task LIMIT $3";
    let rows = conn.sql(text).bind(locus.as_str()).bind(begun).bind(limit).all().await?;
    rows.iter().map(|row| row.get(0)).collect()
}
