//! The records: read whole, whether or not a server runs on them.

use std::time::Duration;

use super::finding::{
    Finding,
    Verdict::{Ok as Fine, Wrong},
};
use crate::store::{Place, check, schema};

/// How long looking every page over may take.
const PATIENCE: Duration = Duration::from_mins(10);

/// What is found of the records.
pub(super) async fn look(place: &Place) -> Finding {
    let finding = |verdict, words: String| Finding::new("records", verdict, words);
    let found = match tokio::time::timeout(PATIENCE, check::check(place)).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => return finding(Wrong, error.to_string()),
        Err(_) => {
            let words = format!("not looked over within {} min", PATIENCE.as_secs() / 60);
            return finding(Wrong, words);
        }
    };
    let place = found.place;
    if let Some(problem) = found.problems.first() {
        let more = found.problems.len() - 1;
        let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        let words = format!(
            "{place} is damaged: {problem}{more}: keep this file as it is, and bring a backup back"
        );
        return finding(Wrong, words);
    }
    match found.step {
        None => finding(Fine, format!("{place}: none yet: the first start makes them")),
        Some(step) if step < schema() => finding(
            Fine,
            format!(
                "{place}: sound; the next start brings its schema from step {step} to {}",
                schema()
            ),
        ),
        Some(step) => finding(Fine, format!("{place}: sound, schema at step {step}")),
    }
}
