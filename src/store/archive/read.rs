//! Files read: lists of them, and one whole or in part.

use mcp::Rights;

use super::{
    Row,
    draft::{hash, source},
    part::{behind, whole as whole_characters},
    row::{COLUMNS, rows},
};
use crate::store::{self, Conn, Error, Store, names::Locus};

/// The most bytes of a part that is read.
pub const MOST_PART: usize = 1 << 20;

/// How many pieces a part of a file lies in at most.
const PIECES: i64 = 6;

/// Which files are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// Of this locus.
    pub locus: &'a Locus,
    /// Only what this wrote; empty: whatever.
    pub backend: &'a str,
    /// Only what follows this by name.
    pub after: Option<&'a str>,
    /// Only what follows so many.
    pub offset: i64,
    /// At most so many.
    pub limit: i64,
}

/// The files of a locus by name, without their bytes, and whether more follow.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn list(store: &Store, query: Query<'_>) -> Result<(Vec<Row>, bool), Error> {
    let rows = store
        .read()
        .await?
        .sql(rows!(
            " FROM archives a WHERE a.locus = $1 AND ($2 = '' OR a.backend = $2) AND a.source > $3 ORDER BY a.source LIMIT $4 OFFSET $5"
        ))
        .bind(query.locus.as_str())
        .bind(query.backend)
        .bind(query.after.unwrap_or_default())
        .bind(query.limit.saturating_add(1))
        .bind(query.offset.max(0))
        .all()
        .await?;
    let mut rows = rows.iter().map(Row::read).collect::<Result<Vec<_>, _>>()?;
    let most = usize::try_from(query.limit).unwrap_or_default();
    let is_more = rows.len() > most;
    rows.truncate(most);
    Ok((rows, is_more))
}

/// What is known of a file.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Invalid`] for a name that is none.
pub async fn find(
    conn: &mut Conn,
    locus: &Locus,
    name: &str,
    rights: &Rights,
) -> Result<Row, Error> {
    let key = hash(source(name)?.as_bytes());
    let row = conn
        .sql(rows!(" FROM archives a WHERE a.locus = $1 AND a.source_key = $2"))
        .bind(locus.as_str())
        .bind(key)
        .opt()
        .await?;
    let row = row.as_ref().map(Row::read).transpose()?;
    row.filter(|row| rights.reaches(&row.locus)).ok_or_else(|| absent(locus, name))
}

fn absent(locus: &Locus, name: &str) -> Error {
    let name = crate::untrusted::one_line(name, 200);
    Error::NotFound(format!(
        "no archive `{name}` of `{locus}`: `exchange_archive_list` names those that there are"
    ))
}

/// A file with all its bytes.
///
/// # Errors
/// Those of [`find`].
pub async fn whole(
    conn: &mut Conn,
    locus: &Locus,
    name: &str,
    rights: &Rights,
) -> Result<(Row, Vec<u8>), Error> {
    let all = pieces(
        conn,
        rows!(
            ", p.start, p.line, p.body FROM archives a LEFT JOIN archive_parts p ON p.archive = a.id AND p.start >= $3 AND p.start < $4 WHERE a.locus = $1 AND a.source_key = $2 ORDER BY p.nth LIMIT $5"
        ),
        (locus, name, rights),
        (0, i64::MAX, i64::MAX),
    )
    .await?;
    Ok(all.into_parts())
}

/// A part of a file by its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// What is known of the file.
    pub row: Row,
    /// The bytes before the part.
    pub offset: usize,
    /// The part. Where the file is text there, it splits no character.
    pub bytes: Vec<u8>,
    /// Where the next part begins; `None` behind the last.
    pub next: Option<usize>,
}

/// A part of a file, from a byte on: at most so many bytes, and [`MOST_PART`].
///
/// # Errors
/// Those of [`find`]; [`Error::Invalid`] for a part that begins behind the end.
pub async fn slice(
    conn: &mut Conn,
    locus: &Locus,
    name: &str,
    (offset, most): (usize, usize),
    rights: &Rights,
) -> Result<Slice, Error> {
    let most = most.clamp(1, MOST_PART);
    let end = offset.saturating_add(most);
    let pieces = pieces(
        conn,
        rows!(
            ", p.start, p.line, p.body FROM archives a LEFT JOIN archive_parts p ON p.archive = a.id AND p.start + p.size > $3 AND p.start < $4 WHERE a.locus = $1 AND a.source_key = $2 ORDER BY p.nth LIMIT $5"
        ),
        (locus, name, rights),
        // With the bytes behind it, to see whether a character goes on there.
        (number(offset), number(end.saturating_add(4)), PIECES),
    )
    .await?;
    pieces.slice(offset, most)
}

/// A part of a file by its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    /// The part.
    pub slice: Slice,
    /// How many whole lines it has; of a line that is too long for a part, its beginning alone, and
    /// then it is 0.
    pub count: usize,
}

/// Lines of a file, from one on (from 1): at most so many, and as many as are no more than
/// [`MOST_PART`] bytes together.
///
/// # Errors
/// Those of [`find`]; [`Error::Invalid`] for lines that begin behind the end.
pub async fn lines(
    conn: &mut Conn,
    locus: &Locus,
    name: &str,
    (first, most): (usize, usize),
    rights: &Rights,
) -> Result<Lines, Error> {
    let before = first.saturating_sub(1);
    let pieces = pieces(
        conn,
        rows!(
            ", p.start, p.line, p.body FROM archives a LEFT JOIN archive_parts p ON p.archive = a.id AND p.line + p.lines >= $3 AND p.line < $4 WHERE a.locus = $1 AND a.source_key = $2 ORDER BY p.nth LIMIT $5"
        ),
        (locus, name, rights),
        (number(before), number(before.saturating_add(most.max(1))), PIECES),
    )
    .await?;
    pieces.lines(first, most)
}

/// Pieces of a file that follow each other: as many as were read, or all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces {
    /// What is known of the file.
    row: Row,
    /// The bytes before them.
    start: usize,
    /// The lines that begin before them.
    line: usize,
    bytes: Vec<u8>,
}

impl Pieces {
    /// All the bytes of a file.
    pub fn whole(row: Row, bytes: Vec<u8>) -> Self {
        Self { row, start: 0, line: 0, bytes }
    }

    /// What is known of the file.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// What is known of the file, and the bytes.
    pub fn into_parts(self) -> (Row, Vec<u8>) {
        (self.row, self.bytes)
    }

    /// The part from a byte of the file on: at most so many bytes, and [`MOST_PART`].
    ///
    /// # Errors
    /// [`Error::Invalid`] for a part that begins behind the end.
    pub fn slice(self, offset: usize, most: usize) -> Result<Slice, Error> {
        let size = usize::try_from(self.row.size).unwrap_or_default();
        if offset > size {
            return Err(Error::Invalid(format!(
                "`offset` {offset} is behind the end: the archive has {size} bytes"
            )));
        }
        let from = offset.saturating_sub(self.start).min(self.bytes.len());
        let rest = &self.bytes[from..];
        let bytes = rest[..whole_characters(rest, most.clamp(1, MOST_PART))].to_vec();
        let next = Some(offset + bytes.len()).filter(|next| *next < size);
        Ok(Slice { row: self.row, offset, bytes, next })
    }

    /// Lines of the file, from one on (from 1): at most so many, and as many as are no more than
    /// [`MOST_PART`] bytes together.
    ///
    /// # Errors
    /// [`Error::Invalid`] for lines that begin behind the end.
    pub fn lines(self, first: usize, most: usize) -> Result<Lines, Error> {
        let before = first.saturating_sub(1);
        let all = usize::try_from(self.row.lines).unwrap_or_default();
        if before >= all && before > 0 {
            return Err(Error::Invalid(format!(
                "line {first} is behind the end: the archive has {all} lines"
            )));
        }
        let from =
            behind(&self.bytes, before.saturating_sub(self.line)).unwrap_or(self.bytes.len());
        let rest = &self.bytes[from..];
        let offset = self.start + from;
        let size = usize::try_from(self.row.size).unwrap_or_default();
        let is_last = |end: usize| offset + end == size;
        let (mut end, mut count) = (0, 0);
        while count < most.max(1) && end < rest.len() {
            let line = match memchr::memchr(b'\n', &rest[end..]) {
                Some(at) => at + 1,
                None if is_last(rest.len()) => rest.len() - end,
                None => break,
            };
            if end + line > MOST_PART {
                break;
            }
            end += line;
            count += 1;
        }
        if count == 0 {
            end = whole_characters(rest, MOST_PART);
        }
        let next = Some(offset + end).filter(|next| *next < size);
        let slice = Slice { row: self.row, offset, bytes: rest[..end].to_vec(), next };
        Ok(Lines { slice, count })
    }
}

/// Reads a file's row with pieces of it in one statement, so that both are of one version.
async fn pieces(
    conn: &mut Conn,
    text: &'static str,
    (locus, name, rights): (&Locus, &str, &Rights),
    (from, to, most): (i64, i64, i64),
) -> Result<Pieces, Error> {
    let key = hash(source(name)?.as_bytes());
    let found =
        conn.sql(text).bind(locus.as_str()).bind(key).bind(from).bind(to).bind(most).all().await?;
    let first = found.first().filter(|_| rights.reaches(locus.as_str()));
    let row = Row::read(first.ok_or_else(|| absent(locus, name))?)?;
    let mut pieces = Pieces::whole(row, Vec::new());
    for (nth, part) in found.iter().enumerate() {
        let Some(body) = part.get::<Option<Vec<u8>>>(COLUMNS + 2)? else { continue };
        if nth == 0 {
            pieces.start = count(part, COLUMNS)?;
            pieces.line = count(part, COLUMNS + 1)?;
        }
        pieces.bytes.extend_from_slice(&body);
    }
    Ok(pieces)
}

fn count(row: &store::Row, at: usize) -> Result<usize, Error> {
    let count = row.get::<Option<i64>>(at)?.unwrap_or_default();
    Ok(usize::try_from(count).unwrap_or_default())
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
