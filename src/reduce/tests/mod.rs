mod facts;
mod fixes;
mod property;
mod rules;

use super::*;

/// A row with calls, each with its result; `None` where none came.
fn row(prompt: &str, text: &str, calls: &[(&str, Option<&str>)]) -> Row {
    let mut response = text.to_owned();
    if !calls.is_empty() {
        let listed: Vec<&str> = calls.iter().map(|(call, _)| *call).collect();
        response.push_str("\n[tools] ");
        response.push_str(&listed.join("; "));
        let results: Vec<&str> = calls.iter().map_while(|(_, result)| *result).collect();
        if !results.is_empty() {
            response.push_str("\n[results]\n");
            response.push_str(&results.join("\n---\n"));
        }
    }
    Row { prompt: prompt.to_owned(), response, ..Row::default() }
}

/// The state after one row, from nothing.
fn after(prompt: &str, text: &str, calls: &[(&str, Option<&str>)]) -> State {
    reduce(&State::default(), &[row(prompt, text, calls)], "alpha")
}

/// The blockers of one command with this result, with some fixes.
fn blockers_of(fixes: Fixes, result: &str) -> Vec<String> {
    let row = row("", "", &[("Bash(command=run it)", Some(result))]);
    reduce_with(fixes, &State::default(), &[row], "").blockers
}

/// Every fix but one.
fn without(fix: Fix) -> Fixes {
    Fix::ALL.into_iter().filter(|one| *one != fix).collect()
}
