//! Reading a kept reply.

use std::ops::Range;

use super::{Extent, Form, Kept, PART, columns};
use crate::{
    store::{Conn, Error, archive::RESULT},
    untrusted,
};

/// The reply of that handle, if it is there for that token at that time.
///
/// # Errors
/// [`Error::NotFound`], in the same words whether it never was, is another token's, or is gone.
pub async fn find(conn: &mut Conn, token: &str, handle: &str, now: i64) -> Result<Kept, Error> {
    let row = conn
        .sql(concat!(
            "SELECT ",
            columns!(),
            " FROM results WHERE handle = $1 AND token = $2 AND complete AND expires > $3"
        ))
        .bind(handle.trim())
        .bind(token)
        .bind(now)
        .opt()
        .await?;
    row.as_ref().map(Kept::of).transpose()?.ok_or_else(|| absent(handle))
}

/// The handle in what the earlier server's clients call a kept reply, where it is called so:
/// `mcp-result:<tool>:<handle>`.
pub fn handle(source: &str) -> Option<&str> {
    Some(source.trim().strip_prefix(RESULT)?.rsplit_once(':')?.1)
}

/// So many bytes of a form; fewer where it ends before. A range may cut characters.
///
/// # Errors
/// [`Error::NotFound`] when it is gone meanwhile.
pub async fn bytes(
    conn: &mut Conn,
    kept: &Kept,
    form: Form,
    range: Range<usize>,
) -> Result<Vec<u8>, Error> {
    let Extent { bytes: all, .. } = kept.extent(form);
    let (start, end) = (range.start.min(all), range.end.min(all));
    let mut found = Vec::with_capacity(end.saturating_sub(start));
    for nth in start / PART..end.div_ceil(PART) {
        let row = conn
            .sql("SELECT body FROM result_parts WHERE handle = $1 AND kind = $2 AND nth = $3")
            .bind(kept.handle.as_str())
            .bind(form.name())
            .bind(i64::try_from(nth).unwrap_or(i64::MAX))
            .opt()
            .await?;
        let body: Vec<u8> = row.ok_or_else(|| absent(&kept.handle))?.get(0)?;
        let before = nth * PART;
        let part = start.saturating_sub(before)..end.saturating_sub(before).min(body.len());
        found.extend_from_slice(body.get(part).unwrap_or_default());
    }
    Ok(found)
}

/// All of a form.
///
/// # Errors
/// [`Error::NotFound`] when it is gone meanwhile.
pub async fn whole(conn: &mut Conn, kept: &Kept, form: Form) -> Result<String, Error> {
    let found = bytes(conn, kept, form, 0..usize::MAX).await?;
    String::from_utf8(found).map_err(|error| Error::Internal(error.to_string()))
}

/// What is said of a handle under which there is nothing for its caller.
pub fn absent(handle: &str) -> Error {
    let shown = untrusted::one_line(handle, 40);
    Error::NotFound(format!(
        "there is no kept reply `{shown}`: it expired, made room for newer ones, or is another token's; make the call that it was of again"
    ))
}
