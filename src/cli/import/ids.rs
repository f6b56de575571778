//! Ids that fit our pattern and are each one's own.

use std::collections::HashSet;

use roster::{Backend, MAX_ID};
use serde_json::Value;

use super::text::scalar;

/// The ids that are taken.
pub(super) struct Ids {
    /// As they stand in the file.
    seen: HashSet<String>,
    /// As they stand in ours.
    taken: HashSet<String>,
}

impl Ids {
    /// Reserves the ids that fit as they are, so that no mended one takes theirs.
    pub(super) fn of(entries: &[Value]) -> Self {
        let ids = entries.iter().filter_map(|entry| scalar(entry.get("id")?));
        Self { seen: HashSet::new(), taken: ids.filter(|id| Backend::is_id(id)).collect() }
    }

    /// Whether this is the first entry of that id.
    pub(super) fn first(&mut self, id: &str) -> bool {
        self.seen.insert(id.to_owned())
    }

    /// The id in our roster.
    pub(super) fn ours(&mut self, id: &str) -> String {
        if Backend::is_id(id) {
            return id.to_owned();
        }
        let slug = slug(id);
        let mut ours = slug.clone();
        let mut number = 2;
        while !self.taken.insert(ours.clone()) {
            let tail = format!("-{number}");
            let head: String = slug.chars().take(MAX_ID - tail.len()).collect();
            ours = head + &tail;
            number += 1;
        }
        ours
    }
}

/// The nearest id that fits: small letters, one `-` for each run of anything else.
pub(in crate::cli) fn slug(id: &str) -> String {
    let mut slug = String::new();
    for c in id.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' | '_' => slug.push(c),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    let slug: String = slug.trim_matches(['-', '_']).chars().take(MAX_ID).collect();
    if slug.is_empty() { "backend".to_owned() } else { slug }
}
