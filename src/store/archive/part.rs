//! Files in pieces, and lines in files. Pure.

/// The bytes of a piece, save the last.
pub const PART: usize = 256 << 10;

/// A piece of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part<'b> {
    /// The bytes before it.
    pub(super) start: usize,
    /// The line feeds before it.
    pub(super) line: usize,
    /// The line feeds in it.
    pub(super) lines: usize,
    /// Its bytes.
    pub(super) body: &'b [u8],
}

/// The pieces of a file, in order. An empty file has none.
pub(super) fn parts(body: &[u8]) -> impl Iterator<Item = Part<'_>> {
    let mut line = 0;
    body.chunks(PART).enumerate().map(move |(nth, body)| {
        let lines = feeds(body);
        let part = Part { start: nth * PART, line, lines, body };
        line += lines;
        part
    })
}

/// How many lines a file has: a last one without a line feed counts too.
pub(super) fn count(body: &[u8]) -> usize {
    let is_open = body.last().is_some_and(|last| *last != b'\n');
    feeds(body) + usize::from(is_open)
}

fn feeds(body: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', body).count()
}

/// Where a line begins in bytes that have others in front of it: behind so many line feeds. `None`
/// where there are fewer.
pub(super) fn behind(bytes: &[u8], feeds: usize) -> Option<usize> {
    match feeds.checked_sub(1) {
        None => Some(0),
        Some(before) => memchr::memchr_iter(b'\n', bytes).nth(before).map(|at| at + 1),
    }
}

/// The end of so many bytes, or of fewer, that splits no character: of bytes that are UTF-8 there.
pub(super) fn whole(bytes: &[u8], most: usize) -> usize {
    let most = most.min(bytes.len());
    let is_within = |at: usize| bytes.get(at).is_some_and(|byte| (0x80..0xC0).contains(byte));
    let end = (most.saturating_sub(3)..=most).rev().find(|at| !is_within(*at));
    // One character at least, or nobody would get on.
    let next = || (most..=most.saturating_add(3)).find(|at| !is_within(*at));
    end.filter(|end| *end > 0).or_else(next).unwrap_or(most)
}
