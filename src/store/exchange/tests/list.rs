//! Lists and what follows a position.

use super::*;

/// Turns `0..count` of a locus, three at each moment.
async fn fill(store: &Store, name: &str, count: i64) {
    for nth in 0..count {
        let origin = if nth % 5 == 0 { Origin::Harness } else { Origin::Operator };
        let session = if nth % 2 == 0 { "even" } else { "odd" };
        let content = of(session, nth / 3, said(&format!("{name}-{nth}"), "question", "answer"));
        put(store, name, Content { origin: Some(origin), ..content }).await;
    }
}

/// All pages of a list.
async fn pages(store: &Store, query: Query<'_>, rights: &Rights) -> Vec<Row> {
    let (mut found, mut after) = (Vec::<Row>::new(), None);
    loop {
        let (rows, more) =
            super::super::list(store, Query { after, ..query }, rights).await.unwrap();
        assert!(rows.len() <= usize::try_from(query.limit).unwrap());
        after = rows.last().map(|row| Key { ts: row.ts, number: row.number });
        found.extend(rows);
        if !more {
            return found;
        }
    }
}

fn numbers(rows: &[Row]) -> Vec<i64> {
    rows.iter().map(|row| row.number).collect()
}

#[tokio::test]
async fn lists_are_newest_first_and_pages_neither_repeat_nor_skip() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        fill(store, "alpha", 20).await;
        fill(store, "beta", 7).await;
        let alpha = locus("alpha");
        for limit in [1, 3, 4, 100] {
            let query = Query { limit, ..Query::default() };
            let of_alpha = Query { locus: Some(&alpha), ..query };
            let rows = pages(store, of_alpha, &all()).await;
            assert_eq!(numbers(&rows), (1..=20).rev().collect::<Vec<_>>());
            assert!(rows.iter().all(|row| row.locus == "alpha"));
            let everything = pages(store, query, &all()).await;
            assert_eq!(everything.len(), 27);
            let keys: Vec<_> = everything.iter().map(|row| (row.ts, row.number)).collect();
            assert!(keys.windows(2).all(|pair| pair[0] > pair[1]), "{keys:?}");
            // Of several loci, and of one that is not there.
            let mine = pages(store, query, &only(&["beta", "gamma"])).await;
            assert_eq!(mine.len(), 7);
            assert_eq!(pages(store, query, &only(&["alpha", "beta"])).await, everything);
            assert_eq!(pages(store, of_alpha, &only(&["beta"])).await, []);
            for origin in Origin::ALL {
                let of_origin = Query { origin: Some(origin), ..of_alpha };
                let rows = pages(store, of_origin, &all()).await;
                assert_eq!(rows.len(), if origin == Origin::Harness { 4 } else { 16 });
                assert!(rows.iter().all(|row| row.origin == origin));
            }
            let of_session = Query { session: Some("odd"), ..query };
            assert_eq!(pages(store, of_session, &all()).await.len(), 13);
            assert_eq!(pages(store, of_session, &only(&["beta"])).await.len(), 3);
            let of_both = Query { session: Some("odd"), ..of_alpha };
            assert_eq!(pages(store, of_both, &all()).await.len(), 10);
            let late = Query { since: Some(MIDNIGHT + 6 * SECOND), ..of_alpha };
            assert_eq!(numbers(&pages(store, late, &all()).await), [20, 19]);
        }
        let none = Query { session: Some(""), limit: 9, ..Query::default() };
        assert_eq!(pages(store, none, &all()).await, []);
    })
    .await;
}

#[tokio::test]
async fn lists_show_heads_and_single_exchanges_all() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let long = "é".repeat(HEAD + 1);
        let pointers = json!({
            "files": (0..200).map(|nth| format!("/srv/{nth}")).collect::<Vec<_>>(),
            "note": "short",
            "source": "hook",
        });
        let content = Content { pointers: Some(pointers.clone()), ..said("t", &long, "short") };
        let id = put(store, "alpha", content).await.id;
        let (mut rows, _) =
            super::super::list(store, Query { limit: 9, ..Query::default() }, &all())
                .await
                .unwrap();
        let head = &rows[0];
        assert_eq!((head.prompt.chars().count(), head.prompt_chars), (HEAD, 401));
        assert_eq!((&*head.response, head.is_clipped), ("short", true));
        assert_eq!(head.pointers, Some(json!({ "source": "hook", "note": "short" })));
        whole(store, &mut rows).await.unwrap();
        assert_eq!(rows[0], read(store, id).await);
        assert_eq!((&rows[0].prompt, &rows[0].pointers), (&long, &Some(pointers)));
        assert!(!rows[0].is_clipped);
    })
    .await;
}

#[tokio::test]
async fn of_very_long_texts_only_the_first_are_put_into_a_list() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let text = "x".repeat(MOST_TEXT);
        for nth in 0..12 {
            put(store, "alpha", of("s", nth, said(&format!("t{nth}"), &text, &text))).await;
        }
        let query = Query { limit: 12, ..Query::default() };
        let (mut rows, _) = super::super::list(store, query, &all()).await.unwrap();
        whole(store, &mut rows).await.unwrap();
        let clipped: Vec<bool> = rows.iter().map(|row| row.is_clipped).collect();
        let fit = usize::try_from(MOST_WHOLE).unwrap() / (2 * MOST_TEXT);
        assert_eq!(clipped, (0..12).map(|nth| nth >= fit).collect::<Vec<_>>());
    })
    .await;
}

/// What was at one moment is not passed over: the position has a number too.
#[tokio::test]
async fn what_follows_a_position_comes_in_order_and_to_its_end() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let alpha = locus("alpha");
        put(store, "beta", of("s", 1, said("t", "other", ""))).await;
        let turns: Vec<Content> =
            (0..450).map(|nth| of("s", nth / 200, said(&format!("t{nth}"), "q", "a"))).collect();
        for turns in turns.chunks(150) {
            take(store, &alpha, turns, &all()).await.unwrap();
        }
        let mut conn = store.read().await.unwrap();
        let first = following(&mut conn, &alpha, Position::default()).await.unwrap();
        assert_eq!(first.len(), MOST_FOLLOWING);
        let position = Position::of(first.last().unwrap());
        let rest = following(&mut conn, &alpha, position).await.unwrap();
        assert_eq!(rest.len(), 50);
        let seen: Vec<&str> = first.iter().chain(&rest).map(|row| &*row.turn).collect();
        let wanted: Vec<String> = (0..450).map(|nth| format!("t{nth}")).collect();
        assert_eq!(seen, wanted);
        let end = Position::of(rest.last().unwrap());
        assert_eq!(following(&mut conn, &alpha, end).await.unwrap(), []);
        // From a moment on.
        let late = Position::before(MIDNIGHT + 2 * SECOND);
        assert_eq!(following(&mut conn, &alpha, late).await.unwrap(), rest);
    })
    .await;
}
