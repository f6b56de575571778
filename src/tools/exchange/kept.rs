//! A reply that was clipped, by the name under which the earlier server's clients ask for it.

use mcp::{Call, Fault};

use crate::{
    app::App,
    store::{
        Error,
        archive::{self, Pieces, Row},
        names::Locus,
        result,
    },
    tools::{result as results, work::work},
};

/// The caller's reply of that name, as a file that is kept; nothing where the name is of none, or
/// where somebody archived a file under it.
///
/// # Errors
/// That it is gone, or no reply of theirs, with the remedy.
pub(super) async fn file(
    cx: &Call<App>,
    locus: &Locus,
    name: &str,
) -> Result<Option<Pieces>, Fault> {
    let Some(handle) = result::handle(name) else { return Ok(None) };
    let mut conn = cx.app.store.read().await?;
    match archive::find(&mut conn, locus, name, &cx.caller.rights).await {
        Err(Error::NotFound(_)) => drop(conn),
        Err(error) => return Err(error.into()),
        Ok(_) => return Ok(None),
    }
    let (kept, json) = results::whole(cx, handle).await?;
    let (sha256, json) = work(move || (archive::hash(json.as_bytes()), json)).await?;
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let row = Row {
        number: 0,
        locus: locus.to_string(),
        source: kept.source(),
        backend: "mcp".to_owned(),
        session_id: String::new(),
        version: kept.created,
        sha256,
        size: number(kept.json.bytes),
        lines: number(kept.json.lines),
        updated: kept.created,
    };
    Ok(Some(Pieces::whole(row, json.into_bytes())))
}
