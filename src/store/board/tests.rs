//! Projected boards, on both engines.

use mcp::{Rights, Scope};
use serde_json::{Map, Value, json};

use super::*;
use crate::store::{
    Error, Store,
    names::{BoardType, Locus},
    tests::{Fixture, on_both},
    todo::Priority,
};

fn all() -> Rights {
    Rights { scope: Scope::Operator, loci: None }
}

fn only(locus: &str) -> Rights {
    Rights { scope: Scope::Destroy, loci: Some([locus.to_owned()].into()) }
}

fn map(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

fn of<'a>(locus: &'a Locus, item_id: &'a str, text: &'a str) -> Put<'a> {
    Put {
        locus,
        item_id,
        kind: BoardType::Todo,
        status: Status::Open,
        priority: None,
        text,
        note: "",
        by: "",
        source: "toolserver",
        data: None,
    }
}

async fn names(store: &Store, query: Query<'_>, rights: &Rights) -> (Vec<String>, bool) {
    let (rows, more) = list(store, query, rights).await.unwrap();
    (rows.iter().map(|row| format!("{}/{}", row.locus, row.item_id)).collect(), more)
}

#[tokio::test]
async fn a_put_replaces_all_of_an_item_and_an_update_only_what_it_names() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let alpha = Locus::parse("alpha").unwrap();
        let data = map(json!({ "a": 1, "b": ["c"] }));
        let whole = Put {
            status: Status::Doing,
            priority: Some(Priority::High),
            note: "n",
            by: "t",
            data: Some(&data),
            ..of(&alpha, "i-1", "paint it")
        };
        let first = put(store, whole).await.unwrap();
        fixture.clock.pass(std::time::Duration::from_secs(1));
        let again = put(store, whole).await.unwrap();
        assert_eq!((&again.row, again.committed.seq), (&first.row, 0));
        let wanted =
            json!({ "a": 1, "b": ["c"], "text": "paint it", "note": "n", "by": "t", "priority": "high" });
        assert_eq!(Value::from(first.row.data.clone()), wanted);
        fixture.clock.pass(std::time::Duration::from_secs(4));
        let change = map(json!({ "a": 2, "d": null }));
        let change = Change {
            status: Some(Status::Done),
            note: Some(""),
            priority: Some(None),
            data: Some(&change),
            ..Change::default()
        };
        let changed = update(store, &alpha, "i-1", change).await.unwrap().row;
        let wanted = json!({ "a": 2, "b": ["c"], "text": "paint it", "by": "t", "d": null });
        assert_eq!(Value::from(changed.data.clone()), wanted);
        assert_eq!((changed.status, &changed.by), (Status::Done, &first.row.by));
        assert_eq!((changed.created, changed.updated - first.row.updated), (first.row.created, 5_000_000));
        assert_eq!(changed.content_hash, first.row.content_hash);
        // The same again is no change.
        let same = update(store, &alpha, "i-1", change).await.unwrap();
        assert_eq!((&same.row, same.committed.seq), (&changed, 0));
        let replaced = put(store, of(&alpha, "i-1", "wash it")).await.unwrap().row;
        assert_eq!(Value::from(replaced.data.clone()), json!({ "text": "wash it" }));
        assert_eq!((&*replaced.by, replaced.status), ("", Status::Open));
        assert_eq!(replaced.created, first.row.created);
        let missing = update(store, &alpha, "i-2", change).await;
        assert!(matches!(missing, Err(Error::NotFound(_))), "{missing:?}");
    })
    .await;
}

/// The id of what comes without one is the earlier server's.
#[tokio::test]
async fn s15_an_id_is_made_of_the_content_and_different_content_has_another() {
    let alpha = Locus::parse("bd").unwrap();
    let (hash, id) = derived(&alpha, BoardType::Todo, "derived");
    assert_eq!(id, "ts-8dc259f866246138");
    assert_eq!(hash, "8dc259f866246138681b7c55606a75f65a7cbb737c1e183b55b456473a9f7f88");
    let other = Locus::parse("b").unwrap();
    let ids = [
        derived(&alpha, BoardType::Todo, "/a-b").1,
        derived(&alpha, BoardType::Todo, "/a_b").1,
        derived(&alpha, BoardType::Finding, "/a-b").1,
        derived(&other, BoardType::Todo, "d/a-b").1,
    ];
    assert!((1..ids.len()).all(|nth| !ids[..nth].contains(&ids[nth])), "{ids:?}");
    let fixture = Fixture::sqlite().await;
    let one = put(&fixture.store, of(&alpha, "", "derived")).await.unwrap().row;
    let two = put(&fixture.store, of(&alpha, " ", "derived")).await.unwrap().row;
    assert_eq!((one.item_id, two.item_id), (id.clone(), id));
}

#[tokio::test]
async fn pages_by_name_neither_repeat_nor_skip_and_what_is_out_of_reach_is_not_there() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (alpha, beta) = (Locus::parse("alpha").unwrap(), Locus::parse("beta").unwrap());
        for (locus, item_id) in
            [(&alpha, "a"), (&alpha, "c"), (&alpha, "e/1"), (&beta, "a"), (&beta, "Z")]
        {
            put(store, of(locus, item_id, "x")).await.unwrap();
            fixture.clock.pass(std::time::Duration::from_secs(1));
        }
        let newest = Query { locus: None, status: None, order: Order::Newest, limit: 2 };
        let (found, more) = names(store, newest, &all()).await;
        assert_eq!((found, more), (vec!["beta/Z".to_owned(), "beta/a".to_owned()], true));
        let key = |locus: &str, item_id: &str| Key {
            locus: locus.to_owned(),
            item_id: item_id.to_owned(),
        };
        let mut after = None;
        let mut seen = Vec::new();
        loop {
            let query = Query { order: Order::Name(after.as_ref()), ..newest };
            let (rows, more) = list(store, query, &all()).await.unwrap();
            seen.extend(rows.iter().map(|row| format!("{}/{}", row.locus, row.item_id)));
            // What was seen changes, and what comes goes behind it.
            let change = Change { status: Some(Status::Done), ..Change::default() };
            update(store, &alpha, "a", change).await.unwrap();
            put(store, of(&alpha, "b", "new")).await.unwrap();
            let Some(last) = rows.last().filter(|_| more) else { break };
            after = Some(key(&last.locus, &last.item_id));
        }
        assert_eq!(seen, ["alpha/a", "alpha/c", "alpha/e/1", "beta/Z", "beta/a"]);
        let (found, _) = names(store, newest, &only("alpha")).await;
        assert!(found.iter().all(|name| name.starts_with("alpha/")) && found.len() == 2);
        let theirs = Query { locus: Some(&beta), ..newest };
        assert_eq!(names(store, theirs, &only("alpha")).await, (vec![], false));
        let done = Query { status: Some(Status::Done), limit: 10, ..newest };
        assert_eq!(names(store, done, &all()).await.0, ["alpha/a"]);
    })
    .await;
}

#[tokio::test]
async fn what_is_too_large_or_odd_is_refused_and_named() {
    let fixture = Fixture::sqlite().await;
    let alpha = Locus::parse("alpha").unwrap();
    let (long, data) = ("x".repeat(300_000), map(json!({ "x": "x".repeat(70_000) })));
    for (item, words) in [
        (of(&alpha, "a", &long), "`text` has 300000"),
        (Put { note: &long, ..of(&alpha, "a", "x") }, "`note`"),
        (Put { data: Some(&data), ..of(&alpha, "a", "x") }, "`data` has 70008 bytes"),
        (of(&alpha, &long, "x"), "`item_id`"),
        (Put { by: &long, ..of(&alpha, "a", "x") }, "`by`"),
    ] {
        let error = put(&fixture.store, item).await.unwrap_err();
        assert!(matches!(&error, Error::TooLarge(text) if text.contains(words)), "{error:?}");
    }
    for odd in ["a\nb", "\0"] {
        let error = put(&fixture.store, of(&alpha, odd, "x")).await.unwrap_err();
        assert!(matches!(&error, Error::Invalid(_)), "{error:?}");
    }
    // A NUL within JSON is an escape.
    let data = map(json!({ "nul": "\0" }));
    let put = put(&fixture.store, Put { data: Some(&data), ..of(&alpha, "a", "x") }).await.unwrap();
    assert_eq!(put.row.data["nul"], "\0");
}
