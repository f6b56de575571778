//! `exchange_search`: exchanges found by the words of their prompt and response.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{given, origin, row::seconds};
use crate::{
    app::App,
    store::exchange::{self, Filter},
    tools::found::{Excerpt, Page, Search, title},
};

/// Arguments of `exchange_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct ExchangeSearch {
    #[serde(flatten)]
    search: Search,
    /// Only of this session.
    #[serde(default)]
    session_id: Option<String>,
    /// Only those whose prompts are words of the `operator`, or of the `harness`.
    #[serde(default)]
    origin: Option<String>,
}

/// An exchange that was found.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// Its id: `exchange_get` shows it whole.
    id: String,
    /// Whose it is.
    locus: String,
    /// The session that it is of.
    session_id: String,
    /// The writer's own name of the turn.
    turn: String,
    /// Whose words the prompt is: `operator` or `harness`.
    origin: &'static str,
    /// When it was, in unix seconds.
    ts: i64,
    /// The first line of its prompt, at most 120 characters of it.
    title: String,
    /// Passages of its `prompt` and `response`, at most three.
    excerpts: Vec<Excerpt>,
}

impl Row {
    fn of(row: exchange::Row, excerpts: Vec<Excerpt>) -> Self {
        Self {
            id: row.id().to_string(),
            title: title(&row.prompt),
            locus: row.locus,
            session_id: row.session_id,
            turn: row.turn,
            origin: row.origin.name(),
            ts: seconds(row.ts),
            excerpts,
        }
    }
}

impl Tool<App> for ExchangeSearch {
    const SPEC: Spec = Spec {
        title: "Search exchanges",
        about: "The exchanges whose prompt or response have certain words, with the passages that show them. What was recorded before the call is found.",
        ..Spec::new("exchange_search", "/exchange/search", Scope::Read)
    };
    type Reply = Page<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Page<Row>, Fault> {
        let asked = self.search.read(&cx.caller)?;
        let filter = Filter {
            session: given(self.session_id.as_deref()),
            origin: origin(self.origin.as_deref())?,
        };
        let found = exchange::search(&cx.app.store, &asked.wanted(&cx.caller), filter).await?;
        Ok(Page::of(
            found,
            |row| vec![("prompt", &row.prompt), ("response", &row.response)],
            Row::of,
        ))
    }
}
