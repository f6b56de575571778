//! The section `results`.

use std::{num::NonZeroUsize, time::Duration};

use bytesize::ByteSize;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error};

use super::{schema, settings::nonzero};

/// Replies that are too large for a model to read: they are shown in part, and kept whole for a
/// while.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Results {
    /// Whether replies over MCP are held to the three bounds below. Over HTTP they are where the
    /// request says `?clip=true`, whatever is said here.
    pub clip: bool,
    /// The most lines of a reply, at least 10.
    #[serde(deserialize_with = "lines")]
    pub lines: NonZeroUsize,
    /// The largest reply, text and structured content together as JSON, at least 1 KiB.
    #[serde(deserialize_with = "bytes")]
    #[schemars(schema_with = "schema::size")]
    pub bytes: ByteSize,
    /// The most tokens of a reply, estimated as one for every three bytes of it, at least 350.
    /// Clients cut or refuse what has more than 25,000.
    #[serde(deserialize_with = "tokens")]
    pub tokens: NonZeroUsize,
    /// Tools whose replies go out whole, whatever their size: those of `ts_list` are what a call
    /// needs whole, and are no larger than the catalogue.
    pub exempt: Vec<String>,
    /// How long a reply that was shown in part is kept whole.
    #[serde(with = "humantime_serde")]
    #[schemars(schema_with = "schema::duration")]
    pub keep: Duration,
    /// The most that is kept of one token; its oldest replies make room for new ones. Each counts
    /// 4 KiB besides its bytes: its JSON, and its text where the tool has one of its own.
    #[schemars(schema_with = "schema::size")]
    pub per_token: ByteSize,
    /// The most that is kept of all tokens together; the oldest replies of all make room.
    #[schemars(schema_with = "schema::size")]
    pub in_all: ByteSize,
}

impl Default for Results {
    fn default() -> Self {
        Self {
            clip: true,
            lines: nonzero(200),
            bytes: ByteSize::kib(16),
            tokens: nonzero(20_000),
            exempt: vec!["ts_list".to_owned()],
            keep: Duration::from_hours(24),
            per_token: ByteSize::mib(256),
            in_all: ByteSize::gib(1),
        }
    }
}

/// Lines of a reply: fewer hold no clipped one.
fn lines<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NonZeroUsize, D::Error> {
    at_least(10, NonZeroUsize::deserialize(deserializer)?)
}

/// Tokens of a reply: fewer hold no clipped one.
fn tokens<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NonZeroUsize, D::Error> {
    at_least(350, NonZeroUsize::deserialize(deserializer)?)
}

fn at_least<E: Error>(least: usize, count: NonZeroUsize) -> Result<NonZeroUsize, E> {
    if count.get() >= least { Ok(count) } else { Err(E::custom(format!("at least {least}"))) }
}

/// Bytes of a reply: fewer hold no clipped one.
fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ByteSize, D::Error> {
    let size = ByteSize::deserialize(deserializer)?;
    if size >= ByteSize::kib(1) { Ok(size) } else { Err(D::Error::custom("at least 1 KiB")) }
}
