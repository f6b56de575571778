//! What a turn holds, and what becomes of it when it is recorded once more. Pure.

use serde_json::{Map, Value};

use super::Origin;
use crate::store::{Error, text};

/// The most characters of a prompt, and of a response.
pub const MOST_TEXT: usize = 200_000;

/// The most bytes of pointers, as JSON.
pub const MOST_POINTERS: usize = 131_072;

/// The most characters of a turn's name.
const TURN: usize = 200;

/// The most characters of a session's id.
pub(super) const MOST_SESSION: usize = 128;

/// The most characters of a model's name.
pub(super) const MOST_MODEL: usize = 80;

/// The most characters of what a turn was recorded by.
const MOST_SOURCE: usize = 40;

/// The most of any count of tokens: sums over all rows stay far below 2^63.
const MOST_TOKENS: i64 = 1_000_000_000_000;

/// The greatest cost in US dollars, and the longest time in seconds, that is believed.
const MOST_REAL: f64 = 1e9;

/// The longest life of a cache, in seconds: ten years.
const MOST_TTL: i64 = 10 * 366 * 86_400;

/// The last moment that can be shown, in microseconds of UTC: the end of the year 9999.
pub(super) const LAST: i64 = 253_402_300_799_999_999;

/// What a turn cost. Nothing of it is there where nobody said it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tokens {
    /// All tokens.
    pub total: Option<i64>,
    /// Those that went in and were in no cache.
    pub input: Option<i64>,
    /// Those that came out.
    pub output: Option<i64>,
    /// Those that were read from the cache.
    pub cache_read: Option<i64>,
    /// Those that were written to the cache.
    pub cache_creation: Option<i64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Seconds that it took.
    pub duration_s: Option<f64>,
    /// For how many seconds the cache lives.
    pub cache_ttl_s: Option<i64>,
    /// Until when the cache lives, in microseconds of UTC.
    pub cache_expires_at: Option<i64>,
}

impl Tokens {
    /// These, and where one of the newer is said, that one.
    fn merged(self, newer: Self) -> Self {
        Self {
            total: newer.total.or(self.total),
            input: newer.input.or(self.input),
            output: newer.output.or(self.output),
            cache_read: newer.cache_read.or(self.cache_read),
            cache_creation: newer.cache_creation.or(self.cache_creation),
            cost_usd: newer.cost_usd.or(self.cost_usd),
            duration_s: newer.duration_s.or(self.duration_s),
            cache_ttl_s: newer.cache_ttl_s.or(self.cache_ttl_s),
            cache_expires_at: newer.cache_expires_at.or(self.cache_expires_at),
        }
    }

    fn check(&self) -> Result<(), Error> {
        for (name, count) in [
            ("tokens", self.total),
            ("input_tokens", self.input),
            ("output_tokens", self.output),
            ("cache_read_tokens", self.cache_read),
            ("cache_creation_tokens", self.cache_creation),
        ] {
            within(name, count, MOST_TOKENS)?;
        }
        within("cache_ttl_s", self.cache_ttl_s, MOST_TTL)?;
        for (name, amount) in [("cost_usd", self.cost_usd), ("duration_s", self.duration_s)] {
            if amount.is_some_and(|amount| !(0.0..=MOST_REAL).contains(&amount)) {
                return Err(Error::Invalid(format!(
                    "`{name}` is a number from 0 to {MOST_REAL:.0}: leave it out where it is not known"
                )));
            }
        }
        self.cache_expires_at.map_or(Ok(()), |at| moment("cache_expires_at", at))
    }
}

fn within(name: &str, count: Option<i64>, most: i64) -> Result<(), Error> {
    if count.is_some_and(|count| !(0..=most).contains(&count)) {
        return Err(Error::Invalid(format!(
            "`{name}` is a count from 0 to {most}: leave it out where it is not known"
        )));
    }
    Ok(())
}

/// A moment that a writer says.
fn moment(name: &str, at: i64) -> Result<(), Error> {
    if (0..=LAST).contains(&at) {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "`{name}` is in seconds of UTC since 1970, at most {}",
        LAST / 1_000_000
    )))
}

/// Everything that a turn holds, within its bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Content {
    /// The writer's own name of the turn; empty for none.
    pub turn: String,
    /// The session that it is of; empty for none.
    pub session_id: String,
    /// By what it was recorded.
    pub source: String,
    /// The model that answered.
    pub model: String,
    /// Whose words the prompt is; `None` where nobody said and there is no prompt to tell it by, which
    /// counts as the operator's.
    pub origin: Option<Origin>,
    /// When it was, in microseconds of UTC; 0 where nobody said.
    pub ts: i64,
    /// When it was, by the transcript that it was read from; 0 when it was read from none.
    pub primed: i64,
    /// What it cost.
    pub tokens: Tokens,
    /// What it points to: an object or a list.
    pub pointers: Option<Value>,
    /// What was asked.
    pub prompt: String,
    /// What was answered.
    pub response: String,
}

impl Content {
    /// This with what was recorded later: the longer prompt and response, the later time, and of the
    /// rest what is newer, where the newer says it. To merge the same once more changes nothing.
    #[must_use]
    pub fn merged(self, newer: Self) -> Self {
        Self {
            turn: self.turn,
            session_id: said(newer.session_id, self.session_id),
            source: said(newer.source, self.source),
            model: said(newer.model, self.model),
            origin: newer.origin.or(self.origin),
            ts: self.ts.max(newer.ts),
            primed: self.primed.max(newer.primed),
            tokens: self.tokens.merged(newer.tokens),
            pointers: newer.pointers.or(self.pointers),
            prompt: longer(self.prompt, newer.prompt),
            response: longer(self.response, newer.response),
        }
    }

    /// Cleans it, and holds it against its bounds; how many characters were left out that no record
    /// can hold.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::TooLarge`].
    pub(super) fn checked(mut self) -> Result<(Self, usize), Error> {
        let nuls = strip(&mut self.prompt) + strip(&mut self.response);
        if self.prompt.is_empty() && self.response.is_empty() {
            let words = "neither `prompt` nor `response` says anything: an exchange is at least one of them";
            return Err(Error::Invalid(words.to_owned()));
        }
        text::block("prompt", &self.prompt, MOST_TEXT)?;
        text::block("response", &self.response, MOST_TEXT)?;
        for (name, word, most) in [
            ("turn", &mut self.turn, TURN),
            ("session_id", &mut self.session_id, MOST_SESSION),
            ("source", &mut self.source, MOST_SOURCE),
            ("model", &mut self.model, MOST_MODEL),
        ] {
            *word = text::line(name, word.trim(), most)?.to_owned();
        }
        moment("ts", self.ts)?;
        self.tokens.check()?;
        self.classify();
        if let Some(pointers) = &self.pointers {
            let size = pointers.to_string().len();
            if size > MOST_POINTERS {
                return Err(Error::TooLarge(format!(
                    "`pointers` have {size} bytes as JSON, and may have {MOST_POINTERS}: point to what is longer"
                )));
            }
        }
        Ok((self, nuls))
    }

    /// Says whose words the prompt is, where nobody said; what is known of words of the harness goes
    /// into the pointers.
    pub(super) fn classify(&mut self) {
        if self.origin.is_some() || self.prompt.is_empty() {
            return;
        }
        let (origin, meta) = super::classify(&self.prompt);
        self.origin = Some(origin);
        let Some(meta) = meta else { return };
        let pointers = self.pointers.get_or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(members) = pointers {
            members.entry("harness").or_insert_with(|| meta.into_value());
        }
    }
}

/// The newer of two words, where it says anything.
fn said(newer: String, older: String) -> String {
    if newer.is_empty() { older } else { newer }
}

/// The longer of two texts, the newer of two of one length.
fn longer(older: String, newer: String) -> String {
    if newer.chars().count() >= older.chars().count() { newer } else { older }
}

/// Leaves NUL characters out, which no record can hold; how many there were.
fn strip(text: &mut String) -> usize {
    let before = text.len();
    if text.contains('\0') {
        text.retain(|c| c != '\0');
    }
    before - text.len()
}

/// What lists show of pointers: as much as is short, and always what tells words of the harness.
pub(super) fn short(pointers: &Value) -> Option<Value> {
    /// The most bytes of all of it, and of one member.
    const ALL: usize = 2_000;
    const ONE: usize = 1_000;
    let size = |value: &Value| value.to_string().len();
    if size(pointers) <= ALL {
        return Some(pointers.clone());
    }
    let members = pointers.as_object()?;
    let first = ["harness", "source"];
    let rest = members.iter().filter(|(name, _)| !first.contains(&name.as_str()));
    let named = first.iter().filter_map(|name| members.get_key_value(*name));
    let (mut kept, mut total) = (Map::new(), 0);
    for (name, value) in named.chain(rest) {
        let size = name.len() + size(value);
        if size <= ONE && total + size <= ALL {
            total += size;
            kept.insert(name.clone(), value.clone());
        }
    }
    Some(Value::Object(kept))
}
