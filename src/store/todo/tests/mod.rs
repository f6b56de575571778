//! Items of the board, on both engines.

mod content;
mod lease;
mod machine;
mod race;

use std::time::Duration;

use mcp::{Rights, Scope};

use super::*;
use crate::store::{
    Error, Store,
    board::format::Mode,
    names::{BoardId, BoardType, Locus},
    tests::Fixture,
};

/// The rights of who reaches everything.
fn all() -> Rights {
    Rights { scope: Scope::Operator, loci: None }
}

/// The rights of who reaches one locus.
fn only(locus: &str) -> Rights {
    Rights { scope: Scope::Destroy, loci: Some([locus.to_owned()].into()) }
}

fn locus(name: &str) -> Locus {
    Locus::parse(name).unwrap()
}

fn id(text: &str) -> BoardId {
    BoardId::parse(text).unwrap()
}

/// A new item of the locus `alpha`.
async fn item(store: &Store, text: &str) -> BoardId {
    let alpha = locus("alpha");
    let new = New::of(BoardType::Todo, &alpha, text);
    add(store, new, Mode::Enforce).await.unwrap().0.row.id()
}

async fn row(store: &Store, id: BoardId) -> Row {
    find(store, id, &all()).await.unwrap().0
}

/// Lets time pass by the clock of leases: PostgreSQL's own cannot be moved, so the leases are.
async fn pass(fixture: &Fixture, time: Duration) {
    fixture.clock.pass(time);
    if fixture.store.engine() == "postgresql" {
        let mut tx = fixture.store.begin().await.unwrap();
        let micros = i64::try_from(time.as_micros()).unwrap();
        let text = "UPDATE todos SET lease_until = lease_until - $1 WHERE claimed_by <> ''";
        tx.sql(text).bind(micros).run().await.unwrap();
        tx.commit().await.unwrap();
    }
}

fn is_conflict<T: std::fmt::Debug>(outcome: &Result<T, Error>) -> bool {
    matches!(outcome, Err(Error::Conflict(_)))
}
