//! Leases: who holds an item, until when, and what a token is good for.

use futures::future::join_all;

use super::*;
use crate::{
    clock::Clock,
    store::tests::{MIDNIGHT, on_both},
};

async fn granted(store: &Store, id: BoardId, by: &'static str, lease_s: i64) -> Holder<'static> {
    let claim = claim(store, id, by, lease_s, &all()).await.unwrap();
    assert_eq!(claim.why, None, "{:?}", claim.reason());
    assert!(claim.committed.is_some());
    Holder { by, token: claim.row.fence }
}

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

#[tokio::test]
async fn s3_a_change_of_status_starts_no_lease() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let wanted = item(store, "paint it").await;
        let doing = Change { status: Some(Status::Doing), ..Change::default() };
        let changed = update(store, wanted, doing, None, Mode::Enforce, &all()).await.unwrap();
        assert_eq!(changed.row.status, Status::Doing);
        let leased = |row: &Row| (row.claimed_by.clone(), row.lease_until, row.fence, row.attempts);
        assert_eq!(leased(&changed.row), (String::new(), 0, 0, 0));
        pass(fixture, seconds(36_000)).await;
        assert_eq!(row(store, wanted).await.status, Status::Doing, "nothing reverts it");
        // Nor does it touch one that there is.
        let holder = granted(store, wanted, "a", 60).await;
        let before = row(store, wanted).await;
        let open = Change { status: Some(Status::Open), text: Some("x"), ..Change::default() };
        update(store, wanted, open, None, Mode::Enforce, &all()).await.unwrap();
        assert_eq!(leased(&row(store, wanted).await), leased(&before));
        renew(store, wanted, holder, 60, &all()).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn s4_only_its_holder_gives_an_item_back() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let wanted = item(store, "paint it").await;
        let holder = granted(store, wanted, "a", 60).await;
        for other in [
            Holder { by: "b", ..holder },
            Holder { token: holder.token + 1, ..holder },
            Holder { token: 0, ..holder },
        ] {
            let released = release(store, wanted, other, &all()).await;
            assert!(is_conflict(&released), "{released:?}");
            assert!(is_conflict(&renew(store, wanted, other, 60, &all()).await));
            assert!(is_conflict(&done(store, wanted, Some(other), &all()).await));
        }
        assert_eq!(row(store, wanted).await.claimed_by, "a");
        assert!(matches!(
            release(store, wanted, Holder { by: " ", ..holder }, &all()).await,
            Err(Error::Invalid(_))
        ));
        let released = release(store, wanted, holder, &all()).await.unwrap();
        assert_eq!((&*released.row.claimed_by, released.row.fence), ("", holder.token));
        // The same once more, as after an answer that was lost.
        release(store, wanted, holder, &all()).await.unwrap();
        let next = granted(store, wanted, "b", 60).await;
        assert!(is_conflict(&release(store, wanted, holder, &all()).await));
        assert_eq!(row(store, wanted).await.fence, next.token);
    })
    .await;
}

#[tokio::test]
async fn s11_a_slow_holder_that_was_replaced_is_refused() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let wanted = item(store, "a slow job").await;
        let slow = granted(store, wanted, "slow", 60).await;
        // Renewing holds it for as long as it takes.
        for _ in 0..5 {
            pass(fixture, seconds(40)).await;
            renew(store, wanted, slow, 60, &all()).await.unwrap();
            let refused = claim(store, wanted, "b", 60, &all()).await.unwrap();
            assert_eq!((refused.why, refused.committed), (Some(Why::Held), None));
            assert!(refused.reason().unwrap().starts_with("claimed by slow until 2026-11-30T00:"));
        }
        // Not even the same claimant gets a second token while the first is good.
        assert_eq!(claim(store, wanted, "slow", 60, &all()).await.unwrap().why, Some(Why::Held));
        pass(fixture, seconds(61)).await;
        let error = done(store, wanted, Some(slow), &all()).await.unwrap_err();
        assert!(error.to_string().contains("lapsed: claim it again"), "{error}");
        let next = granted(store, wanted, "slow", 60).await;
        assert!(next.token > slow.token);
        // The same name, the older token.
        for refused in [
            renew(store, wanted, slow, 60, &all()).await.map(drop),
            release(store, wanted, slow, &all()).await.map(drop),
            done(store, wanted, Some(slow), &all()).await.map(drop),
            update(store, wanted, Change::default(), Some(slow), Mode::Off, &all()).await.map(drop),
        ] {
            assert!(refused.unwrap_err().to_string().contains("not the newest"));
        }
        let delivery = delivered(store, wanted, "slow", Some(slow.token), &all()).await.unwrap();
        assert_eq!(delivery.why, Some(Why::Stale));
        let finished = done(store, wanted, Some(next), &all()).await.unwrap();
        assert_eq!((finished.row.status, &*finished.row.claimed_by), (Status::Done, ""));
        // Once more the same; a claim of what is done.
        done(store, wanted, Some(next), &all()).await.unwrap();
        assert!(is_conflict(&done(store, wanted, Some(slow), &all()).await));
        assert_eq!(claim(store, wanted, "b", 60, &all()).await.unwrap().why, Some(Why::Done));
    })
    .await;
}

/// As the earlier boards have it: who shows no token may finish anything, and then no token is good.
#[tokio::test]
async fn an_item_that_is_finished_over_its_holders_head_is_nobodys() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let wanted = item(store, "paint it").await;
        let holder = granted(store, wanted, "a", 60).await;
        done(store, wanted, None, &all()).await.unwrap();
        let open = Change { status: Some(Status::Open), ..Change::default() };
        update(store, wanted, open, None, Mode::Enforce, &all()).await.unwrap();
        assert!(is_conflict(&renew(store, wanted, holder, 60, &all()).await));
        assert!(is_conflict(&done(store, wanted, Some(holder), &all()).await));
        assert_eq!(granted(store, wanted, "b", 60).await.token, holder.token + 1);
    })
    .await;
}

#[tokio::test]
async fn what_was_delivered_stays_so_and_is_claimed_no_more() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let wanted = item(store, "hello").await;
        let holder = granted(store, wanted, "a", 60).await;
        let other = delivered(store, wanted, "b", None, &all()).await.unwrap();
        assert_eq!((other.why, other.row.delivered_at), (Some(Why::Held), 0));
        let first = delivered(store, wanted, "a", Some(holder.token), &all()).await.unwrap();
        assert_eq!((first.why, &*first.row.delivered_by), (None, "a"));
        assert_eq!((&*first.row.claimed_by, first.row.lease_s, first.row.attempts), ("", 0, 1));
        let again = delivered(store, wanted, "b", None, &all()).await.unwrap();
        assert_eq!(again.reason().as_deref(), Some("already delivered by a"));
        assert_eq!(again.row, first.row);
        let late = claim(store, wanted, "b", 60, &all()).await.unwrap();
        assert_eq!((late.why, late.row.attempts), (Some(Why::Delivered), 1));
        // Whoever comes first where nobody holds it.
        let free = item(store, "hello").await;
        granted(store, free, "a", 60).await;
        pass(fixture, seconds(60)).await;
        assert_eq!(delivered(store, free, "b", None, &all()).await.unwrap().why, None);
    })
    .await;
}

/// T4: holders that pause beyond their term write nothing any more, whoever came meanwhile; holders
/// that go on renewing lose nothing.
#[tokio::test(flavor = "multi_thread")]
async fn t4_late_holders_are_refused_and_live_ones_never_replaced() {
    on_both(async |fixture: &Fixture| {
        const HOLDERS: usize = 100;
        const ROUNDS: usize = 20;
        let store = &fixture.store;
        let term = term(Some(0), seconds(1));
        assert_eq!(term, 1);
        // PostgreSQL's clock goes on by itself: there the terms are long and time is put forwards.
        let long = if store.engine() == "sqlite" { 1 } else { 600 };
        let (term, pass) = (term * long, async |tenths: u64| {
            let long = u64::try_from(long).unwrap();
            pass(fixture, Duration::from_millis(100 * tenths * long)).await;
        });
        let mut items = Vec::new();
        for nth in 0..HOLDERS {
            items.push(item(store, &format!("job {nth}")).await);
        }
        let (mut refused, mut pauses, mut kept) = (0, 0, 0);
        for round in 0..ROUNDS {
            let claims = items.iter().map(async |id| (*id, granted(store, *id, "h", term).await));
            // Every second one pauses, others in each round.
            let (paused, live): (Vec<_>, Vec<_>) = join_all(claims)
                .await
                .into_iter()
                .enumerate()
                .partition(|(nth, _)| (nth + round) % 2 == 0);
            for _ in 0..3 {
                pass(5).await;
                join_all(live.iter().map(async |(_, (id, holder))| {
                    renew(store, *id, *holder, term, &all()).await.unwrap();
                    let claim = claim(store, *id, "other", term, &all()).await.unwrap();
                    assert_eq!(claim.why, Some(Why::Held));
                }))
                .await;
                kept += live.len();
            }
            let late = join_all(paused.iter().map(async |(nth, (id, holder))| {
                // Half of them were replaced meanwhile.
                if nth % 4 < 2 {
                    granted(store, *id, "other", term).await;
                }
                let before = row(store, *id).await;
                let change = Change { text: Some("late"), ..Change::default() };
                let late = [
                    done(store, *id, Some(*holder), &all()).await.map(drop),
                    update(store, *id, change, Some(*holder), Mode::Off, &all()).await.map(drop),
                    renew(store, *id, *holder, term, &all()).await.map(drop),
                ];
                assert_eq!(row(store, *id).await, before);
                late.iter().filter(|outcome| is_conflict(outcome)).count()
            }));
            refused += late.await.iter().sum::<usize>();
            pauses += paused.len();
            pass(11).await;
        }
        assert_eq!(refused, 3 * pauses);
        eprintln!(
            "T4 {}: {HOLDERS} holders, {pauses} pauses: {refused} of {} late writes refused, {kept} claims of live leases, 0 granted",
            store.engine(),
            3 * pauses
        );
    })
    .await;
}

/// The steady clock of SQLite's one process ends with it: the next cannot tell how long that was.
#[tokio::test]
async fn a_lease_that_may_be_live_gets_one_fresh_term_at_the_next_start() {
    let fixture = Fixture::sqlite().await;
    let store = &fixture.store;
    let (short, long) = (item(store, "short").await, item(store, "long").await);
    granted(store, short, "a", 10).await;
    let holder = granted(store, long, "a", 100).await;
    fixture.clock.pass(seconds(50));
    // Another one was granted after the end of the short one.
    let third = item(store, "third").await;
    granted(store, third, "c", 10).await;
    drop(fixture.store);
    // A day earlier by the wall, or a day later: neither counts.
    for day in [-1, 1] {
        let clock = Clock::set_to(MIDNIGHT + day * 86_400_000_000);
        let store = Store::open(&fixture.place, clock.clone()).await.unwrap();
        let free = claim(&store, short, "b", 10, &all()).await.unwrap();
        assert_eq!(free.why, None, "{:?}", free.reason());
        release(&store, short, Holder { by: "b", token: free.row.fence }, &all()).await.unwrap();
        clock.pass(seconds(99));
        assert_eq!(claim(&store, long, "b", 10, &all()).await.unwrap().why, Some(Why::Held));
        if day == 1 {
            renew(&store, long, holder, 100, &all()).await.unwrap();
            clock.pass(seconds(100));
            assert!(is_conflict(&renew(&store, long, holder, 100, &all()).await));
            assert!(granted(&store, long, "b", 10).await.token > holder.token);
        }
    }
}

#[test]
fn a_term_is_between_the_least_and_an_hour() {
    for (asked, least, wanted) in [
        (None, 5_000, 120),
        (Some(60), 5_000, 60),
        (Some(1), 5_000, 5),
        (Some(0), 1_000, 1),
        (Some(-3), 1_500, 2),
        (Some(1), 0, 1),
        (Some(100_000), 5_000, 3_600),
        (Some(60), 86_400_000, 3_600),
    ] {
        assert_eq!(term(asked, Duration::from_millis(least)), wanted, "{asked:?} {least}");
    }
}
