//! One rolling state as it is stored.

use serde::Deserialize;

use crate::{
    reduce::State,
    store::{self, Error, exchange::Position},
};

/// A rolling state. Times are in microseconds of UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its number.
    pub number: i64,
    /// Whose it is.
    pub locus: String,
    /// When it was rolled up.
    pub ts: i64,
    /// What made it: [`super::PLAIN`], with the model that worded it.
    pub model: String,
    /// How many exchanges were new in it.
    pub exchanges: i64,
    /// The place of the last exchange in it.
    pub upto: Position,
    /// The state.
    pub state: State,
}

/// The columns that [`Row::read`] reads, in its order.
macro_rules! columns {
    () => {
        "id, locus, ts, model, n_exchanges, upto_ts, upto_id, state"
    };
}
pub(super) use columns;

impl Row {
    /// Reads the columns of `columns!`.
    pub(super) fn read(row: &store::Row) -> Result<Self, Error> {
        Ok(Self {
            number: row.get(0)?,
            locus: row.get(1)?,
            ts: row.get(2)?,
            model: row.get(3)?,
            exchanges: row.get(4)?,
            upto: Position { ts: row.get(5)?, id: row.get(6)? },
            state: parsed(&row.get::<String>(7)?)?,
        })
    }
}

/// A state in its place among others, without its lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// Its number.
    pub number: i64,
    /// When it was rolled up.
    pub ts: i64,
    /// What made it.
    pub model: String,
    /// How many exchanges were new in it.
    pub exchanges: i64,
    /// When the last exchange in it was.
    pub upto_ts: i64,
    /// What was wanted.
    pub objective: String,
}

impl Past {
    /// Reads the columns of `columns!`.
    pub(super) fn read(row: &store::Row) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Wanted {
            objective: String,
        }
        let wanted: Wanted = parsed(&row.get::<String>(7)?)?;
        Ok(Self {
            number: row.get(0)?,
            ts: row.get(2)?,
            model: row.get(3)?,
            exchanges: row.get(4)?,
            upto_ts: row.get(5)?,
            objective: wanted.objective,
        })
    }
}

fn parsed<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::Internal(format!("a rolling state: {error}")))
}
