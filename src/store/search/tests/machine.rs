//! Any texts, any queries: both engines and a model in plain Rust have the same records.

use std::collections::BTreeMap;

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use super::*;

/// How many sequences; `ADJUTANT_CASES` at compile time says otherwise.
const CASES: u32 = match option_env!("ADJUTANT_CASES") {
    Some(text) => match u32::from_str_radix(text, 10) {
        Ok(cases) => cases,
        Err(_) => 256,
    },
    None => 256,
};

/// Of each case, so that the cases before do not count.
const HOMES: [&str; 2] = ["a", "b"];

#[derive(Debug, Clone)]
enum Step {
    Put { home: usize, task: usize, text: String },
    Add { home: usize, text: String, note: String },
    Update { item: usize, note: String },
    Remove { item: usize },
    Move { from: usize },
    Search { query: String, homes: usize },
}

/// Texts that have much in common, beside any there are.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec![
            "a", "A", "á", "a\u{301}", "ab", "aB1", "ß", "SS", "ss", "ς", "Σ", "ﬁ", "fi", "İ", "ı",
            "検索", "索", "ｶﾞ", "カ", "한국", "한", "हिन्दी", "½", "1", "２", "e", "é", "x_y", "\u{ad}",
            "\u{200d}", "NOT", "AND", "OR", "NEAR",
        ]).prop_map(str::to_owned),
        4 => prop::sample::select(vec![
            " ", " ", " ", "-", "\n", ".", "\"", "'", "*", ":", "&", "|", "!", "(", ")", "\\", "^",
            "{", "+", "★", "§", "<->", "%", "\u{0301}",
        ]).prop_map(str::to_owned),
        2 => "\\PC{1,4}",
        1 => "[a-c]{1,3}",
    ];
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

fn step() -> impl Strategy<Value = Step> {
    let home = 0..HOMES.len();
    prop_oneof![
        4 => (home.clone(), 0..3_usize, text())
            .prop_map(|(home, task, text)| Step::Put { home, task, text }),
        4 => (home.clone(), text(), text())
            .prop_map(|(home, text, note)| Step::Add { home, text, note }),
        2 => (0..8_usize, text()).prop_map(|(item, note)| Step::Update { item, note }),
        1 => (0..8_usize).prop_map(|item| Step::Remove { item }),
        1 => home.prop_map(|from| Step::Move { from }),
        6 => (text(), 1..4_usize).prop_map(|(query, homes)| Step::Search { query, homes }),
    ]
}

/// An item as it should be, and its number in each store.
#[derive(Debug, Clone)]
struct Item {
    home: String,
    text: String,
    note: String,
    ids: Vec<BoardId>,
}

struct Machine<'f> {
    stores: Vec<&'f Store>,
    /// Sets this case's loci apart.
    case: u32,
    ledgers: BTreeMap<(String, usize), String>,
    items: Vec<Item>,
}

impl Machine<'_> {
    fn home(&self, home: usize) -> String {
        format!("{}{}", HOMES[home], self.case)
    }

    async fn take(&mut self, step: Step) {
        let count = self.items.len();
        match step {
            Step::Put { home, task, text } => {
                if text.trim().is_empty() {
                    return;
                }
                let home = self.home(home);
                for store in &self.stores {
                    put(store, &home, &format!("t{task}"), &text).await;
                }
                self.ledgers.insert((home, task), text);
            }
            Step::Add { home, text, note } => {
                if text.trim().is_empty() {
                    return;
                }
                let home = self.home(home);
                let mut ids = Vec::new();
                for store in &self.stores {
                    ids.push(item(store, &home, &text, &note).await);
                }
                self.items.push(Item { home, text, note, ids });
            }
            Step::Update { item, note } if count > 0 => {
                let item = &mut self.items[item % count];
                for (store, id) in self.stores.iter().zip(&item.ids) {
                    let change = todo::Change { note: Some(&note), ..todo::Change::default() };
                    todo::update(store, *id, change, None, Mode::Enforce, &all()).await.unwrap();
                }
                item.note = note;
            }
            Step::Remove { item } if count > 0 => {
                let item = self.items.remove(item % count);
                for (store, id) in self.stores.iter().zip(item.ids) {
                    todo::remove(store, id, &all()).await.unwrap();
                }
            }
            Step::Move { from } => {
                let (from, to) = (self.home(from), self.home(1 - from));
                for store in &self.stores {
                    todo::reassign(store, &from, &locus(&to), false).await.unwrap();
                }
                for item in self.items.iter_mut().filter(|item| item.home == from) {
                    item.home.clone_from(&to);
                }
            }
            Step::Search { query, homes } => self.search(&query, homes).await,
            Step::Update { .. } | Step::Remove { .. } => {}
        }
    }

    /// What is found of the loci whose bits are set is what the model says.
    async fn search(&self, text: &str, homes: usize) {
        let Ok(query) = Query::parse(text) else { return };
        let homes: Vec<String> = (0..HOMES.len())
            .filter(|home| homes >> home & 1 == 1)
            .map(|home| self.home(home))
            .collect();
        let rights = only(&homes.iter().map(String::as_str).collect::<Vec<_>>());
        let reached = |home: &String| homes.contains(home);
        let has_ledger = |((home, _), doc): &(&(String, usize), &String)| {
            reached(home) && has(&[doc.as_str()], &query)
        };
        let ledgers_of_model: BTreeSet<String> = (self.ledgers.iter().filter(has_ledger))
            .map(|((home, task), _)| format!("{home}/t{task}"))
            .collect();
        let wanted = Wanted { limit: 2, ..wanted(text, &rights) };
        let is_plain = query.terms().iter().all(|term| term.words.len() == 1);
        for (nth, store) in self.stores.iter().enumerate() {
            let found = ledgers(store, wanted.clone()).await.unwrap();
            let found_once: BTreeSet<String> = found.iter().cloned().collect();
            assert_eq!(found.len(), found_once.len(), "{text:?} on {}", store.engine());
            assert_eq!(found_once, ledgers_of_model, "{text:?} on {}", store.engine());

            let found: BTreeSet<i64> = items(store, wanted.clone()).await.into_iter().collect();
            let has_item =
                |item: &&Item| reached(&item.home) && has(&[&item.text, &item.note], &query);
            let of_model: BTreeSet<i64> =
                self.items.iter().filter(has_item).map(|item| item.ids[nth].number()).collect();
            assert_eq!(found, of_model, "{text:?} on {}", store.engine());

            // The index alone: no less, and where no order of words is asked for no more.
            let of_index = indexed(store, &ledger::INDEXED, &wanted).await;
            let names = of_index.iter().map(|key| format!("{}/{}", key.home, key.name));
            let names: BTreeSet<String> = names.collect();
            assert!(names.is_superset(&ledgers_of_model), "{text:?} on {}", store.engine());
            assert!(!is_plain || names == ledgers_of_model, "{text:?} on {}", store.engine());
        }
    }
}

#[test]
fn both_engines_find_what_a_model_finds() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let sqlite = runtime.block_on(Fixture::sqlite());
    let postgres = runtime.block_on(Fixture::postgres());
    let stores: Vec<&Store> =
        std::iter::once(&sqlite).chain(&postgres).map(|fixture| &fixture.store).collect();
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let case = std::cell::Cell::new(0);
    TestRunner::new(config)
        .run(&prop::collection::vec(step(), 1..14), |steps| {
            case.set(case.get() + 1);
            let (stores, case) = (stores.clone(), case.get());
            let mut machine = Machine { stores, case, ledgers: BTreeMap::new(), items: Vec::new() };
            runtime.block_on(async {
                for step in steps {
                    machine.take(step).await;
                }
            });
            Ok(())
        })
        .unwrap();
}
