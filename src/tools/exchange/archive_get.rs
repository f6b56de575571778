//! `exchange_archive_get`: a file that is kept, whole or in part.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp::{Block, Call, Code, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{archive_list::Row, given, kept, locus};
use crate::{
    app::App,
    store::archive::{self, Lines, MOST_PART, Slice},
    tools::work::work,
};

/// The most bytes of a file that is read whole.
const MOST_WHOLE: i64 = 64 << 20;

/// How many bytes a part has, and how many lines, unless the caller says.
const USUAL: usize = 64 << 10;
const USUAL_LINES: usize = 200;

/// Arguments of `exchange_archive_get`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct ExchangeArchiveGet {
    /// Whose file, such as `web-7`.
    locus: String,
    /// What it is called. `mcp-result:<tool>:<handle>` is a clipped reply of yours as JSON, whichever
    /// locus is named; `result_read` is made for these.
    source: String,
    /// Only a part, from this byte on; `next_offset` of the part before.
    #[serde(default)]
    offset: Option<i64>,
    /// At most so many bytes of it, up to 1 MiB; default 64 KiB where `offset` is given.
    #[serde(default)]
    limit: Option<i64>,
    /// Only these lines, counted from 1: `40-80`, `40-` (200 of them), or `40`. At most 1 MiB.
    #[serde(default)]
    lines: Option<String>,
}

/// The reply of `exchange_archive_get`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    #[serde(flatten)]
    row: Row,
    /// The bytes as base64: of the whole file, and of a part that is no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    /// The part, where it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The byte at which the part begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    /// The byte at which the next part begins; absent behind the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    /// The first line of the part.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_line: Option<usize>,
    /// The line at which the next part begins; absent behind the last. Where it is `first_line`, the
    /// line is too long for a part: go on with `next_offset`.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_line: Option<usize>,
}

impl Tool<App> for ExchangeArchiveGet {
    const SPEC: Spec = Spec {
        title: "Read a file that is kept",
        about: "A file that `exchange_archive` keeps: all its bytes as base64, or with `lines` or `offset` a part of it as text.",
        ..Spec::new("exchange_archive_get", "/exchange/archive_get", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = locus(&cx.caller, &self.locus)?;
        let (name, rights) = (&*self.source, &cx.caller.rights);
        let wanted = self.wanted()?;
        let (row, bytes) = if let Some(kept) = kept::file(&cx, &locus, name).await? {
            match wanted {
                Wanted::Lines(first, most) => {
                    return Ok(Reply::lines(kept.lines(first, most)?, first));
                }
                Wanted::Part(offset, most) => return Ok(kept.slice(offset, most)?.into()),
                Wanted::Whole => {
                    is_read_at_once(kept.row())?;
                    kept.into_parts()
                }
            }
        } else {
            let mut conn = cx.app.store.read().await?;
            match wanted {
                Wanted::Lines(first, most) => {
                    let part = (first, most);
                    let found = archive::lines(&mut conn, &locus, name, part, rights).await?;
                    return Ok(Reply::lines(found, first));
                }
                Wanted::Part(offset, most) => {
                    let part = (offset, most);
                    return Ok(archive::slice(&mut conn, &locus, name, part, rights).await?.into());
                }
                Wanted::Whole => {
                    is_read_at_once(&archive::find(&mut conn, &locus, name, rights).await?)?;
                    archive::whole(&mut conn, &locus, name, rights).await?
                }
            }
        };
        let data = work(move || BASE64_STANDARD.encode(&bytes)).await?;
        Ok(Reply { data: Some(data), ..Reply::bare(row) })
    }

    /// A part as it is, then what is known of it in one line.
    fn text(reply: &Reply) -> Option<Vec<Block>> {
        let text = reply.text.clone()?;
        let mut rest = json!(reply);
        rest.as_object_mut()?.shift_remove("text");
        Some(vec![Block::Text(text), Block::Json(rest)])
    }
}

/// Refuses what is too large for one reply.
fn is_read_at_once(row: &archive::Row) -> Result<(), Fault> {
    if row.size <= MOST_WHOLE {
        return Ok(());
    }
    let words = format!(
        "the archive has {} bytes, and {MOST_WHOLE} are read at once: read it in parts, with `offset` and `limit` or with `lines`",
        row.size
    );
    Err(Fault::new(Code::TooLarge, words).with("size", json!(row.size)))
}

/// What of a file is wanted.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Whole,
    /// From a byte on, at most so many.
    Part(usize, usize),
    /// From a line on, at most so many.
    Lines(usize, usize),
}

impl ExchangeArchiveGet {
    fn wanted(&self) -> Result<Wanted, Fault> {
        let has_part = self.offset.is_some() || self.limit.is_some();
        match given(self.lines.as_deref()).map(range).transpose()? {
            Some(_) if has_part => Err(Fault::invalid(
                "`lines` and `offset` are two ways to name a part: give one of them",
            )),
            Some((first, most)) => Ok(Wanted::Lines(first, most)),
            None if has_part => {
                let offset = usize::try_from(self.offset.unwrap_or_default()).map_err(|_| {
                    Fault::invalid("`offset` is below 0: give `next_offset` of the part before")
                })?;
                Ok(Wanted::Part(offset, at_most(self.limit)))
            }
            None => Ok(Wanted::Whole),
        }
    }
}

impl Reply {
    fn bare(row: archive::Row) -> Self {
        Self {
            row: row.into(),
            data: None,
            text: None,
            offset: None,
            next_offset: None,
            first_line: None,
            next_line: None,
        }
    }

    fn lines(lines: Lines, first: usize) -> Self {
        let next = lines.slice.next.map(|_| first + lines.count);
        Self { first_line: Some(first), next_line: next, ..lines.slice.into() }
    }
}

impl From<Slice> for Reply {
    fn from(slice: Slice) -> Self {
        let (text, data) = match String::from_utf8(slice.bytes) {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(BASE64_STANDARD.encode(error.as_bytes()))),
        };
        let (offset, next_offset) = (Some(slice.offset), slice.next);
        Self { data, text, offset, next_offset, ..Self::bare(slice.row) }
    }
}

/// How many bytes a part has at most: 0 and less are as if nothing was said.
fn at_most(limit: Option<i64>) -> usize {
    let limit = limit.filter(|limit| *limit > 0).map(usize::try_from);
    limit.and_then(Result::ok).unwrap_or(USUAL).min(MOST_PART)
}

/// Lines as a caller names them: the first, from 1, and how many.
fn range(text: &str) -> Result<(usize, usize), Fault> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number > 0);
    let range = match text.split_once('-') {
        None => number(text).map(|line| (line, 1)),
        Some((first, last)) if last.trim().is_empty() => {
            number(first).map(|first| (first, USUAL_LINES))
        }
        Some((first, last)) => number(first)
            .zip(number(last))
            .filter(|(first, last)| first <= last)
            .map(|(first, last)| (first, last - first + 1)),
    };
    range.ok_or_else(|| {
        let given = crate::untrusted::one_line(text, 40);
        Fault::invalid(format!(
            "`lines` is `{given}`: name them as `40-80`, `40-` or `40`, counted from 1"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_in_three_ways() {
        for (text, wanted) in
            [("40-80", (40, 41)), ("1-1", (1, 1)), (" 7 - ", (7, 200)), ("12", (12, 1))]
        {
            assert_eq!(range(text).unwrap(), wanted, "{text}");
        }
        for text in ["0", "0-3", "5-4", "-3", "a", "1-b", "", "1-2-3", "99999999999999999999"] {
            assert_eq!(range(text).unwrap_err().code, Code::Invalid, "{text}");
        }
    }
}
