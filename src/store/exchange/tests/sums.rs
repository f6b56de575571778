//! What exchanges come to: by session, and in all.

use super::*;

#[tokio::test]
async fn sessions_are_told_with_what_their_exchanges_come_to() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let tokens = |total, cost, read, written, expires: Option<i64>| Tokens {
            total,
            cost_usd: cost,
            cache_read: read,
            cache_creation: written,
            cache_expires_at: expires.map(|second| MIDNIGHT + second * SECOND),
            ..Tokens::default()
        };
        let rows = [
            ("alpha", "s1", 1, "hook", "m-1", tokens(Some(10), Some(0.5), Some(1), None, Some(90))),
            ("alpha", "s1", 3, "serve", "", tokens(Some(5), None, Some(2), Some(7), Some(60))),
            ("beta", "s1", 2, "hook", "m-2", tokens(None, Some(0.25), None, None, None)),
            ("beta", "s2", 9, "", "m-3", Tokens::default()),
            ("beta", "", 10, "hook", "m-3", tokens(Some(99), None, None, None, None)),
        ];
        for (nth, (name, session, second, source, model, tokens)) in rows.into_iter().enumerate() {
            let content = Content {
                source: source.to_owned(),
                model: model.to_owned(),
                tokens,
                ..of(session, second, said(&format!("t{nth}"), "q", "a"))
            };
            put(store, name, content).await;
        }
        let (found, more) = sessions(store, None, None, 10, &all()).await.unwrap();
        let ids: Vec<_> = found.iter().map(|session| &*session.session_id).collect();
        assert_eq!((ids, more), (vec!["s2", "s1"], false));
        let first = &found[1];
        assert_eq!((first.runs, first.tokens, first.cost_usd), (3, 15, 0.75));
        assert_eq!((first.cache_read, first.cache_creation), (3, 7));
        assert_eq!(first.last_ts, MIDNIGHT + 3 * SECOND);
        assert_eq!(first.cache_expires_at, Some(MIDNIGHT + 90 * SECOND));
        assert_eq!((&*first.model, &*first.locus), ("m-2", "alpha"));
        assert_eq!(first.sources, ["hook", "serve"]);
        assert_eq!((&found[0].sources, found[0].tokens), (&Vec::new(), 0));
        // Of one locus, and of those that are reached, nothing else counts.
        let alpha = locus("alpha");
        let (of_alpha, _) = sessions(store, Some(&alpha), None, 10, &all()).await.unwrap();
        assert_eq!((of_alpha[0].runs, &*of_alpha[0].model), (2, "m-1"));
        let (reached, _) = sessions(store, None, None, 10, &only(&["alpha"])).await.unwrap();
        assert_eq!(reached, of_alpha);
        // Page by page.
        let (page, more) = sessions(store, None, None, 1, &all()).await.unwrap();
        assert!(more && page[0].session_id == "s2");
        let key = SessionKey { last_ts: page[0].last_ts, session_id: "s2".to_owned() };
        let key = SessionKey::parse(&key.to_string()).unwrap();
        let (page, more) = sessions(store, None, Some(&key), 1, &all()).await.unwrap();
        assert!(!more && page[0] == *first);
    })
    .await;
}

#[tokio::test]
async fn a_report_counts_what_says_what_it_cost() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let empty = report(store, None, None, 20, &all()).await.unwrap();
        assert_eq!((empty.totals, empty.totals.cache_hit_rate()), (Totals::default(), None));
        let one = Tokens {
            total: Some(10),
            input: Some(1),
            output: Some(2),
            cache_read: Some(3),
            cache_creation: Some(1),
            cost_usd: Some(0.5),
            ..Tokens::default()
        };
        let only_cost = Tokens { cost_usd: Some(0.25), ..Tokens::default() };
        for (nth, (name, source, tokens)) in [
            ("alpha", "hook", one),
            ("alpha", "hook", Tokens::default()),
            ("alpha", "serve", Tokens { total: Some(50), ..one }),
            ("beta", "", only_cost),
        ]
        .into_iter()
        .enumerate()
        {
            let second = i64::try_from(nth).unwrap();
            let content = of("s", second, said(&format!("t{nth}"), "q", "a"));
            put(store, name, Content { source: source.to_owned(), tokens, ..content }).await;
        }
        let all_of_it = report(store, None, None, 2, &all()).await.unwrap();
        let totals = all_of_it.totals;
        assert_eq!((totals.runs, totals.tokens, totals.cost_usd), (3, 60, 1.25));
        assert_eq!((totals.input, totals.output), (2, 4));
        assert_eq!(totals.cache_hit_rate(), Some(0.75));
        let sources: Vec<_> =
            all_of_it.by_source.iter().map(|one| (&*one.source, one.totals.tokens)).collect();
        assert_eq!(sources, [("serve", 50), ("hook", 10), ("", 0)]);
        let recent: Vec<_> = all_of_it.recent.iter().map(|row| &*row.turn).collect();
        assert_eq!(recent, ["t3", "t2"]);
        let alpha = locus("alpha");
        let of_alpha = report(store, Some(&alpha), None, 20, &all()).await.unwrap();
        assert_eq!((of_alpha.totals.runs, of_alpha.recent.len()), (2, 2));
        let reached = report(store, None, None, 20, &only(&["beta"])).await.unwrap();
        assert_eq!((reached.totals.runs, reached.recent.len()), (1, 1));
        let late = report(store, None, Some(MIDNIGHT + SECOND), 20, &all()).await.unwrap();
        assert_eq!(late.totals.runs, 2);
    })
    .await;
}
