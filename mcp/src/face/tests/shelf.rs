//! A small library: notes that tests write, on a shelf for everybody and on one for operators; and
//! two recipes.

use std::{collections::BTreeMap, sync::Mutex};

use futures::{FutureExt as _, StreamExt as _, stream};
use serde_json::json;
use tokio::sync::broadcast;

use super::sample::App;
use crate::{
    Caller, Code, Fault, Library, Parameter, Recipe, Shelf,
    library::{Answer, Begun, Change, Completion, Listed, News, Resource, Template, Text},
};

pub(crate) const OPEN: &str = "note://open/";
pub(crate) const CLOSED: &str = "note://closed/";

/// What was written, by address, and who is told.
#[derive(Debug)]
pub(crate) struct Notes {
    texts: Mutex<BTreeMap<String, String>>,
    told: broadcast::Sender<News>,
}

impl Default for Notes {
    fn default() -> Self {
        Self { texts: Mutex::default(), told: broadcast::Sender::new(64) }
    }
}

impl Notes {
    /// Writes a note, and says so.
    pub(crate) fn write(&self, uri: &str, text: &str) {
        let is_listed = self.put(uri, text);
        let (root, id) = uri.rsplit_once('/').unwrap();
        let (kind, locus, id) = ("note".to_owned(), format!("{root}/"), id.to_owned());
        self.tell(News::Changed(vec![Change { kind, locus, id, is_listed }]));
    }

    /// Writes a note without a word; whether it is new.
    pub(crate) fn put(&self, uri: &str, text: &str) -> bool {
        self.texts.lock().unwrap().insert(uri.to_owned(), text.to_owned()).is_none()
    }

    pub(crate) fn tell(&self, news: News) {
        // Nobody may listen.
        let _ = self.told.send(news);
    }

    pub(crate) fn readers(&self) -> usize {
        self.told.receiver_count()
    }
}

struct Sample {
    root: &'static str,
    tool: &'static str,
}

pub(crate) fn library() -> Library<App> {
    Library {
        shelves: vec![
            Box::new(Sample { root: OPEN, tool: "sample_echo" }),
            Box::new(Sample { root: CLOSED, tool: "sample_purge" }),
        ],
        feed: |app| {
            let told = app.notes.told.subscribe();
            Box::new(|_caller| {
                stream::unfold(told, |mut told| async move {
                    let news = told.recv().await.ok()?;
                    Some((news, told))
                })
                .boxed()
            })
        },
    }
}

impl Sample {
    fn missing(uri: &str) -> Fault {
        Fault::new(Code::NotFound, format!("no note `{uri}`"))
    }
}

impl Shelf<App> for Sample {
    fn tool(&self) -> &'static str {
        self.tool
    }

    fn root(&self) -> &'static str {
        self.root
    }

    fn templates(&self) -> &'static [Template] {
        &[Template {
            uri: "note://open/{name}",
            name: "note",
            title: "A note",
            about: "What somebody noted.",
            mime: "text/plain",
        }]
    }

    fn list<'a>(
        &'a self,
        app: &'a App,
        _caller: &'a Caller,
        after: Option<&'a str>,
        limit: usize,
    ) -> Answer<'a, Listed> {
        async move {
            let texts = app.notes.texts.lock().unwrap();
            let mut found = texts
                .keys()
                .filter(|uri| uri.starts_with(self.root))
                .filter(|uri| after.is_none_or(|after| uri.as_str() > after));
            let resource = |uri: &String| Resource {
                uri: uri.clone(),
                name: uri.rsplit('/').next().unwrap().to_owned(),
                mime: "text/plain",
                modified: Some("2026-11-30T00:00:00Z".to_owned()),
                ..Resource::default()
            };
            let items: Vec<Resource> = found.by_ref().take(limit).map(resource).collect();
            let next = found.next().and_then(|_| items.last()).map(|last| last.uri.clone());
            Ok(Listed { items, next })
        }
        .boxed()
    }

    fn read<'a>(&'a self, app: &'a App, _: &'a Caller, uri: &'a str) -> Answer<'a, Text> {
        async move {
            let text = app.notes.texts.lock().unwrap().get(uri).cloned();
            let text = text.ok_or_else(|| Self::missing(uri))?;
            let meta = [("adjutant/rev".to_owned(), json!(text.len()))].into_iter().collect();
            Ok(Text { uri: uri.to_owned(), mime: "text/plain", text, meta })
        }
        .boxed()
    }

    fn complete<'a>(
        &'a self,
        app: &'a App,
        _: &'a Caller,
        begun: Begun<'a>,
    ) -> Answer<'a, Completion> {
        async move {
            assert_eq!(begun.name, "name");
            let texts = app.notes.texts.lock().unwrap();
            let names = texts.keys().filter_map(|uri| uri.strip_prefix(self.root));
            let names: Vec<String> = names.map(str::to_owned).collect();
            let last = begun.others.get("last").into_iter().cloned();
            Ok(Completion::of(names.into_iter().chain(last), begun.value))
        }
        .boxed()
    }

    fn is_followed(&self, uri: &str) -> bool {
        uri.strip_prefix(self.root).is_some_and(|name| !name.is_empty())
    }

    fn address(&self, change: &Change) -> Option<String> {
        let is_ours = change.kind == "note" && change.locus == self.root;
        is_ours.then(|| format!("{}{}", self.root, change.id))
    }
}

pub(crate) const RECIPES: &[Recipe] = &[
    Recipe {
        name: "copy",
        title: "Copy a note",
        about: "Copies a note, and says how.",
        arguments: &[
            Parameter::required("name", "which note").of(OPEN),
            Parameter::optional("how", "with which care"),
        ],
        uses: &["sample_echo"],
        text: |given| format!("copy {} {}", given.text("name"), given.get("how").unwrap_or("well")),
        attached: Some(|given| format!("{OPEN}{}", given.text("name"))),
    },
    Recipe {
        name: "purge",
        title: "Purge",
        about: "Purges.",
        arguments: &[],
        uses: &["sample_echo", "sample_purge"],
        text: |_| "purge".to_owned(),
        attached: None,
    },
];
