//! The feed of changes as clients read it: streams, waits, rights, replicas, crowds.

mod crowd;
mod replicas;
mod rights;
mod stream;
mod wait;

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use adjutant::store::{
    Committed, Store,
    feed::{KINDS, Op},
};

/// Says a change of a record.
async fn say(store: &Store, kind: &'static str, locus: &str, id: &str) -> Committed {
    let mut tx = store.begin().await.unwrap();
    tx.event(kind, locus, id, Op::Insert).await.unwrap();
    tx.commit().await.unwrap()
}

/// The time within which this share of them lie.
fn share(times: &mut [Duration], hundredths: usize) -> Duration {
    times.sort();
    times[(times.len() - 1) * hundredths / 100]
}

/// Every kind that a record's file says is one that readers can ask for.
#[test]
fn every_kind_that_is_said_is_in_the_list() {
    fn files(dir: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if path.file_name().unwrap() != "tests" {
                    files(&path, found);
                }
            } else if path.file_name().unwrap() != "tests.rs" {
                found.push(fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut texts = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store"), &mut texts);
    let mut said = BTreeSet::new();
    for text in &texts {
        // As a record's file names its kind, or says it in place.
        for start in [": &str = \"", ".event(\""] {
            for (at, _) in text.match_indices(start) {
                let line = text[..at].lines().last().unwrap_or_default();
                if start.starts_with('.') || line.trim_start().ends_with("const KIND") {
                    let word = text[at + start.len()..].split('"').next().unwrap();
                    said.insert(word.to_owned());
                }
            }
        }
    }
    let known: BTreeSet<String> = KINDS.iter().map(|kind| kind.name.to_owned()).collect();
    let unknown: Vec<_> = said.difference(&known).collect();
    assert!(unknown.is_empty(), "give {unknown:?} a line in src/store/feed/kinds.rs");
}
