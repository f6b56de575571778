//! Pages and bounds.

use super::*;
use crate::store::ledger::Status;

#[tokio::test]
async fn pages_show_everything_once() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for nth in 0..150 {
            let doc = if nth % 3 == 0 { "red cart" } else { "cart red" };
            put(store, "alpha", &format!("t{nth}"), doc).await;
        }
        let rights = all();
        for (text, count) in [("cart", 150), ("\"red cart\"", 50), ("\"cart red\" red", 100)] {
            for limit in [1, 7, 50, 100] {
                let found =
                    ledgers(store, Wanted { limit, ..wanted(text, &rights) }).await.unwrap();
                let once: BTreeSet<&String> = found.iter().collect();
                assert_eq!((found.len(), once.len()), (count, count), "{text} by {limit}");
            }
        }
        // The last page says that it is the last, also where it is full.
        let page = Wanted { limit: 50, ..wanted("\"red cart\"", &rights) };
        let page = ledger::search(store, &page, None).await.unwrap();
        assert_eq!((page.hits.len(), page.next), (50, None));
    })
    .await;
}

#[tokio::test]
async fn filters_and_rights_leave_out_what_is_not_wanted() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for home in ["alpha", "beta", "gamma"] {
            put(store, home, "one", "cart").await;
        }
        let (home, task) = (locus("beta"), Task::parse("one").unwrap());
        let done = Draft { status: Some(Status::Done), ..Draft::new(&home, &task, "cart") };
        ledger::put(store, &done).await.unwrap();
        let (rights, reached) = (all(), only(&["alpha", "beta"]));
        let beta = Wanted { locus: Some(&home), ..wanted("cart", &rights) };
        assert_eq!(ledgers(store, beta).await.unwrap(), ["beta/one"]);
        let mut found = ledgers(store, wanted("cart", &reached)).await.unwrap();
        found.sort();
        assert_eq!(found, ["alpha/one", "beta/one"]);
        let nobodys = only(&[]);
        assert!(ledgers(store, wanted("cart", &nobodys)).await.unwrap().is_empty());
        let done = ledger::search(store, &wanted("cart", &rights), Some(Status::Done)).await;
        let done = done.unwrap();
        assert_eq!(done.hits.len(), 1);
        assert_eq!(done.hits[0].record.head.locus, "beta");

        let id = item(store, "alpha", "a cart", "").await;
        let other = item(store, "alpha", "another cart", "").await;
        todo::done(store, other, None, &rights).await.unwrap();
        let open = Filter { status: Some(todo::Status::Open), kind: None };
        let found = todo::search(store, &wanted("cart", &rights), open).await.unwrap();
        assert_eq!(found.hits.len(), 1);
        assert_eq!(found.hits[0].record.id(), id);
        let findings = Filter { status: None, kind: Some(BoardType::Finding) };
        let found = todo::search(store, &wanted("cart", &rights), findings).await.unwrap();
        assert!(found.hits.is_empty() && found.next.is_none());
    })
    .await;
}

#[tokio::test]
async fn passages_are_of_the_text_as_it_is_stored() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let id = item(store, "alpha", "Fix the Cärt\r\nsoon", "the ca\u{308}rt\tis red").await;
        let rights = all();
        let found = todo::search(store, &wanted("cart red", &rights), Filter::default()).await;
        let found = found.unwrap();
        let hit = &found.hits[0];
        assert_eq!(hit.record.id(), id);
        let shown: Vec<(usize, &str, usize)> = (hit.passages.iter())
            .map(|passage| {
                let text = [&hit.record.text, &hit.record.note][passage.text];
                (passage.text, &text[passage.span.clone()], passage.line)
            })
            .collect();
        assert_eq!(shown, [(0, "Fix the Cärt\r\nsoon", 1), (1, "the ca\u{308}rt\tis red", 1)]);
    })
    .await;
}

/// More words than a row of PostgreSQL's index has room for.
#[tokio::test]
async fn a_document_of_the_largest_size_is_found_by_each_word() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        // Twenty capitals of four bytes each, no word twice.
        let letters: Vec<char> = ('\u{10400}'..='\u{10427}').collect();
        let word = |nth: usize| -> String {
            (0..20).map(|at| letters[nth / 40_usize.pow(at % 4) % 40]).collect()
        };
        let words = (0..12_400).map(word).collect::<Vec<_>>().join(" ");
        put(store, "alpha", "large", &words).await;
        put(store, "alpha", "small", "a cart").await;
        let last = word(12_399).to_lowercase();
        assert_eq!(named(store, &last).await, ["alpha/large"]);
        assert_eq!(named(store, &format!("{last}x")).await, [""; 0]);
        let rights = all();
        let any = indexed(store, &ledger::INDEXED, &wanted("nothing", &rights)).await;
        assert_eq!(any.len(), 1, "it is looked at in every search");
        assert_eq!(named(store, "cart").await, ["alpha/small"]);
        let cjk: String = ('\u{4e00}'..'\u{9fff}').chain('\u{20000}'..'\u{2a6d0}').collect();
        put(store, "alpha", "large", &cjk).await;
        assert_eq!(named(store, "\u{20001}\u{20002}").await, ["alpha/large"]);
        assert_eq!(named(store, "\u{20002}\u{20001}").await, [""; 0]);
    })
    .await;
}
