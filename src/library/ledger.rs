//! Ledgers: `adjutant://ledger/{locus}/{task}`, and each revision that is kept.

use futures::FutureExt as _;
use mcp::{
    Caller, Code, Fault, Shelf,
    library::{Answer, Begun, Change, Completion, Listed, Resource, Template, Text},
};
use serde_json::{Map, Value, json};

use super::{
    address::{part, said},
    one_more,
};
use crate::{
    app::App,
    clock,
    store::{
        ledger::{self, Filter, Head, KIND, Key},
        names::{Locus, Task},
    },
    untrusted,
};

/// What every address of a ledger begins with.
pub(super) const ROOT: &str = "adjutant://ledger/";

const MIME: &str = "text/markdown";

const TEMPLATES: &[Template] = &[
    Template {
        uri: "adjutant://ledger/{locus}/{task}",
        name: "ledger",
        title: "Ledger",
        about: "The document of record of a task, as it stands; `adjutant/rev` of its `_meta` is `expected_rev` of the next `ledger_put`.",
        mime: MIME,
    },
    Template {
        uri: "adjutant://ledger/{locus}/{task}?rev={rev}",
        name: "ledger-revision",
        title: "Revision of a ledger",
        about: "The document of record of a task, as it was at one of the revisions that `ledger_history` names. It never changes.",
        mime: MIME,
    },
];

/// The shelf.
pub(super) struct Ledgers;

/// What an address names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Address {
    locus: Locus,
    task: Task,
    rev: Option<i64>,
}

impl Address {
    /// Reads one, however its names are written.
    fn parse(uri: &str) -> Result<Self, Fault> {
        let wrong = |why: &str| {
            let uri = untrusted::one_line(uri, 120);
            Fault::new(
                Code::NotFound,
                format!(
                    "`{uri}` is no address of a ledger, {why}: it is like `{ROOT}web-7/fix-login`, or that with `?rev=3`"
                ),
            )
        };
        let names = uri.strip_prefix(ROOT).ok_or_else(|| wrong("as it begins otherwise"))?;
        let (names, query) = names.split_once('?').map_or((names, None), |(n, q)| (n, Some(q)));
        let (locus, task) = names.split_once('/').ok_or_else(|| wrong("as it names no task"))?;
        let name = |text: &str| said(text).ok_or_else(|| wrong("as it is no text"));
        let locus = Locus::parse(&name(locus)?).map_err(|error| wrong(&error.to_string()))?;
        let task = Task::parse(&name(task)?).map_err(|error| wrong(&error.to_string()))?;
        let rev = match query {
            None => None,
            Some(query) => {
                let rev = query.strip_prefix("rev=").and_then(|rev| rev.parse().ok());
                Some(rev.ok_or_else(|| wrong("as only `rev` and a number may follow"))?)
            }
        };
        Ok(Self { locus, task, rev })
    }

    /// The one spelling.
    fn uri(&self) -> String {
        let uri = uri(self.locus.as_str(), self.task.as_str());
        self.rev.map_or_else(|| uri.clone(), |rev| format!("{uri}?rev={rev}"))
    }
}

/// The address of a ledger, by names in their one spelling.
pub(super) fn uri(locus: &str, task: &str) -> String {
    format!("{ROOT}{}/{}", part(locus), part(task))
}

fn resource(head: &Head) -> Resource {
    let by = untrusted::one_line(&head.by, 80);
    let by = if by.is_empty() { by } else { format!(", last written by {by}") };
    Resource {
        uri: uri(&head.locus, &head.task),
        name: format!("{}/{}", head.locus, head.task),
        title: None,
        about: Some(format!("Ledger, {}, revision {}{by}", head.status, head.rev)),
        mime: MIME,
        modified: Some(clock::rfc3339(head.updated)),
    }
}

fn meta(of: [(&str, Value); 3]) -> Map<String, Value> {
    of.into_iter().map(|(name, value)| (format!("adjutant/{name}"), value)).collect()
}

impl Shelf<App> for Ledgers {
    fn tool(&self) -> &'static str {
        "ledger_get"
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
            let after = after.map(|after| {
                Key::parse(after).ok_or_else(|| Fault::invalid("`cursor` is of no page of ledgers"))
            });
            let loci = caller.rights.loci.as_ref();
            let filter = Filter {
                loci: loci.map(|loci| loci.iter().map(String::as_str).collect()),
                after: after.transpose()?,
                limit: one_more(limit),
                ..Filter::default()
            };
            let mut heads = ledger::list(&mut app.store.read().await?, &filter).await?;
            let more = heads.len() > limit;
            heads.truncate(limit);
            let next = heads.last().filter(|_| more).map(|last| Key::of(last).to_string());
            Ok(Listed { items: heads.iter().map(resource).collect(), next })
        }
        .boxed()
    }

    fn read<'a>(&'a self, app: &'a App, caller: &'a Caller, uri: &'a str) -> Answer<'a, Text> {
        async move {
            let address = Address::parse(uri)?;
            caller.rights.named(address.locus.as_str())?;
            let mut conn = app.store.read().await?;
            let (text, meta) = if let Some(rev) = address.rev {
                let (rev, doc) = ledger::at(&mut conn, &address.locus, &address.task, rev).await?;
                let written = clock::rfc3339(rev.written);
                let by =
                    [("rev", json!(rev.rev)), ("by", json!(rev.by)), ("written", json!(written))];
                (doc, meta(by))
            } else {
                let ledger = ledger::get(&mut conn, &address.locus, Some(&address.task)).await?;
                let head = ledger.head;
                let updated = clock::rfc3339(head.updated);
                let of = [
                    ("rev", json!(head.rev)),
                    ("status", json!(head.status)),
                    ("updated", json!(updated)),
                ];
                (ledger.doc, meta(of))
            };
            Ok(Text { uri: address.uri(), mime: MIME, text, meta })
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
            let value = begun.value.trim().to_lowercase();
            let most = one_more(Completion::MOST);
            if begun.name == "locus" {
                let loci = if let Some(loci) = &caller.rights.loci {
                    loci.iter().cloned().collect()
                } else {
                    let mut conn = app.store.read().await?;
                    ledger::loci_from(&mut conn, &value, most).await?
                };
                return Ok(Completion::of(loci, &value));
            }
            let other = |name: &str| begun.others.get(name).map(String::as_str).unwrap_or_default();
            // What is not a locus of theirs yet has no tasks to show.
            let Ok(locus) = Locus::parse(other("locus")) else { return Ok(Completion::default()) };
            if !caller.rights.reaches(locus.as_str()) {
                return Ok(Completion::default());
            }
            let mut conn = app.store.read().await?;
            let values = match begun.name {
                "task" => ledger::tasks_from(&mut conn, &locus, &value, most).await?,
                "rev" => {
                    let Ok(task) = Task::parse(other("task")) else {
                        return Ok(Completion::default());
                    };
                    let revs = ledger::revs(&mut conn, &locus, &task, None, most).await?;
                    revs.iter().map(|rev| rev.rev.to_string()).collect()
                }
                _ => Vec::new(),
            };
            Ok(Completion::of(values, &value))
        }
        .boxed()
    }

    fn is_followed(&self, uri: &str) -> bool {
        Address::parse(uri).is_ok_and(|address| address.rev.is_none() && address.uri() == uri)
    }

    fn address(&self, change: &Change) -> Option<String> {
        (change.kind == KIND).then(|| uri(&change.locus, &change.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_however_they_are_written_and_have_one_spelling() {
        for (text, uri) in [
            ("adjutant://ledger/alpha/fix-login", "adjutant://ledger/alpha/fix-login"),
            ("adjutant://ledger/Al_Pha/Fix%20Login", "adjutant://ledger/al-pha/fix-login"),
            ("adjutant://ledger/a@b/t", "adjutant://ledger/a%40b/t"),
            ("adjutant://ledger/a%40b/t?rev=12", "adjutant://ledger/a%40b/t?rev=12"),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!(address.uri(), uri);
            assert_eq!(Address::parse(uri).unwrap(), address);
            assert_eq!(Ledgers.is_followed(text), text == uri && address.rev.is_none(), "{text}");
        }
        for text in [
            "adjutant://ledger/",
            "adjutant://ledger/alpha",
            "adjutant://ledger/alpha/",
            "adjutant://ledger//t",
            "adjutant://ledger/alpha/t/x",
            "adjutant://ledger/alpha/..%2Ft",
            "adjutant://ledger/alpha/t?rev=",
            "adjutant://ledger/alpha/t?rev=1&x=2",
            "adjutant://ledger/alpha/t?x",
            "adjutant://ledger/%ff/t",
            "adjutant://ledgers/alpha/t",
        ] {
            let fault = Address::parse(text).unwrap_err();
            assert_eq!(fault.code, Code::NotFound, "{text}");
            assert!(!Ledgers.is_followed(text));
        }
    }
}
