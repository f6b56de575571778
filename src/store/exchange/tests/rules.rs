//! The pure rules: what is merged, and whose words a prompt is.

use proptest::prelude::*;

use super::*;

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "a", "b"]).prop_map(str::to_owned)
}

fn content() -> impl Strategy<Value = Content> {
    let texts = (word(), word(), word(), "[a-cé]{0,3}", "[a-cé]{0,3}");
    let count = || prop::option::of(0..3_i64);
    let counts = (count(), count(), count(), prop::option::of(0..3_i64));
    let rest = (0..3_i64, 0..3_i64, prop::option::of(prop::sample::select(&Origin::ALL[..])));
    (texts, counts, rest, prop::option::of(0..3_i64)).prop_map(|(texts, counts, rest, pointers)| {
        let (session_id, source, model, prompt, response) = texts;
        let (total, input, output, cost) = counts;
        let (ts, primed, origin) = rest;
        #[expect(clippy::cast_precision_loss, reason = "a few")]
        let cost_usd = cost.map(|cost| cost as f64);
        let tokens = Tokens { total, input, output, cost_usd, ..Tokens::default() };
        let pointers = pointers.map(|nth| json!({ "nth": nth }));
        Content {
            turn: "t".to_owned(),
            session_id,
            source,
            model,
            origin,
            ts,
            primed,
            tokens,
            pointers,
            prompt,
            response,
        }
    })
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

proptest! {
    /// What a merge comes to, said member by member.
    #[test]
    fn a_merge_keeps_the_longer_and_the_later_and_what_somebody_said(old in content(), new in content()) {
        let merged = old.clone().merged(new.clone());
        for (kept, one, other) in [
            (&merged.prompt, &old.prompt, &new.prompt),
            (&merged.response, &old.response, &new.response),
        ] {
            prop_assert!(kept == one || kept == other);
            prop_assert_eq!(chars(kept), chars(one).max(chars(other)));
        }
        prop_assert_eq!(merged.ts, old.ts.max(new.ts));
        prop_assert_eq!(merged.primed, old.primed.max(new.primed));
        for (kept, one, other) in [
            (&merged.session_id, &old.session_id, &new.session_id),
            (&merged.source, &old.source, &new.source),
            (&merged.model, &old.model, &new.model),
        ] {
            prop_assert_eq!(kept, if other.is_empty() { one } else { other });
        }
        prop_assert_eq!(merged.tokens.total, new.tokens.total.or(old.tokens.total));
        prop_assert_eq!(merged.tokens.cost_usd, new.tokens.cost_usd.or(old.tokens.cost_usd));
        prop_assert_eq!(merged.pointers.clone(), new.pointers.clone().or(old.pointers.clone()));
        prop_assert_eq!(merged.origin, new.origin.or(old.origin));
        // The same once more changes nothing, and nothing is lost to one who says nothing.
        prop_assert_eq!(merged.clone().merged(new), merged.clone());
        prop_assert_eq!(merged.clone().merged(said("t", "", "")), merged);
    }

    /// Whatever a text is, it is somebody's.
    #[test]
    fn any_text_is_told(text in "(?s).{0,60}", tag in prop::sample::select(vec![
        "<system-reminder>", "</system-reminder>", "<task-notification>", "[SYSTEM NOTIFICATION", "]",
        "The user sent a new message", ":", "<task-id>", "</task-id>",
    ]), at in 0..60_usize) {
        let (head, tail) = text.split_at(text.floor_char_boundary(at));
        let (origin, meta) = classify(&format!("{head}{tag}{tail}"));
        prop_assert_eq!(origin == Origin::Harness, meta.is_some());
        if let Some(meta) = meta {
            prop_assert!(chars(&meta.summary) <= 200);
        }
    }
}

#[test]
fn words_of_the_harness_are_known_by_how_they_begin() {
    let kind = |text: &str| classify(text).1.map_or("operator", |meta| meta.kind);
    for (text, wanted) in [
        ("<task-notification><task-id>a</task-id></task-notification>", "task-notification"),
        ("[SYSTEM NOTIFICATION - NOT USER INPUT]\n<task-notification>x", "task-notification"),
        ("  [system notification] all is well", "system-notification"),
        ("<SYSTEM-REMINDER>unclosed", "system-reminder"),
        (
            "<system-reminder>a</system-reminder> \n<system-reminder>b</system-reminder>",
            "system-reminder",
        ),
        ("<cross-session-message from=x>", "cross-session"),
        ("[Cross-session] hello", "cross-session"),
        ("<local-command-stdout></local-command-stdout>", "local-command"),
        ("<command-name>/model</command-name>", "local-command"),
        ("[Request interrupted by user for tool use]", "interrupt"),
        ("Your claude.ai usage limit has reset, go on", "usage-reset"),
        ("<environment_context>\n<cwd>/</cwd>", "environment"),
        ("<system-reminder>a</system-reminder><task-notification>x", "task-notification"),
        (
            "The user sent a new message while you were working:\n[Request interrupted by user]",
            "interrupt",
        ),
        // Somebody's words, whatever stands behind them or in them.
        ("fix it <system-reminder>a</system-reminder>", "operator"),
        ("what is <task-notification>?", "operator"),
        ("<system-reminder>a</system-reminder>fix it", "operator"),
        ("The user sent a new message while you were working: fix it", "operator"),
        ("The user sent a new message\n: [Request interrupted by user]", "operator"),
        ("[SYSTEM NOTIFICATION without an end", "operator"),
        ("", "operator"),
        (" \n", "operator"),
    ] {
        assert_eq!(kind(text), wanted, "{text}");
    }
}

#[test]
fn what_is_known_of_words_of_the_harness_is_told() {
    let meta = |text: &str| classify(text).1.unwrap().into_value();
    let notice = "<task-notification><task-id> ag-7 </task-id><summary>audit the logs</summary></task-notification>";
    assert_eq!(
        meta(notice),
        json!({ "kind": "task-notification", "task_id": "ag-7", "summary": "subagent finished: audit the logs" })
    );
    assert_eq!(
        meta("<command-name>/model</command-name>"),
        json!({ "kind": "local-command", "command": "/model", "summary": "local command /model" })
    );
    let long = format!("<task-notification><summary>{}</summary>", "é".repeat(500));
    assert_eq!(chars(meta(&long)["summary"].as_str().unwrap()), 200);
}
