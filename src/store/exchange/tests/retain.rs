//! What goes: the oldest of a locus, and turns that two loci have.

use super::*;

#[tokio::test]
async fn the_oldest_of_each_locus_go_and_are_told() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let alpha = locus("alpha");
        // What came late may be old.
        let turns: Vec<Content> =
            (0..1_203).rev().map(|nth| of("s", nth, said(&format!("t{nth}"), "q", ""))).collect();
        for turns in turns.chunks(500) {
            take(store, &alpha, turns, &all()).await.unwrap();
        }
        put(store, "beta", of("s2", 1, said("t", "q", ""))).await;
        assert_eq!(prune(store, 1_203).await.unwrap(), 0);
        assert_eq!(prune(store, 3).await.unwrap(), 1_200);
        let left: Vec<String> =
            rows(store, "alpha").await.into_iter().map(|row| row.turn).collect();
        assert_eq!(left, ["t1202", "t1201", "t1200"]);
        assert_eq!(rows(store, "beta").await.len(), 1);
        assert_eq!(told(store).await, (1_204, 0, 1_200));
        assert_eq!(prune(store, 3).await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn of_doubled_turns_one_goes_and_what_it_said_more_stays() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (keep, gone) = (locus("keep"), locus("gone"));
        for nth in 0..120 {
            put(store, "keep", of("s", nth, said(&format!("t{nth}"), "q", "a"))).await;
            put(store, "gone", said(&format!("t{nth}"), "q", "an answer")).await;
        }
        // One that names its session, one that is not doubled, and one without a name.
        put(store, "gone", of("other", 1, said("t5", "q", "named"))).await;
        put(store, "gone", said("alone", "q", "a")).await;
        put(store, "gone", said("", "q", "a")).await;
        let dry = dedup(store, &keep, &gone, true, 5_000).await.unwrap();
        assert_eq!((dry.matched, dry.deleted, dry.committed), (119, 0, None));
        assert_eq!(dry.sample, ["t0", "t1", "t2", "t3", "t4"]);
        let some = dedup(store, &keep, &gone, false, 60).await.unwrap();
        assert_eq!((some.matched, some.deleted, some.committed.is_some()), (60, 60, true));
        let rest = dedup(store, &keep, &gone, false, 5_000).await.unwrap();
        assert_eq!((rest.matched, rest.deleted), (59, 59));
        let none = dedup(store, &keep, &gone, false, 5_000).await.unwrap();
        assert_eq!((none.matched, none.deleted, none.committed), (0, 0, None));
        assert_eq!(rows(store, "gone").await.len(), 3);
        let kept = rows(store, "keep").await;
        assert_eq!(kept.len(), 120);
        let merged = kept.iter().filter(|row| row.response == "an answer").count();
        assert_eq!(merged, 119);
        assert!(kept.iter().all(|row| row.session_id == "s"));
        assert_eq!(told(store).await.2, 119);
    })
    .await;
}
