//! `prompt_submit`: a person's words for the sessions of a locus.

use std::io;

use mcp::{Call, Code, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{
    file::{Sent, TEXT, names},
    row::pointer,
    shelf, work,
};
use crate::{
    app::App,
    clock, ids,
    store::prompt::{self, File, New},
    tools::{
        item::{proof, seconds},
        loci,
    },
};

/// Arguments of `prompt_submit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct PromptSubmit {
    /// Whose sessions it is for, such as `web-7`.
    locus: String,
    /// What it says, at most 262144 characters. May be empty where there are files.
    #[serde(default)]
    text: String,
    /// Files, at most 20 and 64 MiB together.
    #[serde(default)]
    files: Vec<Sent>,
    /// Who submits it, at most 80 characters.
    #[serde(default)]
    by: String,
    /// Which session it is for, at most 128 characters. Default `repl`.
    #[serde(default = "repl")]
    session: String,
    /// By what it is submitted, at most 64 characters. Default `station`.
    #[serde(default = "station")]
    source: String,
}

fn repl() -> String {
    "repl".to_owned()
}

fn station() -> String {
    "station".to_owned()
}

/// The reply of `prompt_submit`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Its id, such as `p3`.
    id: String,
    /// Whose sessions it is for.
    locus: String,
    /// Which session.
    session: String,
    /// The directory of its files, on the machine of the server.
    path: String,
    /// The file of its text there.
    prompt_path: String,
    /// How a session finds it, in words for it.
    pointer: String,
    /// What the files are called, in their order.
    files: Vec<String>,
    /// The item of the board that tells of it.
    board_id: String,
    /// When it was submitted, in unix seconds.
    ts: i64,
    /// Since when it stands, with all its files, as RFC 3339 in UTC.
    committed_at: String,
}

impl Tool<App> for PromptSubmit {
    const SPEC: Spec = Spec {
        title: "Submit a prompt",
        about: "Put a person's text and files into the inbox of a locus, for its sessions to deal with; an item on the board tells of it. All of it is kept, or nothing.",
        ..Spec::new("prompt_submit", "/prompt/submit", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = loci::named(&cx.caller, &self.locus)?;
        let shelf = shelf(&cx.app)?;
        let names = names(&self.files);
        // Before anything is decoded: the count alone is known to be bounded by the body.
        let most = prompt::MOST_FILES;
        if names.len() > most {
            return Err(Fault::new(
                Code::TooLarge,
                format!(
                    "`files` has {} members, and may have {most}: submit several prompts",
                    names.len()
                ),
            ));
        }
        let (sent, given) = (self.files, names.clone());
        let (files, mut written) = work(move || unpack(given, sent)).await??;
        written.push((TEXT.to_owned(), self.text.clone().into_bytes()));
        let place = place(locus.as_str(), cx.app.store.now())?;
        let pointer = pointer(&shelf, &place, names.iter().map(String::as_str));
        let new = New {
            locus: &locus,
            text: &self.text,
            by: &self.by,
            session: &self.session,
            source: &self.source,
            files: &files,
            place: &place,
            pointer: &pointer,
        };
        let quota = cx.app.settings.prompts.quota.as_u64();
        let quota = i64::try_from(quota).unwrap_or(i64::MAX);
        let store = &cx.app.store;
        let reserved = prompt::reserve(store, new, quota).await?;
        let (to, at) = (shelf.clone(), place.clone());
        if let Err(error) = work(move || to.put(&at, &written)).await? {
            // Should this fail too, the room is given back in a day.
            if let Err(error) = prompt::give_up(store, reserved).await {
                tracing::warn!(detail = ?error, "the room of a prompt is given back later");
            }
            return Err(unwritten(&error));
        }
        let (row, committed) = prompt::submit(store, reserved, new).await?;
        let path = shelf.path(&place);
        Ok(Reply {
            id: row.id().to_string(),
            locus: row.locus,
            session: row.session,
            prompt_path: path.join(TEXT).display().to_string(),
            path: path.display().to_string(),
            pointer,
            files: names,
            board_id: row.board,
            ts: seconds(row.created),
            committed_at: proof(&committed),
        })
    }
}

/// A file's name and its bytes.
type Written = (String, Vec<u8>);

/// The files under their names, and what is to be written.
fn unpack(names: Vec<String>, sent: Vec<Sent>) -> Result<(Vec<File>, Vec<Written>), Fault> {
    let mut files = Vec::with_capacity(names.len());
    let mut written = Vec::with_capacity(names.len() + 1);
    for (name, sent) in names.into_iter().zip(sent) {
        let bytes = sent.bytes()?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        files.push(File { name: name.clone(), kind: sent.kind, size });
        written.push((name, bytes));
    }
    Ok((files, written))
}

/// The directory of a new prompt: whose it is, when, and what no other has.
fn place(locus: &str, now: i64) -> Result<String, Fault> {
    let random = ids::instance().map_err(|error| Fault::internal(error.to_string()))?;
    let digits: String =
        clock::rfc3339(now).chars().filter(char::is_ascii_digit).take(14).collect();
    Ok(format!("{locus}-{digits}-{random}"))
}

fn unwritten(error: &io::Error) -> Fault {
    Fault::new(
        Code::Unavailable,
        "the files cannot be kept at this moment: submit them again later",
    )
    .detail(error.to_string())
}
