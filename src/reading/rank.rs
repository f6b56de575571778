//! Which parts of a document a question is about: BM25 (Robertson and Zaragoza, "The Probabilistic
//! Relevance Framework: BM25 and Beyond", 2009) of its chunks.

use std::{collections::HashMap, ops::Range};

use super::{Chunk, Excerpt, Source, Status, chunks, source::is_blank, words};

/// BM25's usual constants: how soon repetition stops to count, and how much length does.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Bytes of a passage.
const PASSAGE: usize = 700;

/// What is read of a document, and what is not: together all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// The stretches to read, in the order of the document; neighbouring chunks are one stretch.
    pub read: Vec<Range<usize>>,
    /// The stretches that are left out, likewise.
    pub unread: Vec<Range<usize>>,
}

/// How much each chunk is about a question: 0 when they have no word in common. The heading above
/// a chunk counts as part of it. The same for the same arguments.
pub fn rank(question: &str, text: &str, chunks: &[Chunk]) -> Vec<f64> {
    let mut asked: HashMap<String, usize> = HashMap::new();
    terms(question, |term| {
        let next = asked.len();
        if !asked.contains_key(term) {
            asked.insert(term.to_owned(), next);
        }
    });
    let counts: Vec<Counts> = chunks
        .iter()
        .map(|chunk| {
            let mut counts = Counts { terms: vec![0; asked.len()], length: 0 };
            let heading = chunk.heading.clone().filter(|heading| heading.start < chunk.span.start);
            for part in heading.into_iter().chain([chunk.span.clone()]) {
                terms(text.get(part).unwrap_or_default(), |term| {
                    counts.length += 1;
                    if let Some(count) = asked.get(term).and_then(|at| counts.terms.get_mut(*at)) {
                        *count += 1;
                    }
                });
            }
            counts
        })
        .collect();
    let total: usize = counts.iter().map(|counts| counts.length).sum();
    let average = (float(total) / float(chunks.len()).max(1.0)).max(1.0);
    let rarity: Vec<f64> = (0..asked.len())
        .map(|term| {
            let has = |counts: &&Counts| counts.terms.get(term).is_some_and(|count| *count > 0);
            let found = float(counts.iter().filter(has).count());
            ((float(chunks.len()) - found + 0.5) / (found + 0.5)).ln_1p()
        })
        .collect();
    let score = |counts: &Counts| {
        let length = K1 * (1.0 - B + B * float(counts.length) / average);
        let term = |(count, rarity): (&usize, &f64)| {
            rarity * float(*count) * (K1 + 1.0) / (float(*count) + length)
        };
        counts.terms.iter().zip(&rarity).map(term).sum()
    };
    counts.iter().map(score).collect()
}

/// The best chunks that fit into so many bytes: the best first, then the next that still fits. Of
/// equal ones the earlier.
pub fn select(chunks: &[Chunk], scores: &[f64], budget: usize) -> Selection {
    let mut left = budget;
    let mut is_read = vec![false; chunks.len()];
    for index in best_first(scores, chunks.len()) {
        if let (Some(chunk), Some(is_read)) = (chunks.get(index), is_read.get_mut(index))
            && let Some(rest) = left.checked_sub(chunk.span.len())
        {
            left = rest;
            *is_read = true;
        }
    }
    let mut selection = Selection::default();
    for (chunk, is_read) in chunks.iter().zip(is_read) {
        let spans = if is_read { &mut selection.read } else { &mut selection.unread };
        match spans.last_mut() {
            Some(last) if last.end == chunk.span.start => last.end = chunk.span.end,
            _ => spans.push(chunk.span.clone()),
        }
    }
    selection
}

/// At most so many passages of a source that are about a question, verbatim, the best first: what
/// can be answered without a model. When none has a word of the question, the first ones.
pub fn passages(question: &str, source: &Source<'_>, most: usize) -> Vec<Excerpt> {
    let text = source.raw();
    let chunks = chunks(text, PASSAGE);
    let scores = rank(question, text, &chunks);
    let fits = scores.iter().any(|score| *score > 0.0);
    best_first(&scores, chunks.len())
        .into_iter()
        .filter(|index| !fits || scores.get(*index).is_some_and(|score| *score > 0.0))
        .filter_map(|index| {
            let span = chunks.get(index)?.span.clone();
            let passage = text.get(span.clone())?;
            let start = span.end - passage.trim_start_matches(is_blank).len();
            let end = span.start + passage.trim_end_matches(is_blank).len();
            (start < end).then(|| source.excerpt(start..end, Status::Verified))?
        })
        .take(most)
        .collect()
}

/// How often each term of the question is in a chunk, and how many terms that has.
struct Counts {
    terms: Vec<usize>,
    length: usize,
}

fn best_first(scores: &[f64], count: usize) -> Vec<usize> {
    let score = |index: usize| scores.get(index).copied().unwrap_or_default();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|one, other| score(*other).total_cmp(&score(*one)));
    order
}

/// What is counted: words without their plural, and in scripts without blanks the characters and
/// each two neighbours.
fn terms(text: &str, mut take: impl FnMut(&str)) {
    let mut before: Option<(usize, String)> = None;
    words::each(text, |span, word| {
        if !word.starts_with(words::is_wide) {
            take(&singular(word));
            return;
        }
        take(word);
        if let Some((end, mut pair)) = before.take()
            && end == span.start
        {
            pair.push_str(word);
            take(&pair);
        }
        before = Some((span.end, word.to_owned()));
    });
}

/// Harman's S stemmer ("How effective is suffixing?", 1991): the three English plurals, no more.
fn singular(word: &str) -> String {
    let ends = |end: &str, but: &[&str]| {
        word.strip_suffix(end).filter(|_| !but.iter().any(|but| word.ends_with(but)))
    };
    if word.len() < 4 || !word.is_ascii() {
        return word.to_owned();
    }
    if let Some(stem) = ends("ies", &["eies", "aies"]) {
        return format!("{stem}y");
    }
    if let Some(stem) = ends("es", &["aes", "ees", "oes"]) {
        return format!("{stem}e");
    }
    ends("s", &["us", "ss"]).unwrap_or(word).to_owned()
}

#[expect(clippy::cast_precision_loss, reason = "counts of at most the bytes of a text")]
fn float(count: usize) -> f64 {
    count as f64
}
