//! `session_release`: a pulled session is over.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use crate::{
    app::App,
    store::handoff::{self, Released, State},
    tools::handoff::{
        claim::Reply,
        row::{Id, said},
    },
};

/// Arguments of `session_release`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SessionRelease {
    /// The session's handoff, such as `h3`.
    id: Id,
    /// `done` (default) or `abandoned`.
    #[serde(default)]
    status: Option<String>,
}

impl Tool<App> for SessionRelease {
    const SPEC: Spec = Spec {
        title: "Release a pulled session",
        about: "End a session that was pulled: its handoff is done or abandoned, and its locus archived. The seat itself is not ended, which is its station's to do.",
        idempotent: true,
        ..Spec::new("session_release", "/session/release", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let to = match said(self.status.as_deref()) {
            None => State::Done,
            Some(word) => State::parse(word)
                .ok()
                .filter(|state| state.is_over())
                .ok_or_else(|| Fault::invalid("`status` is `done` or `abandoned`"))?,
        };
        let Released { row, changed, committed } =
            handoff::release(&cx.app.store, self.id.read()?, to, &cx.caller.rights).await?;
        Ok(Reply::of(&row, changed, committed.at))
    }
}
