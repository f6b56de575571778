//! Every tool, in one walkable list.

use std::collections::HashMap;

use crate::{Caller, Entry, Fault};

/// The tools by name, in the order of their names.
pub struct Catalogue<S> {
    entries: Vec<Entry<S>>,
    by_name: HashMap<&'static str, usize>,
}

impl<S: Clone + Send + Sync + 'static> Catalogue<S> {
    /// A catalogue of these tools; of two with one name the first stands (a test holds that there
    /// are none).
    pub fn new(mut entries: Vec<Entry<S>>) -> Self {
        entries.sort_by_key(|entry| entry.spec.name);
        entries.dedup_by_key(|entry| entry.spec.name);
        let by_name = entries.iter().enumerate().map(|(at, entry)| (entry.spec.name, at)).collect();
        Self { entries, by_name }
    }

    /// Every tool, whoever may call it: for documents and for the faces' routes.
    pub fn entries(&self) -> &[Entry<S>] {
        &self.entries
    }

    /// The tool of that name, if it exists for this caller.
    ///
    /// # Errors
    /// `not_found`, in the same words whether the tool does not exist or is not allowed.
    pub fn get(&self, name: &str, caller: &Caller) -> Result<&Entry<S>, Fault> {
        self.by_name
            .get(name)
            .and_then(|at| self.entries.get(*at))
            .filter(|entry| caller.allows(&entry.spec))
            .ok_or_else(|| Fault::no_tool(&name.chars().take(80).collect::<String>()))
    }

    /// Every tool that this caller may call.
    pub fn allowed(&self, caller: &Caller) -> impl Iterator<Item = &Entry<S>> {
        self.entries.iter().filter(move |entry| caller.allows(&entry.spec))
    }

    /// The tools that `tools/list` shows to this caller.
    pub fn listed(&self, caller: &Caller) -> impl Iterator<Item = &Entry<S>> {
        self.entries.iter().filter(move |entry| caller.lists(&entry.spec))
    }
}
