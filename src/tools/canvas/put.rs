//! `canvas_put`: a canvas written whole.

use std::borrow::Cow;

use mcp::{
    Call, Fault, Scope, Spec, Tool,
    schemars::{JsonSchema, Schema, SchemaGenerator, json_schema},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    app::App,
    clock,
    store::canvas::{self, Canvas, Document, Draft, Kind, Written},
    tools::{
        item::{proof, seconds},
        loci,
    },
};

/// A document, or the text of one.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct State(Value);

impl State {
    /// The document.
    fn read(self) -> Result<Value, Fault> {
        match self.0 {
            Value::String(text) => serde_json::from_str(&text).map_err(|error| {
                Fault::invalid(format!(
                    "`state` is a text and no JSON: {error}; give the object itself, nothing was written"
                ))
            }),
            state => Ok(state),
        }
    }
}

impl JsonSchema for State {
    fn schema_name() -> Cow<'static, str> {
        "State".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["object", "string"] })
    }
}

/// Arguments of `canvas_put`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CanvasPut {
    /// Whose canvas, such as `web-7`.
    locus: String,
    /// `flow` or `design`.
    kind: String,
    /// The whole document, at most 524288 bytes. A flow: `{"schema": "flow.v1", "nodes": [{"id",
    /// "role", "label", "x", "y", "w", "h"}, …], "edges": [{"from", "to", "label"}, …]}`, at most 600
    /// nodes, each id once, each edge between two of them; `rev` in it is the least revision to
    /// have. A design: `{"shapes": [{"x", "y", "w", "h", "role", "label"}, …]}`, at most 300. Other
    /// keys are kept.
    state: State,
    /// The `rev` that you read: if somebody wrote since, nothing is written and the answer is 409
    /// with the current `rev`. 0: it must not exist yet. Absent: writes over whatever is there.
    #[serde(default)]
    expected_rev: Option<i64>,
    /// Who writes, at most 40 characters.
    #[serde(default)]
    by: String,
    /// What changed, at most 500 characters.
    #[serde(default)]
    note: String,
    /// Whether to tell the board of the locus of a change, as a request. Default false.
    #[serde(default)]
    notify: bool,
}

/// The reply of `canvas_put`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Receipt {
    /// Whose it is, in its one spelling.
    locus: String,
    /// `design` or `flow`.
    kind: &'static str,
    /// Its revision: give it as `expected_rev` of the next write.
    rev: i64,
    /// False when that document was there already: then nothing was written.
    changed: bool,
    /// When it was last written, in unix seconds.
    updated: i64,
    /// The document as it is stored.
    state: Value,
    /// The request on the board that tells of the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    notified: Option<String>,
    /// Since when it stands so, as RFC 3339 in UTC.
    committed_at: String,
}

impl Tool<App> for CanvasPut {
    const SPEC: Spec = Spec {
        title: "Write a canvas",
        about: "Write the whole drawing of a locus; one that breaks a rule of its kind changes nothing. Give `expected_rev` so that nobody's change is lost. Earlier revisions stay readable.",
        idempotent: true,
        tightened: true,
        ..Spec::new("canvas_put", "/canvas/put", Scope::Write)
    };
    type Reply = Receipt;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Receipt, Fault> {
        let locus = loci::named(&cx.caller, &self.locus)?;
        let document = Document::read(Kind::parse(&self.kind)?, self.state.read()?)?;
        let draft = Draft {
            locus: &locus,
            document: &document,
            by: &self.by,
            note: &self.note,
            expected_rev: self.expected_rev,
            notify: self.notify,
        };
        let (written, committed) = canvas::put(&cx.app.store, &draft).await?;
        let Written { head, changed, notified } = written;
        let committed_at = if changed { proof(&committed) } else { clock::rfc3339(head.updated) };
        let Canvas { head, state } = document.stored(head)?;
        Ok(Receipt {
            locus: head.locus,
            kind: head.kind.name(),
            rev: head.rev,
            changed,
            updated: seconds(head.updated),
            state,
            notified: notified.map(|id| id.to_string()),
            committed_at,
        })
    }
}
