//! How long replies stay, and how many.

use tokio::task::JoinSet;

use super::*;

const MIB: usize = 1 << 20;

#[tokio::test]
async fn a_reply_expires_and_is_removed() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let long = "x".repeat(9 * PART);
        let first = kept(store, "me", &long, &AMPLE).await;
        fixture.clock.pass(DAY / 2);
        let second = kept(store, "me", "{}", &AMPLE).await;
        fixture.clock.pass((DAY / 2).saturating_sub(Duration::from_micros(1)));
        assert!(is_there(store, "me", &first).await);
        assert_eq!(prune(store).await.unwrap(), 0);
        fixture.clock.pass(Duration::from_micros(1));
        assert!(!is_there(store, "me", &first).await && is_there(store, "me", &second).await);
        assert_eq!(rows(store).await, (2, 10));
        assert_eq!(prune(store).await.unwrap(), 1);
        assert_eq!(rows(store).await, (1, 1));
        assert!(is_there(store, "me", &second).await);
    })
    .await;
}

#[tokio::test]
async fn the_oldest_of_a_token_make_room_and_no_one_elses() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let bounds = Bounds { per_token: 3 * MIB as u64, ..AMPLE };
        let text = "x".repeat(MIB - 4_096);
        let other = kept(store, "you", &text, &bounds).await;
        let mut mine = Vec::new();
        for _ in 0..5 {
            fixture.clock.pass(Duration::from_secs(1));
            mine.push(kept(store, "me", &text, &bounds).await);
        }
        let mut there = Vec::new();
        for one in &mine {
            there.push(is_there(store, "me", one).await);
        }
        assert_eq!(there, [false, false, true, true, true]);
        assert!(is_there(store, "you", &other).await);
        // One that takes all of it.
        let whole = kept(store, "me", &"x".repeat(3 * MIB - 4_096), &bounds).await;
        assert!(is_there(store, "me", &whole).await && !is_there(store, "me", &mine[4]).await);
        let error = keep(store, &new("me", &"x".repeat(3 * MIB)), &bounds).await.unwrap_err();
        assert!(matches!(&error, Error::TooLarge(words) if words.contains("3145728")), "{error}");
        assert!(is_there(store, "me", &whole).await, "nothing made room for nothing");
        prune(store).await.unwrap();
        assert_eq!(rows(store).await.0, 2);
    })
    .await;
}

#[tokio::test]
async fn the_oldest_of_all_make_room_in_all() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let bounds = Bounds { in_all: 2 * MIB as u64, ..AMPLE };
        let text = "x".repeat(MIB - 4_096);
        let mut all = Vec::new();
        for token in ["a", "b", "c"] {
            fixture.clock.pass(Duration::from_secs(1));
            all.push((token, kept(store, token, &text, &bounds).await));
        }
        let mut there = Vec::new();
        for (token, one) in &all {
            there.push(is_there(store, token, one).await);
        }
        assert_eq!(there, [false, true, true]);
    })
    .await;
}

/// Small ones are bounded in number.
#[tokio::test]
async fn a_small_reply_takes_the_room_of_its_row() {
    on_both(async |fixture: &Fixture| {
        let bounds = Bounds { per_token: 10 * 4_097, ..AMPLE };
        for _ in 0..25 {
            fixture.clock.pass(Duration::from_secs(1));
            kept(&fixture.store, "me", "1", &bounds).await;
        }
        prune(&fixture.store).await.unwrap();
        assert_eq!(rows(&fixture.store).await, (10, 10));
    })
    .await;
}

/// Whatever is at work at once, nobody has more than the bound.
#[tokio::test(flavor = "multi_thread")]
async fn the_bound_holds_for_many_at_once() {
    on_both(async |fixture: &Fixture| {
        let bounds = Bounds { per_token: 3 * MIB as u64, ..AMPLE };
        let mut tasks = JoinSet::new();
        for _ in 0..12 {
            let store = fixture.store.clone();
            tasks.spawn(async move {
                keep(&store, &new("me", &"x".repeat(MIB - 4_096)), &bounds).await
            });
        }
        while let Some(done) = tasks.join_next().await {
            assert!(done.unwrap().is_ok());
        }
        prune(&fixture.store).await.unwrap();
        assert_eq!(rows(&fixture.store).await, (3, 12));
    })
    .await;
}

/// A reply whose room is taken while it is being written fails, and leaves nothing.
#[tokio::test]
async fn a_reply_that_is_crowded_out_is_not_there() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let bounds = Bounds { per_token: 12 * MIB as u64, ..AMPLE };
        let (long, short) = ("x".repeat(10 * MIB), "y".repeat(5 * MIB));
        let (one, other) = (new("me", &long), new("me", &short));
        let (first, second) =
            tokio::join!(keep(store, &one, &bounds), keep(store, &other, &bounds));
        // Whichever came second took the room.
        let mut there = Vec::new();
        for (outcome, parts) in [(first, 40), (second, 20)] {
            match outcome {
                Ok(kept) if is_there(store, "me", &kept).await => there.push(parts),
                Ok(_) => {}
                Err(error) => assert!(matches!(error, Error::Conflict(_)), "{error}"),
            }
        }
        assert_eq!(there.len(), 1, "{there:?}");
        prune(store).await.unwrap();
        assert_eq!(rows(store).await, (1, there[0]));
    })
    .await;
}

/// A caller who leaves in the middle leaves nothing that can be read, and nothing for long.
#[tokio::test]
async fn half_a_reply_is_not_there() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let long = "x".repeat(64 * MIB);
        let new = new("me", &long);
        let begun = async {
            while rows(store).await.1 < 4 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = begun => {}
            _ = keep(store, &new, &AMPLE) => panic!("sixty-four transactions in one"),
        }
        let mut conn = store.read().await.unwrap();
        let row = conn.sql("SELECT handle, complete FROM results").one().await.unwrap();
        let (handle, complete): (String, bool) = (row.get(0).unwrap(), row.get(1).unwrap());
        drop(conn);
        assert!(!complete && matches!(read(store, "me", &handle).await, Err(Error::NotFound(_))));
        fixture.clock.pass(Duration::from_mins(10));
        assert_eq!(prune(store).await.unwrap(), 1);
        assert_eq!(rows(store).await, (0, 0));
    })
    .await;
}
