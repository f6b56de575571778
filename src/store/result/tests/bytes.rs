//! What is kept is what was given, and is there for its token alone.

use super::*;

#[tokio::test]
async fn a_reply_is_there_for_its_token_alone() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let new =
            New { text: Some("line 1\nline 2"), is_error: true, ..new("me", "{\n\"a\":1\n}") };
        let kept = keep(store, &new, &AMPLE).await.unwrap();
        assert!(
            kept.handle.len() == 32 && kept.handle.bytes().all(|byte| byte.is_ascii_hexdigit())
        );
        assert_eq!((kept.json, kept.text), (extent(9, 3), Some(extent(13, 2))));
        assert_eq!(kept.expires, kept.created + 86_400_000_000);
        let mut conn = store.read().await.unwrap();
        let now = store.now();
        let found = find(&mut conn, "me", &kept.handle, now).await.unwrap();
        assert_eq!(found, kept);
        assert_eq!(found.form(), Form::Text);
        assert_eq!(whole(&mut conn, &found, Form::Text).await.unwrap(), "line 1\nline 2");
        assert_eq!(whole(&mut conn, &found, Form::Json).await.unwrap(), "{\n\"a\":1\n}");
        let source = format!("mcp-result:ledger_get:{}", kept.handle);
        assert_eq!(kept.source(), source);
        assert_eq!(handle(&source), Some(&*kept.handle));
        // To others it is what a handle is that never was.
        let never = find(&mut conn, "me", &"0".repeat(32), now).await.unwrap_err();
        let Error::NotFound(never) = never else { panic!("{never}") };
        for other in ["you", "operator", "ME", "", "me "] {
            let words = never.replace(&"0".repeat(32), &kept.handle);
            let found = find(&mut conn, other, &kept.handle, now).await;
            assert_eq!(found, Err(Error::NotFound(words)), "{other}");
        }
        assert_eq!(handle("session.jsonl"), None);
        assert!(store.events(0, 10, |_| true).await.unwrap().unwrap().events.is_empty());
    })
    .await;
}

/// Sizes around those of parts and of batches; every range of it is that of the original.
#[tokio::test]
async fn any_length_is_kept_byte_for_byte() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let batch = BATCH * PART;
        for size in [0, 1, PART - 1, PART, PART + 1, batch, batch + 1, 2 * batch + PART + 7] {
            let json: String =
                ('a'..='z').cycle().map(|c| if c == 'q' { '\n' } else { c }).take(size).collect();
            let kept = kept(store, "me", &json, &AMPLE).await;
            let mut conn = store.read().await.unwrap();
            assert_eq!(whole(&mut conn, &kept, Form::Json).await.unwrap(), json);
            assert_eq!(kept.json.lines, json.matches('\n').count() + 1);
            for (start, end) in [
                (0, 10),
                (PART - 3, PART + 3),
                (PART, 2 * PART),
                (size.saturating_sub(5), size + 100),
                (size + 5, size + 9),
                (3, 3 * PART + 1),
            ] {
                let wanted = &json.as_bytes()[start.min(size)..end.min(size)];
                let found = super::super::bytes(&mut conn, &kept, Form::Json, start..end).await;
                assert!(found.unwrap() == wanted, "{size}: {start}..{end}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_reply_outlives_its_process() {
    let fixture = Fixture::sqlite().await;
    let json = "x".repeat(5 * PART);
    let kept = kept(&fixture.store, "me", &json, &AMPLE).await;
    // Another handle on the same files.
    let again = fixture.open().await;
    assert_eq!(read(&again, "me", &kept.handle).await.unwrap(), json);
}
