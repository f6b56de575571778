//! T7: many writers of one ledger, each on top of what it read.

use std::{collections::BTreeMap, time::Instant};

use tokio::task::JoinSet;

use super::{
    super::super::tests::{Fixture, on_both},
    *,
};

const WRITERS: usize = 16;
const EDITS: usize = 1_000;

/// One line a writer, with how often it wrote.
fn counts(doc: &str) -> Vec<usize> {
    doc.lines().map(|line| line.split_once(' ').unwrap().1.parse().unwrap()).collect()
}

fn document(counts: &[usize]) -> String {
    let line = |(writer, count): (usize, &usize)| format!("w{writer} {count}\n");
    counts.iter().enumerate().map(line).collect::<Vec<_>>().concat()
}

/// Reads, adds one to its own line, and writes on top of what it read; what was written as which
/// revision. An edit that comes too late is not made again.
async fn edits(store: Store, writer: usize) -> Vec<(i64, String)> {
    let mut written = Vec::new();
    for _ in 0..EDITS {
        let seen = look(&store, "t").await;
        let mut counts = counts(&seen.doc);
        counts[writer] += 1;
        let doc = document(&counts);
        match write(&store, "t", &doc, |draft| draft.expected_rev = Some(seen.head.rev)).await {
            Ok(done) => {
                assert_eq!(done.head.rev, seen.head.rev + 1);
                written.push((done.head.rev, doc));
            }
            Err(Error::Stale { rev, expected, .. }) => assert!(rev > expected),
            Err(other) => panic!("{other:?}"),
        }
    }
    written
}

/// The whole history, replayed: every revision is the one before with one edit more, so that no
/// acknowledged edit is lost and none was made twice.
#[tokio::test]
async fn t7_no_edit_is_lost_between_writers_at_once() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        write(store, "t", &document(&[0; WRITERS]), |_| {}).await.unwrap();
        let began = Instant::now();
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            writers.spawn(edits(store.clone(), writer));
        }
        let written: Vec<(i64, String)> = writers.join_all().await.into_iter().flatten().collect();
        let took = began.elapsed();
        let successes = written.len();
        let history: BTreeMap<i64, String> = written.into_iter().collect();
        let last = look(store, "t").await;
        let mut seen = vec![0; WRITERS];
        for (number, (rev, doc)) in history.iter().enumerate() {
            assert_eq!(*rev, i64::try_from(number).unwrap() + 2, "a revision is missing");
            let counts = counts(doc);
            let added: usize = counts.iter().sum::<usize>() - seen.iter().sum::<usize>();
            assert!(added == 1 && counts.iter().zip(&seen).all(|(now, then)| now >= then));
            seen = counts;
        }
        assert_eq!((history.len(), last.head.rev - 1), (successes, i64::try_from(successes).unwrap()));
        assert_eq!(last.doc, document(&seen));
        // What the server kept is what the writers were told.
        let mut conn = store.read().await.unwrap();
        let kept = revs(&mut conn, &locus("alpha"), &task("t"), None, 500).await.unwrap();
        assert!(kept.len() >= successes.min(200));
        for rev in kept.iter().filter(|rev| rev.rev > 1) {
            let (_, doc) = at(&mut conn, &locus("alpha"), &task("t"), rev.rev).await.unwrap();
            assert_eq!(doc, history[&rev.rev]);
        }
        drop(conn);
        println!(
            "T7 {}: {WRITERS} writers x {EDITS} edits, {successes} successes, final rev {} (first write + successes), 0 lost, {took:.1?}",
            store.engine(),
            last.head.rev,
        );
        // The race was one: some came too late, some did not.
        assert!(successes > 0 && successes < WRITERS * EDITS, "{successes}");
    })
    .await;
}
