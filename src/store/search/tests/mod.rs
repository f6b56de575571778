//! Records found by their words, on both engines.

mod index;
mod machine;
mod pages;

use std::{collections::BTreeSet, ops::ControlFlow, sync::Arc};

use mcp::{Rights, Scope};

use super::{Found, Indexed, Wanted, find::candidates};
use crate::{
    reading::find::{Query, words},
    store::{
        Error, Store,
        board::format::Mode,
        exchange,
        ledger::{self, Draft},
        names::{BoardId, BoardType, Locus, Task},
        tests::{Fixture, on_both},
        todo::{self, Filter, New},
    },
};

/// The rights of who reaches everything.
fn all() -> Rights {
    Rights { scope: Scope::Operator, loci: None }
}

/// The rights of who reaches these loci.
fn only(loci: &[&str]) -> Rights {
    Rights { scope: Scope::Read, loci: Some(loci.iter().map(ToString::to_string).collect()) }
}

fn locus(name: &str) -> Locus {
    Locus::parse(name).unwrap()
}

async fn put(store: &Store, home: &str, name: &str, doc: &str) {
    let (locus, task) = (locus(home), Task::parse(name).unwrap());
    ledger::put(store, &Draft::new(&locus, &task, doc)).await.unwrap();
}

async fn item(store: &Store, home: &str, text: &str, note: &str) -> BoardId {
    let locus = locus(home);
    let new = New { note, ..New::of(BoardType::Todo, &locus, text) };
    todo::add(store, new, Mode::Enforce).await.unwrap().0.row.id()
}

fn query(text: &str) -> Arc<Query> {
    Arc::new(Query::parse(text).unwrap())
}

fn wanted<'a>(text: &str, rights: &'a Rights) -> Wanted<'a> {
    Wanted { query: query(text), rights, locus: None, after: None, limit: 100 }
}

/// All pages of a search for ledgers: their names as `locus/task`.
async fn ledgers(store: &Store, mut wanted: Wanted<'_>) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    loop {
        let found = ledger::search(store, &wanted, None).await?;
        let name = |hit: &super::Hit<ledger::Ledger>| {
            format!("{}/{}", hit.record.head.locus, hit.record.head.task)
        };
        names.extend(found.hits.iter().map(name));
        wanted.after = found.next;
        if wanted.after.is_none() {
            return Ok(names);
        }
    }
}

/// The ledgers that have a query, in order.
async fn named(store: &Store, text: &str) -> Vec<String> {
    let mut names = ledgers(store, wanted(text, &all())).await.unwrap();
    names.sort();
    names
}

/// All pages of a search for items.
async fn items(store: &Store, mut wanted: Wanted<'_>) -> Vec<i64> {
    let mut numbers = Vec::new();
    loop {
        let Found { hits, next } = todo::search(store, &wanted, Filter::default()).await.unwrap();
        numbers.extend(hits.iter().map(|hit| hit.record.number));
        wanted.after = next;
        if next.is_none() {
            return numbers;
        }
    }
}

/// What the index alone has for a query, before any record is looked at.
async fn indexed(store: &Store, kind: &Indexed, wanted: &Wanted<'_>) -> BTreeSet<super::Key> {
    let mut conn = store.read().await.unwrap();
    let (mut keys, mut after) = (BTreeSet::new(), None);
    loop {
        let found = candidates(&mut conn, kind, wanted, after).await.unwrap();
        let Some((last, _)) = found.last() else { return keys };
        after = Some(*last);
        keys.extend(found.into_iter().map(|(_, key)| key));
    }
}

/// Whether texts have a query, said as simply as can be.
fn has(texts: &[&str], query: &Query) -> bool {
    let list = |text: &&str| {
        let mut list = Vec::new();
        words(text, |_, word| {
            list.push(word.to_owned());
            ControlFlow::Continue(())
        });
        list
    };
    let lists: Vec<Vec<String>> = texts.iter().map(list).collect();
    query.terms().iter().all(|term| {
        lists.iter().any(|list| {
            list.windows(term.words.len()).any(|window| {
                window.iter().zip(&term.words).all(|(word, wanted)| {
                    *word == wanted.text || (wanted.is_prefix && word.starts_with(&wanted.text))
                })
            })
        })
    })
}

/// One number that is stored.
async fn count(store: &Store, text: &'static str) -> i64 {
    store.read().await.unwrap().sql(text).one().await.unwrap().get(0).unwrap()
}

/// The rows of the index; those of the words are as many.
async fn rows(fixture: &Fixture) -> i64 {
    let rows = count(&fixture.store, "SELECT count(*) FROM search_docs").await;
    if fixture.store.engine() == "sqlite" {
        let words = count(&fixture.store, "SELECT count(*) FROM search_words_docsize").await;
        assert_eq!(rows, words);
    }
    rows
}
