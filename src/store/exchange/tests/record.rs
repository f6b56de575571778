//! Recording: what comes back, what is merged, and what is refused.

use std::time::Duration;

use tokio::task::JoinSet;

use super::*;
use crate::store::{names::BoardType, todo};

#[tokio::test]
async fn an_exchange_comes_back_as_it_was_recorded() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let tokens = Tokens {
            total: Some(12),
            input: Some(5),
            output: Some(7),
            cache_read: Some(0),
            cache_creation: Some(1_000_000_000_000),
            cost_usd: Some(0.25),
            duration_s: Some(1.5),
            cache_ttl_s: Some(300),
            cache_expires_at: Some(MIDNIGHT + 300 * SECOND),
        };
        let content = Content {
            source: "hook".to_owned(),
            model: "m-1".to_owned(),
            pointers: Some(json!({ "files": ["/srv/a"], "n": 1 })),
            tokens,
            ..of("s9", 7, said("turn-1", "  007\r\né\u{202e} ", "\u{1b}[0m done"))
        };
        let (recorded, committed) = try_put(store, "Alpha_1", content.clone()).await.unwrap();
        assert_eq!((recorded.way, recorded.nuls, &*recorded.locus), (Way::New, 0, "alpha-1"));
        assert!(committed.seq > 0);
        let second = fixture.open().await;
        for store in [store, &second] {
            let row = read(store, recorded.id).await;
            assert_eq!((&*row.prompt, &*row.response), (&*content.prompt, &*content.response));
            assert_eq!((row.tokens, row.ts), (tokens, content.ts));
            assert_eq!((&row.pointers, row.origin), (&content.pointers, Origin::Operator));
            assert_eq!((&*row.source, &*row.model, &*row.session_id), ("hook", "m-1", "s9"));
            assert_eq!((row.prompt_chars, row.response_chars, row.is_clipped), (10, 9, false));
        }
        // What nobody said is not there.
        let bare = read(store, put(store, "alpha", said("", "hello", "")).await.id).await;
        assert_eq!(
            (bare.tokens, bare.pointers, bare.ts),
            (Tokens::default(), None, tests::MIDNIGHT)
        );
    })
    .await;
}

/// What cannot be recorded, with the words for it and whether it is too large.
fn unfit() -> Vec<(Content, &'static str, bool)> {
    let long = "é".repeat(MOST_TEXT + 1);
    let base = said("t2", "x", "");
    let with = |change: &dyn Fn(&mut Content)| {
        let mut content = base.clone();
        change(&mut content);
        content
    };
    vec![
        (said("t", "", ""), "neither `prompt` nor `response`", false),
        (said("t", "\0", ""), "neither `prompt` nor `response`", false),
        (said("t", &long, ""), "`prompt` has 200001 characters", true),
        (said("t", "x", &long), "`response` has 200001 characters", true),
        (with(&|c| c.session_id = "s".repeat(129)), "`session_id` has 129", true),
        (with(&|c| c.source = "s".repeat(41)), "`source` has 41", true),
        (with(&|c| c.model = "m".repeat(81)), "`model` has 81", true),
        (with(&|c| c.model = "a\nb".to_owned()), "`model` has a control", false),
        (with(&|c| c.turn = "a\u{1b}b".to_owned()), "`turn` has a control", false),
        (with(&|c| c.ts = -1), "`ts` is in seconds of UTC", false),
        (with(&|c| c.ts = i64::MAX), "`ts` is in seconds of UTC", false),
        (with(&|c| c.tokens.total = Some(-1)), "`tokens` is a count", false),
        (with(&|c| c.tokens.output = Some(i64::MAX)), "`output_tokens`", false),
        (with(&|c| c.tokens.cost_usd = Some(f64::NAN)), "`cost_usd` is a number", false),
        (with(&|c| c.tokens.duration_s = Some(-0.5)), "`duration_s`", false),
        (with(&|c| c.tokens.cache_ttl_s = Some(-1)), "`cache_ttl_s`", false),
        (with(&|c| c.tokens.cache_expires_at = Some(-1)), "`cache_expires_at`", false),
        (with(&|c| c.pointers = Some(json!("x".repeat(MOST_POINTERS)))), "`pointers`", true),
    ]
}

#[tokio::test]
async fn what_a_record_cannot_hold_is_refused_or_left_out_and_counted() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let recorded = put(store, "alpha", said("t", "a\0b\0", "\0c")).await;
        assert_eq!(recorded.nuls, 3);
        let row = read(store, recorded.id).await;
        assert_eq!((&*row.prompt, &*row.response), ("ab", "c"));
        for (content, words, is_large) in unfit() {
            let error = try_put(store, "alpha", content).await.unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            assert_eq!(matches!(error, Error::TooLarge(_)), is_large, "{error:?}");
            assert!(is_large || matches!(error, Error::Invalid(_)), "{error:?}");
        }
        assert_eq!(rows(store, "alpha").await.len(), 1);
        let most = "é".repeat(MOST_TEXT);
        let whole = read(store, put(store, "alpha", said("t3", &most, &most)).await.id).await;
        assert!(whole.prompt == most && whole.response == most);
    })
    .await;
}

#[tokio::test]
async fn a_turn_that_is_recorded_again_takes_in_what_is_new() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let uuid = "0b7e2a4c-5d1f-4e6a-9c3b-8f2d7a1e4b60";
        let first = Content {
            tokens: Tokens { output: Some(3), cost_usd: Some(0.5), ..Tokens::default() },
            pointers: Some(json!({ "a": 1 })),
            model: "m-1".to_owned(),
            ..of("s1", 9, said(uuid, "a long question", "short"))
        };
        let recorded = put(store, "alpha", first.clone()).await;
        // All of its name tells it from others.
        assert_eq!(recorded.content.turn, uuid);
        let other = put(store, "alpha", of("s1", 9, said(&uuid[..35], "another", ""))).await;
        assert_eq!((other.way, other.id == recorded.id), (Way::New, false));
        let second = Content {
            tokens: Tokens { output: Some(4), ..Tokens::default() },
            source: "serve".to_owned(),
            ..of("", 5, said(uuid, "a question", "a longer answer"))
        };
        let merged = put(store, "alpha", second.clone()).await;
        assert_eq!((merged.id, merged.way), (recorded.id, Way::Merged));
        let row = read(store, recorded.id).await;
        assert_eq!((&*row.prompt, &*row.response), ("a long question", "a longer answer"));
        assert_eq!((row.ts, &*row.session_id), (MIDNIGHT + 9 * SECOND, "s1"));
        assert_eq!((&*row.model, &*row.source), ("m-1", "serve"));
        assert_eq!((row.tokens.output, row.tokens.cost_usd), (Some(4), Some(0.5)));
        assert_eq!(row.pointers, Some(json!({ "a": 1 })));
        assert_eq!(row.response_chars, 15);
        assert_eq!(told(store).await, (2, 1, 0));
        // The same once more changes nothing, and nothing is told of it.
        let same = put(store, "alpha", second).await;
        assert_eq!((same.id, same.way), (recorded.id, Way::Same));
        assert_eq!(read(store, recorded.id).await, row);
        assert_eq!(told(store).await, (2, 1, 0));
        // Without a name each is one of its own.
        let (one, other) = (said("", "x", ""), said("", "x", ""));
        assert_ne!(put(store, "alpha", one).await.id, put(store, "alpha", other).await.id);
    })
    .await;
}

#[tokio::test]
async fn a_turn_of_a_session_is_one_row_whatever_locus_it_comes_under() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let first = put(store, "keeper", of("s1", 1, said("t1", "question", "a"))).await;
        let again = put(store, "vm-mgr", of("s1", 1, said("t1", "question", "an answer"))).await;
        assert_eq!((again.id, &*again.locus, again.way), (first.id, "keeper", Way::Merged));
        assert_eq!(rows(store, "vm-mgr").await, []);
        assert_eq!(rows(store, "keeper").await[0].response, "an answer");
        // Another session's turn of the name is another turn.
        put(store, "vm-mgr", of("s2", 1, said("t1", "question", "b"))).await;
        assert_eq!(rows(store, "vm-mgr").await.len(), 1);
        // What a writer does not reach is neither changed nor told.
        let draft = Draft {
            locus: locus("mine"),
            content: of("s1", 1, said("t1", "question", "of my own, and the longest of all")),
        };
        let (mine, _) = record(store, draft, &only(&["mine"])).await.unwrap();
        assert_eq!((&*mine.locus, mine.way), ("mine", Way::New));
        assert_eq!(rows(store, "keeper").await[0].response, "an answer");
        let hidden = get(store, first.id, &only(&["mine"])).await.unwrap_err();
        let missing = get(store, ExchangeId::new(99), &only(&["mine"])).await.unwrap_err();
        assert_eq!(hidden.to_string().replace("x1`", "x99`"), missing.to_string());
    })
    .await;
}

/// Two writers of every turn, under two loci, all at once: one row a turn, with the longest of all
/// that was said.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_writers_of_one_turn_none_makes_a_second_row_or_loses_a_word() {
    const TURNS: usize = 6;
    const WRITERS: usize = 8;
    on_both(async |fixture: &Fixture| {
        // Without a session only the locus says which turn it is.
        for (session, names) in [("s1", ["alpha", "beta"]), ("", ["gamma", "gamma"])] {
            let mut writers = JoinSet::new();
            for writer in 0..WRITERS {
                let store = fixture.store.clone();
                writers.spawn(async move {
                    for turn in 0..TURNS {
                        let answer = "x".repeat(1 + (writer + turn) % WRITERS);
                        let content = of(session, 1, said(&format!("t{turn}"), "q", &answer));
                        put(&store, names[writer % 2], content).await;
                    }
                });
            }
            writers.join_all().await;
            let mut all = rows(&fixture.store, names[0]).await;
            if names[0] != names[1] {
                all.extend(rows(&fixture.store, names[1]).await);
            }
            assert_eq!(all.len(), TURNS);
            assert!(all.iter().all(|row| row.response.len() == WRITERS), "{all:?}");
        }
        assert_eq!(told(&fixture.store).await.0, 2 * TURNS);
    })
    .await;
}

#[tokio::test]
async fn words_of_the_harness_are_told_from_the_operators() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let notice = "<task-notification><task-id>ag-7</task-id><status>completed</status><summary>done</summary></task-notification>";
        let recorded = put(store, "alpha", said("t1", notice, "")).await;
        let row = read(store, recorded.id).await;
        assert_eq!(row.origin, Origin::Harness);
        let harness = &row.pointers.as_ref().unwrap()["harness"];
        assert_eq!(harness["kind"], "task-notification");
        assert_eq!((&harness["task_id"], &harness["status"]), (&json!("ag-7"), &json!("completed")));
        // What a writer says of it stands, and what its pointers have already.
        let given = Content { origin: Some(Origin::Operator), ..said("t2", notice, "") };
        let row = read(store, put(store, "alpha", given).await.id).await;
        assert_eq!((row.origin, row.pointers), (Origin::Operator, None));
        let own = json!({ "harness": "mine" });
        let given = Content { pointers: Some(own.clone()), ..said("t3", notice, "") };
        let row = read(store, put(store, "alpha", given).await.id).await;
        assert_eq!((row.origin, row.pointers), (Origin::Harness, Some(own)));
        // An answer that comes later, without the prompt, says nothing of it.
        put(store, "alpha", said("t1", "", "an answer")).await;
        let row = read(store, recorded.id).await;
        assert_eq!((row.origin, &*row.response), (Origin::Harness, "an answer"));
    })
    .await;
}

#[tokio::test]
async fn the_first_exchange_of_a_locus_awaits_a_look_and_so_does_one_that_asks_for_much() {
    on_both(async |fixture: &Fixture| {
        let (store, clock) = (&fixture.store, &fixture.clock);
        let alpha = locus("alpha");
        for text in ["fix the login", "a test todo"] {
            let new = todo::New::of(BoardType::Todo, &alpha, text);
            let mut tx = store.begin().await.unwrap();
            todo::add_in(&mut tx, new).await.unwrap();
            tx.commit().await.unwrap();
        }
        let asking = "please fix and build it";
        let fired = async |prompt: &str| put(store, "alpha", said("", prompt, "")).await.tripwire;
        let first = fired("hello").await;
        assert_eq!((first.fired, first.signal, first.age_s), (true, 0.0, None));
        let second = fired(asking).await;
        assert_eq!((second.fired, second.signal, second.age_s), (false, 0.5, Some(0)));
        clock.pass(Duration::from_mins(1));
        assert!(!fired("hello").await.fired);
        assert!(!fired(&format!("<system-reminder>{asking}</system-reminder>")).await.fired);
        assert!(fired(asking).await.fired);
        clock.pass(Duration::from_hours(1));
        assert!(fired("hello").await.fired);
        let mut conn = store.read().await.unwrap();
        let text = "SELECT id, focus_item_id, focus_summary, fulfilled, pending, assessed_by FROM assessments WHERE locus = 'alpha' ORDER BY id";
        let noted = conn.sql(text).all().await.unwrap();
        assert_eq!(noted.len(), 3);
        assert_eq!(noted[0].get::<i64>(0).unwrap(), first.assessment.unwrap());
        assert_eq!(noted[0].get::<Option<i64>>(1).unwrap(), Some(1));
        assert_eq!(noted[0].get::<String>(2).unwrap(), "fix the login");
        assert_eq!(noted[0].get::<Option<bool>>(3).unwrap(), Some(false));
        assert!(noted[0].get::<bool>(4).unwrap());
        drop(conn);
        // A board without an item that is meant: nothing is in view.
        let bare = put(store, "beta", said("", "hello", "")).await.tripwire;
        let mut conn = store.read().await.unwrap();
        let text = "SELECT focus_item_id, fulfilled FROM assessments WHERE id = $1";
        let noted = conn.sql(text).bind(bare.assessment.unwrap()).one().await.unwrap();
        assert_eq!(noted.get::<Option<i64>>(0).unwrap(), None);
        assert_eq!(noted.get::<Option<bool>>(1).unwrap(), None);
    })
    .await;
}
