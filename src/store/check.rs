//! Looking the records over, whether or not a server runs on them. Nothing is written.

use super::{OpenError, Place, file, postgres, sqlite};

/// What was found of the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where they are, in words.
    pub place: String,
    /// The newest step of their schema; `None` when there are none yet.
    pub step: Option<i64>,
    /// Everything that is wrong with them; nothing when they are sound.
    pub problems: Vec<String>,
}

/// The records as far as their schema: whose they are, and at which step.
///
/// # Errors
/// [`OpenError`].
pub async fn probe(place: &Place) -> Result<Found, OpenError> {
    match place {
        Place::Dir(dir) => sqlite::look(&file(dir), false).await,
        Place::Postgres { url, .. } => postgres::look(url).await,
    }
}

/// As [`probe`], and every page of a SQLite file is read and held against all others, which takes
/// its time. PostgreSQL looks after its own pages: there it is the connection and the schema.
///
/// # Errors
/// [`OpenError`].
pub async fn check(place: &Place) -> Result<Found, OpenError> {
    match place {
        Place::Dir(dir) => sqlite::look(&file(dir), true).await,
        Place::Postgres { .. } => probe(place).await,
    }
}
