//! From the text of a roster file to its entries, or to everything that is wrong with it.

use std::ops::Range;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{
    Backend, Endpoint, Error, Problem, check, entry,
    entry::Read,
    field::Fields,
    hint::nearest,
    notes::{Notes, shown},
    place::Lines,
    syntax,
};

/// The largest roster file that is read, in bytes: thousands of backends, and a slip such as a log
/// file is told at once.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

const KEYS: [&str; 2] = ["backend", "endpoint"];

/// The entries of a file and what to warn of.
pub(crate) struct Parsed {
    pub(crate) backends: Vec<Backend>,
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) warnings: Vec<Problem>,
}

/// Reads a whole file.
pub(crate) fn parse(text: &str) -> Result<Parsed, Error> {
    let mut notes = Notes::default();
    if text.len() > MAX_BYTES {
        let what = format!("the roster is larger than {MAX_BYTES} bytes: is it the right file?");
        notes.error(0, what);
        return Ok(Parsed::new(Vec::new(), Vec::new(), notes.finish(text)?));
    }
    let (tree, errors) = DeTable::parse_recoverable(text);
    let (backends, endpoints) = if errors.is_empty() {
        File { text, broken: &[] }.read(tree.get_ref(), &mut notes)
    } else {
        let mended = syntax::mend(text, &mut notes);
        let (tree, _) = DeTable::parse_recoverable(&mended.text);
        File { text, broken: &mended.broken }.read(tree.get_ref(), &mut notes)
    };
    Ok(Parsed::new(backends, endpoints, notes.finish(text)?))
}

impl Parsed {
    fn new(backends: Vec<Backend>, endpoints: Vec<Endpoint>, warnings: Vec<Problem>) -> Self {
        Self { backends, endpoints, warnings }
    }
}

/// A file under reading.
struct File<'f> {
    text: &'f str,
    /// What could not be read at all and is noted already, in file order.
    broken: &'f [Range<usize>],
}

impl File<'_> {
    fn read(&self, root: &DeTable<'_>, notes: &mut Notes) -> (Vec<Backend>, Vec<Endpoint>) {
        let (mut backends, mut endpoints) = (Vec::new(), Vec::new());
        for (key, value) in root {
            let name = key.get_ref().as_ref();
            if !KEYS.contains(&name) {
                notes.error(key.span().start, stranger(name));
            }
            // What a slip in the name probably means is read too, so that all errors show at once.
            match nearest(name, &KEYS) {
                Some("backend") => backends.extend(tables("backend", value, notes)),
                Some(_) => endpoints.extend(tables("endpoint", value, notes)),
                None => {}
            }
        }
        let mut starts: Vec<_> = backends.iter().chain(&endpoints).map(|(at, _)| *at).collect();
        starts.sort_unstable();
        let fields = |title, (at, table)| Fields::new(title, at, table, self.is_whole(at, &starts));
        let backends: Vec<_> = backends
            .into_iter()
            .map(|found| entry::backend(&fields("[[backend]]", found), notes))
            .collect();
        let endpoints: Vec<_> = endpoints
            .into_iter()
            .map(|found| entry::endpoint(&fields("[[endpoint]]", found), notes))
            .collect();
        let lines = Lines::new(self.text);
        check::unique("id", &backends, &lines, notes);
        check::unique("base_url", &endpoints, &lines, notes);
        let backends: Vec<_> = values(backends).collect();
        check::used(&endpoints, &backends, notes);
        (backends, values(endpoints).collect())
    }

    /// Whether nothing between an entry's start and the next one's is broken.
    fn is_whole(&self, at: usize, starts: &[usize]) -> bool {
        let next = starts.get(starts.partition_point(|start| *start <= at));
        let end = next.copied().unwrap_or(self.text.len());
        let after = self.broken.get(self.broken.partition_point(|broken| broken.end <= at));
        after.is_none_or(|broken| broken.start >= end)
    }
}

fn values<T>(read: Vec<Read<T>>) -> impl Iterator<Item = T> {
    read.into_iter().filter_map(|read| read.value)
}

/// The tables of an array of tables, each with where it starts.
fn tables<'t>(
    key: &str,
    value: &'t Spanned<DeValue<'t>>,
    notes: &mut Notes,
) -> Vec<(usize, &'t DeTable<'t>)> {
    let begin = format!("begin each `{key}` with `[[{key}]]`");
    match value.get_ref() {
        DeValue::Array(elements) => {
            let mut tables = Vec::with_capacity(elements.len());
            for element in elements {
                if let DeValue::Table(table) = element.get_ref() {
                    tables.push((element.span().start, table));
                } else {
                    notes.error(element.span().start, begin.clone());
                }
            }
            tables
        }
        DeValue::Table(table) => {
            notes.error(value.span().start, format!("{begin}, in double brackets"));
            vec![(value.span().start, table)]
        }
        _ => {
            notes.error(value.span().start, begin);
            Vec::new()
        }
    }
}

/// What to say of a key that is no part of a roster.
fn stranger(key: &str) -> String {
    let name = shown(key);
    if let Some(meant) = nearest(key, &KEYS) {
        return format!("unknown key `{name}`: did you mean `[[{meant}]]`?");
    }
    if matches!(key, "billing" | "routing" | "mcp") {
        return format!("`{name}` is a section of `adjutant.toml`, not of the roster");
    }
    format!("unknown key `{name}`: a roster has `[[backend]]` and `[[endpoint]]`")
}
