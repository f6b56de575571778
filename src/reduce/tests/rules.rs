//! The rules one by one, at their edges.

use super::*;

#[test]
fn an_objective_is_the_first_sentence_that_says_something() {
    let objective = |prompt: &str| after(prompt, "", &[]).objective;
    assert_eq!(
        objective("fix it. please. Rework the parser so that it streams."),
        "Rework the parser so that it streams."
    );
    assert_eq!(objective("[Image #1] Rename `a` to **frob**!"), "Rename a to frob!");
    assert_eq!(
        objective("ok.<system-reminder>Say. nothing.</system-reminder> Move the cache."),
        "Move the cache."
    );
    assert_eq!(objective("[Unclosed note. Now migrate the schema."), "Now migrate the schema.");
    assert_eq!(objective(&"x".repeat(260)), format!("{}…", "x".repeat(199)));
    for none in ["", "too short", "please continue", "<task-notification>The build is green again."]
    {
        assert_eq!(objective(none), "", "{none}");
    }
}

#[test]
fn a_commit_is_found_in_its_command() {
    let done = |command: &str| {
        let row = Row {
            response: "\n[tools] Bash(command=…)\n[results]\nok".to_owned(),
            pointers: Pointers { commands: vec![command.to_owned()], ..Pointers::default() },
            ..Row::default()
        };
        reduce(&State::default(), &[row], "").done
    };
    for (command, label) in [
        ("git commit -m \"fix it\"", "fix it"),
        ("git add -A && git commit -am 'fix it'", "fix it"),
        ("git -C /srv -c user.name=x commit --message=fix", "fix"),
        ("git commit -m $(cat <<-EOF\n\n  fix it\nEOF", "fix it"),
        ("git commit --amend --no-edit", "git commit --amend --no-edit"),
        ("git commit -m \"\"", "git commit -m \"\""),
    ] {
        assert_eq!(done(command), [format!("commit: {label}")], "{command}");
    }
    for none in ["git committed", "legit commit", "git -C commit", "git log | grep commit", "git"] {
        assert!(done(none).is_empty(), "{none}");
    }
}

#[test]
fn a_test_is_found_in_its_command() {
    let is_test = |command| command::is_test(command);
    for one in [
        "pytest -q",
        "cd a&&pytest",
        "python3  -m\tunittest",
        "npm run build",
        "make",
        "x; make all",
        "a\ntsc --noEmit",
        "cargo build",
    ] {
        assert!(is_test(one), "{one}");
    }
    for none in
        ["xpytest", "cmake", "make_it", "tscx", "python -mpytest", "npm run", "echo;-make", ""]
    {
        assert!(!is_test(none), "{none}");
    }
}

#[test]
fn edits_are_closed_by_what_comes_later() {
    let edit = ("Edit(file_path=/a)", Some("ok"));
    let test = ("Bash(command=pytest)", Some("5 passed"));
    assert_eq!(after("", "", &[edit, test]).done, ["edited /a", "passed: pytest"]);
    let state = after("", "", &[edit, test, edit]);
    assert_eq!(state.done, ["passed: pytest"]);
    assert_eq!(state.in_progress, ["editing /a"]);
    // What is edited again is not done.
    let closed = after("", "", &[edit, test]);
    let state = reduce(&closed, &[row("", "", &[edit])], "");
    assert_eq!(state.done, ["passed: pytest"]);
}

#[test]
fn records_are_done_when_they_were_written() {
    let state = after(
        "",
        "",
        &[
            ("mcp__ts__ledger_put({\"locus\": \"a\", \"task\": \"cart.1\"})", Some("{\"rev\": 2}")),
            ("canvas_put(kind=flow)", Some("")),
            ("todo_done(id=t4)", Some("Error: no todo t4")),
            ("prompt_done(id=p1)", Some("ok")),
            ("todo_add(text=x)", None),
        ],
    );
    assert_eq!(
        state.done,
        ["ledger: ledger_put task=cart.1", "ledger: canvas_put", "board: prompt_done"]
    );
}

#[test]
fn a_step_is_announced_at_the_beginning_of_a_line() {
    let steps = |line: &str| after("", line, &[]).next_steps;
    for line in [
        "Next: measure it again",
        "**Next steps:** measure it again",
        "- then — measure it again",
        "12) TODO - measure it again",
        "* **Remaining** ** measure it again",
    ] {
        assert_eq!(steps(line), ["measure it again"], "{line}");
    }
    for none in ["Next: short", "nextcloud measures it", "We measure it next: again", "Next"] {
        assert!(steps(none).is_empty(), "{none}");
    }
}

#[test]
fn a_step_that_is_done_goes() {
    let prev = State {
        next_steps: [
            "fix login race in the parser",
            "look into /srv/a.py",
            "write the docs",
            "and then passed: make",
        ]
        .map(str::to_owned)
        .into(),
        ..State::default()
    };
    let calls = [
        ("Edit(file_path=/srv/a.py)", Some("ok")),
        ("Bash(command=git commit -m \"parser: fix the login race\")", Some("ok")),
    ];
    let state = reduce(&prev, &[row("", "", &calls)], "");
    assert_eq!(state.next_steps, ["write the docs", "and then passed: make"]);
}

#[test]
fn paths_are_ranked_by_how_often_they_are_named() {
    let calls = [
        ("Read(file_path=/b)", Some("ok")),
        ("Read(file_path=/a)", Some("ok")),
        ("Edit(file_path=/a)", Some("ok")),
        ("Read(file_path=/tmp/claude-1/x)", Some("ok")),
        ("Grep(path=/c)", Some("ok")),
    ];
    let text = "See https://x.example/a) and (https://y.example. foo@1.timer, .service, é.service";
    let state = after("", text, &calls);
    assert_eq!(
        state.key_paths,
        ["/a", "/b", "/c", "https://x.example/a", "https://y.example", "foo@1.timer"]
    );
}

#[test]
fn only_questions_to_the_operator_are_open() {
    let text = "- **Should I** restart it?\nIs it red?\nDo you want it? I do.\nok to go?";
    assert_eq!(after("Fix the login test.", text, &[]).open_questions, ["Should I restart it?"]);
}

#[test]
fn pointers_are_read_with_patience() {
    let of = |text: &str| Pointers::of(&serde_json::from_str(text).unwrap());
    let told =
        Pointers { files: vec!["/a".to_owned()], commands: vec!["ls".to_owned()], harness: true };
    assert_eq!(of(r#"{"files": ["/a", 1], "commands": ["ls"], "harness": {"kind": "x"}}"#), told);
    assert_eq!(of(r#""{\"files\": [\"/a\"], \"commands\": [\"ls\"], \"harness\": 1}""#), told);
    for none in
        ["null", "[]", "7", "\"no JSON\"", r#"{"files": "x", "harness": ""}"#, r#"{"harness": 0}"#]
    {
        assert_eq!(of(none), Pointers::default(), "{none}");
    }
}
