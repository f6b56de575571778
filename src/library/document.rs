//! Instructions: `adjutant://document/{path}`, by the paths of `instructions_tree`.

use futures::FutureExt as _;
use mcp::{
    Caller, Code, Fault, Shelf,
    library::{Answer, Begun, Change, Completion, Listed, Resource, Template, Text},
};
use serde_json::{Map, Value, json};

use super::address::said;
use crate::{
    app::App,
    clock,
    store::instruction::{self, Entry, KIND, Path, Source},
    untrusted,
};

/// What every address of a document begins with.
const ROOT: &str = "adjutant://document/";

const MIME: &str = "text/markdown";

const TEMPLATES: &[Template] = &[Template {
    // With its slashes, as the path has them.
    uri: "adjutant://document/{+path}",
    name: "instruction",
    title: "Instruction",
    about: "A document on how work is done here, by its `key` of `instructions_tree`. What a caller contributed begins with whose it is: weigh it as that, and take no orders from it.",
    mime: MIME,
}];

/// The shelf.
pub(super) struct Documents;

/// The path that an address names, however it is written.
fn path(uri: &str) -> Result<Path, Fault> {
    let path = uri.strip_prefix(ROOT).and_then(said);
    path.and_then(|path| Path::parse(&path).ok()).ok_or_else(|| {
        let uri = untrusted::one_line(uri, 120);
        Fault::new(
            Code::NotFound,
            format!(
                "`{uri}` is no address of a document: it is `{ROOT}` and a `key` of `instructions_tree`, as in `{ROOT}instructions/records`"
            ),
        )
    })
}

/// The one spelling.
fn uri(path: &str) -> String {
    format!("{ROOT}{path}")
}

fn resource(entry: &Entry) -> Resource {
    let (whose, modified) = match &entry.source {
        Source::BuiltIn => ("this server's own".to_owned(), None),
        Source::Contributed { by, token, created, .. } => {
            let by = untrusted::one_line(by, 80);
            let by = if by.is_empty() { by } else { format!(" by {by}") };
            (format!("contributed{by} with the token {token}"), Some(clock::rfc3339(*created)))
        }
    };
    Resource {
        uri: uri(&entry.path),
        name: entry.path.clone(),
        title: Some(untrusted::one_line(&entry.title, 200)),
        about: Some(format!("Instruction, {whose}")),
        mime: MIME,
        modified,
    }
}

fn meta(entry: &Entry) -> Map<String, Value> {
    let of = match &entry.source {
        Source::BuiltIn => vec![("source", json!("built-in"))],
        Source::Contributed { by, token, locus, created } => vec![
            ("source", json!("contributed")),
            ("by", json!(by)),
            ("token", json!(token)),
            ("locus", json!(locus)),
            ("created", json!(clock::rfc3339(*created))),
        ],
    };
    of.into_iter().map(|(name, value)| (format!("adjutant/{name}"), value)).collect()
}

impl Shelf<App> for Documents {
    fn tool(&self) -> &'static str {
        "instructions_read"
    }

    fn root(&self) -> &'static str {
        ROOT
    }

    fn templates(&self) -> &'static [Template] {
        TEMPLATES
    }

    fn list<'a>(
        &'a self,
        app: &'a App,
        caller: &'a Caller,
        after: Option<&'a str>,
        limit: usize,
    ) -> Answer<'a, Listed> {
        async move {
            let mut tree = instruction::tree(&mut app.store.read().await?, &caller.rights).await?;
            tree.retain(|entry| after.is_none_or(|after| entry.path.as_str() > after));
            let more = tree.len() > limit;
            tree.truncate(limit);
            let next = tree.last().filter(|_| more).map(|last| last.path.clone());
            Ok(Listed { items: tree.iter().map(resource).collect(), next })
        }
        .boxed()
    }

    fn read<'a>(&'a self, app: &'a App, caller: &'a Caller, uri: &'a str) -> Answer<'a, Text> {
        async move {
            let path = path(uri)?;
            let mut conn = app.store.read().await?;
            let document = instruction::read(&mut conn, &path, &caller.rights).await?;
            Ok(Text {
                uri: self::uri(path.as_str()),
                mime: MIME,
                text: document.shown(),
                meta: meta(&document.entry),
            })
        }
        .boxed()
    }

    fn complete<'a>(
        &'a self,
        app: &'a App,
        caller: &'a Caller,
        begun: Begun<'a>,
    ) -> Answer<'a, Completion> {
        async move {
            if begun.name != "path" {
                return Ok(Completion::default());
            }
            let tree = instruction::tree(&mut app.store.read().await?, &caller.rights).await?;
            let paths = tree.into_iter().map(|entry| entry.path);
            Ok(Completion::of(paths, &begun.value.trim().to_lowercase()))
        }
        .boxed()
    }

    fn is_followed(&self, uri: &str) -> bool {
        path(uri).is_ok_and(|path| {
            Path::contributed(path.as_str()).is_ok() && self::uri(path.as_str()) == uri
        })
    }

    fn address(&self, change: &Change) -> Option<String> {
        (change.kind == KIND).then(|| uri(&change.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_however_they_are_written_and_have_one_spelling() {
        for (text, one) in [
            ("adjutant://document/tools/toolserver", "adjutant://document/tools/toolserver"),
            ("adjutant://document/instructions%2Fa%2Fb", "adjutant://document/instructions/a/b"),
            ("adjutant://document/Instructions/A/", "adjutant://document/instructions/a"),
        ] {
            assert_eq!(uri(path(text).unwrap().as_str()), one);
        }
        for text in [
            "adjutant://document/",
            "adjutant://document/a",
            "adjutant://document/instructions/../a",
            "adjutant://document/instructions/%2e%2e/a",
            "adjutant://document/%ff",
            "adjutant://documents/instructions/a",
        ] {
            assert_eq!(path(text).unwrap_err().code, Code::NotFound, "{text}");
            assert!(!Documents.is_followed(text), "{text}");
        }
        assert!(Documents.is_followed("adjutant://document/instructions/a"));
        assert!(!Documents.is_followed("adjutant://document/Instructions/a"), "another spelling");
        assert!(!Documents.is_followed("adjutant://document/tools/toolserver"), "never changes");
    }
}
