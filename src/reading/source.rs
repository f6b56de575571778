//! A text in its normal form, with the way back to the bytes that it was given in.
//!
//! The normal form: byte order marks at the beginning are dropped, CRLF and CR are LF, and the
//! characters are composed (NFC). Both a source and what is quoted of it are brought into it, so
//! that neither an editor's line ends nor a file system's decomposed letters make a quotation fail.

use std::{fmt::Write as _, ops::Range, sync::OnceLock};

use sha2::{Digest as _, Sha256};
use unicode_normalization::{
    IsNormalized, UnicodeNormalization as _, char::canonical_combining_class, is_nfc_quick,
};
use unicode_segmentation::UnicodeSegmentation as _;

use super::{Excerpt, Status, words::Index};

/// A source text. Building it takes time in proportion to its length, and so does [`line`] of it;
/// the caller bounds the length and does not do it on a thread that others wait for.
///
/// [`line`]: Source::line
#[derive(Debug)]
pub struct Source<'a> {
    raw: &'a str,
    /// Bytes of `raw` before its text: the byte order marks.
    lead: usize,
    normal: String,
    /// In order. What lies between two of them is the same in `raw` and `normal`, and each of its
    /// characters stands for itself.
    clusters: Vec<Cluster>,
    words: OnceLock<Index>,
}

/// A character as a reader sees it (an extended grapheme cluster) that is more than one `char` or
/// is changed by the normal form: it is cut only at its ends.
#[derive(Debug, Clone)]
struct Cluster {
    normal: Range<usize>,
    raw: Range<usize>,
}

/// Where an offset of the normal form lies.
enum Place<'a> {
    /// Between two characters; the offset in the raw text.
    Between(usize),
    Inside(&'a Cluster),
}

impl<'a> Source<'a> {
    /// Brings a text into its normal form.
    pub fn new(raw: &'a str) -> Self {
        let text = raw.trim_start_matches('\u{feff}');
        let lead = raw.len() - text.len();
        let mut normal = String::with_capacity(text.len());
        let mut clusters = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (plain, tail) = rest.split_at(plain_len(rest));
            normal.push_str(plain);
            let (character, tail) = tail.split_at(character_len(tail));
            let (start, end) = (normal.len(), raw.len() - tail.len());
            push_normal(&mut normal, character);
            let is_one = character.chars().nth(1).is_none();
            if !is_one || normal.get(start..) != Some(character) {
                clusters
                    .push(Cluster { normal: start..normal.len(), raw: end - character.len()..end });
            }
            rest = tail;
        }
        Self { raw, lead, normal, clusters, words: OnceLock::new() }
    }

    /// The text as it was given.
    pub fn raw(&self) -> &'a str {
        self.raw
    }

    /// The text in its normal form.
    pub fn normal(&self) -> &str {
        &self.normal
    }

    /// The SHA-256 of the text as it was given, in 64 small hexadecimal digits.
    pub fn sha256(&self) -> String {
        Sha256::digest(self.raw).iter().fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to a string does not fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    /// The line, from 1, of a byte of the text as it was given. LF, CRLF and CR each end one.
    pub fn line(&self, offset: usize) -> usize {
        line(self.raw, offset)
    }

    /// The words of the normal form, looked up once.
    pub(super) fn words(&self) -> &Index {
        self.words.get_or_init(|| Index::new(&self.normal))
    }

    /// The raw bytes of a span of the normal form; nothing when it cuts a character.
    pub(super) fn to_raw(&self, normal: Range<usize>) -> Option<Range<usize>> {
        match (self.place(normal.start)?, self.place(normal.end)?) {
            (Place::Between(start), Place::Between(end)) => Some(start..end),
            _ => None,
        }
    }

    /// A span of the normal form, widened to whole characters.
    pub(super) fn widened(&self, normal: Range<usize>) -> Range<usize> {
        let start = match self.place(normal.start) {
            Some(Place::Inside(cluster)) => cluster.normal.start,
            _ => normal.start,
        };
        let end = match self.place(normal.end) {
            Some(Place::Inside(cluster)) => cluster.normal.end,
            _ => normal.end,
        };
        start..end
    }

    fn place(&self, at: usize) -> Option<Place<'_>> {
        let after = self.clusters.partition_point(|cluster| cluster.normal.start <= at);
        let before = after.checked_sub(1).and_then(|index| self.clusters.get(index));
        let (normal, raw) = match before {
            Some(cluster) if at == cluster.normal.start => {
                return Some(Place::Between(cluster.raw.start));
            }
            Some(cluster) if at < cluster.normal.end => return Some(Place::Inside(cluster)),
            Some(cluster) => (cluster.normal.end, cluster.raw.end),
            None => (0, self.lead),
        };
        self.normal.is_char_boundary(at).then_some(Place::Between(raw + at - normal))
    }

    /// What the source has at those raw bytes.
    pub(super) fn excerpt(&self, raw: Range<usize>, status: Status) -> Option<Excerpt> {
        Some(Excerpt {
            text: self.raw.get(raw.clone())?.to_owned(),
            status,
            start: Some(raw.start),
            end: Some(raw.end),
            line: Some(self.line(raw.start)),
        })
    }
}

/// The line, from 1, of a byte of a text. LF, CRLF and CR each end one.
pub(super) fn line(text: &str, offset: usize) -> usize {
    let bytes = text.as_bytes();
    let ends = memchr::memchr2_iter(b'\n', b'\r', bytes)
        .take_while(|at| *at < offset)
        .filter(|at| bytes.get(*at..*at + 2) != Some(b"\r\n"));
    1 + ends.count()
}

/// What is no part of a passage at its ends.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// Bytes at the beginning that are their own normal form, each a character by itself.
fn plain_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let end =
        bytes.iter().position(|byte| !byte.is_ascii() || *byte == b'\r').unwrap_or(bytes.len());
    // What follows may be a mark on the last of them.
    if bytes.get(end).is_some_and(|byte| !byte.is_ascii()) { end.saturating_sub(1) } else { end }
}

/// The length of the first character as readers see it. Composition and the order of marks never
/// reach from one into the next.
fn character_len(text: &str) -> usize {
    let mut length = 0;
    let mut last = None;
    for character in text.graphemes(true) {
        if let (Some(last), Some(first)) = (last, character.chars().next())
            && !is_new_mark(last, first)
        {
            break;
        }
        length += character.len();
        last = character.chars().next_back();
    }
    length
}

/// Whether it is a mark that only the tables of the normal form know, those of the characters being
/// of an older Unicode, and stands behind something that can bear it: a line end, say, cannot.
fn is_new_mark(before: char, c: char) -> bool {
    let are_apart = |one, other| String::from_iter([one, other]).graphemes(true).count() > 1;
    canonical_combining_class(c) != 0 && are_apart('a', c) && !are_apart(before, '\u{301}')
}

fn push_normal(normal: &mut String, character: &str) {
    if character.starts_with('\r') {
        normal.push('\n');
    } else if is_nfc_quick(character.chars()) == IsNormalized::Yes {
        normal.push_str(character);
    } else {
        normal.extend(character.nfc());
    }
}
