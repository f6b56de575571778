//! What a station's answers mean. Pure.

use serde_json::Value;

use crate::untrusted::one_line;

/// The feature of a station that can go on with a session.
pub const RESUME: &str = "resume";

/// The longest reason that is taken from a station, in characters.
const LONGEST_REASON: usize = 300;

/// The most features, and the longest names of one, that are taken.
const MOST_FEATURES: usize = 64;
const LONGEST_FEATURE: usize = 64;

/// What a station says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// What it can do.
    pub features: Vec<String>,
    /// What it calls itself, at most 120 characters; empty when it does not say.
    pub station: String,
}

impl About {
    /// Whether it can go on with a session.
    pub fn can_resume(&self) -> bool {
        self.features.iter().any(|feature| feature == RESUME)
    }
}

/// What came of asking a station what it can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// No station is configured.
    NotConfigured,
    /// It is there.
    Ready(About),
    /// It is older than the question: it cannot go on with sessions.
    TooOld,
    /// It says no.
    Refused {
        /// The HTTP status.
        status: u16,
        /// Its reason, or what to do about the status.
        error: String,
    },
    /// It did not answer, or not as a station does.
    Failed {
        /// The reason.
        why: String,
    },
}

impl Probe {
    /// What stands in the way of resuming a session, as the outcome of the order that is not sent.
    pub(super) fn bars_resuming(self) -> Option<Spin> {
        match self {
            Self::Ready(about) if about.can_resume() => None,
            Self::Ready(_) | Self::TooOld => Some(Spin::TooOld),
            Self::NotConfigured => Some(Spin::NotConfigured),
            Self::Refused { status, error } => Some(Spin::Refused { status, error }),
            Self::Failed { why } => Some(Spin::NotAsked { why }),
        }
    }
}

/// A seat, as its station tells of it. Texts are the station's own, without control characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seat {
    /// What it is reached by, at most 400 characters; the URL where there is no handle. Never
    /// empty.
    pub handle: String,
    /// Its URL, at most 400 characters; may be empty.
    pub url: String,
    /// The name of its terminal session, at most 64 characters. Empty: the name that was asked for.
    pub session: String,
    /// The id of the session that runs in it, at most 64 characters; may be empty.
    pub session_id: String,
    /// The session that it says it goes on with, at most 64 characters; may be empty.
    pub resumed: String,
    /// What the station calls itself, at most 120 characters; may be empty.
    pub station: String,
}

/// What came of an order for a seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spin {
    /// No station is configured.
    NotConfigured,
    /// The station made the seat and saw it run.
    Verified(Seat),
    /// The station names a seat and does not say that it saw it run.
    Unverified(Seat),
    /// The station said no: there is no seat.
    Refused {
        /// The HTTP status.
        status: u16,
        /// Its reason, or what to do about the status.
        error: String,
    },
    /// The order may have been taken: whether there is a seat is not known. The station may be
    /// looked at; the order must not be sent again by itself.
    Ambiguous {
        /// What happened.
        why: String,
    },
    /// The order was not sent: there is no seat.
    NotAsked {
        /// The reason.
        why: String,
    },
    /// The station is too old to go on with a session, so it was not asked: there is no seat.
    TooOld,
}

/// What an answer to the question means.
pub(super) fn probed(status: u16, body: &str) -> Probe {
    let reply = Reply::new(body);
    match status {
        200..=299 if !reply.is_object() => Probe::Failed {
            why: format!(
                "the station answered {status} without a JSON object: is `station.spawn_url` its seat API?"
            ),
        },
        200..=299 if reply.says_no() => Probe::Refused { status, error: reply.reason(status) },
        200..=299 => Probe::Ready(About {
            features: reply.list("features"),
            station: reply.text("station", 120),
        }),
        405 => Probe::TooOld,
        _ => Probe::Refused { status, error: reply.reason(status) },
    }
}

/// What an answer to an order means.
pub(super) fn spun(status: u16, body: &str) -> Spin {
    let reply = Reply::new(body);
    match status {
        200..=299 => seated(status, &reply),
        405 => Spin::TooOld,
        // The station's own refusal. 408 is one too: it did not get the order whole.
        400..=499 => Spin::Refused { status, error: reply.reason(status) },
        // What stands in front of the station speaks here, and does not know.
        502 | 504 => ambiguous(status, "came from between here and the station"),
        500..=599 if reply.gives_reason() => Spin::Refused { status, error: reply.reason(status) },
        500..=599 => ambiguous(status, "gives no reason"),
        // A redirect may follow upon a seat that was made.
        _ => ambiguous(
            status,
            "is none that a station gives: set `station.spawn_url` to where it leads",
        ),
    }
}

fn seated(status: u16, reply: &Reply) -> Spin {
    let url = reply.text("url", 400);
    let mut handle = reply.text("handle", 400);
    if handle.is_empty() {
        handle.clone_from(&url);
    }
    if handle.is_empty() {
        return if reply.gives_reason() || reply.says_no() {
            Spin::Refused { status, error: reply.reason(status) }
        } else {
            ambiguous(status, "names no seat")
        };
    }
    let seat = Seat {
        handle,
        url,
        session: reply.text("session", 64),
        session_id: reply.text("session_id", 64),
        resumed: reply.text("resumed", 64),
        station: reply.text("station", 120),
    };
    // A seat beside a complaint is no verified one.
    if reply.is_true("verified") && !reply.says_no() {
        Spin::Verified(seat)
    } else {
        Spin::Unverified(seat)
    }
}

fn ambiguous(status: u16, what: &str) -> Spin {
    Spin::Ambiguous {
        why: format!(
            "the station answered {status}, which {what}; whether there is a seat is not known: look at the station"
        ),
    }
}

/// A body that should be a JSON object.
struct Reply(Value);

impl Reply {
    fn new(body: &str) -> Self {
        Self(serde_json::from_str(body).unwrap_or(Value::Null))
    }

    fn is_object(&self) -> bool {
        self.0.is_object()
    }

    fn is_true(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Value::Bool(true))
    }

    /// Whether it says outright that it failed.
    fn says_no(&self) -> bool {
        self.0.get("ok") == Some(&Value::Bool(false))
    }

    fn gives_reason(&self) -> bool {
        self.given().is_some()
    }

    /// The reason that it gives, else what can be done about the status.
    fn reason(&self, status: u16) -> String {
        let known = || match status {
            300..=399 => {
                "it redirects, which is not followed: set `station.spawn_url` to where it leads"
            }
            401 | 403 => "it does not take the token: check `station.spawn_token`",
            404 => "it has no seat API there: check `station.spawn_url`",
            _ => "it gives no reason",
        };
        self.given().unwrap_or_else(|| known().to_owned())
    }

    fn given(&self) -> Option<String> {
        let words = |value: &Value| {
            let text = value.as_str().or_else(|| value.get("message")?.as_str())?;
            Some(one_line(text, LONGEST_REASON)).filter(|line| !line.is_empty())
        };
        ["error", "message", "detail"].iter().find_map(|name| words(self.0.get(*name)?))
    }

    /// A text of at most so many characters, without control characters; empty when there is none.
    fn text(&self, name: &str, most: usize) -> String {
        self.0.get(name).map(|value| text(value, most)).unwrap_or_default()
    }

    fn list(&self, name: &str) -> Vec<String> {
        let items = self.0.get(name).and_then(Value::as_array).map(Vec::as_slice);
        let texts = items.unwrap_or_default().iter().map(|item| text(item, LONGEST_FEATURE));
        texts.filter(|text| !text.is_empty()).take(MOST_FEATURES).collect()
    }
}

fn text(value: &Value, most: usize) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return String::new(),
    };
    text.trim().chars().filter(|c| !c.is_control()).take(most).collect()
}

#[cfg(test)]
mod tests;
