//! What a roll folds, and what it leaves.

use serde_json::json;

use super::*;
use crate::store::assessment;

const FORCE: Ask = Ask { force: true, since: None };

#[tokio::test]
async fn a_roll_folds_what_is_new_and_the_next_one_goes_on_behind_it() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        assert_eq!(rolled(store, Ask::default()).await, Rolled::Same(None));
        said(store, 1, "Fix the flaky login test.", "Next: run the whole suite").await;
        said(store, 2, "yes, go ahead", "\n[tools] Edit(file_path=/a)\n[results]\nok").await;
        let first = added(store, Ask::default()).await;
        assert_eq!((first.exchanges, &*first.model), (2, PLAIN));
        assert_eq!(first.state.objective, "Fix the flaky login test.");
        assert_eq!(first.state.in_progress, ["editing /a"]);
        assert_eq!(first.upto.ts, MIDNIGHT + 2 * SECOND);
        assert_eq!(newest_of(&fixture.open().await).await, Some(first.clone()));

        assert_eq!(
            rolled(store, Ask::default()).await,
            Rolled::Same(Some(Box::new(first.clone())))
        );
        said(store, 3, "", "\n[tools] Bash(command=git commit -m \"mend it\")\n[results]\nok")
            .await;
        let second = added(store, Ask::default()).await;
        assert_eq!(
            (second.exchanges, second.state.objective.as_str()),
            (1, &*first.state.objective)
        );
        assert_eq!(second.state.done, ["commit: mend it"]);
        assert!(second.number > first.number && second.upto > first.upto);
        // Another locus has none of it.
        assert_eq!(roll(store, &locus("beta"), Ask::default()).await.unwrap(), Rolled::Same(None));

        let mut conn = store.read().await.unwrap();
        let past = history(&mut conn, &locus("alpha"), None, 10).await.unwrap();
        let numbers = |past: &[Past]| past.iter().map(|past| past.number).collect::<Vec<_>>();
        assert_eq!(numbers(&past), [second.number, first.number]);
        assert_eq!(past[0].objective, second.state.objective);
        let past = history(&mut conn, &locus("alpha"), Some(second.number), 10).await.unwrap();
        assert_eq!(numbers(&past), [first.number]);
        assert_eq!(told(store, KIND).await, (2, 0, 0));
    })
    .await;
}

#[tokio::test]
async fn a_forced_roll_without_anything_new_changes_nothing_of_the_state() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let empty = added(store, FORCE).await;
        assert_eq!((empty.exchanges, empty.upto), (0, START));
        assert!(empty.state.init_prompt.contains("locus alpha"));
        said(store, 1, "Fix the flaky login test.", "See https://b.example/b and /a").await;
        let folded = added(store, FORCE).await;
        let again = added(store, FORCE).await;
        assert_eq!((again.exchanges, again.upto), (0, folded.upto));
        assert_eq!(again.state, folded.state);
    })
    .await;
}

#[tokio::test]
async fn rows_of_one_moment_are_folded_each_once_however_many_there_are() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let most = i64::try_from(crate::store::exchange::MOST_FOLLOWING).unwrap();
        let mut tx = store.begin().await.unwrap();
        for nth in 0..most + 3 {
            tx.sql("INSERT INTO exchanges (locus, turn, session_id, ts, origin, source, model, primed, recorded, updated, prompt_chars, response_chars, clipped, prompt_head, response_head, prompt, response) VALUES ('alpha', '', '', $1, 'operator', '', '', 0, 0, 0, 0, 0, $2, '', '', $3, '')")
                .bind(MIDNIGHT)
                .bind(false)
                .bind(format!("Say the number {nth} aloud."))
                .run()
                .await
                .unwrap();
        }
        tx.commit().await.unwrap();
        let first = added(store, Ask::default()).await;
        assert_eq!(first.exchanges, most);
        assert_eq!(first.state.objective, format!("Say the number {} aloud.", most - 1));
        let second = added(store, Ask::default()).await;
        assert_eq!((second.exchanges, second.upto.ts), (3, first.upto.ts));
        assert!(matches!(rolled(store, Ask::default()).await, Rolled::Same(Some(_))));
    })
    .await;
}

#[tokio::test]
async fn a_roll_can_go_back() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for second in 1..=3 {
            said(store, second, &format!("Do the thing number {second}."), "").await;
        }
        let first = added(store, Ask::default()).await;
        let since = |second: i64| Ask { since: Some(MIDNIGHT + second * SECOND), force: false };
        let back = added(store, since(2)).await;
        assert_eq!((back.exchanges, back.upto), (2, first.upto));
        assert_eq!(added(store, since(0)).await.exchanges, 3);
        assert!(matches!(rolled(store, since(4)).await, Rolled::Same(Some(_))));
    })
    .await;
}

#[tokio::test]
async fn words_of_the_harness_are_no_objective_and_pointers_may_hold_anything() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let pointers = json!({ "files": ["/a\0b", 7], "commands": "none", "harness": null });
        record_with(store, 1, "Fix the flaky login test.", "", Some(pointers)).await;
        let report =
            "<task-notification><task-id>a1</task-id> the suite is green</task-notification>";
        said(store, 2, report, "").await;
        let state = added(store, Ask::default()).await.state;
        assert_eq!(state.objective, "Fix the flaky login test.");
        assert_eq!(state.key_paths, ["/ab"]);
    })
    .await;
}

#[tokio::test]
async fn a_roll_says_what_its_locus_is_at() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let latest = async || {
            let mut conn = store.read().await.unwrap();
            assessment::latest(&mut conn, "alpha").await.unwrap()
        };
        added(store, FORCE).await;
        assert_eq!(latest().await, None, "nothing is wanted yet");
        let long = "é".repeat(400);
        said(store, 1, &long, "").await;
        assert!(latest().await.is_some_and(|row| row.pending && row.by == "tripwire"));
        added(store, Ask::default()).await;
        let row = latest().await.unwrap();
        assert_eq!(
            (&*row.by, row.fulfilled, row.pending),
            ("rolling:deterministic", Some(false), false)
        );
        assert_eq!(row.summary, format!("{}…", "é".repeat(199)));
        assert_eq!(told(store, assessment::KIND).await, (2, 0, 0));
    })
    .await;
}

#[tokio::test]
async fn only_the_newest_state_is_worded_anew() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        said(store, 1, "Fix the flaky login test.", "").await;
        let first = added(store, Ask::default()).await;
        let mut state = first.state.clone();
        state.init_prompt = "In other words.".to_owned();
        let (row, committed) = worded(store, &first, &state, "m").await.unwrap().unwrap();
        assert_eq!((row.number, &*row.model, &row.state), (first.number, "m", &state));
        assert!(committed.seq > 0);
        assert_eq!(newest_of(store).await, Some(row));
        // The words stay while nothing is new.
        let second = added(store, FORCE).await;
        assert_eq!(second.state, state);
        assert_eq!(worded(store, &first, &first.state, "m").await.unwrap(), None);
        assert_eq!(told(store, KIND).await, (2, 1, 0));
    })
    .await;
}

#[tokio::test]
async fn the_newest_states_of_a_locus_stay() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let mut tx = store.begin().await.unwrap();
        for nth in 0..KEPT + 7 {
            tx.sql("INSERT INTO rolling (locus, ts, model, n_exchanges, upto_ts, upto_id, upto_turn, init_prompt, state) VALUES ('alpha', $1, '', 0, 0, 0, '', '', '{\"objective\": \"\"}')")
                .bind(nth)
                .run()
                .await
                .unwrap();
        }
        tx.commit().await.unwrap();
        assert_eq!(prune(store).await.unwrap(), 7);
        assert_eq!(prune(store).await.unwrap(), 0);
        let mut conn = store.read().await.unwrap();
        let past = history(&mut conn, &locus("alpha"), None, KEPT + 9).await.unwrap();
        assert_eq!(past.iter().map(|past| past.ts).collect::<Vec<_>>(), (7..KEPT + 7).rev().collect::<Vec<_>>());
        assert_eq!(told(store, KIND).await, (0, 0, 7));
    })
    .await;
}
