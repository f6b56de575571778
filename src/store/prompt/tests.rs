//! The operator's inbox, on both engines.

use std::time::Duration;

use mcp::{Rights, Scope};
use tokio::task::JoinSet;

use super::*;
use crate::store::{
    Error, Store,
    names::{BoardId, BoardType, Keeper, Locus, PromptId},
    tests::{Fixture, on_both},
    todo,
};

const QUOTA: i64 = 1_000_000;

fn all() -> Rights {
    Rights { scope: Scope::Operator, loci: None }
}

fn only(locus: &str) -> Rights {
    Rights { scope: Scope::Destroy, loci: Some([locus.to_owned()].into()) }
}

fn locus(name: &str) -> Keeper {
    Keeper::parse(name).unwrap()
}

fn new<'a>(locus: &'a Keeper, text: &'a str, place: &'a str) -> New<'a> {
    let (by, session, source) = ("", "repl", "station");
    New { locus, text, by, session, source, files: &[], place, pointer: "look there" }
}

/// Submits a prompt as the tool does, but for its files.
async fn give(store: &Store, new: New<'_>, quota: i64) -> Result<Row, Error> {
    let reserved = reserve(store, new, quota).await?;
    submit(store, reserved, new).await.map(|(row, _)| row)
}

async fn leave(store: &Store, name: &str, place: &str) -> Row {
    give(store, new(&locus(name), "do it", place), QUOTA).await.unwrap()
}

async fn item(store: &Store, row: &Row) -> todo::Row {
    todo::find(store, BoardId::parse(&row.board).unwrap(), &all()).await.unwrap().0
}

async fn used(store: &Store) -> i64 {
    let mut conn = store.read().await.unwrap();
    let row = conn.sql("SELECT value FROM meters WHERE name = 'prompt_bytes'").one().await.unwrap();
    row.get(0).unwrap()
}

#[tokio::test]
async fn a_prompt_is_listed_newest_first_and_its_item_is_done_with_it() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (alpha, file) =
            (locus("alpha"), File { name: "a.txt".into(), kind: "text/plain".into(), size: 10 });
        let given = New {
            by: " dana ",
            files: std::slice::from_ref(&file),
            ..new(&alpha, "paint\nthe cart", "p-1")
        };
        let first = give(store, given, QUOTA).await.unwrap();
        assert_eq!(
            (first.status, &*first.by, &first.files[..]),
            (Status::Open, "dana", &[file.clone()][..])
        );
        assert_eq!((first.size, used(store).await), (24, 24));
        let told = item(store, &first).await;
        assert_eq!(
            (told.kind, told.priority, &*told.by),
            (BoardType::Operator, Some(todo::Priority::High), "dana")
        );
        assert_eq!((&*told.text, &*told.source), ("[prompt] paint the cart", "prompt.submit"));
        assert_eq!(told.note, format!("[prompt] {} from dana\nlook there", first.id()));
        let bare = New { files: std::slice::from_ref(&file), ..new(&alpha, " ", "p-2") };
        let second = give(store, bare, QUOTA).await.unwrap();
        assert_eq!(item(store, &second).await.text, "[prompt] attachment: a.txt");

        let ids = async |query: Query<'_>, rights: &Rights| {
            let query = Query { limit: 10, ..query };
            let found = list(store, query, rights).await.unwrap();
            found.iter().map(Row::id).collect::<Vec<_>>()
        };
        let open = Query { status: Some(Status::Open), ..Query::default() };
        assert_eq!(ids(open, &all()).await, [second.id(), first.id()]);
        let below = Query { below: Some(second.number), ..open };
        assert_eq!(ids(below, &all()).await, [first.id()]);

        let (done, _) = mark(store, first.id(), Status::Done, &all()).await.unwrap();
        assert_eq!(
            (done.status, item(store, &first).await.status),
            (Status::Done, todo::Status::Done)
        );
        assert_eq!(mark(store, first.id(), Status::Done, &all()).await.unwrap().0, done);
        assert_eq!(ids(open, &all()).await, [second.id()]);
        assert_eq!(ids(Query::default(), &all()).await, [second.id(), first.id()]);
        // An item that is gone holds nothing up.
        todo::remove(store, BoardId::parse(&second.board).unwrap(), &all()).await.unwrap();
        mark(store, second.id(), Status::Done, &all()).await.unwrap();
        let (again, _) = mark(store, second.id(), Status::Delivered, &all()).await.unwrap();
        assert_eq!(again.status, Status::Delivered);
        assert_eq!(find(store, second.id(), &all()).await.unwrap(), again);
    })
    .await;
}

#[tokio::test]
async fn a_prompt_of_another_locus_is_not_there() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let mine = leave(store, "mine", "a").await;
        let theirs = leave(store, "theirs", "b").await;
        let rights = only("mine");
        let missing =
            |id: PromptId| format!("no prompt `{id}`: `prompt_list` names those that there are");
        let error = find(store, theirs.id(), &rights).await.unwrap_err();
        assert_eq!(error.to_string(), missing(theirs.id()));
        for id in [theirs.id(), PromptId::new(99_999)] {
            for status in [Status::Done, Status::Open] {
                let error = mark(store, id, status, &rights).await.unwrap_err();
                assert_eq!(error.to_string(), missing(id));
            }
        }
        assert_eq!(find(store, theirs.id(), &all()).await.unwrap(), theirs);
        let query = Query { limit: 10, ..Query::default() };
        assert_eq!(list(store, query, &rights).await.unwrap(), [mine]);
        let named = Query { locus: Some("theirs"), ..query };
        assert_eq!(list(store, named, &rights).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn what_breaks_a_bound_is_refused_and_nothing_of_it_stays() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let alpha = locus("alpha");
        let file = |size: u64| File { name: "a".into(), kind: String::new(), size };
        let (long, many) = ("x".repeat(MOST_TEXT + 1), vec![file(1); MOST_FILES + 1]);
        let heavy = [file(MOST_FILE_BYTES), file(1)];
        let odd = [File { kind: "a\nb".into(), ..file(1) }];
        let name = "b".repeat(129);
        for (given, is_large) in [
            (new(&alpha, " \n", "p"), false),
            (new(&alpha, "a\0b", "p"), false),
            (New { by: "a\nb", ..new(&alpha, "x", "p") }, false),
            (New { files: &odd, ..new(&alpha, "x", "p") }, false),
            (new(&alpha, &long, "p"), true),
            (New { by: &name, ..new(&alpha, "x", "p") }, true),
            (New { session: &name, ..new(&alpha, "x", "p") }, true),
            (New { source: &name, ..new(&alpha, "x", "p") }, true),
            (New { files: &many, ..new(&alpha, "x", "p") }, true),
            (New { files: &heavy, ..new(&alpha, "x", "p") }, true),
        ] {
            let error = give(store, given, i64::MAX).await.unwrap_err();
            assert_eq!(matches!(error, Error::TooLarge(_)), is_large, "{error:?}");
            assert!(is_large || matches!(error, Error::Invalid(_)), "{error:?}");
        }
        assert_eq!(used(store).await, 0);
        let query = Query { limit: 10, ..Query::default() };
        assert_eq!(list(store, query, &all()).await.unwrap(), []);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_want_the_last_room_only_those_that_fit_get_it() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let mut tasks = JoinSet::new();
        for nth in 0..16 {
            let store = store.clone();
            tasks.spawn(async move {
                let (alpha, place) = (locus("alpha"), format!("p-{nth}"));
                give(&store, new(&alpha, "0123456789", &place), 50).await.map(drop)
            });
        }
        let outcomes = tasks.join_all().await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 5);
        for error in outcomes.into_iter().filter_map(Result::err) {
            assert!(
                matches!(&error, Error::TooLarge(words) if words.contains("`prompts.quota` is 50")),
                "{error:?}"
            );
        }
        assert_eq!(used(store).await, 50);
    })
    .await;
}

#[tokio::test]
async fn what_is_done_goes_after_its_days_and_gives_its_room_back() {
    on_both(async |fixture: &Fixture| {
        let (store, clock) = (&fixture.store, &fixture.clock);
        let days = |days: i64| Duration::from_secs(u64::try_from(days).unwrap() * 86_400);
        let old = leave(store, "alpha", "old").await;
        let open = leave(store, "alpha", "open").await;
        mark(store, old.id(), Status::Done, &all()).await.unwrap();
        clock.pass(days(1));
        let young = leave(store, "alpha", "young").await;
        mark(store, young.id(), Status::Done, &all()).await.unwrap();
        clock.pass(days(KEPT_DAYS - 1));
        assert_eq!(prune(store).await.unwrap(), ["old"]);
        assert_eq!(prune(store).await.unwrap(), [""; 0]);
        assert_eq!(used(store).await, open.size + young.size);
        assert!(matches!(find(store, old.id(), &all()).await, Err(Error::NotFound(_))));
        let asked = ["open", "old", "young", "never"].map(str::to_owned);
        let mut there = known(store, &asked).await.unwrap();
        there.sort();
        assert_eq!(there, ["open", "young"]);
    })
    .await;
}

/// A caller may leave between any two steps: what it set aside counts until it goes.
#[tokio::test]
async fn what_is_being_written_is_counted_and_not_seen_and_goes_in_a_day() {
    on_both(async |fixture: &Fixture| {
        let (store, clock, alpha) = (&fixture.store, &fixture.clock, locus("alpha"));
        let first = reserve(store, new(&alpha, "0123456789", "first"), 20).await.unwrap();
        let second = reserve(store, new(&alpha, "0123456789", "second"), 20).await.unwrap();
        let third = reserve(store, new(&alpha, "x", "third"), 20).await;
        assert!(matches!(third, Err(Error::TooLarge(_))), "{third:?}");
        let query = Query { limit: 10, ..Query::default() };
        assert_eq!(list(store, query, &all()).await.unwrap(), []);
        for number in 1..=2 {
            let id = PromptId::new(number);
            assert!(matches!(find(store, id, &all()).await, Err(Error::NotFound(_))));
            let marked = mark(store, id, Status::Done, &all()).await;
            assert!(matches!(marked, Err(Error::NotFound(_))), "{marked:?}");
        }
        assert_eq!(known(store, &["first".to_owned()]).await.unwrap(), ["first"]);
        give_up(store, first).await.unwrap();
        give_up(store, first).await.unwrap();
        assert_eq!(used(store).await, 10);
        let late = submit(store, first, new(&alpha, "0123456789", "first")).await;
        assert!(matches!(late, Err(Error::Conflict(_))), "{late:?}");
        clock.pass(Duration::from_secs(86_399));
        assert_eq!(prune(store).await.unwrap(), [""; 0]);
        clock.pass(Duration::from_secs(1));
        assert_eq!(prune(store).await.unwrap(), ["second"]);
        assert_eq!(used(store).await, 0);
        let late = submit(store, second, new(&alpha, "0123456789", "second")).await;
        assert!(matches!(late, Err(Error::Conflict(_))), "{late:?}");
        // Nobody was told of any of it.
        let board = Locus::from(alpha);
        let items = todo::Query { locus: Some(&board), limit: 10, ..todo::Query::default() };
        assert_eq!(todo::list(store, items, &all()).await.unwrap().0, []);
    })
    .await;
}
