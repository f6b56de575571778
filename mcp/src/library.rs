//! What a client may read by its address, and be told of when it changes: texts that the application
//! keeps, each kind of them a [`Shelf`].
//!
//! A shelf stands beside a tool that reads the same. Who may not call the tool has none of the shelf,
//! on whichever way they ask.

use std::{collections::HashMap, fmt, sync::Arc};

use futures::{future::BoxFuture, stream::BoxStream};
use serde_json::{Map, Value};

use crate::{Caller, Fault};

/// What a shelf answers.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, Fault>>;

/// A form of addresses, as RFC 6570 writes it: `adjutant://ledger/{locus}/{task}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// The form.
    pub uri: &'static str,
    /// A name for programs.
    pub name: &'static str,
    /// A short title for people.
    pub title: &'static str,
    /// What is read there, for a model.
    pub about: &'static str,
    /// The media type of what is read.
    pub mime: &'static str,
}

/// A text that is there, without it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resource {
    /// Its address, in the one spelling.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// A title for people.
    pub title: Option<String>,
    /// What it is, for a model: one line.
    pub about: Option<String>,
    /// Its media type.
    pub mime: &'static str,
    /// When it was last written, as RFC 3339.
    pub modified: Option<String>,
}

/// A page of what is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// At most as many as were asked for.
    pub items: Vec<Resource>,
    /// The shelf's own word for where the next page begins; none behind the last.
    pub next: Option<String>,
}

/// A text that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Its address, in the one spelling.
    pub uri: String,
    /// Its media type.
    pub mime: &'static str,
    /// The whole of it.
    pub text: String,
    /// What is known of it besides, by names of the protocol's form: `adjutant/rev`.
    pub meta: Map<String, Value>,
}

/// An argument that a client is about to write.
#[derive(Debug, Clone, Copy)]
pub struct Begun<'a> {
    /// Its name, as the template has it.
    pub name: &'a str,
    /// What is written of it.
    pub value: &'a str,
    /// The arguments that are written already.
    pub others: &'a HashMap<String, String>,
}

/// How an argument may go on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    /// Whole values, in order; at most [`Completion::MOST`].
    pub values: Vec<String>,
    /// Whether there are more.
    pub more: bool,
}

impl Completion {
    /// The most values of one answer: the protocol's own bound.
    pub const MOST: usize = 100;

    /// Those of these values that begin so, of which there may be one more than fits.
    pub fn of(values: impl IntoIterator<Item = String>, begun: &str) -> Self {
        let mut values: Vec<String> =
            values.into_iter().filter(|value| value.starts_with(begun)).collect();
        let more = values.len() > Self::MOST;
        values.truncate(Self::MOST);
        Self { values, more }
    }
}

/// A change of a record, as the application's feed tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The kind of record.
    pub kind: String,
    /// Whose it is.
    pub locus: String,
    /// Which one.
    pub id: String,
    /// Whether it is new or gone: a list shows another one then.
    pub is_listed: bool,
}

/// What a reader of changes is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// What changed since the last time.
    Changed(Vec<Change>),
    /// More than is known: anything may have changed.
    Lost,
}

/// One kind of text. Each of them checks what the caller may read, at the moment of reading.
pub trait Shelf<S>: Send + Sync + 'static {
    /// The tool that reads the same.
    fn tool(&self) -> &'static str;

    /// What every address here begins with, and none elsewhere.
    fn root(&self) -> &'static str;

    /// The forms of its addresses.
    fn templates(&self) -> &'static [Template];

    /// What is there for this caller, at most so many from `after` on.
    fn list<'a>(
        &'a self,
        app: &'a S,
        caller: &'a Caller,
        after: Option<&'a str>,
        limit: usize,
    ) -> Answer<'a, Listed>;

    /// The text of an address that begins with [`root`](Self::root).
    fn read<'a>(&'a self, app: &'a S, caller: &'a Caller, uri: &'a str) -> Answer<'a, Text>;

    /// How an argument of its templates may go on, for this caller.
    fn complete<'a>(
        &'a self,
        app: &'a S,
        caller: &'a Caller,
        begun: Begun<'a>,
    ) -> Answer<'a, Completion>;

    /// Whether it is an address in its one spelling of something that can change.
    fn is_followed(&self, uri: &str) -> bool;

    /// The address of a record that changed, where it is one of this shelf's.
    fn address(&self, change: &Change) -> Option<String>;
}

/// What marks a moment in the changes.
pub type Feed<S> = fn(&S) -> Mark;

/// A moment in the changes: what tells a caller of those that came after it and concern them.
pub type Mark = Box<dyn FnOnce(Arc<Caller>) -> BoxStream<'static, News> + Send>;

/// The shelves, in the order in which they are listed, and where their changes are told.
pub struct Library<S> {
    /// The shelves.
    pub shelves: Vec<Box<dyn Shelf<S>>>,
    /// Where their changes are told.
    pub feed: Feed<S>,
}

impl<S> Default for Library<S> {
    /// Nothing to read.
    fn default() -> Self {
        Self { shelves: Vec::new(), feed: |_| Box::new(|_| Box::pin(futures::stream::pending())) }
    }
}

impl<S: 'static> fmt::Debug for Library<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roots = self.shelves.iter().map(|shelf| shelf.root());
        f.debug_list().entries(roots).finish()
    }
}
