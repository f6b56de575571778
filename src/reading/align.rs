//! Finds the passage of a source that a quotation nearly is.
//!
//! Words are compared, and the edit distance of the whole quotation to every stretch of the source
//! is computed bit-parallel (Myers, "A Fast Bit-Vector Algorithm for Approximate String Matching",
//! 1999, in the blocks of Hyyrö, 2003): 64 words of the quotation a step. So nothing is missed and
//! nothing is guessed, and the time is known beforehand.

use std::ops::Range;

use super::{
    Source,
    check::visible_bytes,
    words::{self, Index},
};

/// Longer quotations, in words, are right or wrong.
const MAX_WORDS: usize = 1024;

/// One word in so many may differ.
const WORDS_PER_EDIT: usize = 5;

/// Places that are compared when several fit equally well.
const MAX_PLACES: usize = 16;

/// Words that are longer, in bytes, are not looked at for a slip of the pen.
const MAX_SLIP: usize = 64;

/// The span, in the normal form of the source, of the one wording that is nearest to the text.
/// Nothing when none is near, or different ones are equally near.
pub(super) fn nearest(source: &Source<'_>, text: &str) -> Option<Range<usize>> {
    let quote = Index::new(text);
    let source_words = source.words();
    let count = quote.ids.len();
    let (head, tail) = (quote.spans.first()?.start, quote.spans.last()?.end);
    if count > MAX_WORDS || visible_bytes(text.get(head..tail)?) < super::check::MIN_BYTES {
        return None;
    }
    let asked: Vec<String> = quote
        .spans
        .iter()
        .map(|span| words::fold(text.get(span.clone()).unwrap_or_default()))
        .collect();
    let ids: Vec<Option<u32>> = asked.iter().map(|word| source_words.id(word)).collect();
    let most = count / WORDS_PER_EDIT;
    if ids.iter().filter(|id| id.is_none()).count() > most {
        return None;
    }
    let (edits, ends) = best_ends(source_words, &ids, most)?;
    let backwards: Vec<Option<u32>> = ids.iter().rev().copied().collect();
    let backwards = Pattern::new(&backwards, source_words.len());
    let mut found: Option<Range<usize>> = None;
    for end in ends {
        let first = first_word(source_words, &backwards, edits, end)?;
        let words = with_slips(source, &asked, first..end + 1);
        let span = source_words.spans.get(words.start)?.start
            ..source_words.spans.get(words.end.checked_sub(1)?)?.end;
        let span = with_marks(source.normal(), span, text.get(..head)?, text.get(tail..)?);
        let span = source.widened(span);
        // A character of several words would bring in what was not quoted.
        let before = words.start.checked_sub(1).and_then(|at| source_words.spans.get(at));
        let behind = source_words.spans.get(words.end);
        if before.is_some_and(|word| word.end > span.start)
            || behind.is_some_and(|word| word.start < span.end)
        {
            return None;
        }
        let wording = |span: &Range<usize>| source.normal().get(span.clone());
        match &found {
            Some(other) if wording(other) != wording(&span) => return None,
            Some(_) => {}
            None => found = Some(span),
        }
    }
    // Few words may lie far apart between many marks: that would be no quotation of this text.
    found.filter(|span| span.len() <= 64 + 2 * text.len())
}

/// The fewest edits, and the last word of every place that needs no more: none when that is more
/// than allowed. Of places that overlap it is the first. Nothing when there are too many.
fn best_ends(words: &Index, ids: &[Option<u32>], most: usize) -> Option<(usize, Vec<usize>)> {
    let mut best = most + 1;
    let mut ends: Vec<usize> = Vec::new();
    Pattern::new(ids, words.len()).scan(words.ids.iter(), false, |at, edits| {
        let apart = (ids.len() - edits.min(ids.len())).max(1);
        if edits < best {
            best = edits;
            ends.clear();
            ends.push(at);
        } else if edits == best
            && ends.len() <= MAX_PLACES
            && ends.last().is_some_and(|last| at - last >= apart)
        {
            ends.push(at);
        }
        true
    });
    (ends.len() <= MAX_PLACES).then_some((best, ends))
}

/// The first word of the shortest stretch with that last word and that many edits. As the last
/// word is the first possible one, both ends of the stretch are words of the quotation.
fn first_word(words: &Index, backwards: &Pattern, edits: usize, end: usize) -> Option<usize> {
    let mut first = None;
    let before = words.ids.get(..=end)?.iter().rev().take(backwards.length + edits);
    backwards.scan(before, true, |at, distance| {
        if distance == edits {
            first = Some(end - at);
        }
        first.is_none()
    });
    first
}

/// The words with the one before and the one behind, where that is what the quotation's first or
/// last word was meant to be.
fn with_slips(source: &Source<'_>, asked: &[String], mut words: Range<usize>) -> Range<usize> {
    let index = source.words();
    let said = |at: usize| {
        let span = index.spans.get(at)?.clone();
        Some(words::fold(source.normal().get(span)?))
    };
    let is_slip = |at: usize, word: &str| {
        said(at).is_some_and(|said| {
            said.len().max(word.len()) <= MAX_SLIP
                && strsim::normalized_levenshtein(&said, word) >= 0.5
        })
    };
    if let (Some(first), Some(before)) = (asked.first(), words.start.checked_sub(1))
        && said(words.start).as_ref() != Some(first)
        && is_slip(before, first)
    {
        words.start = before;
    }
    if let (Some(last), Some(at)) = (asked.last(), words.end.checked_sub(1))
        && said(at).as_ref() != Some(last)
        && is_slip(words.end, last)
    {
        words.end += 1;
    }
    words
}

/// The span with the marks around it that the quotation has too.
fn with_marks(text: &str, span: Range<usize>, head: &str, tail: &str) -> Range<usize> {
    let (before, behind) =
        (text.get(..span.start).unwrap_or_default(), text.get(span.end..).unwrap_or_default());
    let alike = |(one, other): &(char, char)| !one.is_whitespace() && plain(*one) == plain(*other);
    let bytes = |(one, _): (char, char)| one.len_utf8();
    let more: usize = behind.chars().zip(tail.chars()).take_while(alike).map(bytes).sum();
    let less: usize =
        before.chars().rev().zip(head.chars().rev()).take_while(alike).map(bytes).sum();
    span.start - less..span.end + more
}

/// The typewriter's form of a mark.
fn plain(mark: char) -> char {
    match mark {
        '“' | '”' | '„' | '‟' | '«' | '»' | '＂' => '"',
        '‘' | '’' | '‚' | '‛' | '´' | '`' | '‹' | '›' => '\'',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        '…' => '.',
        other => other,
    }
}

/// The words of a quotation as bit masks: which of them each word of the source is. There is one
/// at least.
pub(super) struct Pattern {
    length: usize,
    blocks: usize,
    /// The row of `masks` of each word number; row 0 is empty.
    rows: Vec<usize>,
    masks: Vec<u64>,
}

/// A column of the distance table in 64 rows: where it goes up by one, and where down.
#[derive(Clone, Copy)]
struct Block {
    up: u64,
    down: u64,
}

impl Pattern {
    pub(super) fn new(ids: &[Option<u32>], known: usize) -> Self {
        let blocks = ids.len().div_ceil(64);
        let mut rows = vec![0; known];
        let mut masks = vec![0; blocks];
        for (at, id) in ids.iter().enumerate() {
            let Some(row) = id.and_then(|id| rows.get_mut(id as usize)) else { continue };
            if *row == 0 {
                *row = masks.len() / blocks;
                masks.resize(masks.len() + blocks, 0);
            }
            if let Some(mask) = masks.get_mut(*row * blocks + at / 64) {
                *mask |= 1 << (at % 64);
            }
        }
        Self { length: ids.len(), blocks, rows, masks }
    }

    /// Gives, for each word, the edits between the pattern and the nearest stretch that ends with
    /// it; of the stretch from the first word on when anchored. Goes on while it is told so.
    pub(super) fn scan<'a>(
        &self,
        words: impl Iterator<Item = &'a u32>,
        anchored: bool,
        mut take: impl FnMut(usize, usize) -> bool,
    ) {
        let mut column = vec![Block { up: u64::MAX, down: 0 }; self.blocks];
        let last_row = 1_u64 << ((self.length + 63) % 64);
        let mut edits = self.length;
        for (at, id) in words.enumerate() {
            let row = self.rows.get(*id as usize).copied().unwrap_or_default() * self.blocks;
            let masks = self.masks.get(row..row + self.blocks).unwrap_or_default();
            let mut step = i8::from(anchored);
            for (index, (block, mask)) in column.iter_mut().zip(masks).enumerate() {
                let is_last = index + 1 == self.blocks;
                step = block.advance(*mask, step, if is_last { last_row } else { 1 << 63 });
            }
            edits = edits.saturating_add_signed(step.into());
            if !take(at, edits) {
                return;
            }
        }
    }
}

impl Block {
    /// Goes to the next column. `step` is what the row above changes by, the result what the row
    /// of `bottom` does.
    fn advance(&mut self, equal: u64, step: i8, bottom: u64) -> i8 {
        let vertical = equal | self.down;
        let equal = equal | u64::from(step < 0);
        let horizontal = ((equal & self.up).wrapping_add(self.up) ^ self.up) | equal;
        let up = self.down | !(horizontal | self.up);
        let down = self.up & horizontal;
        let result = i8::from(up & bottom != 0) - i8::from(down & bottom != 0);
        let up = up << 1 | u64::from(step > 0);
        let down = down << 1 | u64::from(step < 0);
        self.up = down | !(vertical | up);
        self.down = up & vertical;
        result
    }
}
