//! The sections of a document: a line that starts with `## ` opens one, up to the next such line.
//!
//! `##` alone, `##x` and other headings are text, and so is all that stands in a fenced block of
//! code. A fence that nothing closes is no fence, else one forgotten line would hide every section
//! behind it.

use std::collections::HashMap;

/// What opens a section.
pub(super) const MARK: &str = "## ";

/// One section, by byte offsets into its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'a> {
    /// What stands behind `## `, without blanks around it.
    pub heading: &'a str,
    /// Where the line of the heading begins.
    pub start: usize,
    /// Where the line behind the heading begins.
    pub body: usize,
    /// Where the next section begins, or the document ends.
    pub end: usize,
}

/// The sections of a document, in order. What stands before the first one is none.
pub fn sections(doc: &str) -> Vec<Section<'_>> {
    let closers = Closers::of(doc);
    let (mut found, mut open, mut at) = (Vec::<Section>::new(), None::<Fence>, 0);
    for (number, line) in doc.split_inclusive('\n').enumerate() {
        let fence = Fence::of(line);
        match (open, fence) {
            (Some(opened), Some(fence)) if fence.closes(opened) => open = None,
            (Some(_), _) => {}
            (None, Some(fence)) if closers.has(number, fence) => open = Some(fence),
            (None, _) => {
                if let Some(heading) = line.strip_prefix(MARK) {
                    if let Some(last) = found.last_mut() {
                        last.end = at;
                    }
                    let (body, end) = (at + line.len(), doc.len());
                    found.push(Section { heading: heading.trim(), start: at, body, end });
                }
            }
        }
        at += line.len();
    }
    found
}

/// The text of each heading in the order of the first of its name, without blank space around it;
/// those of one name are one text.
pub fn texts(doc: &str) -> Vec<(&str, String)> {
    let mut texts = Vec::<(&str, String)>::new();
    let mut places = HashMap::new();
    for section in sections(doc) {
        let place = *places.entry(section.heading).or_insert_with(|| {
            texts.push((section.heading, String::new()));
            texts.len() - 1
        });
        if let Some((_, text)) = texts.get_mut(place) {
            text.push_str(&doc[section.body..section.end]);
        }
    }
    for (_, text) in &mut texts {
        *text = text.trim().to_owned();
    }
    texts
}

/// The sections that a caller means by a heading: those of exactly this one, else those that
/// differ in capitals alone. `## ` before it is left out.
pub fn named<'a>(sections: &[Section<'a>], heading: &str) -> Vec<Section<'a>> {
    let of = |is_it: &dyn Fn(&str) -> bool| -> Vec<Section<'a>> {
        sections.iter().filter(|section| is_it(section.heading)).copied().collect()
    };
    for wanted in [heading.trim(), bare(heading)] {
        let exact = of(&|heading| heading == wanted);
        if !exact.is_empty() {
            return exact;
        }
    }
    let lower = bare(heading).to_lowercase();
    of(&|heading| heading.to_lowercase() == lower)
}

/// A heading as a caller wrote it, without the mark and blanks around it.
pub(super) fn bare(heading: &str) -> &str {
    let heading = heading.trim();
    heading.strip_prefix(MARK).unwrap_or(heading).trim()
}

/// A line that opens or closes a block of code
/// (<https://spec.commonmark.org/0.31.2/#fenced-code-blocks>).
#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: u8,
    length: usize,
    /// Whether nothing follows the marks: such a line may close.
    is_bare: bool,
}

impl Fence {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_end();
        let marks = line.trim_start_matches(' ');
        let mark = *marks.as_bytes().first()?;
        if line.len() - marks.len() > 3 || !matches!(mark, b'`' | b'~') {
            return None;
        }
        let length = marks.bytes().take_while(|byte| *byte == mark).count();
        let info = &marks[length..];
        let is_fence = length >= 3 && (mark == b'~' || !info.contains('`'));
        is_fence.then_some(Self { mark, length, is_bare: info.is_empty() })
    }

    fn closes(self, opened: Self) -> bool {
        self.is_bare && self.mark == opened.mark && self.length >= opened.length
    }
}

/// Of each line, the longest fence behind it that may close one: of `` ` `` and of `~`.
struct Closers(Vec<[usize; 2]>);

impl Closers {
    fn of(doc: &str) -> Self {
        if !doc.contains("```") && !doc.contains("~~~") {
            return Self(Vec::new());
        }
        let mut longest = [0; 2];
        let mut closers: Vec<[usize; 2]> = doc
            .split_inclusive('\n')
            .rev()
            .map(|line| {
                let behind = longest;
                if let Some(fence) = Fence::of(line).filter(|fence| fence.is_bare) {
                    let longest = &mut longest[usize::from(fence.mark == b'~')];
                    *longest = fence.length.max(*longest);
                }
                behind
            })
            .collect();
        closers.reverse();
        Self(closers)
    }

    fn has(&self, line: usize, fence: Fence) -> bool {
        self.0
            .get(line)
            .is_some_and(|longest| longest[usize::from(fence.mark == b'~')] >= fence.length)
    }
}
