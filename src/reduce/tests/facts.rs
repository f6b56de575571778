//! A session that is rolled turn by turn.

use super::*;

const LOGIN: &str = "/srv/app/login.py";
const ASKED: &str = "Fix the flaky login test in /srv/app. Then ship it.";

fn begun() -> State {
    let calls = [
        ("Read(file_path=/srv/app/login.py)", Some("1\tdef login():")),
        ("Edit(file_path=/srv/app/login.py)", Some("The file has been updated.")),
        ("Bash(command=pytest -q)", Some("2 failed, 3 passed")),
    ];
    reduce(&State::default(), &[row(ASKED, "Next: run the whole suite", &calls)], "alpha")
}

fn shipped() -> State {
    let calls = [
        ("Edit(file_path=/srv/app/login.py)", Some("The file has been updated.")),
        ("Bash(command=pytest -q)", Some("5 passed in 1s")),
        ("Bash(command=git commit -m \"fix login race\")", Some("[main 1234567] fix login race")),
    ];
    reduce(&begun(), &[row("yes, go ahead", "", &calls)], "alpha")
}

fn deployed() -> State {
    let calls = [
        ("Bash(command=ssh stg deploy.sh)", Some("Exit code 1\nPermission denied")),
        ("Agent(description=audit logs)", Some("agentId: ag-7")),
    ];
    let asked = "Deploy to staging and check https://staging.example.com/health";
    reduce(&shipped(), &[row(asked, "Should I restart app.service?", &calls)], "alpha")
}

#[test]
fn a_turn_says_what_is_wanted_begun_and_broken() {
    let state = begun();
    assert_eq!(state.objective, "Fix the flaky login test in /srv/app.");
    assert!(state.done.is_empty());
    assert_eq!(state.in_progress, ["editing /srv/app/login.py"]);
    assert_eq!(state.blockers, ["Bash(pytest -q): 2 failed, 3 passed"]);
    assert_eq!(state.next_steps, ["run the whole suite"]);
    assert_eq!(state.key_paths, [LOGIN]);
    assert!(state.open_questions.is_empty());
}

#[test]
fn a_commit_closes_edits_and_a_success_its_blocker() {
    let state = shipped();
    assert_eq!(
        state.done,
        ["edited /srv/app/login.py", "passed: pytest -q", "commit: fix login race"]
    );
    assert!(state.in_progress.is_empty());
    assert!(state.blockers.is_empty());
    assert_eq!(state.objective, "Fix the flaky login test in /srv/app.", "a bare yes is none");
}

#[test]
fn a_new_turn_asks_fails_and_hands_over() {
    let state = deployed();
    assert_eq!(state.objective, "Deploy to staging and check https://staging.example.com/health");
    assert_eq!(state.in_progress, ["subagent ag-7: audit logs"]);
    assert_eq!(state.blockers, ["Bash(ssh stg deploy.sh): Permission denied"]);
    assert_eq!(
        state.key_paths,
        ["https://staging.example.com/health", "app.service", "/srv/app/login.py"]
    );
    assert_eq!(state.open_questions, ["Should I restart app.service?"]);
    assert_eq!(reduce(&state, &[], "alpha"), state);
}

#[test]
fn a_report_of_the_harness_closes_the_subagent_and_no_question() {
    let report = "<task-notification>\n<task-id>ag-7</task-id>\n</task-notification>";
    let state = reduce(&deployed(), &[row(report, "", &[])], "alpha");
    assert!(state.in_progress.is_empty());
    assert!(state.blockers.is_empty(), "a failed call is evidence until the next row");
    assert_eq!(state.open_questions, ["Should I restart app.service?"]);
    let state = reduce(&state, &[row("no", "", &[])], "alpha");
    assert!(state.open_questions.is_empty());
}

#[test]
fn what_was_in_the_way_of_another_objective_is_gone() {
    let blockers = vec!["the release is halted".to_owned(), "Bash(make): oops".to_owned()];
    let prev = State { objective: "Ship it.".to_owned(), blockers, ..State::default() };
    let state = reduce(&prev, &[row("Write the documentation first", "", &[])], "");
    assert!(state.blockers.is_empty());
    let state = reduce(&prev, &[row("ok", "", &[("Bash(command=ls)", None)])], "");
    assert_eq!(state.blockers, ["the release is halted"]);
    assert_eq!(state.in_progress, ["running: Bash(ls)"]);
}

#[test]
fn the_text_for_the_next_seat_names_what_there_is() {
    let text = deployed().init_prompt;
    for part in [
        "session on locus alpha.",
        "Objective: Deploy to staging",
        "- commit: fix login race",
        "Blockers:\n- Bash(ssh stg deploy.sh): Permission denied",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let empty = reduce(&State::default(), &[], "").init_prompt;
    assert!((150..=170).contains(&words(&empty)), "{}", words(&empty));
    assert!(empty.contains("session on this locus.") && empty.contains("Blockers: none recorded."));
}
