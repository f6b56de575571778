//! Cuts a document on its structure: at headings, between paragraphs, around fenced blocks.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

/// A stretch of a document that is read as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its bytes in the document.
    pub span: Range<usize>,
    /// The heading that it stands under: the last one that begins no later than it does.
    pub heading: Option<Range<usize>>,
}

/// Cuts a document into chunks of at most so many bytes; together they are the whole document, in
/// order. A heading begins a chunk; paragraphs and fenced blocks are cut only when they are larger
/// than a chunk: at a line, else behind a sentence, else at a blank, else between two characters.
/// A single `char` that is larger than a chunk is one by itself. Takes time in proportion to the
/// document.
pub fn chunks(text: &str, most: usize) -> Vec<Chunk> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut headings: Vec<Range<usize>> = Vec::new();
    // The chunk that is being filled, and whether it has more than headings.
    let mut open: Option<(Range<usize>, bool)> = None;
    for block in blocks(text) {
        let is_heading = block.kind == Kind::Heading;
        if is_heading {
            let line = text.get(block.span.clone()).unwrap_or_default().trim_end();
            headings.push(block.span.start..block.span.start + line.len());
        }
        let mut span = block.span.clone();
        if let Some((before, has_body)) = open.take() {
            let fits = block.span.end - before.start <= most;
            // What is cut anyway begins with its heading.
            let is_cut = block.span.len() > most && !is_heading && !has_body;
            if is_cut || fits && !(is_heading && has_body) {
                span.start = before.start;
            } else {
                spans.push(before);
            }
        }
        while span.len() > most {
            let end = span.start + cut(text.get(span.clone()).unwrap_or_default(), most);
            if end >= span.end {
                break;
            }
            spans.push(span.start..end);
            span.start = end;
        }
        open = Some((span, !is_heading));
    }
    spans.extend(open.map(|(span, _)| span));
    let mut heading = None;
    let mut headings = headings.into_iter().peekable();
    let under = |span: Range<usize>| {
        while let Some(next) = headings.next_if(|next| next.start <= span.start) {
            heading = Some(next);
        }
        Chunk { span, heading: heading.clone() }
    };
    spans.into_iter().map(under).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Heading,
    /// A fenced block; open until its closing line.
    Fence(Option<(char, usize)>),
    /// Lines of text; open until a blank line.
    Text {
        open: bool,
    },
}

#[derive(Debug)]
struct Block {
    span: Range<usize>,
    kind: Kind,
}

/// The blocks of a document, one behind the other. Blank lines belong to the block before them.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut at = 0;
    for line in lines(text) {
        let span = at..at + line.len();
        at = span.end;
        let line = line.trim_start_matches('\u{feff}');
        let is_blank = line.trim().is_empty();
        let begins = match fence(line) {
            Some(fence) => Kind::Fence(Some(fence)),
            None if is_heading(line) => Kind::Heading,
            None => Kind::Text { open: !is_blank },
        };
        let Some(last) = blocks.last_mut() else {
            blocks.push(Block { span, kind: begins });
            continue;
        };
        let kind = match last.kind {
            Kind::Fence(Some((mark, count))) if closes(line, mark, count) => Kind::Fence(None),
            Kind::Fence(Some(open)) => Kind::Fence(Some(open)),
            Kind::Text { .. } if is_blank => Kind::Text { open: false },
            kind if is_blank => kind,
            Kind::Text { open: true } if matches!(begins, Kind::Text { .. }) => begins,
            _ => {
                blocks.push(Block { span, kind: begins });
                continue;
            }
        };
        last.span.end = span.end;
        last.kind = kind;
    }
    blocks
}

/// Lines with their ends: LF, CRLF or CR.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let end = match memchr::memchr2(b'\n', b'\r', bytes) {
            Some(at) if bytes.get(at..at + 2) == Some(b"\r\n") => at + 2,
            Some(at) => at + 1,
            None => bytes.len(),
        };
        let (line, tail) = rest.split_at(end);
        rest = tail;
        (!line.is_empty()).then_some(line)
    })
}

/// The line without an indent that leaves it a heading or a fence.
fn unindented(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len() <= 3).then_some(text)
}

fn is_heading(line: &str) -> bool {
    unindented(line).is_some_and(|line| {
        let rest = line.trim_start_matches('#');
        (1..=6).contains(&(line.len() - rest.len()))
            && (rest.is_empty() || rest.starts_with(char::is_whitespace))
    })
}

/// The mark and its count when the line opens a fenced block.
fn fence(line: &str) -> Option<(char, usize)> {
    let line = unindented(line)?;
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let count = line.len() - rest.len();
    (count >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, count))
}

fn closes(line: &str, mark: char, count: usize) -> bool {
    unindented(line).is_some_and(|line| {
        let rest = line.trim_start_matches(mark);
        line.len() - rest.len() >= count && rest.trim().is_empty()
    })
}

/// Where a text is cut that is longer than so many bytes: at the last good place that leaves at
/// least a quarter of them.
fn cut(text: &str, most: usize) -> usize {
    let window = text.get(..text.floor_char_boundary(most)).unwrap_or_default();
    let least = most / 4;
    let behind_line = window.rfind(['\n', '\r']).map(|at| at + 1);
    let behind_sentence = || {
        let ends = window.rmatch_indices(['.', '!', '?', '。', '！', '？']);
        ends.map(|(at, mark)| (at + mark.len(), mark))
            .take_while(|(end, _)| *end > least)
            .find(|(end, mark)| {
                let is_wide = !mark.is_ascii();
                is_wide || window.get(*end..).is_some_and(|rest| rest.starts_with(' '))
            })
            .map(|(end, _)| end)
    };
    let behind_blank = || {
        let (at, blank) = window.char_indices().rfind(|(_, c)| c.is_whitespace())?;
        Some(at + blank.len_utf8())
    };
    let is_good = |at: &usize| *at > least && is_boundary(text, *at);
    behind_line
        .filter(is_good)
        .or_else(|| behind_sentence().filter(is_good))
        .or_else(|| behind_blank().filter(is_good))
        .or_else(|| boundary_before(text, window.len()).filter(|at| *at > 0))
        .or(Some(window.len()).filter(|at| *at > 0))
        .or_else(|| text.chars().next().map(char::len_utf8))
        .unwrap_or_default()
}

/// Whether it is between two characters as a reader sees them; so between CR and LF it is not.
fn is_boundary(text: &str, at: usize) -> bool {
    GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(false)
}

fn boundary_before(text: &str, at: usize) -> Option<usize> {
    if is_boundary(text, at) {
        return Some(at);
    }
    GraphemeCursor::new(at, text.len(), true).prev_boundary(text, 0).ok().flatten()
}
