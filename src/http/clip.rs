//! A reply over HTTP that its caller wants to be no larger than a model can read: `?clip=true`.

use std::sync::Arc;

use mcp::{
    Caller, Fault, Origin,
    clip::{ASKER, Budget, Draft, Notice, Policy, READER, Whole, body, body_fits, layout},
};
use serde_json::{Map, Value, json};

use super::Shared;

type Body = Map<String, Value>;

/// What clips one reply.
pub(super) struct Clip {
    shared: Arc<Shared>,
    caller: Arc<Caller>,
    tool: &'static str,
    policy: Policy,
}

/// A reply in lines has no whole that could be clipped.
pub(super) fn no_lines() -> Fault {
    Fault::invalid(
        "`clip` is of a reply in one piece: leave it out, or `application/x-ndjson` in `Accept`",
    )
}

impl Clip {
    pub(super) fn new(shared: &Arc<Shared>, caller: Arc<Caller>, tool: &'static str) -> Self {
        let policy = shared.web.app.policy();
        Self { shared: shared.clone(), caller, tool, policy }
    }

    /// What the reply is held to.
    pub(super) fn budget(&self) -> Budget {
        self.policy.budget
    }

    /// The body of a reply.
    pub(super) async fn result(self, body: Body, origin: Option<Origin>) -> Body {
        let (tool, output) = match &origin {
            Some(origin) => (origin.tool, Value::Object(origin.output.as_ref().clone())),
            None => (self.tool, json!({})),
        };
        let schema = json!({ "properties": { "result": output }, "required": ["result"] });
        let whole = |body: &Body| body.get("result").map(layout).unwrap_or_default();
        self.held(body, tool, &schema, "/result", whole).await
    }

    /// The body of a failure.
    pub(super) async fn fault(self, body: Body) -> Body {
        let schema = json!({ "required": ["error", "code"] });
        let whole = |body: &Body| {
            let record = Some(Value::Object(body.clone()));
            Draft { record, ..Draft::default() }.whole("", "").json
        };
        let tool = self.tool;
        self.held(body, tool, &schema, "", whole).await
    }

    async fn held(
        self,
        given: Body,
        tool: &'static str,
        schema: &Value,
        kept_at: &str,
        whole: impl FnOnce(&Body) -> String,
    ) -> Body {
        let exempt = self.policy.exempts(self.tool) || self.policy.exempts(tool);
        if exempt || body_fits(&given, self.policy.budget) {
            return given;
        }
        let may = |tool| self.shared.web.catalogue.get(tool, &self.caller).is_ok();
        let token = self.caller.name.clone();
        let is_error = kept_at.is_empty();
        let whole = Whole { token, tool, is_error, json: whole(&given), text: None };
        let kept = if may(READER) {
            self.shared.web.app.keep(&whole).await
        } else {
            Err(format!("this token may not call `{READER}`, which would read it"))
        };
        let notice = Notice::new(&whole, kept, may(ASKER));
        let none = Body::new();
        body(given, schema.as_object().unwrap_or(&none), self.policy.budget, &notice, kept_at)
    }
}
