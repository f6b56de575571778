//! The tree of instructions, on both engines.

use mcp::{Rights, Scope};
use tokio::task::JoinSet;

use super::*;
use crate::store::{
    Error, Store,
    tests::{Fixture, MIDNIGHT, on_both},
};

fn rights(loci: Option<&[&str]>) -> Rights {
    let loci = loci.map(|loci| loci.iter().map(|locus| (*locus).to_owned()).collect());
    Rights { scope: Scope::Destroy, loci }
}

fn path(text: &str) -> Path {
    Path::contributed(text).unwrap()
}

fn new<'a>(path: &'a Path, text: &'a str) -> New<'a> {
    New { path, text, title: "", by: "", token: "t", locus: "" }
}

async fn look(store: &Store, at: &str, rights: &Rights) -> Result<Document, Error> {
    let mut conn = store.read().await.unwrap();
    read(&mut conn, &Path::parse(at).unwrap(), rights).await
}

async fn paths(store: &Store, rights: &Rights) -> Vec<String> {
    let mut conn = store.read().await.unwrap();
    tree(&mut conn, rights).await.unwrap().into_iter().map(|entry| entry.path).collect()
}

const OWN: [&str; 3] = ["instructions/delegation", "instructions/records", "tools/toolserver"];

#[tokio::test]
async fn what_is_contributed_is_read_as_it_was_written_with_whose_it_is() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (at, text) = (path("instructions/web-7/deploy"), "\n## Deploying\n> as \"quoted\"\n");
        let given = New { by: " dana \" ` ", locus: "web-7", ..new(&at, text) };
        let (entry, committed) = add(store, given).await.unwrap();
        assert_eq!((&*entry.title, committed.at), ("Deploying", MIDNIGHT));
        let document = look(store, "/Instructions/web-7/deploy/", &rights(None)).await.unwrap();
        assert_eq!((&document.entry, &*document.text), (&entry, text));
        let shown = document.shown();
        let (whose, rest) = shown.split_once("\n\n").unwrap();
        assert_eq!(rest, text);
        for words in
            ["`web-7`", r#""dana \" `""#, "token `t`", "2026-11-30T00:00:00", "not this server's"]
        {
            assert!(whose.contains(words), "{whose}");
        }
        assert_eq!(whose.lines().count(), 1);
        // The server's own are shown as they are.
        for own in OWN {
            let document = look(store, own, &rights(Some(&[]))).await.unwrap();
            assert_eq!(
                (document.shown(), &document.entry.source),
                (document.text.clone(), &Source::BuiltIn)
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_path_is_given_once() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let at = path("instructions/a");
        add(store, new(&at, "first")).await.unwrap();
        for text in ["second", "first"] {
            let again = add(store, new(&at, text)).await.unwrap_err();
            assert!(
                matches!(&again, Error::Conflict(words) if words.contains("is taken")),
                "{again:?}"
            );
        }
        let own = path("instructions/records");
        assert!(matches!(add(store, new(&own, "mine")).await, Err(Error::Conflict(_))));
        assert_eq!(look(store, "instructions/a", &rights(None)).await.unwrap().text, "first");
        // Of many at once exactly one.
        let mut tasks = JoinSet::new();
        for nth in 0..16 {
            let store = store.clone();
            tasks.spawn(async move {
                let (at, text) = (path("instructions/race"), format!("text {nth}"));
                (add(&store, new(&at, &text)).await.is_ok(), text.clone())
            });
        }
        let done = tasks.join_all().await;
        let won: Vec<&String> = done.iter().filter(|(ok, _)| *ok).map(|(_, text)| text).collect();
        let [text] = won[..] else { panic!("{won:?}") };
        assert_eq!(&look(store, "instructions/race", &rights(None)).await.unwrap().text, text);
        // Gone, its path is free, and the count goes down with it.
        let (gone, _) = remove(store, &path("instructions/race"), &rights(None)).await.unwrap();
        assert_eq!(gone.path, "instructions/race");
        let again = remove(store, &path("instructions/race"), &rights(None)).await;
        assert!(matches!(again, Err(Error::NotFound(_))), "{again:?}");
        let own = remove(store, &Path::parse(DEFAULT).unwrap(), &rights(None)).await;
        assert!(matches!(own, Err(Error::Conflict(_))), "{own:?}");
        add(store, new(&path("instructions/race"), "later")).await.unwrap();
        assert_eq!(paths(store, &rights(None)).await.len(), 5);
    })
    .await;
}

#[tokio::test]
async fn a_document_of_a_locus_is_for_who_reaches_it() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for (at, locus) in [
            ("instructions/x/all", ""),
            ("instructions/x/mine", "mine"),
            ("instructions/x/theirs", "theirs"),
        ] {
            let at = path(at);
            add(store, New { locus, ..new(&at, "text") }).await.unwrap();
        }
        let mine = rights(Some(&["mine", "else"]));
        let all = paths(store, &rights(None)).await;
        assert!(all.is_sorted());
        assert_eq!(all.len(), 6);
        let seen = paths(store, &mine).await;
        assert_eq!(seen, [OWN[0], OWN[1], "instructions/x/all", "instructions/x/mine", OWN[2]]);
        look(store, "instructions/x/mine", &mine).await.unwrap();
        let hidden = look(store, "instructions/x/theirs", &mine).await.unwrap_err();
        let missing = look(store, "instructions/x/nobody", &mine).await.unwrap_err();
        assert_eq!(hidden.to_string(), missing.to_string().replace("nobody", "theirs"));
        let kept = remove(store, &path("instructions/x/theirs"), &mine).await.unwrap_err();
        assert_eq!(kept.to_string(), hidden.to_string());
        look(store, "instructions/x/theirs", &rights(None)).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn what_is_too_large_or_odd_is_refused_and_nothing_of_it_stays() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let at = path("instructions/a");
        for text in ["", " \n\t", "a\0b"] {
            let error = add(store, new(&at, text)).await.unwrap_err();
            assert!(matches!(error, Error::Invalid(_)), "{error:?}");
        }
        let largest = "é".repeat(MOST_TEXT / 2);
        let over = format!("{largest}x");
        let error = add(store, new(&at, &over)).await.unwrap_err();
        assert!(matches!(&error, Error::TooLarge(words) if words.contains("262145")), "{error:?}");
        let long = "t".repeat(MOST_TITLE + 1);
        for odd in [New { title: &long, ..new(&at, "x") }, New { by: &long, ..new(&at, "x") }] {
            assert!(matches!(add(store, odd).await, Err(Error::TooLarge(_))));
        }
        for odd in
            [New { title: "a\nb", ..new(&at, "x") }, New { by: "a\u{1b}[2J", ..new(&at, "x") }]
        {
            assert!(matches!(add(store, odd).await, Err(Error::Invalid(_))));
        }
        assert_eq!(paths(store, &rights(None)).await, OWN);
        let (entry, _) = add(store, new(&at, &largest)).await.unwrap();
        assert_eq!(entry.title.chars().count(), MOST_TITLE);
        assert_eq!(look(store, "instructions/a", &rights(None)).await.unwrap().text, largest);
    })
    .await;
}

#[tokio::test]
async fn there_are_only_so_many() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let mut tx = store.begin().await.unwrap();
        let text = "UPDATE meters SET value = $1 WHERE name = 'instructions'";
        tx.sql(text).bind(MOST_DOCUMENTS - 1).run().await.unwrap();
        tx.commit().await.unwrap();
        let mut tasks = JoinSet::new();
        for nth in 0..8 {
            let store = store.clone();
            tasks.spawn(async move {
                let at = path(&format!("instructions/n{nth}"));
                add(&store, new(&at, "x")).await.map(drop)
            });
        }
        let outcomes = tasks.join_all().await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        for error in outcomes.into_iter().filter_map(Result::err) {
            assert!(
                matches!(&error, Error::TooLarge(words) if words.contains("instructions_remove")),
                "{error:?}"
            );
        }
        assert_eq!(paths(store, &rights(None)).await.len(), 4);
    })
    .await;
}
