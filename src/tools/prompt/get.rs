//! `prompt_get`: one prompt, with its files.

use std::io::ErrorKind;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{
    row::{Row, pointer},
    shelf, work,
};
use crate::{
    app::App,
    store::{Error, names::PromptId, prompt},
    tools::loci::given,
    untrusted,
};

/// Arguments of `prompt_get`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct PromptGet {
    /// Which one, such as `p3`.
    id: String,
    /// Whether the content of its files is answered too, as base64. Default false.
    #[serde(default)]
    with_files: bool,
    /// With `with_files`: of this file alone. Absent: of all.
    #[serde(default)]
    file: Option<String>,
}

/// The reply of `prompt_get`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    #[serde(flatten)]
    row: Row,
    /// How a session on the server's machine finds it.
    pointer: String,
}

impl Tool<App> for PromptGet {
    const SPEC: Spec = Spec {
        title: "Read a prompt",
        about: "What a person submitted, with `with_files` the content of its files. These are where the server that took it keeps them: a file that is not there says so, and the others come.",
        ..Spec::new("prompt_get", "/prompt/get", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let id = PromptId::parse(&self.id).map_err(Error::from)?;
        let stored = prompt::find(&cx.app.store, id, &cx.caller.rights).await?;
        let shelf = shelf(&cx.app)?;
        let place = stored.place.clone();
        let pointer = pointer(&shelf, &place, stored.files.iter().map(|file| &*file.name));
        let wanted = given(self.file.as_deref());
        if let Some(name) = wanted.filter(|name| stored.files.iter().all(|file| file.name != *name))
        {
            let name = untrusted::one_line(name, 60);
            return Err(Error::NotFound(format!(
                "`{id}` has no file `{name}`: `prompt_get` without `file` names them"
            ))
            .into());
        }
        let mut row = Row::of(stored, &shelf);
        if self.with_files {
            for file in &mut row.files {
                if wanted.is_some_and(|name| name != file.name) {
                    continue;
                }
                let (from, at, name, size) =
                    (shelf.clone(), place.clone(), file.name.clone(), file.size);
                match work(move || from.read(&at, &name, size)).await? {
                    Ok(bytes) => file.b64 = Some(BASE64_STANDARD.encode(bytes)),
                    Err(error) => {
                        tracing::warn!(prompt = %id, %error, "a file of a prompt cannot be read");
                        file.error = Some(missing(error.kind()).to_owned());
                    }
                }
            }
        }
        Ok(Reply { row, pointer })
    }
}

/// Why a file's content is not here, in words for the caller.
fn missing(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => {
            "this server has not kept it: ask the server that took the prompt, at whose machine `path` is"
        }
        ErrorKind::FileTooLarge | ErrorKind::InvalidInput => {
            "what is in its place is not what was submitted: ask for it to be submitted again"
        }
        _ => "it cannot be read at this moment: call again later",
    }
}
