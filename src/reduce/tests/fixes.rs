//! Each fix: what it changes, and that it is the one which does.

use super::*;

/// Whether a result counts as a failure with all fixes, and with all but one.
fn fails(fix: Fix, result: &str) -> (bool, bool) {
    let fails = |fixes| !blockers_of(fixes, result).is_empty();
    (fails(Fixes::all()), fails(without(fix)))
}

#[test]
fn a_name_is_a_fix_and_all_are_all() {
    for fix in Fix::ALL {
        assert_eq!(fix.to_string().parse(), Ok(fix));
        assert!(Fixes::all().has(fix) && !Fixes::none().has(fix) && !without(fix).has(fix));
    }
    assert_eq!(Fix::ALL.into_iter().collect::<Fixes>(), Fixes::all());
    assert!("count".parse::<Fix>().unwrap_err().contains("counts, acknowledgements"));
}

#[test]
fn a_count_of_none_is_no_failure() {
    for good in [
        "0 failed, 12 passed",
        "test result: ok. 12 passed; 0 failed; 0 ignored",
        "passed: 3, failed: 0",
        "failed=0",
        "00 FAILED",
    ] {
        assert_eq!(fails(Fix::Counts, good), (false, true), "{good}");
    }
    for bad in ["10 failed", "1,000 failed", "x0 failed", "failed: 1", "0 failed\nFAILED a.py"] {
        assert_eq!(fails(Fix::Counts, bad), (true, true), "{bad}");
    }
}

#[test]
fn a_run_has_passed_by_its_counts() {
    let passed = |fixes, result| {
        let row = row("", "", &[("Bash(command=pytest -q)", Some(result))]);
        !reduce_with(fixes, &State::default(), &[row], "").done.is_empty()
    };
    let both = |result| (passed(Fixes::all(), result), passed(without(Fix::Counts), result));
    assert_eq!(both("12 passed, 0 errors"), (true, false));
    assert_eq!(both("0 failed, 12 passed"), (true, false));
    assert_eq!(both("Found 0 errors."), (true, false));
    assert_eq!(both("5 passed"), (true, true));
    assert_eq!(both("done"), (true, true));
    assert_eq!(both("0 passed"), (false, true), "nothing has run");
    assert_eq!(both("5 examples, 1 failure"), (false, true));
    assert_eq!(both("5 passed, 1 error"), (false, false));
    assert_eq!(both("5 passed, 1 failed"), (false, false));
}

#[test]
fn acknowledgements_in_a_row_are_no_objective() {
    let objective = |fixes, prompt: &str| {
        let rows = [row("Fix the login test.", "", &[]), row(prompt, "", &[])];
        reduce_with(fixes, &State::default(), &rows, "").objective
    };
    for prompt in [
        "yes, go ahead",
        "Okay - go on. Thank you!",
        "sure, and then proceed please",
        "YES YES yes yes",
    ] {
        assert_eq!(objective(Fixes::all(), prompt), "Fix the login test.", "{prompt}");
        assert_ne!(objective(without(Fix::Acknowledgements), prompt), "Fix the login test.");
    }
    for prompt in ["yes, but go back first", "go ahead with the release", "and then, please, now"] {
        assert_eq!(objective(Fixes::all(), prompt), prompt);
    }
    assert_eq!(
        objective(Fixes::all(), "Yes, go ahead. Deploy it to staging."),
        "Deploy it to staging."
    );
}

#[test]
fn a_call_inside_an_argument_is_none() {
    let files = |fixes, calls: &str, commands: &[&str]| {
        let pointers = Pointers {
            commands: commands.iter().map(|command| (*command).to_owned()).collect(),
            ..Pointers::default()
        };
        let row = Row { response: format!("\n[tools] {calls}"), pointers, ..Row::default() };
        reduce_with(fixes, &State::default(), &[row], "").in_progress
    };
    let hidden = "Bash(command=ls; Edit(file_path=/z)); Edit(file_path=/a)";
    assert_eq!(
        files(Fixes::all(), hidden, &[]),
        ["editing /a", "running: Bash(ls; Edit(file_path=/z))", "running: Edit(/a)"]
    );
    assert_eq!(files(without(Fix::Calls), hidden, &[])[0], "editing /z)");
    // A command that is known ends where it ends, whatever its parentheses.
    let command = "case $x in a) echo; Edit(file_path=/z)";
    let known = format!("Bash(command={command}); Edit(file_path=/a)");
    assert_eq!(files(Fixes::all(), &known, &[command])[0], "editing /a");
    // One that was cut leaves a parenthesis open, and takes no call with it.
    let cut =
        format!("Bash(command=echo $({}); Edit(file_path=/a); Read(path=/b)", "x".repeat(103));
    assert_eq!(files(Fixes::all(), &cut, &[])[0], "editing /a");
    assert_eq!(files(Fixes::all(), &cut, &[]).len(), 4);
}

#[test]
fn an_error_inside_a_sentence_is_no_failure() {
    for prose in [
        "no Error: found",
        "the log has an Error: in it",
        "good (the earlier Error: was stale)",
        "it prints \"Error: x\" on purpose",
        "checked twice, Error: none",
    ] {
        assert_eq!(fails(Fix::Errors, prose), (false, true), "{prose}");
    }
    for failure in [
        "Error: boom",
        "  \"Error: boom\"",
        "src/a.c:3:5: error: expected ';'",
        "npm ERR! Error: boom",
        "[build] Error: disk full",
        "Uncaught Error: boom",
        "PHP Fatal error: boom",
        "{\"message\": \"Error: boom\"}",
        "It did not work. Error: boom",
        "no Error: found, but Permission denied",
    ] {
        assert_eq!(fails(Fix::Errors, failure), (true, true), "{failure}");
    }
}

#[test]
fn a_blocker_shows_the_line_that_says_why() {
    let line = |fixes, result: &str| {
        blockers_of(fixes, result).pop().unwrap().split_once("): ").unwrap().1.to_owned()
    };
    let first = without(Fix::Lines);
    for (result, useful, earlier) in [
        ("Exit code 1\nPermission denied", "Permission denied", "Exit code 1"),
        ("Exit code 2\nbuilding\nmake: *** [all] oops 2", "make: *** [all] oops 2", "Exit code 2"),
        ("Exit code 1: no disk\nmore", "Exit code 1: no disk", "Exit code 1: no disk"),
        ("Exit code 7\n \n", "Exit code 7", "Exit code 7"),
        (
            "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'x'\n\nDuring handling:\n\nTraceback (most recent call last):\n  File \"b.py\"\nValueError: boom\nafter",
            "ValueError: boom",
            "Traceback (most recent call last):",
        ),
        (
            "Traceback (most recent call last):\n  File \"a.py\"\n…[900 chars cut]…\ntail\n[errors] Traceback (most recent call last): | OSError: full",
            "OSError: full",
            "Traceback (most recent call last):",
        ),
        (
            "one\nfatal: not a repository\nError: late",
            "fatal: not a repository",
            "fatal: not a repository",
        ),
    ] {
        assert_eq!(line(Fixes::all(), result), useful);
        assert_eq!(line(first, result), earlier);
    }
}

#[test]
fn rows_of_one_moment_have_a_place_each() {
    let upto = Position { ts: 5, id: 7 };
    let is_new = |ts, id, fixes| upto.is_before(Position { ts, id }, fixes);
    assert!(is_new(5, 8, Fixes::all()) && !is_new(5, 8, without(Fix::Positions)));
    for fixes in [Fixes::all(), Fixes::none()] {
        assert!(is_new(6, 1, fixes) && !is_new(5, 7, fixes) && !is_new(4, 9, fixes));
    }
}

#[test]
fn without_rows_nothing_changes() {
    let state = State {
        objective: "Ship it.".to_owned(),
        key_paths: vec!["/b".to_owned(), "/a".to_owned()],
        next_steps: vec!["look at /a again".to_owned()],
        init_prompt: "polished by hand".to_owned(),
        ..State::default()
    };
    assert_eq!(reduce(&state, &[], "alpha"), state);
    let earlier = reduce_with(without(Fix::FixedPoint), &state, &[], "alpha");
    assert_eq!(earlier.key_paths, ["/a", "/b"]);
    assert_ne!(earlier.init_prompt, state.init_prompt);
}
