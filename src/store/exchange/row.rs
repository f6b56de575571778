//! One exchange as it is stored.

use serde_json::Value;

use super::{Content, Origin, Tokens, content::short};
use crate::store::{self, Error, names::ExchangeId};

/// How many characters of a prompt and of a response lists show.
pub const HEAD: usize = 400;

/// An exchange. Times are in microseconds of UTC; texts are empty where there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its number.
    pub number: i64,
    /// Whose it is.
    pub locus: String,
    /// The writer's own name of the turn.
    pub turn: String,
    /// The session that it is of.
    pub session_id: String,
    /// When it was.
    pub ts: i64,
    /// Whose words the prompt is.
    pub origin: Origin,
    /// By what it was recorded.
    pub source: String,
    /// The model that answered.
    pub model: String,
    /// When it was, by the transcript that it was read from; 0 when it was read from none.
    pub primed: i64,
    /// What it cost.
    pub tokens: Tokens,
    /// The characters of the prompt.
    pub prompt_chars: i64,
    /// The characters of the response.
    pub response_chars: i64,
    /// What was asked: all of it, or its head.
    pub prompt: String,
    /// What was answered: all of it, or its head.
    pub response: String,
    /// What it points to: all of it, or what is short.
    pub pointers: Option<Value>,
    /// Whether these three are less than there is.
    pub is_clipped: bool,
}

/// A statement that reads the columns of [`Row::read`] in its order: the last four are given, and
/// what stands behind them.
macro_rules! rows {
    ($last:literal, $($behind:tt)+) => {
        concat!(
            "SELECT id, locus, turn, session_id, ts, origin, source, model, primed, tokens, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, cost_usd, duration_s, cache_ttl_s, cache_expires_at, prompt_chars, response_chars, ",
            $last,
            " FROM exchanges ",
            $($behind)+
        )
    };
}
pub(super) use rows;

/// A statement that reads rows without what is long in them.
macro_rules! heads {
    ($($behind:tt)+) => {
        $crate::store::exchange::row::rows!(
            "clipped, prompt_head, response_head, pointers_head",
            $($behind)+
        )
    };
}
pub(super) use heads;

/// A statement that reads whole rows.
macro_rules! wholes {
    ($($behind:tt)+) => {
        $crate::store::exchange::row::rows!("FALSE, prompt, response, pointers", $($behind)+)
    };
}
pub(super) use wholes;

/// Whether an exchange says what it cost.
macro_rules! counted {
    () => {
        "(coalesce(tokens, input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens) IS NOT NULL OR cost_usd IS NOT NULL)"
    };
}
pub(super) use counted;

/// The sum of all tokens: what an exchange says of all, or else what it says of the kinds together.
macro_rules! tokens {
    () => {
        "CAST(coalesce(sum(coalesce(tokens, coalesce(input_tokens, 0) + coalesce(output_tokens, 0) + coalesce(cache_creation_tokens, 0) + coalesce(cache_read_tokens, 0))), 0) AS BIGINT)"
    };
}
pub(super) use tokens;

/// The sum of the tokens of a kind.
macro_rules! sum {
    ($kind:literal) => {
        concat!("CAST(coalesce(sum(", $kind, "), 0) AS BIGINT)")
    };
}
pub(super) use sum;

impl Row {
    /// Reads the columns of `heads!` or of `wholes!`.
    pub(super) fn read(row: &store::Row) -> Result<Self, Error> {
        let pointers = row.get::<Option<String>>(23)?;
        let pointers = pointers.map(|text| serde_json::from_str(&text)).transpose();
        let pointers = pointers.map_err(|error| Error::Internal(format!("pointers: {error}")))?;
        Ok(Self {
            number: row.get(0)?,
            locus: row.get(1)?,
            turn: row.get(2)?,
            session_id: row.get(3)?,
            ts: row.get(4)?,
            origin: Origin::stored(&row.get::<String>(5)?)?,
            source: row.get(6)?,
            model: row.get(7)?,
            primed: row.get(8)?,
            tokens: Tokens {
                total: row.get(9)?,
                input: row.get(10)?,
                output: row.get(11)?,
                cache_read: row.get(12)?,
                cache_creation: row.get(13)?,
                cost_usd: row.get(14)?,
                duration_s: row.get(15)?,
                cache_ttl_s: row.get(16)?,
                cache_expires_at: row.get(17)?,
            },
            prompt_chars: row.get(18)?,
            response_chars: row.get(19)?,
            is_clipped: row.get(20)?,
            prompt: row.get(21)?,
            response: row.get(22)?,
            pointers,
        })
    }

    /// Its id.
    pub fn id(&self) -> ExchangeId {
        ExchangeId::new(self.number)
    }

    /// What it holds; of a whole row.
    pub(super) fn into_content(self) -> Content {
        Content {
            turn: self.turn,
            session_id: self.session_id,
            source: self.source,
            model: self.model,
            origin: Some(self.origin),
            ts: self.ts,
            primed: self.primed,
            tokens: self.tokens,
            pointers: self.pointers,
            prompt: self.prompt,
            response: self.response,
        }
    }
}

/// What stands in the columns of an exchange that are made of its content.
pub(super) struct Columns {
    pub(super) origin: &'static str,
    pub(super) prompt_chars: i64,
    pub(super) response_chars: i64,
    pub(super) clipped: bool,
    pub(super) prompt_head: String,
    pub(super) response_head: String,
    pub(super) pointers_head: Option<String>,
    pub(super) pointers: Option<String>,
}

impl Columns {
    pub(super) fn of(content: &Content) -> Self {
        let head = |text: &str| -> String { text.chars().take(HEAD).collect() };
        let (prompt_head, response_head) = (head(&content.prompt), head(&content.response));
        let short = content.pointers.as_ref().and_then(short);
        let is_all = prompt_head.len() == content.prompt.len()
            && response_head.len() == content.response.len()
            && short == content.pointers;
        Self {
            origin: content.origin.unwrap_or(Origin::Operator).name(),
            prompt_chars: count(&content.prompt),
            response_chars: count(&content.response),
            clipped: !is_all,
            prompt_head,
            response_head,
            pointers_head: short.map(|short| short.to_string()),
            pointers: content.pointers.as_ref().map(Value::to_string),
        }
    }
}

fn count(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}

/// The words for an id that nothing is known of, whether there is no such exchange or not for this
/// caller.
pub(super) fn absent(id: ExchangeId) -> Error {
    Error::NotFound(format!("no exchange `{id}`: `exchange_list` names those that there are"))
}
