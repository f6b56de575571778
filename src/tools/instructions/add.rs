//! `instructions_add`: a document contributed.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    store::instruction::{self, New, Path},
    tools::{
        home,
        item::{proof, seconds},
    },
};

/// Arguments of `instructions_add`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct InstructionsAdd {
    /// Where: `instructions/` and 1 to 8 parts of letters, digits, `.`, `_` and `-`, such as
    /// `instructions/web-7/deploy`. Each path is given once.
    path: String,
    /// The document in Markdown, at most 262144 bytes.
    text: String,
    /// What it is called, at most 200 characters. Absent: its first line.
    #[serde(default)]
    title: String,
    /// Who you are, at most 128 characters: readers are shown it, and your token's name.
    #[serde(default)]
    created_by: String,
    /// Whose readers it is for. Absent: everybody's; with a token for one locus that one's, and with
    /// a token for several one must be named.
    #[serde(default)]
    locus: Option<String>,
}

/// How it is read.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct How {
    /// The tool.
    name: &'static str,
    /// Its arguments.
    arguments: Arguments,
}

/// Arguments of `instructions_read`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Arguments {
    /// The path.
    path: String,
}

/// The reply of `instructions_add`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// True.
    created: bool,
    /// The route that serves its text.
    path: String,
    /// Its name, in its one spelling.
    key: String,
    /// What it is called.
    title: String,
    /// Who wrote it, as they say.
    created_by: String,
    /// Whose readers it is for; empty: everybody.
    locus: String,
    /// When it came, in unix seconds.
    created_at: i64,
    /// How it is read.
    read: How,
    /// Since when it stands, as RFC 3339 in UTC.
    committed_at: String,
}

impl Tool<App> for InstructionsAdd {
    const SPEC: Spec = Spec {
        title: "Contribute an instruction",
        about: "Leave a document for the models that work here, under a path that is given once: nothing is written over. It is shown with your name and your token's.",
        ..Spec::new("instructions_add", "/instructions/add", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let path = Path::contributed(&self.path)?;
        let locus = home::own(&cx.caller, self.locus.as_deref())?;
        let new = New {
            path: &path,
            text: &self.text,
            title: &self.title,
            by: &self.created_by,
            token: &cx.caller.name,
            locus: &locus,
        };
        let (entry, committed) = instruction::add(&cx.app.store, new).await?;
        Ok(Reply {
            created: true,
            path: format!("/{path}/"),
            title: entry.title,
            created_by: self.created_by.trim().to_owned(),
            created_at: seconds(committed.at),
            read: How {
                name: "instructions_read",
                arguments: Arguments { path: path.to_string() },
            },
            key: path.to_string(),
            committed_at: proof(&committed),
            locus,
        })
    }
}
