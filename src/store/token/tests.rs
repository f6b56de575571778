use std::{collections::BTreeSet, time::Duration};

use mcp::Scope;
use tokio::task::JoinSet;

use super::*;
use crate::store::tests::{Fixture, MIDNIGHT, on_both};

fn new(name: &str) -> New {
    let mut hash = [0; 32];
    fastrand::fill(&mut hash);
    New {
        name: TokenName::parse(name).unwrap(),
        hash,
        scope: Scope::Write,
        profile: Some("coder".to_owned()),
        loci: Some(BTreeSet::from([Locus::parse("web_7").unwrap()])),
        stands: Some(Duration::from_mins(1)),
        budget: Some(2_500_000),
        creator: "operator".to_owned(),
    }
}

async fn names(store: &Store) -> Vec<String> {
    let mut conn = store.read().await.unwrap();
    list(&mut conn, "", MOST).await.unwrap().into_iter().map(|token| token.name).collect()
}

#[tokio::test]
async fn what_was_minted_is_read_again_as_it_was() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let wanted = new("ci");
        let (token, committed) = mint(store, &wanted).await.unwrap();
        assert_eq!((committed.at, token.created), (MIDNIGHT, MIDNIGHT));
        assert_eq!(token.expires, Some(MIDNIGHT + 60_000_000));
        assert_eq!(token.loci.clone().unwrap(), BTreeSet::from(["web-7".to_owned()]));
        let second = fixture.open().await;
        let mut conn = second.read().await.unwrap();
        assert_eq!(list(&mut conn, "", 9).await.unwrap(), std::slice::from_ref(&token));
        let standing = standing(&mut conn, MIDNIGHT).await.unwrap();
        assert_eq!(standing, [(token.clone(), wanted.hash)]);
        assert!(token.stands(MIDNIGHT + 59_999_999) && !token.stands(MIDNIGHT + 60_000_000));
        drop(conn);
        let bare = New { profile: None, loci: None, stands: None, budget: None, ..new("bare") };
        let (bare, _) = mint(store, &bare).await.unwrap();
        let nothing = (bare.profile, bare.loci, bare.expires, bare.budget, bare.last_used);
        assert_eq!(nothing, (None, None, None, None, None));
        let mut conn = store.read().await.unwrap();
        assert_eq!(
            list(&mut conn, "bare", 9).await.unwrap().len(),
            1,
            "by name, from behind one on"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_want_one_name_one_gets_it() {
    on_both(async |fixture: &Fixture| {
        let mut tasks = JoinSet::new();
        for _ in 0..16 {
            let store = fixture.store.clone();
            tasks.spawn(async move { mint(&store, &new("ci")).await.map(|_| ()) });
        }
        let ended = tasks.join_all().await;
        assert_eq!(ended.iter().filter(|ended| ended.is_ok()).count(), 1, "{ended:?}");
        let taken = |ended: &Result<(), Error>| {
            matches!(ended, Err(Error::Conflict(words)) if words.contains("`ci`"))
        };
        assert_eq!(ended.iter().filter(|ended| taken(ended)).count(), 15, "{ended:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_revoked_once_and_its_name_stays_taken_for_a_while() {
    on_both(async |fixture: &Fixture| {
        let (store, clock) = (&fixture.store, &fixture.clock);
        mint(store, &new("ci")).await.unwrap();
        let mut conn = store.read().await.unwrap();
        let before = revision(&mut conn).await.unwrap();
        let mut tasks = JoinSet::new();
        for _ in 0..8 {
            let store = store.clone();
            tasks.spawn(async move { revoke(&store, "ci").await.unwrap() });
        }
        let ended = tasks.join_all().await;
        assert_eq!(ended.iter().filter(|(_, committed)| committed.is_some()).count(), 1);
        assert!(ended.iter().all(|(token, _)| token.revoked == Some(MIDNIGHT)));
        assert_eq!(revision(&mut conn).await.unwrap(), before + 1);
        assert!(standing(&mut conn, MIDNIGHT).await.unwrap().is_empty());
        drop(conn);
        let error = revoke(store, "nobody").await.unwrap_err();
        assert!(matches!(&error, Error::NotFound(words) if words.contains("`nobody`")), "{error}");
        let error = mint(store, &new("ci")).await.unwrap_err();
        assert!(error.to_string().contains("has ended"), "{error}");
        assert_eq!(prune(store).await.unwrap(), 0);
        mint(store, &New { stands: None, ..new("kept") }).await.unwrap();
        clock.pass(KEPT + Duration::from_secs(61));
        mint(store, &New { stands: Some(Duration::from_secs(1)), ..new("late") }).await.unwrap();
        assert_eq!(prune(store).await.unwrap(), 1);
        assert_eq!(names(store).await, ["kept", "late"]);
        mint(store, &new("ci")).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn the_last_use_only_rises_and_is_no_news() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (one, _) = mint(store, &new("one")).await.unwrap();
        let (two, told) = mint(store, &new("two")).await.unwrap();
        used(store, &[(two.id, 7), (one.id, 5)]).await.unwrap();
        used(store, &[(two.id, 6), (one.id, 9)]).await.unwrap();
        let mut conn = store.read().await.unwrap();
        let uses = list(&mut conn, "", 9).await.unwrap();
        let uses: Vec<_> = uses.into_iter().map(|token| token.last_used).collect();
        assert_eq!(uses, [Some(9), Some(7)]);
        let text = "SELECT count(*) FROM events WHERE seq > $1";
        let later: i64 = conn.sql(text).bind(told.seq).one().await.unwrap().get(0).unwrap();
        assert_eq!(later, 0);
    })
    .await;
}

#[tokio::test]
async fn there_are_only_so_many() {
    let fixture = Fixture::sqlite().await;
    let store = &fixture.store;
    let mut tx = store.begin().await.unwrap();
    let text = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) INSERT INTO tokens (name, hash, scope, created, creator) SELECT 't' || i, randomblob(32), 'read', 0, 'x' FROM n";
    tx.sql(text).run().await.unwrap();
    tx.commit().await.unwrap();
    mint(store, &new("last")).await.unwrap();
    let error = mint(store, &new("more")).await.unwrap_err();
    assert!(matches!(&error, Error::Conflict(words) if words.contains("10000")), "{error}");
}
