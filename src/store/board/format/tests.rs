use std::process::Command;

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::Value;

use super::*;

const GOOD: &str = "WHY: a\nWHO: b\nGATE: c\nDO: ls\nVERIFY: true\nEXPECT: d";

fn operator(note: &str) -> Item<'_> {
    Item { title: "[OP] x", note }
}

fn words<T: ToString>(found: &[T]) -> Vec<String> {
    found.iter().map(ToString::to_string).collect()
}

/// Each line of the file: an item, what is stored of it, and what is said about it.
#[test]
fn the_recorded_items_come_out_as_recorded() {
    let file =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/board_format.jsonl"));
    assert!(file.lines().count() > 40);
    for line in file.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (title, note) = (text(&line["title"]), text(&line["note"]));
        let kind = Kind::of(&text(&line["type"])).unwrap();
        let checked = check(kind, Item { title: &title, note: &note });
        let found = serde_json::json!({
            "to": { "title": checked.title, "note": checked.note },
            "changes": words(&checked.changes),
            "problems": words(&checked.problems),
        });
        for key in ["to", "changes", "problems"] {
            assert_eq!(found[key], line[key], "{}: {key}", line["case"]);
        }
    }
}

/// What is built is a script that a shell takes, whatever stands in title, WHO and WHERE.
#[test]
fn built_scripts_run_their_commands_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("it's \"one\" $(touch pwned) `touch pwned` end");
    std::fs::create_dir(&place).unwrap();
    let note = format!(
        "WHY: a\nWHO: $(touch pwned)\nGATE: c\nWHERE: {}\nDO: echo done > here\nVERIFY: cat here\nEXPECT: done\n",
        place.display()
    );
    let item = Item { title: "first\ntouch pwned", note: &note };
    let checked = check(Kind::Operator, item);
    assert_eq!(checked.problems, []);
    let script =
        checked.note.split("RUN:\n```bash\n").nth(1).unwrap().strip_suffix("\n```").unwrap();
    let ran = Command::new("bash").arg("-c").arg(script).current_dir(dir.path()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(ran.stdout, b"done\n");
    assert!(place.join("here").exists());
    assert!(!dir.path().join("pwned").exists() && !place.join("pwned").exists());
}

#[test]
fn the_refusal_names_each_problem_and_the_remedy() {
    let refused = judge(Mode::Enforce, Kind::Proposal, Item { title: "x", note: "REC: a" }, None);
    let text = refused.unwrap_err().to_string();
    assert_eq!(
        text,
        "board format (proposal): missing PROBLEM; missing OPTIONS; missing DECISION; missing SKETCH — a proposal has the sections PROBLEM:, OPTIONS: (lines `A) …`, `B) …`), REC:, DECISION: and SKETCH:, the last in a ```text fence"
    );
}

#[test]
fn a_good_item_is_stored_mended_in_every_mode_that_looks() {
    let mended = check(Kind::Operator, operator(GOOD));
    assert!(mended.problems.is_empty() && mended.changes.contains(&Change::RunBuilt));
    for mode in [Mode::Enforce, Mode::Warn] {
        assert_eq!(judge(mode, Kind::Operator, operator(GOOD), None).as_ref(), Ok(&mended));
    }
    let off = judge(Mode::Off, Kind::Operator, operator("nothing"), None).unwrap();
    assert_eq!((off.note.as_str(), off.changes.len(), off.problems.len()), ("nothing", 0, 0));
}

#[test]
fn a_warned_item_is_stored_as_it_was_given() {
    let bad = GOOD.replace("WHY: a", "why:");
    let stored = judge(Mode::Warn, Kind::Operator, operator(&bad), None).unwrap();
    assert_eq!(stored.note, bad);
    assert_eq!((stored.changes, stored.problems), (vec![], vec![Problem::Empty(Section::Why)]));
}

#[test]
fn an_update_is_refused_for_new_problems_alone() {
    let (old, worse) = (GOOD.replace("WHY: a\n", ""), "GATE: c\nDO: ls\nVERIFY: true");
    let stored = Some(operator(&old));
    let same = judge(Mode::Enforce, Kind::Operator, operator(&old), stored).unwrap();
    assert_eq!((same.note.as_str(), same.problems.len()), (old.as_str(), 0));
    let refused = judge(Mode::Enforce, Kind::Operator, operator(worse), stored).unwrap_err();
    assert_eq!(
        refused.problems,
        [Problem::Missing(Section::Who), Problem::Missing(Section::Expect)]
    );
    let warned = judge(Mode::Warn, Kind::Operator, operator(worse), stored).unwrap();
    assert_eq!(warned.problems, refused.problems);
    let mended = judge(Mode::Enforce, Kind::Operator, operator(GOOD), stored).unwrap();
    assert!(mended.changes.contains(&Change::RunBuilt));
}

#[test]
fn kinds_modes_and_the_exempt_writer_are_read_in_any_case() {
    assert_eq!(Kind::of(" Operator"), Some(Kind::Operator));
    assert_eq!(Kind::of("PROPOSAL"), Some(Kind::Proposal));
    assert_eq!(Kind::of("todo"), None);
    assert_eq!(" Warn".parse(), Ok(Mode::Warn));
    assert_eq!(
        "on".parse::<Mode>().unwrap_err().to_string(),
        "`on` is no way to check the form of board items: it is `enforce`, `warn` or `off`"
    );
    assert!(is_exempt(" Operator ") && !is_exempt("operator-2") && !is_exempt(""));
}

/// S35: CRLF and a byte order mark broke exact matches.
#[test]
fn s35_line_ends_and_byte_order_mark_do_not_change_the_outcome() {
    let plain = check(Kind::Operator, operator(GOOD));
    let foreign = format!("\u{feff}{}", GOOD.replace('\n', "\r\n"));
    let checked = check(Kind::Operator, operator(&foreign));
    assert_eq!((checked.note, checked.problems), (plain.note, plain.problems));
    assert_eq!(checked.changes[..2], [Change::ByteOrderMark, Change::LineEnds]);
}

/// Lines that say something to the check, and some that do not.
const LINES: &[&str] = &[
    "WHY: a",
    "**Who**: b",
    "## gate c",
    "WHERE: /tmp",
    "where: ~/x",
    "DO:",
    "cmds: ls",
    "VERIFY: true",
    "# check",
    "EXPECT: <pid>",
    "Expected output: ```text",
    "RUN:",
    "ROLLBACK:",
    "undo: none",
    "rollback run:",
    "PROBLEM: p",
    "OPTIONS:",
    "A) x",
    "B) y",
    "REC: r",
    "DECISION: d",
    "plan: z",
    "SKETCH:",
    "```",
    "```bash",
    "````",
    "   ```sh",
    "    ```",
    "```x```",
    "ls",
    "$ ls",
    "$ $ ls",
    "$ ```",
    "`df`",
    "# docker",
    "<host>",
    "#!/usr/bin/env bash",
    "set -euo pipefail",
    "",
    " ",
    "é\u{2028}ſ",
    "\r",
    "[accepted] WHY: q",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A good item is good for ever, and a check changes it once.
    #[test]
    fn a_second_check_changes_nothing(
        title in "(\\[op\\] )?[a-z<>\n]{0,6}",
        kind in select(&[Kind::Operator, Kind::Proposal][..]),
        complete in any::<bool>(),
        lines in vec(select(LINES), 0..24),
    ) {
        let start = match kind {
            _ if !complete => "",
            Kind::Operator => GOOD,
            Kind::Proposal => "PROBLEM: a\nOPTIONS:\nA) a\nB) b\nREC: a\nDECISION: b\nSKETCH: c\n",
        };
        let note = format!("{start}{}", lines.join("\n"));
        let once = check(kind, Item { title: &title, note: &note });
        if once.problems.is_empty() {
            let twice = check(kind, Item { title: &once.title, note: &once.note });
            prop_assert_eq!((&twice.title, &twice.note), (&once.title, &once.note));
            prop_assert_eq!((twice.changes, twice.problems), (vec![], vec![]));
        }
    }

    /// Every word of an item is still there, in order, but for headers, prompts and fences.
    #[test]
    fn no_text_is_lost(kind in select(&[Kind::Operator, Kind::Proposal][..]), lines in vec(select(LINES), 0..24), word in "[a-z]{12}") {
        for at in 0..=lines.len() {
            let mut lines = lines.clone();
            lines.insert(at, &word);
            let note = lines.join("\n");
            let checked = check(kind, Item { title: "x", note: &note });
            prop_assert!(checked.note.contains(&word));
        }
    }

    #[test]
    fn any_text_is_taken(title in any::<String>(), note in any::<String>()) {
        for kind in [Kind::Operator, Kind::Proposal] {
            check(kind, Item { title: &title, note: &note });
        }
    }
}
