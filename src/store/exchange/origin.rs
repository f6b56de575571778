//! Whose words a prompt is: somebody's, or the harness's, which speaks in the same role. Pure.

use serde_json::{Map, Value, json};

use crate::store::Error;

/// Whose words a prompt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Somebody typed it.
    Operator,
    /// The harness put it there.
    Harness,
}

impl Origin {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Operator, Self::Harness];

    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Harness => "harness",
        }
    }

    /// The origin of a name, in any case.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.name().eq_ignore_ascii_case(name.trim()))
    }

    pub(super) fn stored(name: &str) -> Result<Self, Error> {
        Self::of(name).ok_or_else(|| Error::Internal(format!("an origin `{name}` is stored")))
    }
}

/// What is known of words of the harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// What they are, such as `task-notification`.
    pub kind: &'static str,
    /// What they say, in one line of at most 200 characters.
    pub summary: String,
    /// More, by name: the task and its status, or the command.
    more: Vec<(&'static str, String)>,
}

/// The most characters of a summary, and of each other word.
const SUMMARY: usize = 200;
const WORD: usize = 400;

impl Meta {
    /// As it stands in the pointers of an exchange.
    pub fn into_value(self) -> Value {
        let mut members = Map::new();
        members.insert("kind".to_owned(), json!(self.kind));
        members.extend(self.more.into_iter().map(|(name, word)| (name.to_owned(), json!(word))));
        members.insert("summary".to_owned(), json!(self.summary));
        Value::Object(members)
    }
}

/// How words of the harness begin, in any case, and what they are then. The first that fits counts.
const ENVELOPES: &[(&str, &[&str])] = &[
    ("task-notification", &["<task-notification>"]),
    ("system-reminder", &["<system-reminder>"]),
    ("cross-session", &["<cross-session-message", "[Cross-session"]),
    (
        "local-command",
        &[
            "<local-command-caveat>",
            "<local-command-stdout>",
            "<local-command-stderr>",
            "<command-name>",
            "<command-message>",
            "<command-args>",
        ],
    ),
    ("interrupt", &["[Request interrupted by user"]),
    ("usage-reset", &["Your claude.ai usage limit has reset"]),
    ("environment", &["<environment_context>", "<user_context>", "<turn_context>"]),
];

/// Whose words these are, and what is known of them where they are the harness's. They are its own
/// only where they begin as its words do, or are nothing but its reminders: somebody's words with a
/// reminder behind them stay somebody's.
pub fn classify(text: &str) -> (Origin, Option<Meta>) {
    let (rest, had_reminders) = without_reminders(text);
    let body = unwrapped(&rest).trim_start();
    if let Some(kind) = kind(body) {
        return (Origin::Harness, Some(meta(kind, body)));
    }
    if had_reminders && body.is_empty() {
        return (Origin::Harness, Some(meta("system-reminder", body)));
    }
    (Origin::Operator, None)
}

fn kind(body: &str) -> Option<&'static str> {
    let notice = bracketed(body, "[SYSTEM NOTIFICATION");
    let inner = notice.unwrap_or(body).trim_start();
    let begins = |text: &str, starts: &[&str]| starts.iter().any(|start| starts_with(text, start));
    let [(task, tags), ..] = ENVELOPES else { return None };
    if begins(inner, tags) {
        return Some(task);
    }
    if notice.is_some() {
        return Some("system-notification");
    }
    ENVELOPES.iter().find(|(_, starts)| begins(body, starts)).map(|(kind, _)| *kind)
}

fn meta(kind: &'static str, body: &str) -> Meta {
    let mut more = Vec::new();
    let tag = |name: &str| {
        let word = tagged(body, name).trim();
        (!word.is_empty()).then(|| word.chars().take(WORD).collect::<String>())
    };
    let summary = match kind {
        "task-notification" => {
            let (id, status, words) = (tag("task-id"), tag("status"), tag("summary"));
            let state = status.as_deref().unwrap_or("finished");
            let told = words.as_deref().or(id.as_deref()).unwrap_or_default();
            let summary = format!("subagent {state}: {told}");
            more.extend(id.map(|id| ("task_id", id)));
            more.extend(status.map(|status| ("status", status)));
            summary
        }
        "local-command" => {
            let command = tag("command-name");
            let summary = format!("local command {}", command.as_deref().unwrap_or_default());
            more.extend(command.map(|name| ("command", name)));
            summary
        }
        "interrupt" => "interrupted by the operator".to_owned(),
        "usage-reset" => "the usage limit was reset and the task goes on".to_owned(),
        other => format!("harness: {other}"),
    };
    let summary = summary.trim().trim_end_matches(':').chars().take(SUMMARY).collect();
    Meta { kind, summary, more }
}

/// A text without the reminders in it and the blanks behind each, and whether there were any.
fn without_reminders(text: &str) -> (String, bool) {
    const OPEN: &str = "<system-reminder>";
    const CLOSE: &str = "</system-reminder>";
    let (mut out, mut rest, mut any) = (String::new(), text, false);
    while let Some(start) = find(rest, OPEN) {
        let Some(end) = find(&rest[start..], CLOSE) else { break };
        out.push_str(&rest[..start]);
        rest = rest[start + end + CLOSE.len()..].trim_start();
        any = true;
    }
    out.push_str(rest);
    (out, any)
}

/// What a message says that the harness passes on with words of its own in front, as in `The user
/// sent a new message while you were working: …`.
fn unwrapped(text: &str) -> &str {
    let body = text.trim_start();
    let fits = ["The user sent a new message", "The user sent the following message"];
    if !fits.iter().any(|start| starts_with(body, start)) {
        return text;
    }
    match body.find([':', '\n']) {
        Some(at) if body[at..].starts_with(':') => body[at + 1..].trim_start(),
        _ => text,
    }
}

/// What follows a word in brackets that begins so.
fn bracketed<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    starts_with(text, start).then(|| text[start.len()..].split_once(']'))?.map(|(_, rest)| rest)
}

/// What stands in the first tag of that name; nothing when there is none.
fn tagged<'t>(text: &'t str, name: &str) -> &'t str {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let inner = text.split_once(&*open).and_then(|(_, rest)| rest.split_once(&*close));
    inner.map_or("", |(inner, _)| inner)
}

/// Whether a text begins with an ASCII one, in any case.
fn starts_with(text: &str, start: &str) -> bool {
    text.as_bytes()
        .get(..start.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
}

/// Where an ASCII text stands in another one, in any case.
fn find(text: &str, wanted: &str) -> Option<usize> {
    let first = wanted.as_bytes().first()?;
    memchr::memchr_iter(*first, text.as_bytes()).find(|at| starts_with(&text[*at..], wanted))
}
