//! Documents read, alone and as a tree.

use mcp::Rights;
use serde_json::json;

use super::{
    Document, Entry, Path, built_in,
    document::{COLUMNS, entries, missing},
};
use crate::store::{Conn, Error};

/// A document.
///
/// # Errors
/// [`Error::NotFound`], also for one of a locus that the reader does not reach; those of the store.
pub async fn read(conn: &mut Conn, path: &Path, rights: &Rights) -> Result<Document, Error> {
    if let Some(document) = built_in::at(path.as_str()) {
        return Ok(document);
    }
    let row = conn
        .sql(entries!("SELECT", ", text FROM instructions WHERE path = $1"))
        .bind(path.as_str())
        .opt()
        .await?;
    let row = row.ok_or_else(|| missing(path))?;
    let entry = Entry::read(&row)?;
    if !entry.is_for(rights) {
        return Err(missing(path));
    }
    Ok(Document { entry, text: row.get(COLUMNS)? })
}

/// Every document that the reader may read, by path.
///
/// # Errors
/// Those of the store.
pub async fn tree(conn: &mut Conn, rights: &Rights) -> Result<Vec<Entry>, Error> {
    let loci = rights.loci.as_ref().map(|loci| json!(loci).to_string());
    let text = conn.pick(
        entries!("SELECT", " FROM instructions WHERE $1 IS NULL OR locus = '' OR locus IN (SELECT value FROM json_each($1)) ORDER BY path LIMIT $2"),
        entries!("SELECT", " FROM instructions WHERE $1::text IS NULL OR locus = '' OR locus IN (SELECT json_array_elements_text($1::json)) ORDER BY path LIMIT $2"),
    );
    let rows = conn.sql(text).bind(loci).bind(super::MOST_DOCUMENTS).all().await?;
    let contributed = rows.iter().map(Entry::read).collect::<Result<Vec<_>, _>>()?;
    let mut all: Vec<Entry> = built_in::entries().chain(contributed).collect();
    all.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(all)
}
