//! Loci: whose records there are. A locus is a name with a kind, a goal and, where it is found,
//! an endpoint and a pointer.
//!
//! A locus is never removed. An archived one keeps its name taken, and stays archived whoever
//! registers it again, until somebody asks for it to be active. What stands here is what was
//! registered; whether anybody lives there is for the seats to say.

mod endpoint;
mod machine;
mod pointer;
mod read;
#[cfg(test)]
mod tests;

use mcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{
    endpoint::Endpoint,
    machine::{default, default_in, machine, machine_in},
    pointer::{Pointer, Ssh, merge, ssh},
    read::{Filter, at, get, list},
};
use super::{Committed, Error, Row, Store, Tx, feed::Op, names::Keeper};

/// The kind of these records in the feed.
pub const KIND: &str = "locus";

/// The longest goal, in characters.
pub const LONGEST_GOAL: usize = 400;

/// What a locus is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[schemars(crate = "mcp::schemars")]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A virtual machine.
    Vm,
    /// A machine with a station, as one login sees it.
    #[default]
    Station,
    /// One session of a harness.
    Session,
    /// A piece of work that was handed off.
    Handoff,
    /// A login on a host that is reached by ssh.
    Ssh,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Vm, Self::Station, Self::Session, Self::Handoff, Self::Ssh];

    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vm => "vm",
            Self::Station => "station",
            Self::Session => "session",
            Self::Handoff => "handoff",
            Self::Ssh => "ssh",
        }
    }

    /// The kind of a name, in any case.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the right ones.
    pub fn parse(name: &str) -> Result<Self, Error> {
        one_of("kind", name, &Self::ALL, Self::name)
    }
}

/// Whether a locus is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It is.
    Active,
    /// Not any more.
    Archived,
}

impl Status {
    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
        }
    }

    /// The status of a name, in any case.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the right ones.
    pub fn parse(name: &str) -> Result<Self, Error> {
        one_of("status", name, &[Self::Active, Self::Archived], Self::name)
    }
}

/// The word of a closed set that a text names.
fn one_of<T: Copy>(
    what: &str,
    text: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<T, Error> {
    let found = all.iter().find(|one| name(**one).eq_ignore_ascii_case(text.trim()));
    found.copied().ok_or_else(|| {
        let all = all.iter().map(|one| format!("`{}`", name(*one))).collect::<Vec<_>>();
        let given = crate::untrusted::one_line(text, 40);
        Error::Invalid(format!("`{what}` is one of {}, not `{given}`", all.join(", ")))
    })
}

/// A locus as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its name.
    pub locus: Keeper,
    /// What it is.
    pub kind: Kind,
    /// What it is for; empty when nobody said.
    pub goal: String,
    /// `user@host[:port]` as it was given; empty when nobody said.
    pub endpoint: String,
    /// Where it is found, by keys; `None` when none was ever given.
    pub pointer: Option<Pointer>,
    /// Whether it is in use.
    pub status: Status,
    /// When it was first registered, in microseconds of UTC.
    pub created: i64,
    /// When it was last changed, in microseconds of UTC.
    pub updated: i64,
}

impl Record {
    /// How it is reached by ssh: as its pointer says, else its endpoint.
    pub fn ssh(&self) -> Option<Ssh> {
        self.pointer.as_ref().and_then(ssh).or_else(|| {
            let place = self.endpoint.parse().ok()?;
            Some(Ssh { place, key: String::new() })
        })
    }

    /// Whether it stands for this place.
    pub fn stands_for(&self, place: &Endpoint) -> bool {
        self.place() == place.to_string()
    }

    /// The place that the locus itself stands for. A session is at a place and is none.
    fn place(&self) -> String {
        match self.kind {
            Kind::Session | Kind::Handoff => String::new(),
            Kind::Vm | Kind::Station | Kind::Ssh => {
                self.ssh().map(|ssh| ssh.place.to_string()).unwrap_or_default()
            }
        }
    }

    fn of(row: &Row) -> Result<Self, Error> {
        let damaged = |what: &str| Error::Internal(format!("a locus has no right `{what}`"));
        let pointer: Option<String> = row.get(4)?;
        let pointer = pointer.map(|text| serde_json::from_str(&text)).transpose();
        Ok(Self {
            locus: row.get::<String>(0)?.parse().map_err(|_| damaged("locus"))?,
            kind: Kind::parse(&row.get::<String>(1)?).map_err(|_| damaged("kind"))?,
            goal: row.get(2)?,
            endpoint: row.get(3)?,
            pointer: pointer.map_err(|_| damaged("pointer"))?,
            status: Status::parse(&row.get::<String>(5)?).map_err(|_| damaged("status"))?,
            created: row.get(6)?,
            updated: row.get(7)?,
        })
    }
}

/// What somebody says of a locus.
#[derive(Debug, Clone, PartialEq)]
pub struct Registration {
    /// Its name.
    pub locus: Keeper,
    /// What it is, whatever it was before.
    pub kind: Kind,
    /// What it is for, at most [`LONGEST_GOAL`] characters; empty: as it was.
    pub goal: String,
    /// `user@host[:port]`; empty: as it was.
    pub endpoint: String,
    /// What to merge into its pointer, by keys.
    pub pointer: Option<Pointer>,
    /// Whether an archived one becomes active again.
    pub reactivate: bool,
}

impl Registration {
    /// The name and the kind alone.
    pub fn new(locus: Keeper, kind: Kind) -> Self {
        let (goal, endpoint) = (String::new(), String::new());
        Self { locus, kind, goal, endpoint, pointer: None, reactivate: false }
    }

    /// Whether it is within bounds.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::TooLarge`].
    pub fn check(&self) -> Result<(), Error> {
        self.upon(None, 0).map(drop)
    }

    /// What the locus is after this. Pure.
    fn upon(&self, old: Option<Record>, now: i64) -> Result<Record, Error> {
        let (goal, endpoint) = (self.goal.trim(), self.endpoint.trim());
        if goal.chars().count() > LONGEST_GOAL {
            let words = format!("`goal` has more than {LONGEST_GOAL} characters: shorten it");
            return Err(Error::TooLarge(words));
        }
        if let Some(odd) = goal.chars().find(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
        {
            let words = format!(
                "`goal` holds the control character U+{:04X}: leave it out",
                u32::from(odd)
            );
            return Err(Error::Invalid(words));
        }
        if !endpoint.is_empty() {
            endpoint.parse::<Endpoint>()?;
        }
        let mut record = old.unwrap_or_else(|| Record {
            locus: self.locus.clone(),
            kind: self.kind,
            goal: String::new(),
            endpoint: String::new(),
            pointer: None,
            status: Status::Active,
            created: now,
            updated: now,
        });
        record.kind = self.kind;
        record.updated = now;
        if !goal.is_empty() {
            goal.clone_into(&mut record.goal);
        }
        if !endpoint.is_empty() {
            endpoint.clone_into(&mut record.endpoint);
        }
        if let Some(patch) = &self.pointer {
            record.pointer = Some(merge(record.pointer.unwrap_or_default(), patch)?);
        }
        if self.reactivate {
            record.status = Status::Active;
        }
        Ok(record)
    }
}

/// The columns of a [`Record`], in its order.
macro_rules! columns {
    () => {
        "locus, kind, goal, endpoint, pointer, status, created, updated"
    };
}
use columns;

/// Registers a locus, or says more of one that is there.
///
/// # Errors
/// [`Error::Invalid`], [`Error::TooLarge`]; those of a write.
pub async fn register(
    store: &Store,
    registration: &Registration,
) -> Result<(Record, Committed), Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let record = register_in(&mut tx, registration).await?;
            Ok((record, tx.commit().await?))
        })
        .await
}

/// As [`register`], within a transaction. After an error the transaction is to be given up.
///
/// # Errors
/// As [`register`].
pub async fn register_in(tx: &mut Tx, registration: &Registration) -> Result<Record, Error> {
    let new = registration.upon(None, tx.now())?;
    if insert(tx, &new).await? {
        return Ok(new);
    }
    // This write holds the row until the end: what is read with it is what is written upon.
    let old = tx
        .sql(concat!("UPDATE loci SET updated = $2 WHERE locus = $1 RETURNING ", columns!()))
        .bind(new.locus.as_str())
        .bind(new.updated)
        .one()
        .await?;
    let record = registration.upon(Some(Record::of(&old)?), tx.now())?;
    tx.sql("UPDATE loci SET kind = $2, goal = $3, endpoint = $4, place = $5, pointer = $6, status = $7 WHERE locus = $1")
        .bind(record.locus.as_str())
        .bind(record.kind.name())
        .bind(&*record.goal)
        .bind(&*record.endpoint)
        .bind(record.place())
        .bind(record.pointer.as_ref().map(pointer::text))
        .bind(record.status.name())
        .run()
        .await?;
    let locus = record.locus.as_str();
    tx.event(KIND, locus, locus, Op::Update).await?;
    Ok(record)
}

/// Whether it was put there: false when the name is taken, and then nothing was changed.
async fn insert(tx: &mut Tx, record: &Record) -> Result<bool, Error> {
    let count = tx
        .sql("INSERT INTO loci (locus, kind, goal, endpoint, place, pointer, status, created, updated) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (locus) DO NOTHING")
        .bind(record.locus.as_str())
        .bind(record.kind.name())
        .bind(&*record.goal)
        .bind(&*record.endpoint)
        .bind(record.place())
        .bind(record.pointer.as_ref().map(pointer::text))
        .bind(record.status.name())
        .bind(record.created)
        .bind(record.updated)
        .run()
        .await?;
    if count == 1 {
        let locus = record.locus.as_str();
        tx.event(KIND, locus, locus, Op::Insert).await?;
    }
    Ok(count == 1)
}

/// Archives a locus; one that is archived already stays as it is.
///
/// # Errors
/// [`Error::NotFound`]; those of a write.
pub async fn archive(store: &Store, locus: &Keeper) -> Result<(Record, Committed), Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let record = archive_in(&mut tx, locus).await?;
            let record = record.ok_or_else(|| {
                Error::NotFound(format!(
                    "there is no locus `{locus}`: `loci_list` names those that are"
                ))
            })?;
            Ok((record, tx.commit().await?))
        })
        .await
}

/// As [`archive`], within a transaction; `None` when there is no such locus.
///
/// # Errors
/// Those of a write.
pub async fn archive_in(tx: &mut Tx, locus: &Keeper) -> Result<Option<Record>, Error> {
    let now = tx.now();
    let changed = tx
        .sql(concat!("UPDATE loci SET status = 'archived', updated = $2 WHERE locus = $1 AND status = 'active' RETURNING ", columns!()))
        .bind(locus.as_str())
        .bind(now)
        .opt()
        .await?;
    match changed {
        Some(row) => {
            tx.event(KIND, locus.as_str(), locus.as_str(), Op::Update).await?;
            Record::of(&row).map(Some)
        }
        None => get(tx, locus).await,
    }
}
