//! Prompts read, alone and in lists.

use mcp::Rights;
use serde_json::json;

use super::{
    Row, Status,
    row::{columns, reached},
};
use crate::store::{Error, Store, names::PromptId};

/// Which prompts are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<'a> {
    /// Of this locus alone.
    pub locus: Option<&'a str>,
    /// Only these.
    pub status: Option<Status>,
    /// Only those with lower numbers: from where the page before ended.
    pub below: Option<i64>,
    /// At most so many.
    pub limit: i64,
}

/// A prompt.
///
/// # Errors
/// [`Error::NotFound`]; those of the store.
pub async fn find(store: &Store, id: PromptId, rights: &Rights) -> Result<Row, Error> {
    let mut conn = store.read().await?;
    let row = conn
        .sql(concat!("SELECT ", columns!(), " FROM prompts WHERE id = $1 AND status <> 'writing'"))
        .bind(id.number())
        .opt()
        .await?;
    reached(row.as_ref().map(Row::read).transpose()?, id, rights)
}

/// Prompts, the newest first. Those of loci that the reader does not reach are left out.
///
/// # Errors
/// Those of the store.
pub async fn list(store: &Store, query: Query<'_>, rights: &Rights) -> Result<Vec<Row>, Error> {
    let loci = match query.locus {
        Some(locus) if !rights.reaches(locus) => return Ok(Vec::new()),
        Some(locus) => Some(json!([locus]).to_string()),
        None => rights.loci.as_ref().map(|loci| json!(loci).to_string()),
    };
    let mut conn = store.read().await?;
    let text = conn.pick(
        concat!("SELECT ", columns!(), " FROM prompts WHERE ($1 IS NULL OR locus IN (SELECT value FROM json_each($1))) AND status <> 'writing' AND ($2 = '' OR status = $2) AND id < $3 ORDER BY id DESC LIMIT $4"),
        concat!("SELECT ", columns!(), " FROM prompts WHERE ($1::text IS NULL OR locus IN (SELECT json_array_elements_text($1::json))) AND status <> 'writing' AND ($2 = '' OR status = $2) AND id < $3 ORDER BY id DESC LIMIT $4"),
    );
    let rows = conn
        .sql(text)
        .bind(loci)
        .bind(query.status.map_or("", Status::name))
        .bind(query.below.unwrap_or(i64::MAX))
        .bind(query.limit)
        .all()
        .await?;
    rows.iter().map(Row::read).collect()
}

/// Which of these directories of the shelf belong to a prompt.
///
/// # Errors
/// Those of the store.
pub async fn known(store: &Store, places: &[String]) -> Result<Vec<String>, Error> {
    let mut conn = store.read().await?;
    let text = conn.pick(
        "SELECT place FROM prompts WHERE place IN (SELECT value FROM json_each($1))",
        "SELECT place FROM prompts WHERE place IN (SELECT json_array_elements_text($1::json))",
    );
    let rows = conn.sql(text).bind(json!(places).to_string()).all().await?;
    rows.iter().map(|row| row.get(0)).collect()
}
