//! The sections of the records, and of the tools over them.

use std::{num::NonZeroU32, time::Duration};

use bytesize::ByteSize;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::{DefaultLocus, schema};

/// Where the records are.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Store {
    /// A PostgreSQL database, as `postgres://user:password@host:5432/name`: for several servers over
    /// the same records. Everything is in its schema `adjutant`, which the user must be allowed to
    /// make. Absent: SQLite, in `<data dir>/adjutant.db`.
    #[schemars(with = "Option<String>")]
    pub database_url: Option<SecretString>,
    /// The most connections of this server to PostgreSQL, at least 2.
    pub connections: NonZeroU32,
}

impl Default for Store {
    fn default() -> Self {
        Self { database_url: None, connections: NonZeroU32::new(16).unwrap_or(NonZeroU32::MIN) }
    }
}

/// The items of boards.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Board {
    /// What is done with an `operator` item or a `proposal` that lacks the form of its type.
    pub format: Check,
}

/// What is done with what lacks its form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// It is refused, with every problem named.
    #[default]
    Enforce,
    /// It is stored, and the reply names its problems.
    Warn,
    /// It is not looked at.
    Off,
}

/// Leases on the items of boards.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lease {
    /// The shortest lease that a claim is given, in whole seconds (a part of one counts as one); an
    /// hour is the longest.
    #[serde(with = "humantime_serde")]
    #[schemars(schema_with = "schema::duration")]
    pub min: Duration,
}

impl Default for Lease {
    fn default() -> Self {
        Self { min: Duration::from_secs(5) }
    }
}

/// The feed of changes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Events {
    /// How many of the newest changes stay in the database, for readers that come back, at least 1;
    /// the oldest are removed once a minute. Servers over one database should agree.
    pub keep: NonZeroU32,
}

impl Default for Events {
    fn default() -> Self {
        Self { keep: NonZeroU32::new(100_000).unwrap_or(NonZeroU32::MIN) }
    }
}

/// Exchanges, and the archives of conversations.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Exchanges {
    /// How many of the newest exchanges of a locus stay, at least 1; the oldest are removed once an
    /// hour. Servers over one database should agree, here and on the other keys.
    pub keep: NonZeroU32,
    /// The most that the archives of one locus have together; one that goes beyond that is refused.
    #[schemars(schema_with = "schema::size")]
    pub archive_quota: ByteSize,
    /// How long an archive stays after it was last written.
    #[serde(with = "humantime_serde")]
    #[schemars(schema_with = "schema::duration")]
    pub archive_keep: Duration,
    /// As `archive_keep`, for archives that are the results of tools: those whose `source` begins
    /// with `mcp-result:`.
    #[serde(with = "humantime_serde")]
    #[schemars(schema_with = "schema::duration")]
    pub result_keep: Duration,
}

impl Default for Exchanges {
    fn default() -> Self {
        Self {
            keep: NonZeroU32::new(100_000).unwrap_or(NonZeroU32::MIN),
            archive_quota: ByteSize::gib(1),
            // A year as durations are written: 365.25 days.
            archive_keep: Duration::from_hours(8_766),
            result_keep: Duration::from_hours(30 * 24),
        }
    }
}

/// Loci that are registered at each start, where their names are free.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Loci {
    /// The loci, each as `name=user@host[:port]` or `name=user@host[:port]|goal`. One that is
    /// registered already is left as it is, archived or not. Empty: see `machine`.
    #[schemars(with = "Vec<String>")]
    pub default: Vec<DefaultLocus>,
    /// Whether the machine itself is registered where `default` names no locus: as `<host>-<login>`
    /// with its primary address and the login of the server. Better false where a machine's
    /// address does not last, as in a container.
    pub machine: bool,
    /// A second login of the machine to register with it, where there is such an account. Empty:
    /// none.
    pub station_user: String,
}

impl Default for Loci {
    fn default() -> Self {
        Self { default: Vec::new(), machine: true, station_user: "vm_mgr".to_owned() }
    }
}

/// Questions about a text, a ledger or a file (`b_ask`).
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct B {
    /// Who is asked where the call names nobody: a model or the id of a backend of the roster. One
    /// that is paid by the call is not taken from here. Absent, or not in the roster: the cheapest
    /// backend that is good at `summarization`, else the first local one.
    pub model: Option<String>,
}

/// Exchanges rolled up into what the next seat has to know (`assess_roll`).
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rolling {
    /// Whether a backend words the objective and the text for the next seat where a call does not
    /// say. It has half a minute, and what it says is taken only within the bounds of both.
    pub polish: bool,
    /// Who does that: a model or the id of a backend of the roster. One that is paid by the call is
    /// not taken from here. Absent, or not in the roster: the cheapest backend that is good at
    /// `summarization`, else the first local one.
    pub polish_model: Option<String>,
}

/// What is judged of a locus's focus (`assess_submit`).
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Assess {
    /// Whether items that came up go on the board by themselves. Otherwise they are proposed in the
    /// assessment.
    pub autofile: bool,
    /// The loci on whose boards they do, where `autofile` is false.
    pub autofile_loci: Vec<String>,
}

/// What people submit for sessions (`prompt_submit`).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Prompts {
    /// The most bytes of all prompts together, with their files, which are in `<data dir>/prompts`.
    /// One that is done goes 30 days later. Servers over one database should agree.
    #[schemars(schema_with = "schema::size")]
    pub quota: ByteSize,
}

impl Default for Prompts {
    fn default() -> Self {
        Self { quota: ByteSize::gib(1) }
    }
}
