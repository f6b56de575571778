//! What holds of any rows and any state.

use std::collections::HashSet;

use proptest::{collection::vec, prelude::*, sample::select, test_runner::Config};

use super::*;

/// Parts of transcripts on which the rules turn.
const PARTS: &[&str] = &[
    "\n[tools] ",
    "[tools] ",
    "\n[results]\n",
    "\n---\n",
    "; ",
    ")",
    "(",
    "Edit(file_path=/a)",
    "Edit(file_path=/b)",
    "Bash(command=",
    "Bash(command=pytest)",
    "Bash(command=git commit -m \"x\")",
    "Agent(description=a)",
    "Read(path=/c)",
    "agentId: a1",
    "<task-id>a1</task-id>",
    "<task-notification>",
    "Exit code 1",
    "Error: ",
    "no Error: found",
    "Permission denied",
    "Traceback (most recent call last):",
    "0 failed",
    "3 passed",
    "2 failed",
    "\n",
    " ",
    "Next: ",
    "**",
    "- ",
    "Should I do that?",
    "yes, go ahead",
    "Fix the login test.",
    "[",
    "]",
    "<",
    ">",
    "<system-reminder>",
    "</system-reminder>",
    "https://x.example/",
    "a.service",
    "/srv/app",
    "-m ",
    "$(cat <<EOF\n",
    "git commit ",
    "task=",
    "…[",
    "[errors] ",
    "İ",
    "ſ",
    "e\u{301}",
    "Σ",
];

fn text(most: usize) -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => select(PARTS).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "\\PC{0,12}",
    ];
    vec(part, 0..most).prop_map(|parts| parts.concat())
}

fn texts(most: usize) -> impl Strategy<Value = Vec<String>> {
    vec(text(3), 0..most)
}

prop_compose! {
    fn rows(most: usize)(rows in vec((text(6), text(16), texts(4), texts(4), any::<bool>()), 0..most)) -> Vec<Row> {
        rows.into_iter()
            .map(|(prompt, response, files, commands, harness)| Row {
                prompt,
                response,
                pointers: Pointers { files, commands, harness },
            })
            .collect()
    }
}

prop_compose! {
    fn state()(texts in (text(6), text(16)), lists in prop::array::uniform6(texts(34))) -> State {
        let (objective, init_prompt) = texts;
        let [done, in_progress, blockers, next_steps, key_paths, open_questions] = lists;
        State { objective, done, in_progress, blockers, next_steps, key_paths, open_questions, init_prompt }
    }
}

prop_compose! {
    fn fixes()(set in vec(any::<bool>(), 7)) -> Fixes {
        Fix::ALL.into_iter().zip(set).filter(|(_, has)| *has).map(|(fix, _)| fix).collect()
    }
}

fn lists(state: &State) -> [(&[String], usize, usize); 6] {
    [
        (&state.done, 30, 300),
        (&state.in_progress, 30, 300),
        (&state.blockers, 30, 300),
        (&state.next_steps, 12, 300),
        (&state.key_paths, 15, 300),
        (&state.open_questions, 8, 300),
    ]
}

proptest! {
    #![proptest_config(Config::with_cases(256))]

    #[test]
    fn without_rows_a_state_stays(prev in state(), rows in rows(5), other in "[a-z]{0,5}") {
        let state = reduce(&prev, &rows, "alpha");
        prop_assert_eq!(reduce(&state, &[], &other), state);
    }

    #[test]
    fn the_same_gives_the_same(prev in state(), rows in rows(5), fixes in fixes()) {
        let state = reduce_with(fixes, &prev, &rows, "alpha");
        prop_assert_eq!(reduce_with(fixes, &prev.clone(), &rows.clone(), "alpha"), state);
    }

    #[test]
    fn everything_is_bounded(prev in state(), rows in rows(8), fixes in fixes()) {
        let state = reduce_with(fixes, &prev, &rows, "alpha");
        if !rows.is_empty() {
            for (items, most, longest) in lists(&state) {
                prop_assert!(items.len() <= most);
                for item in items {
                    prop_assert!(!item.is_empty() && item.chars().count() <= longest);
                    prop_assert!(!item.contains('\n'));
                }
            }
            if state.objective.chars().count() <= 200 {
                prop_assert!(words(&state.init_prompt) <= 400);
            }
        }
        prop_assert!(state.objective.chars().count() <= 4000);
        prop_assert!(state.init_prompt.chars().count() <= 4000 && !state.init_prompt.is_empty());
    }

    #[test]
    fn a_list_has_nothing_twice(prev in state(), rows in rows(5)) {
        prop_assume!(!rows.is_empty());
        let state = reduce(&prev, &rows, "alpha");
        for items in [&state.done, &state.in_progress, &state.blockers, &state.next_steps, &state.open_questions] {
            let distinct: HashSet<String> = items.iter().map(|item| item.to_lowercase()).collect();
            prop_assert_eq!(distinct.len(), items.len());
        }
    }

    #[test]
    fn rows_folded_again_say_the_same(prev in state(), rows in rows(4)) {
        prop_assume!(!rows.is_empty());
        let once = reduce(&prev, &rows, "alpha");
        let twice = reduce(&once, &rows, "alpha");
        prop_assert_eq!(&twice.objective, &once.objective);
        prop_assert_eq!(&twice.blockers, &once.blockers);
        prop_assert_eq!(&twice.open_questions, &once.open_questions);
        let sorted = |items: &[String]| {
            let mut items = items.to_vec();
            items.sort_unstable();
            items
        };
        if once.done.len() < 30 && once.in_progress.len() < 30 {
            prop_assert_eq!(sorted(&twice.done), sorted(&once.done));
            prop_assert_eq!(sorted(&twice.in_progress), sorted(&once.in_progress));
        }
    }

    #[test]
    fn nothing_that_was_written_is_made_up(rows in rows(5)) {
        let said: Vec<&str> = rows.iter().flat_map(|row| [&*row.prompt, &*row.response]).collect();
        let pointed: HashSet<&str> =
            rows.iter().flat_map(|row| &row.pointers.files).map(|file| file.trim()).collect();
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = squeezed(&said.join("\n"));
        for path in reduce(&State::default(), &rows, "").key_paths {
            let path = path.trim_end_matches('…');
            let is_pointed = pointed.iter().any(|file| squeezed(file).starts_with(path));
            let is_run = rows.iter().flat_map(|row| &row.pointers.commands).any(|command| squeezed(command).contains(path));
            prop_assert!(said.contains(path) || is_pointed || is_run, "{path:?}");
        }
    }
}
