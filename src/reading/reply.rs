//! What a model answered: a JSON object, or what it made of one.

use serde_json::{Map, Value};

use super::json;

/// Opening braces that are tried for the object.
const MAX_TRIES: usize = 32;

/// Characters of a reply that an error shows.
const SHOWN: usize = 200;

/// A model's answer with what it quotes, as it came: nothing of it has been checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The answer; not blank.
    pub answer: String,
    /// The passages that it quotes, in its order; none is blank.
    pub excerpts: Vec<String>,
    /// Whether the JSON was malformed or cut off, and what is here was made out of it.
    pub repaired: bool,
    /// Whether it was cut off behind its answer, which is whole: excerpts are missing.
    pub cut: bool,
}

/// Why a reply is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no object in it.
    #[error("the model's reply is no JSON object, but `{0}`: ask again, or name another model")]
    NoObject(String),
    /// It thought and never came to an answer.
    #[error(
        "the model's reply ends within its thoughts: ask again with more tokens, or name another model"
    )]
    OnlyThoughts,
    /// The object does not say anything.
    #[error("the model's reply has no `answer`, but is `{0}`: ask again, or name another model")]
    NoAnswer(String),
    /// It ends within the answer, of which this came. Where that ends was never the model's to say.
    #[error(
        "the model's reply was cut within its answer: ask again for less, or name another model"
    )]
    Cut(String),
    /// Where the answer ends cannot be told from its JSON.
    #[error(
        "the model's reply is malformed within its answer, `{0}`: ask again, or name another model"
    )]
    Debris(String),
}

impl Reply {
    /// Reads `{"answer": …, "excerpts": […]}`, whatever stands around it: thoughts up to
    /// `</think>`, a code fence, a preface. An excerpt may be a string or an object that has it as
    /// `text`, `quote` or `excerpt`; a single one may stand without its list. JSON that is
    /// malformed, or cut off behind its answer, is made out as far as it goes, in time proportional
    /// to its length.
    ///
    /// # Errors
    /// When there is no such object, or it has no whole answer: then the model is to be asked again.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let said = match text.split_once("</think>") {
            // Of a reply that begins as its object does, the tag is a part.
            Some(_) if text.trim_start().starts_with(['{', '`']) => text,
            Some((_, said)) => said,
            None if text.trim_start().starts_with("<think>") => return Err(Error::OnlyThoughts),
            None => text,
        };
        let Found { object, repaired, cut, open } =
            find(said).ok_or_else(|| Error::NoObject(shown(said)))?;
        let answer = object.get("answer").map(words).unwrap_or_default();
        if answer.trim().is_empty() {
            return Err(Error::NoAnswer(shown(said)));
        }
        if open.as_deref() == Some("answer") {
            return Err(Error::Cut(answer));
        }
        if repaired && is_debris(&answer) {
            return Err(Error::Debris(shown(&answer)));
        }
        let excerpts = match object.get("excerpts") {
            Some(Value::Array(list)) => list.iter().filter_map(excerpt).collect(),
            Some(one) => excerpt(one).into_iter().collect(),
            None => Vec::new(),
        };
        Ok(Self { answer, excerpts, repaired, cut })
    }
}

/// An object that can be the answer.
struct Found {
    object: Map<String, Value>,
    /// Whether it had to be made out.
    repaired: bool,
    /// Whether the text ended before it did, and within which member.
    cut: bool,
    open: Option<String>,
}

/// The first object that can be the answer.
fn find(text: &str) -> Option<Found> {
    let starts = || text.match_indices('{').take(MAX_TRIES).filter_map(|(at, _)| text.get(at..));
    let is_answer = |object: &Map<String, Value>| {
        object.contains_key("answer") || object.contains_key("excerpts")
    };
    let strict = |text: &str| {
        let mut values = serde_json::Deserializer::from_str(text).into_iter();
        values.next().and_then(Result::ok)
    };
    if let Some(object) = starts().filter_map(strict).find(is_answer) {
        return Some(Found { object, repaired: false, cut: false, open: None });
    }
    let json::Made { object, cut, open } =
        starts().filter_map(json::object).find(|made| is_answer(&made.object))?;
    Some(Found { object, repaired: true, cut, open })
}

/// Whether a text has the member that stands behind the answer: then a quotation mark is missing
/// between the two.
fn is_debris(answer: &str) -> bool {
    answer.match_indices("excerpts").any(|(at, name)| {
        let rest = answer.get(at + name.len()..).unwrap_or_default();
        let rest = rest.trim_start_matches(['"', '\'', '\\']).trim_start();
        let value = rest.strip_prefix(':').map(str::trim_start);
        value.is_some_and(|value| value.is_empty() || value.starts_with(['[', '"', '\'', '{']))
    })
}

/// A value as text.
fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(words).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

fn excerpt(value: &Value) -> Option<String> {
    let text = match value {
        Value::Object(object) => {
            ["text", "quote", "excerpt"].iter().find_map(|name| object.get(*name)?.as_str())
        }
        other => other.as_str(),
    };
    text.filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

fn shown(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
