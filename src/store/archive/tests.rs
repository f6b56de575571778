//! Archives, on both engines.

use std::time::Duration;

use mcp::{Rights, Scope};
use proptest::prelude::*;
use tokio::task::JoinSet;

use super::{
    part::{behind, count, parts, whole as whole_characters},
    *,
};
use crate::store::{
    Committed, Error, Store,
    names::Locus,
    tests::{Fixture, on_both},
};

const QUOTA: u64 = 64 << 20;

fn all() -> Rights {
    Rights { scope: Scope::Operator, loci: None }
}

fn locus(name: &str) -> Locus {
    Locus::parse(name).unwrap()
}

async fn try_save(
    store: &Store,
    name: &str,
    version: i64,
    body: &[u8],
    quota: u64,
) -> Result<(Put, Committed), Error> {
    let (alpha, hash) = (locus("alpha"), draft::hash(body));
    let draft = Draft {
        locus: &alpha,
        source: name,
        backend: "mct",
        session_id: "s9",
        version,
        body,
        hash: &hash,
    };
    put(store, draft, quota).await
}

async fn save(store: &Store, name: &str, version: i64, body: &[u8]) -> Put {
    try_save(store, name, version, body, QUOTA).await.unwrap().0
}

async fn load(store: &Store, name: &str) -> (Row, Vec<u8>) {
    whole(&mut store.read().await.unwrap(), &locus("alpha"), name, &all()).await.unwrap()
}

/// Bytes of all values, with a line feed now and then.
fn bytes(count: usize, seed: u8) -> Vec<u8> {
    let byte = |at: usize| u8::try_from((at * 31 + at / 7 + usize::from(seed)) % 256).unwrap();
    (0..count).map(byte).collect()
}

async fn pieces(store: &Store) -> i64 {
    let mut conn = store.read().await.unwrap();
    conn.sql("SELECT count(*) FROM archive_parts").one().await.unwrap().get(0).unwrap()
}

#[tokio::test]
async fn a_file_comes_back_byte_for_byte() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for (nth, size) in [0, 1, PART - 1, PART, PART + 1, 3 * PART + 7].into_iter().enumerate() {
            let (name, body) = (format!("/home/me/{nth}.jsonl"), bytes(size, 3));
            let put = save(store, &name, 7, &body).await;
            assert!(put.stored && put.changed);
            let second = fixture.open().await;
            let (row, read) = load(&second, &name).await;
            assert!(read == body, "{size}");
            assert_eq!(row, put.row);
            assert_eq!((row.size, row.version), (i64::try_from(size).unwrap(), 7));
            assert_eq!(row.sha256, draft::hash(&body));
            assert_eq!((&*row.backend, &*row.session_id, &*row.source), ("mct", "s9", &*name));
        }
        assert_eq!(pieces(store).await, 1 + 1 + 1 + 2 + 4);
    })
    .await;
}

#[tokio::test]
async fn an_older_version_does_not_replace_a_newer_one_and_the_answer_says_what_is_there() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (long, short) = (bytes(2 * PART + 5, 1), b"short\n".to_vec());
        let newest = save(store, "f", 5, &long).await;
        let refused = save(store, "f", 4, &short).await;
        assert_eq!((refused.stored, refused.changed), (false, false));
        assert_eq!(refused.row, newest.row);
        assert!(load(store, "f").await.1 == long);
        // The same once more changes nothing.
        let (same, committed) = try_save(store, "f", 5, &long, QUOTA).await.unwrap();
        assert_eq!((same.stored, same.changed, committed.seq), (true, false, 0));
        // One of the same version replaces it, and what was longer leaves nothing behind.
        let replaced = save(store, "f", 5, &short).await;
        assert_eq!((replaced.stored, replaced.changed), (true, true));
        assert_eq!((replaced.row.number, replaced.row.lines), (newest.row.number, 1));
        assert_eq!(load(store, "f").await.1, short);
        assert_eq!(pieces(store).await, 1);
        // A file that grows, and one whose lines move.
        let grown = [&b"new\n\n"[..], &long].concat();
        save(store, "f", 6, &grown).await;
        assert!(load(store, "f").await.1 == grown);
        let mut conn = store.read().await.unwrap();
        let text = "SELECT op FROM events WHERE kind = 'archive' AND id = 'f' ORDER BY seq";
        let ops = conn.sql(text).all().await.unwrap();
        let ops: Vec<String> = ops.iter().map(|row| row.get(0).unwrap()).collect();
        assert_eq!(ops, ["insert", "update", "update"]);
    })
    .await;
}

#[tokio::test]
async fn what_is_no_file_and_what_is_too_much_is_refused_and_loses_nothing() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let long = "s".repeat(4_097);
        for (name, words) in [
            (" ", "`source` is empty"),
            ("a\nb", "`source` has a control"),
            (&long, "`source` has 4097"),
        ] {
            let error = try_save(store, name, 1, b"x", QUOTA).await.unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
        // A long name is a name of its own.
        let (one, other) = ("é".repeat(4_096), "é".repeat(4_095));
        save(store, &one, 1, b"one").await;
        save(store, &other, 1, b"other").await;
        assert_eq!(
            (load(store, &one).await.1, load(store, &other).await.1),
            (b"one".to_vec(), b"other".to_vec())
        );
        assert_eq!(load(store, &one).await.0.id().len(), 64);

        let error = try_save(store, "f", 1, &[0; 100], 107).await.unwrap_err();
        assert!(matches!(&error, Error::TooLarge(_)), "{error:?}");
        let words = error.to_string();
        assert!(
            words.contains("108 bytes") && words.contains("`exchanges.archive_quota`"),
            "{words}"
        );
        assert!(
            find(&mut store.read().await.unwrap(), &locus("alpha"), "f", &all()).await.is_err()
        );
        try_save(store, "f", 1, &[0; 100], 108).await.unwrap();
        // What it replaces does not count.
        try_save(store, "f", 2, &[1; 100], 108).await.unwrap();
        try_save(store, "f", 3, &[1; 101], 108).await.unwrap_err();
        assert_eq!(load(store, "f").await.1, [1; 100]);
    })
    .await;
}

#[tokio::test]
async fn lists_are_by_name_and_what_is_out_of_reach_is_not_there() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let alpha = locus("alpha");
        for name in ["c", "a", "B", "b"] {
            save(store, name, 1, name.as_bytes()).await;
        }
        let query = Query { locus: &alpha, backend: "", after: None, offset: 0, limit: 3 };
        let names = async |query: Query<'_>| {
            let (rows, more) = list(store, query).await.unwrap();
            (rows.into_iter().map(|row| row.source).collect::<Vec<_>>().concat(), more)
        };
        assert_eq!(names(query).await, ("Bab".to_owned(), true));
        assert_eq!(names(Query { after: Some("b"), ..query }).await, ("c".to_owned(), false));
        assert_eq!(names(Query { offset: 2, ..query }).await, ("bc".to_owned(), false));
        assert_eq!(names(Query { backend: "mcp", ..query }).await, (String::new(), false));
        let mine = Rights { scope: Scope::Read, loci: Some(["beta".to_owned()].into()) };
        let mut conn = store.read().await.unwrap();
        let hidden = whole(&mut conn, &alpha, "a", &mine).await.unwrap_err();
        let missing = whole(&mut conn, &alpha, "z", &mine).await.unwrap_err();
        assert_eq!(hidden.to_string().replace("`a`", "`z`"), missing.to_string());
        assert!(matches!(missing, Error::NotFound(_)));
    })
    .await;
}

/// What a slice and lines of a file must be, from the file itself.
#[tokio::test]
async fn parts_of_a_file_are_read_without_the_rest() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let line = |nth: usize| format!("line {nth} {}\n", "é".repeat(nth % 400));
        let text: String = (1..=4_000).map(line).collect();
        assert!(text.len() > 5 * PART);
        save(store, "f", 1, text.as_bytes()).await;
        let alpha = locus("alpha");
        let mut conn = store.read().await.unwrap();
        let (mut read, mut offset) = (Vec::new(), 0);
        loop {
            let part = slice(&mut conn, &alpha, "f", (offset, 100_001), &all()).await.unwrap();
            assert!(std::str::from_utf8(&part.bytes).is_ok() && part.bytes.len() <= 100_001);
            assert_eq!(part.offset, offset);
            read.extend_from_slice(&part.bytes);
            let Some(next) = part.next else { break };
            offset = next;
        }
        assert!(read == text.as_bytes());
        for (first, most) in [(1, 1), (1, 3), (2_000, 50), (3_999, 50), (4_000, 1)] {
            let found = lines(&mut conn, &alpha, "f", (first, most), &all()).await.unwrap();
            let last = (first + most).min(4_001);
            let wanted: String = (first..last).map(line).collect();
            assert_eq!(String::from_utf8(found.slice.bytes).unwrap(), wanted, "{first} {most}");
            assert_eq!((found.count, found.slice.next.is_none()), (last - first, last == 4_001));
        }
        // As many as fit, and where to go on.
        let found = lines(&mut conn, &alpha, "f", (1, 9_999), &all()).await.unwrap();
        assert!(found.count < 4_000 && found.slice.bytes.len() <= MOST_PART);
        let rest = found.count + 1;
        let rest = lines(&mut conn, &alpha, "f", (rest, 9_999), &all()).await.unwrap();
        assert_eq!(Some(rest.slice.offset), found.slice.next);
        assert_eq!(found.count + rest.count, 4_000);
        for error in [
            slice(&mut conn, &alpha, "f", (text.len() + 1, 1), &all()).await.map(drop),
            lines(&mut conn, &alpha, "f", (4_001, 1), &all()).await.map(drop),
        ] {
            assert!(error.unwrap_err().to_string().contains("behind the end"));
        }
        drop(conn);
        // A line that is too long for a part: its beginning, and where it goes on.
        let text = format!("a\n{}\nb", "é".repeat(MOST_PART));
        save(store, "long", 1, text.as_bytes()).await;
        let mut conn = store.read().await.unwrap();
        let found = lines(&mut conn, &alpha, "long", (2, 2), &all()).await.unwrap();
        assert_eq!((found.count, found.slice.bytes.len()), (0, MOST_PART));
        assert_eq!(found.slice.next, Some(MOST_PART + 2));
        let last = lines(&mut conn, &alpha, "long", (3, 1), &all()).await.unwrap();
        assert_eq!((last.count, last.slice.bytes), (1, b"b".to_vec()));
        drop(conn);
        save(store, "empty", 1, b"").await;
        let mut conn = store.read().await.unwrap();
        let none = lines(&mut conn, &alpha, "empty", (1, 9), &all()).await.unwrap();
        assert_eq!((none.count, none.slice.bytes.len(), none.slice.next), (0, 0, None));
        assert_eq!(slice(&mut conn, &alpha, "empty", (0, 9), &all()).await.unwrap().next, None);
    })
    .await;
}

#[tokio::test]
async fn files_go_when_their_time_is_over_and_results_sooner() {
    on_both(async |fixture: &Fixture| {
        let (store, clock) = (&fixture.store, &fixture.clock);
        let day = Duration::from_hours(24);
        let terms = Terms { keep: 10 * day, results: 2 * day };
        for nth in 0..45 {
            save(store, &format!("mcp-result:{nth}"), 1, b"x\n").await;
        }
        save(store, "file", 1, b"x").await;
        clock.pass(2 * day);
        assert_eq!(prune(store, terms).await.unwrap(), 0);
        clock.pass(Duration::from_secs(1));
        save(store, "mcp-result:0", 2, b"newer").await;
        assert_eq!(prune(store, terms).await.unwrap(), 44);
        assert_eq!(pieces(store).await, 2);
        clock.pass(10 * day);
        assert_eq!(prune(store, terms).await.unwrap(), 2);
        assert_eq!(pieces(store).await, 0);
    })
    .await;
}

/// Whoever comes when, the newest version is what stays, whole.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_writers_the_newest_version_stays_whole() {
    on_both(async |fixture: &Fixture| {
        let mut writers = JoinSet::new();
        for version in 1..=12_u8 {
            let store = fixture.store.clone();
            writers.spawn(async move {
                let body = vec![version; PART + usize::from(version)];
                save(&store, "f", i64::from(version), &body).await;
                // What a reader sees meanwhile is one of the versions.
                let (row, body) = load(&store, "f").await;
                assert_eq!(draft::hash(&body), row.sha256);
            });
        }
        writers.join_all().await;
        let (row, body) = load(&fixture.store, "f").await;
        assert_eq!(row.version, 12);
        assert!(body == vec![12; PART + 12]);
    })
    .await;
}

proptest! {
    #[test]
    fn the_pieces_of_a_file_are_the_file(size in 0..(2 * PART + 9), seed in any::<u8>()) {
        let body = bytes(size, seed);
        let (mut joined, mut feeds) = (Vec::new(), 0);
        for part in parts(&body) {
            prop_assert_eq!((part.start, part.line), (joined.len(), feeds));
            joined.extend_from_slice(part.body);
            feeds += part.lines;
        }
        prop_assert!(joined == body);
        prop_assert_eq!(feeds, body.split(|byte| *byte == b'\n').count() - 1);
    }

    #[test]
    fn lines_are_counted_and_found_as_they_are(text in "(?s)[ab\n]{0,20}") {
        prop_assert_eq!(count(text.as_bytes()), text.lines().count());
        let mut at = 0;
        for (nth, line) in text.split_inclusive('\n').enumerate() {
            prop_assert_eq!(behind(text.as_bytes(), nth), Some(at));
            at += line.len();
        }
    }

    #[test]
    fn a_cut_splits_no_character_and_gets_on(text in "\\PC{1,20}", most in 1..30_usize) {
        let end = whole_characters(text.as_bytes(), most);
        prop_assert!(end > 0 && text.is_char_boundary(end));
        prop_assert!(end <= most.max(4) && (end == text.len() || end + 4 > most));
    }
}
