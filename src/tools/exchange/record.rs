//! `exchange_record`: what was asked and answered.

use std::borrow::Cow;

use mcp::{
    Call, Fault, Scope, Spec, Tool,
    schemars::{JsonSchema, Schema, SchemaGenerator, json_schema},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{locus, number, origin, row::seconds};
use crate::{
    app::App,
    store::exchange::{self, Content, Draft, Tokens, Way},
    tools::item::proof,
};

/// Arguments of `exchange_record`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct ExchangeRecord {
    /// Whose it is, such as `web-7`.
    locus: String,
    /// What was asked, at most 200,000 characters; empty when only an answer is known.
    prompt: String,
    /// What was answered, at most 200,000 characters; empty when there is none yet.
    response: String,
    /// Your own name of the turn, at most 200 characters: recorded again, the turn takes in what is
    /// new. Without it each call makes another exchange.
    #[serde(default)]
    turn: String,
    /// The model that answered, at most 80 characters.
    #[serde(default)]
    model: String,
    /// What it points to, such as `{"files": […]}`: at most 128 KiB as JSON.
    #[serde(default)]
    pointers: Pointers,
    /// All tokens.
    #[serde(default)]
    tokens: Option<f64>,
    /// Seconds that it took.
    #[serde(default)]
    duration_s: Option<f64>,
    /// The session that it is of, at most 128 characters: the same turn of it under another locus is
    /// one exchange.
    #[serde(default)]
    session_id: String,
    /// By what it is recorded, at most 40 characters.
    #[serde(default)]
    source: String,
    /// Tokens that went in and were in no cache.
    #[serde(default)]
    input_tokens: Option<f64>,
    /// Tokens that came out.
    #[serde(default)]
    output_tokens: Option<f64>,
    /// Tokens that were read from the cache.
    #[serde(default)]
    cache_read_tokens: Option<f64>,
    /// Tokens that were written to the cache.
    #[serde(default)]
    cache_creation_tokens: Option<f64>,
    /// US dollars.
    #[serde(default)]
    cost_usd: Option<f64>,
    /// For how many seconds the cache lives.
    #[serde(default)]
    cache_ttl_s: Option<f64>,
    /// Until when the cache lives, in seconds of UTC.
    #[serde(default)]
    cache_expires_at: Option<f64>,
    /// When it was, in seconds of UTC; absent, or ahead of the server's clock: now.
    #[serde(default)]
    ts: Option<f64>,
    /// Whose words the prompt is: `operator` or `harness`; absent: told from the prompt.
    #[serde(default)]
    origin: Option<String>,
}

/// An object or a list; a text is one as JSON, or is pointed to as `raw`.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
struct Pointers(Option<Value>);

impl Pointers {
    fn read(self) -> Option<Value> {
        let value = match self.0? {
            Value::String(text) => {
                let parsed = serde_json::from_str::<Value>(&text).ok();
                let parsed = parsed.filter(|value| value.is_object() || value.is_array());
                let raw = || (!text.trim().is_empty()).then(|| json!({ "raw": text }));
                parsed.or_else(raw)
            }
            other => Some(other),
        };
        // Nothing to point to is no pointer.
        value.filter(|value| match value {
            Value::Object(members) => !members.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => false,
        })
    }
}

impl JsonSchema for Pointers {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Pointers")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["object", "array", "string", "null"] })
    }
}

/// Whether the exchange gives reason to look again at what its locus is at.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Tripwire {
    /// Whether it does: then an assessment that awaits a closer look was noted.
    fired: bool,
    /// How much its prompt asks for, from 0 to 1.
    signal: f64,
    /// How old the last assessment of the locus is, in seconds, where none was noted.
    #[serde(skip_serializing_if = "Option::is_none")]
    age_s: Option<i64>,
    /// The number of the assessment that was noted.
    #[serde(skip_serializing_if = "Option::is_none")]
    assessment_id: Option<i64>,
}

impl From<exchange::Tripwire> for Tripwire {
    fn from(wire: exchange::Tripwire) -> Self {
        Self {
            fired: wire.fired,
            signal: (wire.signal * 100.0).round() / 100.0,
            age_s: wire.age_s.filter(|_| !wire.fired),
            assessment_id: wire.assessment,
        }
    }
}

/// The reply of `exchange_record`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// `x` and its number.
    id: String,
    /// Whose it is: where the session's turn was there under another locus, that one.
    locus: String,
    /// The turn's name as it is kept.
    turn: String,
    /// When it was, in seconds of UTC.
    ts: i64,
    /// Whose words the prompt is.
    origin: &'static str,
    /// Whether its locus wants a look.
    tripwire: Tripwire,
    /// The locus that was named, where the turn is under another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    merged_from_locus: Option<String>,
    /// False when all of it was there already.
    changed: bool,
    /// When it stood, as RFC 3339 in UTC.
    committed_at: String,
    #[serde(skip)]
    nuls: usize,
}

impl Tool<App> for ExchangeRecord {
    const SPEC: Spec = Spec {
        title: "Record an exchange",
        about: "Keep what was asked and answered in a turn of a session. Recorded again under the same `turn`, the longer texts, the later time and what is newly said stay.",
        ..Spec::new("exchange_record", "/exchange/record", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = locus(&cx.caller, &self.locus)?;
        let tokens = Tokens {
            total: number::count("tokens", self.tokens)?,
            input: number::count("input_tokens", self.input_tokens)?,
            output: number::count("output_tokens", self.output_tokens)?,
            cache_read: number::count("cache_read_tokens", self.cache_read_tokens)?,
            cache_creation: number::count("cache_creation_tokens", self.cache_creation_tokens)?,
            cost_usd: self.cost_usd,
            duration_s: self.duration_s,
            cache_ttl_s: number::count("cache_ttl_s", self.cache_ttl_s)?,
            cache_expires_at: number::moment("cache_expires_at", self.cache_expires_at)?,
        };
        let content = Content {
            turn: self.turn,
            session_id: self.session_id,
            source: self.source,
            model: self.model,
            origin: origin(self.origin.as_deref())?,
            ts: number::moment("ts", self.ts)?.unwrap_or_default(),
            primed: 0,
            tokens,
            pointers: self.pointers.read(),
            prompt: self.prompt,
            response: self.response,
        };
        let draft = Draft { locus: locus.clone(), content };
        let (recorded, committed) =
            exchange::record(&cx.app.store, draft, &cx.caller.rights).await?;
        let elsewhere = recorded.locus != locus.as_str();
        Ok(Reply {
            id: recorded.id.to_string(),
            turn: recorded.content.turn,
            ts: seconds(recorded.content.ts),
            origin: recorded.content.origin.map_or("operator", exchange::Origin::name),
            tripwire: recorded.tripwire.into(),
            merged_from_locus: elsewhere.then(|| locus.to_string()),
            changed: recorded.way != Way::Same,
            committed_at: proof(&committed),
            nuls: recorded.nuls,
            locus: recorded.locus,
        })
    }

    fn warnings(reply: &Reply) -> Vec<String> {
        let nuls = reply.nuls;
        let words = format!("{nuls} NUL characters, which no record can hold, were left out");
        (nuls > 0).then_some(words).into_iter().collect()
    }
}
