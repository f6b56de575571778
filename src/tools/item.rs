//! Items of the board as tools take and show them.

use std::borrow::Cow;

use mcp::{
    Fault,
    schemars::{JsonSchema, Schema, SchemaGenerator, json_schema},
};
use serde::{Deserialize, Serialize};

use crate::{
    clock,
    store::{
        Committed, Moment,
        names::{BoardId, BoardType},
        todo::{Priority, Row, Verdict},
    },
};

/// The id of an item as a caller gives it: `t12`, `12`, or the number 12.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "the id of an item must be like `t12`, or its number")]
pub(super) enum ItemId {
    Text(String),
    Number(i64),
}

impl ItemId {
    /// The id.
    ///
    /// # Errors
    /// Invalid, with the rule.
    pub(super) fn read(&self) -> Result<BoardId, Fault> {
        let id = match self {
            Self::Text(text) => BoardId::parse(text),
            Self::Number(number) => BoardId::parse(&number.to_string()),
        };
        Ok(id.map_err(crate::store::Error::from)?)
    }
}

impl JsonSchema for ItemId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("ItemId")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}

/// An item. What is not set is left out, as the earlier server's clients know it; times are whole
/// seconds since 1970.
#[derive(Debug, Serialize)]
pub(super) struct Item {
    id: String,
    #[serde(rename = "type")]
    kind: BoardType,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<&'static str>,
    text: String,
    note: String,
    by: String,
    source: String,
    locus: String,
    created: i64,
    updated: i64,
    #[serde(rename = "ref", skip_serializing_if = "String::is_empty")]
    reference: String,
    #[serde(skip_serializing_if = "is_zero")]
    attempts: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    claimed_by: String,
    #[serde(skip_serializing_if = "is_zero")]
    claimed_at: i64,
    #[serde(skip_serializing_if = "is_zero")]
    lease_s: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_expires: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim_held: Option<bool>,
    #[serde(skip_serializing_if = "String::is_empty")]
    delivered_by: String,
    #[serde(skip_serializing_if = "is_zero")]
    delivered_at: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    sender_session: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    sender_lease: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    sender_locus: String,
}

/// In the lists of tools it would take more room than it is worth: the members by name alone.
impl JsonSchema for Item {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Item")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "id, type, status, text, note, by, source, locus, created, updated (seconds); where set priority, ref, claimed_by, lease_expires, claim_held (that lease is live), delivered_by and more"
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what `skip_serializing_if` calls")]
fn is_zero(count: &i64) -> bool {
    *count == 0
}

impl Item {
    /// An item as it is at a moment.
    pub(super) fn of(row: Row, at: Moment) -> Self {
        let is_claimed = !row.claimed_by.is_empty();
        Self {
            id: row.id().to_string(),
            kind: row.kind,
            status: row.status.name(),
            priority: row.priority.map(Priority::name),
            created: seconds(row.created),
            updated: seconds(row.updated),
            attempts: row.attempts,
            claimed_at: seconds(row.claimed_at),
            lease_s: row.lease_s,
            lease_expires: row.lease_expires(at).map(seconds),
            claim_held: is_claimed.then(|| row.is_held(at)),
            delivered_at: seconds(row.delivered_at),
            text: row.text,
            note: row.note,
            by: row.by,
            source: row.source,
            locus: row.locus,
            reference: row.reference,
            claimed_by: row.claimed_by,
            delivered_by: row.delivered_by,
            sender_session: row.sender_session,
            sender_lease: row.sender_lease,
            sender_locus: row.sender_locus,
        }
    }
}

/// Whole seconds since 1970.
pub(super) fn seconds(micros: i64) -> i64 {
    micros.div_euclid(1_000_000)
}

/// How an item is claimed: the reply of every tool that claims, renews, releases or delivers.
#[derive(Debug, Serialize)]
pub(super) struct Claim {
    /// Whether the call was answered; a claim that somebody else has is.
    pub(super) ok: bool,
    /// Whether this call was granted the lease.
    pub(super) won: bool,
    id: String,
    locus: String,
    claimed_by: Option<String>,
    claimed_at: Option<i64>,
    lease_s: Option<i64>,
    lease_expires: Option<i64>,
    #[serde(rename = "claim_held")]
    is_held: bool,
    attempts: i64,
    delivered_by: Option<String>,
    delivered_at: Option<i64>,
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    committed_at: Option<String>,
}

impl JsonSchema for Claim {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Claim")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "ok, won, id, locus, claimed_by, claimed_at, lease_s, lease_expires (seconds), claim_held, attempts, delivered_by, delivered_at, reason (why not), token? and committed_at? of the lease"
        })
    }
}

impl Claim {
    /// How an item is claimed; the token is only for who was just granted it, or has shown it.
    pub(super) fn of(row: &Row, at: Moment, token: Option<i64>) -> Self {
        let claimed = Some(&row.claimed_by).filter(|by| !by.is_empty());
        let delivered = Some(&row.delivered_by).filter(|by| !by.is_empty());
        Self {
            ok: true,
            won: false,
            id: row.id().to_string(),
            locus: row.locus.clone(),
            claimed_by: claimed.cloned(),
            claimed_at: claimed.map(|_| seconds(row.claimed_at)),
            lease_s: claimed.map(|_| row.lease_s),
            lease_expires: row.lease_expires(at).map(seconds),
            is_held: row.is_held(at),
            attempts: row.attempts,
            delivered_by: delivered.cloned(),
            delivered_at: delivered.map(|_| seconds(row.delivered_at)),
            reason: None,
            token,
            committed_at: None,
        }
    }

    /// What became of a claim.
    pub(super) fn claimed(verdict: &Verdict) -> Self {
        let won = verdict.why.is_none();
        let token = won.then_some(verdict.row.fence);
        Self { won, ..Self::of(&verdict.row, verdict.at, token) }.judged(verdict)
    }

    /// With why nothing was done, or when it was.
    pub(super) fn judged(mut self, verdict: &Verdict) -> Self {
        self.reason = verdict.reason();
        self.committed_at = verdict.committed.map(|committed| proof(&committed));
        self
    }

    /// With when it stood.
    pub(super) fn committed(mut self, committed: &Committed) -> Self {
        self.committed_at = Some(proof(committed));
        self
    }
}

/// When something stood, for a reply's `committed_at`.
pub(super) fn proof(committed: &Committed) -> String {
    clock::rfc3339(committed.at)
}

/// Reads one word of a closed set; nothing and an empty text are none.
///
/// # Errors
/// Invalid, with the right ones.
pub(super) fn word<T>(
    name: &str,
    given: Option<&str>,
    of: impl Fn(&str) -> Option<T>,
    right: &[&str],
) -> Result<Option<T>, Fault> {
    let Some(given) = given.map(str::trim).filter(|given| !given.is_empty()) else {
        return Ok(None);
    };
    of(given).map(Some).ok_or_else(|| {
        let given = crate::untrusted::one_line(given, 60);
        let right = right.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        Fault::invalid(format!("there is no {name} `{given}`: it is one of {right}"))
    })
}

/// The type of an item, as a new one may have it.
pub(super) fn kind(given: Option<&str>) -> Result<Option<BoardType>, Fault> {
    let new = |word: &str| BoardType::of(word).filter(|kind| *kind != BoardType::Message);
    let right = BoardType::ALL.map(BoardType::name);
    let right: Vec<_> = right.into_iter().filter(|name| *name != "message").collect();
    word("type", given, new, &right)
}

/// How much an item presses.
pub(super) fn priority(given: Option<&str>) -> Result<Option<Priority>, Fault> {
    word("priority", given, Priority::of, &Priority::ALL.map(Priority::name))
}

/// How many rows a list has at most: what was asked for up to `most`; `usual` when nothing was, or 0.
pub(super) fn limit(asked: Option<i64>, usual: i64, most: i64) -> i64 {
    asked.filter(|asked| *asked > 0).unwrap_or(usual).min(most)
}
