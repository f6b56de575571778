//! What sending, taking, replying and reading mean.

use std::time::Duration;

use super::*;
use crate::store::{
    tests::{Fixture, on_both},
    todo,
};

#[tokio::test]
async fn a_message_is_on_the_board_of_its_locus_and_a_sessions_is_not() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let to = [address("B_eta"), address("session:S9")];
        let (from, body) = (address("alpha"), body(&json!({ "text": "a\0b", "n": 1 })));
        let post = Post {
            from: Some(&from),
            session: "s1",
            lease: "l1",
            reply_to: "https://h.example/hook",
            ..plain(&to, &body)
        };
        let (receipts, committed) = send(store, post).await.unwrap();
        assert!(committed.seq > 0);
        let [message, other] = [&receipts[0].message, &receipts[1].message];
        assert_eq!((&*message.to, &*other.to), ("b-eta", "session:s9"));
        assert_ne!(message.id, other.id);
        assert_eq!(message.body.object()["text"], "a\0b", "the message keeps what it says");
        assert_eq!((message.status, message.attempts), (Status::Queued, 0));
        assert_eq!((&*message.session, &*message.lease), ("s1", "l1"));
        let window = Window { after: None, limit: 10 };
        let (rows, ..) = pings(store, "b-eta", 0, true, window).await.unwrap();
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!(row.note, format!("[ping][msg] from alpha (ref {})", message.id));
        assert_eq!((&*row.text, &*row.by, &*row.source), ("a\u{2400}b", "alpha", "comms.send"));
        assert_eq!((&*row.sender_locus, &*row.sender_session), ("alpha", "s1"));
        assert_eq!(row.priority, Some(todo::Priority::High));
        assert!(pings(store, "session:s9", 0, true, window).await.unwrap().0.is_empty());
    })
    .await;
}

/// S16: however often it is read, nothing is marked; what was not shown stays to be taken.
#[tokio::test]
async fn s16_reading_marks_nothing() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for nth in 0..5 {
            post(store, "beta", &nth.to_string()).await;
        }
        let before = listed(store, "beta", Role::All, Status::Queued).await;
        let seq = store.begin().await.unwrap().commit().await.unwrap().seq;
        assert_eq!(seq, 0);
        for _ in 0..3 {
            assert_eq!(listed(store, "beta", Role::Recipient, Status::Queued).await, before);
            let window = Window { after: None, limit: 2 };
            pings(store, "beta", 0, true, window).await.unwrap();
            let window = Window { after: None, limit: 2 };
            thread(store, &before[0].id, "beta", None, window).await.unwrap();
        }
        assert_eq!(texts(&take(store, "beta", Role::Recipient, 2).await), ["0", "1"]);
        // Those that the limit left out are as they were.
        assert_eq!(texts(&listed(store, "beta", Role::All, Status::Queued).await), ["2", "3", "4"]);
    })
    .await;
}

#[tokio::test]
async fn the_role_tells_messages_from_replies() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let first = post(store, "beta", "question").await;
        let replied = answer(store, &first.id, "answer", &only("beta")).await.unwrap();
        assert_eq!(replied.original.status, Status::Replied);
        assert_eq!((&*replied.reply.to, &*replied.reply.from), ("alpha", "beta"));
        assert_eq!(replied.reply.parent.as_deref(), Some(&*first.id));
        assert!(listed(store, "alpha", Role::Recipient, Status::Queued).await.is_empty());
        assert_eq!(listed(store, "alpha", Role::Sender, Status::Queued).await.len(), 1);
        assert!(take(store, "alpha", Role::Recipient, 9).await.is_empty());
        assert_eq!(texts(&take(store, "alpha", Role::Sender, 9).await), ["answer"]);
        assert!(take(store, "beta", Role::All, 9).await.is_empty(), "it is replied, not queued");
        let (rows, ..) =
            pings(store, "alpha", 0, true, Window { after: None, limit: 9 }).await.unwrap();
        let note =
            format!("[ping][msg] reply from beta (ref {} parent {})", replied.reply.id, first.id);
        assert_eq!(rows[0].note, note);
    })
    .await;
}

#[tokio::test]
async fn a_reply_under_one_key_is_sent_once_and_to_a_session_where_no_locus_was_named() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (to, said) = ([address("beta")], body(&json!({})));
        let post = Post { session: "S1", ..plain(&to, &said) };
        let first = send(store, post).await.unwrap().0.remove(0).message;
        let response = Response { to: &first.id, from: None, body: &said, reference: "r" };
        let one = reply(store, response, &all()).await.unwrap();
        assert!(!one.already && one.reply.to == "session:s1");
        // What was said meanwhile stays.
        acknowledge(store, &first.id, Status::Error, &all()).await.unwrap();
        let two = reply(store, response, &all()).await.unwrap();
        assert!(two.already && two.reply.id == one.reply.id);
        assert_eq!(two.original.status, Status::Error);
        let other = body(&json!({ "text": "other" }));
        let altered = reply(store, Response { body: &other, ..response }, &all()).await;
        assert!(matches!(altered, Err(Error::Conflict(_))), "{altered:?}");
        // Nobody to go to: it is in the thread all the same.
        let nobody = send(store, plain(&to, &said)).await.unwrap().0.remove(0).message;
        let lost = answer(store, &nobody.id, "heard?", &all()).await.unwrap();
        assert_eq!(lost.reply.to, "");
        let window = Window { after: None, limit: 9 };
        assert_eq!(thread(store, &nobody.id, "beta", None, window).await.unwrap().0.len(), 2);
    })
    .await;
}

/// S39: a thread is stored once, listed from any of its messages, and read on from where one was.
#[tokio::test]
async fn s39_a_thread_is_listed_in_order_and_within_a_bound() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let first = post(store, "beta", "0").await;
        let mut last = first.id.clone();
        for nth in 1..7 {
            post(store, "beta", "of another thread").await;
            last = answer(store, &last, &nth.to_string(), &all()).await.unwrap().reply.id;
        }
        for start in [&first.id, &last] {
            for party in ["alpha", "beta"] {
                let (mut seen, mut after) = (Vec::new(), None);
                loop {
                    let window = Window { after, limit: 3 };
                    let (page, next) = thread(store, start, party, None, window).await.unwrap();
                    assert!(page.len() <= 3);
                    seen.extend(page);
                    after = next;
                    if after.is_none() {
                        break;
                    }
                }
                assert_eq!(texts(&seen), ["0", "1", "2", "3", "4", "5", "6"], "{start} {party}");
                assert!(seen.iter().all(|message| message.thread == first.id));
            }
            let outcome = thread(store, start, "gamma", None, Window { after: None, limit: 3 });
            assert!(is_absent(&outcome.await));
        }
        let window = Window { after: None, limit: 9 };
        let (replied, _) =
            thread(store, &last, "beta", Some(Status::Replied), window).await.unwrap();
        assert_eq!(texts(&replied), ["0", "1", "2", "3", "4", "5"]);
    })
    .await;
}

/// A message that a caller does not reach is like one that does not exist.
#[tokio::test]
async fn messages_of_others_cannot_be_told_from_none() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let message = post(store, "beta", "secret").await;
        let none = "ab".repeat(16);
        for id in [&*message.id, &*none] {
            let acknowledged = acknowledge(store, id, Status::Error, &only("gamma")).await;
            let answered = answer(store, id, "x", &only("gamma")).await;
            assert!(is_absent(&acknowledged), "{acknowledged:?}");
            assert!(is_absent(&answered), "{answered:?}");
        }
        assert!(is_absent(&acknowledge(store, &none, Status::Queued, &all()).await));
        let queued = listed(store, "beta", Role::All, Status::Queued).await;
        assert_eq!(queued, [message], "nothing was done to it");
        assert!(listed(store, "gamma", Role::All, Status::Queued).await.is_empty());
    })
    .await;
}

/// A key that another one has used is a conflict that says nothing of the other's message.
#[tokio::test]
async fn one_key_of_two_senders_is_a_conflict_and_one_of_two_recipients_is_not() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let first = try_post(store, "beta", "x", "k").await.unwrap();
        let (to, from, said) = ([address("beta")], address("other"), body(&json!({"text": "x"})));
        let post = Post { from: Some(&from), reference: "k", ..plain(&to, &said) };
        let error = send(store, post).await.unwrap_err().to_string();
        assert!(error.contains("another `ref`") && !error.contains(&first.message.id), "{error}");
        assert!(!try_post(store, "gamma", "x", "k").await.unwrap().already);
        // All of a list or none.
        let to = [address("delta"), address("beta")];
        let error = send(store, Post { to: &to, ..post }).await.unwrap_err();
        assert!(matches!(error, Error::Conflict(_)), "{error:?}");
        assert!(listed(store, "delta", Role::All, Status::Queued).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn lists_are_newest_second_first_and_page_by_key_while_others_come() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for second in 0..3 {
            for nth in 0..2 {
                post(store, "beta", &format!("{second}{nth}")).await;
            }
            fixture.clock.pass(Duration::from_secs(1));
        }
        let filter = Filter { to: "beta", role: Role::All, status: Status::Queued, since: 0 };
        let window = Window { after: None, limit: 3 };
        let (page, next) = list(store, filter, window).await.unwrap();
        assert_eq!(texts(&page), ["20", "21", "10"]);
        post(store, "beta", "30").await;
        let key: Key = next.unwrap().to_string().parse().unwrap();
        let (page, next) =
            list(store, filter, Window { after: Some(key), ..window }).await.unwrap();
        assert_eq!((texts(&page), next), (vec!["11", "00", "01"], None));
        let since = page[2].created / 1_000_000;
        let (later, _) =
            list(store, Filter { since, ..filter }, Window { limit: 9, ..window }).await.unwrap();
        assert_eq!(texts(&later), ["30", "20", "21", "10", "11"]);
        let (rows, ..) =
            pings(store, "beta", since + 1, true, Window { limit: 9, ..window }).await.unwrap();
        assert_eq!(rows.len(), 5);
        for odd in ["", "x", "1", "1.", "1.x", "1.2.3"] {
            assert!(odd.parse::<Key>().is_err(), "{odd}");
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_said_of_a_message_counts_and_queued_ones_are_taken_again() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let first = post(store, "beta", "x").await;
        let taken = take(store, "beta", Role::All, 9).await;
        assert_eq!((taken[0].attempts, &*taken[0].delivered_by), (1, "p"));
        for status in [Status::Error, Status::Queued, Status::Queued] {
            let (message, _) = acknowledge(store, &first.id, status, &only("beta")).await.unwrap();
            assert_eq!(message.status, status);
        }
        assert_eq!(take(store, "beta", Role::All, 9).await[0].attempts, 2);
        let other = post(store, "beta", "y").await;
        let (read, _) = acknowledge(store, &other.id, Status::Delivered, &all()).await.unwrap();
        assert_eq!((&*read.delivered_by, read.attempts), ("beta", 0));
        assert!(read.delivered_at > 0 && take(store, "beta", Role::All, 9).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn odd_keys_urls_and_names_are_refused_and_nothing_is_sent() {
    let fixture = Fixture::sqlite().await;
    let store = &fixture.store;
    let (to, said) = ([address("beta")], body(&json!({})));
    let long = "x".repeat(201);
    let url = format!("http://h.example/{}", "x".repeat(2_100));
    for (post, is_size) in [
        (Post { reference: "a\nb", ..plain(&to, &said) }, false),
        (Post { reference: &long, ..plain(&to, &said) }, true),
        (Post { session: "a\0", ..plain(&to, &said) }, false),
        (Post { reply_to: "ftp://h.example", ..plain(&to, &said) }, false),
        (Post { reply_to: "not a url", ..plain(&to, &said) }, false),
        (Post { reply_to: "http://h.example/a b", ..plain(&to, &said) }, false),
        (Post { reply_to: &url, ..plain(&to, &said) }, true),
    ] {
        let error = send(store, post).await.unwrap_err();
        assert_eq!(matches!(error, Error::TooLarge(_)), is_size, "{error:?}");
        assert!(is_size || matches!(error, Error::Invalid(_)), "{error:?}");
    }
    assert!(matches!(Address::parse("lease:p"), Err(Error::NotFound(_))));
    assert!(listed(store, "beta", Role::All, Status::Queued).await.is_empty());
}
