//! Seats: what is said of terminals and how they stand, and how their sessions follow each other.

use mcp::{Entry, Fault};

use crate::app::App;

mod ghosts;
mod heartbeat;
mod report;
mod rollover;
mod rollover_all;
mod row;
mod session;
mod state;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    let mut tools = vec![
        Entry::of::<report::SeatReport>(),
        Entry::of::<state::SeatState>(),
        Entry::of::<heartbeat::SeatHeartbeat>(),
        Entry::of::<ghosts::SeatGhosts>(),
        Entry::of::<rollover::SeatRollover>(),
        Entry::of::<rollover_all::SeatRolloverAll>(),
    ];
    tools.extend(session::tools());
    tools
}

/// A number of seconds as clients send it, with or without a fraction, in whole seconds.
fn seconds(name: &str, value: f64) -> Result<i64, Fault> {
    /// Far beyond any date, and exact as a floating-point number.
    const MOST: f64 = 1e12;
    if !(0.0..=MOST).contains(&value) {
        return Err(Fault::invalid(format!("`{name}` is a number of seconds from 0 to 1e12")));
    }
    #[expect(clippy::cast_possible_truncation, reason = "its range was looked at")]
    Ok(value as i64)
}
