//! Loci, on both engines.

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::*;
use crate::store::tests::{Fixture, MIDNIGHT, on_both};

fn keeper(name: &str) -> Keeper {
    name.parse().unwrap()
}

fn named(name: &str) -> Registration {
    Registration::new(keeper(name), Kind::Station)
}

fn pointer(value: Value) -> Option<Pointer> {
    serde_json::from_value(value).unwrap()
}

async fn read(fixture: &Fixture, name: &str) -> Option<Record> {
    get(&mut fixture.store.read().await.unwrap(), &keeper(name)).await.unwrap()
}

/// The feed's rows, once there are so many.
async fn told(fixture: &Fixture, count: usize) -> Vec<(String, String, String)> {
    let mut newest = fixture.store.feed().watch();
    let patience = std::time::Duration::from_secs(20);
    tokio::time::timeout(patience, async {
        loop {
            let page = fixture.store.events(0, 10_000, |_| true).await.unwrap().unwrap();
            if page.events.len() >= count {
                let of = |event: &crate::store::feed::Event| {
                    (event.kind.clone(), event.id.clone(), event.op.clone())
                };
                return page.events.iter().map(|event| of(event)).collect();
            }
            newest.changed().await.unwrap();
        }
    })
    .await
    .expect("the feed tells of each change")
}

#[tokio::test]
async fn what_is_not_said_stays_and_the_pointer_is_merged() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let first = Registration {
            goal: "the first".to_owned(),
            endpoint: "me@127.0.0.1".to_owned(),
            pointer: pointer(json!({"serve_url": "http://x", "a": {"b": 1}})),
            ..named("lo")
        };
        let (record, committed) = register(store, &first).await.unwrap();
        assert_eq!((record.created, committed.at), (MIDNIGHT, MIDNIGHT));
        fixture.clock.pass(std::time::Duration::from_secs(1));
        let more = Registration {
            pointer: pointer(json!({"serve_url": null, "c": 2})),
            ..Registration::new(keeper("lo"), Kind::Vm)
        };
        let (record, _) = register(store, &more).await.unwrap();
        assert_eq!(read(fixture, "lo").await.unwrap(), record);
        assert_eq!((&*record.goal, &*record.endpoint), ("the first", "me@127.0.0.1"));
        assert_eq!((record.kind, record.status), (Kind::Vm, Status::Active));
        assert_eq!((record.created, record.updated), (MIDNIGHT, MIDNIGHT + 1_000_000));
        assert_eq!(json!(record.pointer), json!({"a": {"b": 1}, "c": 2}));
        let (record, _) = register(store, &named("lo")).await.unwrap();
        assert_eq!(json!(record.pointer), json!({"a": {"b": 1}, "c": 2}));
        let told = told(fixture, 3).await;
        let ops: Vec<_> = told.iter().map(|(kind, id, op)| (&**kind, &**id, &**op)).collect();
        assert_eq!(
            ops,
            [("locus", "lo", "insert"), ("locus", "lo", "update"), ("locus", "lo", "update")]
        );
    })
    .await;
}

#[tokio::test]
async fn an_archived_locus_stays_archived_until_somebody_asks() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        register(store, &named("lo")).await.unwrap();
        let (record, committed) = archive(store, &keeper("lo")).await.unwrap();
        assert_eq!(record.status, Status::Archived);
        assert!(committed.seq > 0);
        let (again, committed) = archive(store, &keeper("lo")).await.unwrap();
        assert_eq!((again, committed.seq), (record, 0));
        let (record, _) = register(store, &named("lo")).await.unwrap();
        assert_eq!(record.status, Status::Archived);
        let back = Registration { reactivate: true, ..named("lo") };
        assert_eq!(register(store, &back).await.unwrap().0.status, Status::Active);
        let error = archive(store, &keeper("none")).await.unwrap_err();
        assert!(matches!(&error, Error::NotFound(words) if words.contains("`none`")), "{error}");
    })
    .await;
}

#[tokio::test]
async fn what_is_too_large_or_odd_is_refused_and_nothing_of_it_stays() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let old =
            Registration { pointer: pointer(json!({"a": "x".repeat(7_000)})), ..named("old") };
        let (old, _) = register(store, &old).await.unwrap();
        for (name, odd, is_large) in [
            ("new", Registration { goal: "g".repeat(401), ..named("new") }, true),
            ("new", Registration { goal: "a\u{0}b".to_owned(), ..named("new") }, false),
            ("new", Registration { endpoint: "no address".to_owned(), ..named("new") }, false),
            (
                "old",
                Registration { pointer: pointer(json!({"b": "x".repeat(1_000)})), ..named("old") },
                true,
            ),
        ] {
            let error = register(store, &odd).await.unwrap_err();
            let as_wanted = match &error {
                Error::TooLarge(_) => is_large,
                Error::Invalid(_) => !is_large,
                _ => false,
            };
            assert!(as_wanted, "{name}: {error:?}");
        }
        assert_eq!(read(fixture, "new").await, None);
        assert_eq!(read(fixture, "old").await, Some(old));
        // What JSON escapes is no trouble to any engine.
        let odd = Registration { pointer: pointer(json!({"a": "\u{0}"})), ..named("new") };
        register(store, &odd).await.unwrap();
        assert_eq!(json!(read(fixture, "new").await.unwrap().pointer), json!({"a": "\u{0}"}));
    })
    .await;
}

/// Many at once, each with a key of its own: none is lost.
#[tokio::test(flavor = "multi_thread")]
async fn pointers_merged_at_once_lose_no_key() {
    on_both(async |fixture: &Fixture| {
        let mut tasks = JoinSet::new();
        for nth in 0..16 {
            let store = fixture.store.clone();
            tasks.spawn(async move {
                let patch = pointer(json!({ (format!("k{nth}")): nth }));
                register(&store, &Registration { pointer: patch, ..named("lo") }).await.unwrap();
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let pointer = read(fixture, "lo").await.unwrap().pointer.unwrap();
        assert_eq!(pointer.len(), 16, "{pointer:?}");
        let inserts = told(fixture, 16).await.into_iter().filter(|(.., op)| op == "insert");
        assert_eq!(inserts.count(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_list_is_in_one_order_of_what_is_wanted_and_goes_on_from_any_row() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for (name, kind) in [
            ("b", Kind::Station),
            ("a-b", Kind::Station),
            ("ab", Kind::Station),
            ("z", Kind::Handoff),
            ("gone", Kind::Station),
        ] {
            register(store, &Registration::new(keeper(name), kind)).await.unwrap();
        }
        archive(store, &keeper("gone")).await.unwrap();
        let active =
            Filter { kind: None, status: Some(Status::Active), loci: None, after: None, most: 100 };
        let names = async |filter: Filter<'_>| -> Vec<String> {
            let rows = list(&mut store.read().await.unwrap(), filter).await.unwrap();
            rows.iter().map(|row| row.locus.to_string()).collect()
        };
        assert_eq!(names(active).await, ["z", "a-b", "ab", "b"]);
        assert_eq!(names(Filter { status: None, ..active }).await.len(), 5);
        assert_eq!(names(Filter { kind: Some(Kind::Handoff), ..active }).await, ["z"]);
        assert_eq!(names(Filter { kind: Some(Kind::Vm), ..active }).await, [""; 0]);
        let page = Filter { after: Some(("station", "a-b")), most: 1, ..active };
        assert_eq!(names(page).await, ["ab"]);
        let mine = ["ab".to_owned(), "gone".to_owned(), "it's".to_owned()].into();
        assert_eq!(names(Filter { loci: Some(&mine), ..active }).await, ["ab"]);
        let none = std::collections::BTreeSet::new();
        assert_eq!(names(Filter { loci: Some(&none), ..active }).await, [""; 0]);
    })
    .await;
}

async fn machine(fixture: &Fixture, place: &str) -> String {
    let mut tx = fixture.store.begin().await.unwrap();
    let record = machine_in(&mut tx, &place.parse().unwrap(), "").await.unwrap();
    tx.commit().await.unwrap();
    record.locus.to_string()
}

#[tokio::test]
async fn s14_a_made_name_never_takes_over_a_locus_that_is_there() {
    on_both(async |fixture: &Fixture| {
        let mine = Registration { goal: "mine".to_owned(), ..named("10-0-0-1-me") };
        let (mine, _) = register(&fixture.store, &mine).await.unwrap();
        let name = machine(fixture, "me@10.0.0.1").await;
        assert!(name.starts_with("me-10-0-0-1-22-") && name != "10-0-0-1-me", "{name}");
        assert_eq!(read(fixture, "10-0-0-1-me").await, Some(mine));
        assert_eq!(machine(fixture, "me@10.0.0.1").await, name);
        // When even that name stands for something else, it is said, and nothing is taken over.
        let other = "other@h".parse().unwrap();
        let taken = Registration::of_machine(keeper(&name), &other, "");
        register(&fixture.store, &taken).await.unwrap();
        let mut tx = fixture.store.begin().await.unwrap();
        let place = "me@10.0.0.1".parse().unwrap();
        let error = machine_in(&mut tx, &place, "").await.unwrap_err();
        assert!(matches!(error, Error::Conflict(_)), "{error}");
        drop(tx);
        assert_eq!(read(fixture, &name).await.unwrap().endpoint, "other@h");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s15_machines_whose_slugs_are_one_stay_two_loci() {
    on_both(async |fixture: &Fixture| {
        let places = ["a_b@10.0.0.1", "a-b@10.0.0.1", "a-b@10.0.0.1:2222", "b@10.0.0.1-a"];
        let mut names = Vec::new();
        for place in places {
            names.push(machine(fixture, place).await);
        }
        assert_eq!(names[0], "10-0-0-1-a-b");
        let mut apart = names.clone();
        apart.sort();
        apart.dedup();
        assert_eq!(apart.len(), places.len(), "{names:?}");
        for (place, name) in places.into_iter().zip(&names) {
            let place: Endpoint = place.parse().unwrap();
            let found = at(&mut fixture.store.read().await.unwrap(), &place).await.unwrap();
            assert_eq!(found.unwrap().locus.as_str(), name);
        }
        // As starts of several machines at once come to it.
        let mut tasks = JoinSet::new();
        for nth in 0..8 {
            let store = fixture.store.clone();
            let place = if nth % 2 == 0 { "c_d@h" } else { "c-d@h" };
            tasks.spawn(async move {
                let place: Endpoint = place.parse().unwrap();
                let (store, place) = (&store, &place);
                let put = || async move {
                    let mut tx = store.begin().await?;
                    let record = machine_in(&mut tx, place, "").await?;
                    tx.commit().await?;
                    Ok(record)
                };
                let record = store.again(put).await.unwrap();
                (place.user.clone(), record.locus.to_string())
            });
        }
        let mut seen = std::collections::BTreeSet::new();
        while let Some(done) = tasks.join_next().await {
            seen.insert(done.unwrap());
        }
        assert_eq!(seen.len(), 2, "{seen:?}");
        assert_ne!(seen.first().unwrap().1, seen.last().unwrap().1);
    })
    .await;
}

#[tokio::test]
async fn a_place_is_found_by_endpoint_or_pointer_and_not_when_archived_or_a_session() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let ssh = pointer(json!({"ssh": {"host": "H", "user": "me", "port": 22, "key": "k"}}));
        let session =
            Registration { pointer: ssh.clone(), ..Registration::new(keeper("s"), Kind::Session) };
        register(store, &session).await.unwrap();
        let place: Endpoint = "me@h".parse().unwrap();
        let found = async || at(&mut store.read().await.unwrap(), &place).await.unwrap();
        assert_eq!(found().await, None);
        register(store, &Registration { pointer: ssh, ..named("by-pointer") }).await.unwrap();
        let record = found().await.unwrap();
        assert_eq!((record.locus.as_str(), &*record.ssh().unwrap().key), ("by-pointer", "k"));
        archive(store, &keeper("by-pointer")).await.unwrap();
        assert_eq!(found().await, None);
    })
    .await;
}
