//! Asking the station for a seat, and writing down what came of it.
//!
//! The order for the seat was taken before ([`handoff::begin`], or with a new row) and is given back
//! here; no transaction is open while the station is asked.

use mcp::{Fault, schemars::JsonSchema};
use serde::Serialize;

use crate::{
    app::App,
    clock,
    outbound::station::{About, Order, Probe, Resume, Seat, Spin},
    store::{
        Committed,
        handoff::{self, Mode, Outcome, Row},
    },
};

/// The oldest station that says whether it saw a seat run.
const VERIFIES: &str = "1.0.146";

/// What came of asking for a seat.
pub(in crate::tools) struct Seated {
    /// The handoff as it is now.
    pub(in crate::tools) row: Row,
    /// That it stands.
    pub(in crate::tools) committed: Committed,
    /// What the station said.
    pub(in crate::tools) told: Told,
}

/// What the station said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::tools) struct Told {
    /// Whether it was seen to run, with the session that was asked for.
    pub(in crate::tools) verified: bool,
    /// What it said of the seat; all of it empty when it named none.
    pub(in crate::tools) seat: Seat,
    /// What it said of itself, where it was asked.
    pub(in crate::tools) about: Option<About>,
    /// Why there is no verified seat; empty when there is one.
    pub(in crate::tools) error: String,
}

/// Asks the station for the seat of a handoff whose order the caller has.
///
/// # Errors
/// Those of [`handoff::settle`]. What the station says is never one.
pub(in crate::tools) async fn seat(app: &App, ordered: Row) -> Result<Seated, Fault> {
    let session = session(&ordered);
    let order = Order {
        id: ordered.number,
        seat: ordered.seat.name(),
        ssh: &ordered.ssh,
        dir: &ordered.dir,
        user: &ordered.login,
        brief: &ordered.brief,
        locus: &ordered.locus,
        resume: session.map(|session| Resume { session, fork: ordered.fork }),
        name: &ordered.tmux,
    };
    let (probe, spin) = app.station.spin_asking(&order).await;
    let about = match probe {
        Some(Probe::Ready(about)) => Some(about),
        _ => None,
    };
    let (outcome, told) = judge(&ordered, spin, about, app.clock.now());
    let (row, committed) = handoff::settle(&app.store, &ordered, &outcome).await?;
    Ok(Seated { row, committed, told })
}

/// The session that the seat is to go on with.
fn session(row: &Row) -> Option<&str> {
    match row.mode {
        Mode::Pull => Some(&row.session_id),
        Mode::Seat => row.fork.then_some(&*row.source_session),
    }
}

/// What an answer means for the handoff. Pure.
fn judge(ordered: &Row, spin: Spin, about: Option<About>, now: i64) -> (Outcome, Told) {
    let at = clock::rfc3339(now);
    let station = about.as_ref().map(|about| about.station.clone()).unwrap_or_default();
    let mut told = Told { about, ..Told::default() };
    let mut outcome = Outcome { station, ..Outcome::default() };
    let (note, error) = match spin {
        Spin::Verified(seat) => match another(ordered, &seat) {
            None => {
                outcome.verified = true;
                outcome.tmux.clone_from(&seat.session);
                let note = format!("spun {at}: {}", seat.handle);
                told.seat = seat;
                (note, String::new())
            }
            Some(other) => {
                let error = format!(
                    "the station's seat {} goes on with session {other} and not with the one that was asked for: look at the station",
                    seat.handle
                );
                told.seat = seat;
                (format!("unverified {at}: {error}"), error)
            }
        },
        Spin::Unverified(seat) => {
            let error = format!(
                "the station names the seat {} and does not say that it saw it run (stations from {VERIFIES} on do): look at the station",
                seat.handle
            );
            told.seat = seat;
            (format!("unverified {at}: {error}"), error)
        }
        Spin::Refused { status, error } => {
            let error = format!("the station refused with {status}: {error}");
            (format!("refused {at}: {error}"), error)
        }
        Spin::Ambiguous { why } => {
            let error =
                format!("{why}; nothing was given up, and the same seat may be asked for again");
            (format!("unknown {at}: {error}"), error)
        }
        Spin::NotAsked { why } => (format!("not asked {at}: {why}"), why),
        Spin::TooOld => {
            let error = "the station is too old to go on with a session, so it was not asked: bring it up to date".to_owned();
            (format!("not asked {at}: {error}"), error)
        }
        Spin::NotConfigured => {
            let error = "no station is configured: set `station.spawn_url`".to_owned();
            (format!("not asked {at}: {error}"), error)
        }
    };
    outcome.note = note;
    outcome.handle.clone_from(&told.seat.handle);
    if !told.seat.station.is_empty() {
        outcome.station.clone_from(&told.seat.station);
    }
    told.verified = outcome.verified;
    told.error = error;
    (outcome, told)
}

/// The session that a seat says it goes on with, where that is another than the one asked for: then
/// it is a fresh seat, whatever else it says.
fn another(ordered: &Row, seat: &Seat) -> Option<String> {
    let asked = session(ordered)?;
    let is_other = |id: &&String| !id.is_empty() && !id.eq_ignore_ascii_case(asked);
    // A copy has an id of its own.
    let own = Some(&seat.session_id).filter(|_| !ordered.fork);
    Some(&seat.resumed).filter(is_other).or(own.filter(is_other)).cloned()
}

/// The station of a reply.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(in crate::tools) struct Station {
    /// Whether it answered what it can do.
    pub(in crate::tools) ok: bool,
    /// Its seat API; empty when none is configured.
    pub(in crate::tools) url: String,
    /// What it can do.
    pub(in crate::tools) features: Vec<String>,
    /// What it calls itself.
    #[serde(rename = "station")]
    pub(in crate::tools) name: String,
    /// What is wrong; empty when nothing is.
    pub(in crate::tools) error: String,
}

impl Station {
    /// What the station answered to the question.
    pub(in crate::tools) fn of(app: &App, probe: Probe) -> Self {
        let url = app.station.url().unwrap_or_default();
        let (about, error) = match probe {
            Probe::Ready(about) => (Some(about), String::new()),
            Probe::NotConfigured => {
                (None, "no station is configured: set `station.spawn_url`".to_owned())
            }
            Probe::TooOld => (
                None,
                "the station is too old to say what it can do: bring it up to date".to_owned(),
            ),
            Probe::Refused { status, error } => {
                (None, format!("the station refused with {status}: {error}"))
            }
            Probe::Failed { why } => (None, why),
        };
        let ok = about.is_some();
        let About { features, station: name } = about.unwrap_or_default();
        Self { ok, url, features, name, error }
    }
}

#[cfg(test)]
mod tests;
