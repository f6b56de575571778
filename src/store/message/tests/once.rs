//! What happens once however often and by however many it is tried.

use std::collections::BTreeSet;

use tokio::task::JoinSet;

use super::*;
use crate::store::{
    names::Locus,
    tests::{Fixture, on_both},
};

/// How many keys are tried; `ADJUTANT_KEYS` at compile time says otherwise (1,000 before a release).
const KEYS: usize = match option_env!("ADJUTANT_KEYS") {
    Some(text) => match usize::from_str_radix(text, 10) {
        Ok(keys) => keys,
        Err(_) => 100,
    },
    None => 100,
};

const DUPLICATES: usize = 8;

/// T6: each key is sent once of eight at once, and other arguments are a conflict each time.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn t6_of_eight_at_once_under_one_key_one_is_sent_and_other_arguments_never() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let mut tasks = JoinSet::new();
        for nth in 0..KEYS * DUPLICATES {
            let store = store.clone();
            tasks.spawn(async move {
                let key = nth % KEYS;
                let (words, name) = (format!("words {key}"), format!("k{key}"));
                (key, try_post(&store, "beta", &words, &name).await.unwrap())
            });
        }
        let (mut made, mut ids) = (vec![0; KEYS], BTreeSet::new());
        while let Some(done) = tasks.join_next().await {
            let (key, receipt) = done.unwrap();
            made[key] += usize::from(!receipt.already);
            ids.insert(receipt.message.id);
        }
        assert!(made.iter().all(|count| *count == 1), "{made:?}");
        assert_eq!(ids.len(), KEYS);
        let mut tasks = JoinSet::new();
        for key in 0..KEYS {
            let store = store.clone();
            tasks.spawn(async move {
                let altered = try_post(&store, "beta", "other words", &format!("k{key}")).await;
                matches!(altered, Err(Error::Conflict(_)))
            });
        }
        while let Some(is_conflict) = tasks.join_next().await {
            assert!(is_conflict.unwrap());
        }
        let window = Window { after: None, limit: 100_000 };
        let (rows, next, _) = pings(store, "beta", 0, true, window).await.unwrap();
        assert!(next.is_none());
        assert_eq!(rows.len(), KEYS, "one row on the board for each message");
        assert_eq!(listed(store, "beta", Role::All, Status::Queued).await.len(), KEYS);
        println!(
            "T6 {}: {KEYS} keys, {DUPLICATES} at once each: {KEYS} sent, {} repeated, {KEYS} of {KEYS} altered ones refused",
            store.engine(),
            KEYS * (DUPLICATES - 1)
        );
    })
    .await;
}

/// T6 for pings, which are rows of the board.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn t6_a_ping_under_one_key_is_written_once() {
    on_both(async |fixture: &Fixture| {
        let mut tasks = JoinSet::new();
        for nth in 0..80 {
            let store = fixture.store.clone();
            tasks.spawn(async move {
                let (key, text) = (format!("k{}", nth % 10), format!("words {}", nth % 10));
                let to = [Locus::parse("beta").unwrap(), Locus::parse("gamma").unwrap()];
                // Named in any order: nobody waits for anybody.
                let to = if nth % 2 == 0 { to } else { [to[1].clone(), to[0].clone()] };
                let both = Ping {
                    to: &to,
                    text: &text,
                    from: None,
                    reference: &key,
                    is_message: false,
                    session: "",
                    lease: "",
                };
                let (pinged, _) = ping(&store, both).await.unwrap();
                assert_eq!(pinged[0].row.locus, to[0].as_str());
                let altered = ping(&store, Ping { is_message: true, ..both }).await;
                assert!(matches!(altered, Err(Error::Conflict(_))), "{altered:?}");
                pinged.iter().filter(|pinged| !pinged.already).count()
            });
        }
        let mut made = 0;
        while let Some(done) = tasks.join_next().await {
            made += done.unwrap();
        }
        assert_eq!(made, 20);
    })
    .await;
}

/// Sixteen take from one queue at once: each message goes to one of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_message_goes_to_one_of_many_takers() {
    on_both(async |fixture: &Fixture| {
        const MESSAGES: usize = 120;
        let store = &fixture.store;
        for nth in 0..MESSAGES {
            post(store, "beta", &nth.to_string()).await;
        }
        let mut tasks = JoinSet::new();
        for taker in 0..16 {
            let store = store.clone();
            tasks.spawn(async move {
                let (mut taken, by) = (Vec::new(), format!("taker-{taker}"));
                // Others may have locked all that was left.
                for _ in 0..20 {
                    let wanted =
                        Drain { to: "beta", role: Role::Recipient, since: 0, limit: 7, by: &by };
                    let (some, _) = drain(&store, wanted).await.unwrap();
                    assert!(some.len() <= 7);
                    assert!(some.iter().all(|message| message.delivered_by == by));
                    assert!(some.windows(2).all(|pair| pair[0].number < pair[1].number));
                    taken.extend(some.into_iter().map(|message| message.number));
                }
                assert!(taken.is_sorted(), "the oldest first: {taken:?}");
                taken
            });
        }
        let mut taken = Vec::new();
        while let Some(done) = tasks.join_next().await {
            taken.extend(done.unwrap());
        }
        taken.extend(take(store, "beta", Role::All, 200).await.iter().map(|m| m.number));
        assert_eq!(taken.len(), MESSAGES);
        assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), MESSAGES);
        let delivered = listed(store, "beta", Role::All, Status::Delivered).await;
        assert!(delivered.iter().all(|message| message.attempts == 1));
    })
    .await;
}
