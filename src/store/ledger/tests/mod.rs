mod document;
mod race;
mod write;

use super::{
    super::{
        Error, Store,
        names::{Locus, Task},
    },
    *,
};

fn locus(text: &str) -> Locus {
    Locus::parse(text).unwrap()
}

fn task(text: &str) -> Task {
    Task::parse(text).unwrap()
}

/// Writes a document, changed by what is given.
async fn write(
    store: &Store,
    name: &str,
    doc: &str,
    change: impl Fn(&mut Draft<'_>),
) -> Result<Written, Error> {
    let (locus, task) = (locus("alpha"), task(name));
    let mut draft = Draft::new(&locus, &task, doc);
    change(&mut draft);
    super::put(store, &draft).await.map(|(written, _)| written)
}

async fn look(store: &Store, name: &str) -> Ledger {
    let mut conn = store.read().await.unwrap();
    super::get(&mut conn, &locus("alpha"), Some(&task(name))).await.unwrap()
}
