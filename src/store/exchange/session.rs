//! What the exchanges of each session come to.

use mcp::Rights;

use super::{
    list::reached,
    row::{sum, tokens},
};
use crate::store::{self, Error, Store, names::Locus};

/// A session, by its exchanges.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its id.
    pub session_id: String,
    /// The first of its loci by name.
    pub locus: String,
    /// The model that answered last.
    pub model: String,
    /// How many exchanges there are.
    pub runs: i64,
    /// All of their tokens.
    pub tokens: i64,
    /// What they cost, in US dollars.
    pub cost_usd: f64,
    /// The tokens that were read from the cache.
    pub cache_read: i64,
    /// The tokens that were written to the cache.
    pub cache_creation: i64,
    /// When the last of them was, in microseconds of UTC.
    pub last_ts: i64,
    /// Until when its cache lives, in microseconds of UTC, where somebody said.
    pub cache_expires_at: Option<i64>,
    /// By what they were recorded.
    pub sources: Vec<String>,
}

/// The place of a session in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionKey {
    /// When the last of its exchanges was.
    pub last_ts: i64,
    /// Its id.
    pub session_id: String,
}

impl SessionKey {
    /// From the text that it is shown as.
    pub fn parse(text: &str) -> Option<Self> {
        let (ts, session) = text.trim().split_once('.')?;
        Some(Self { last_ts: ts.parse().ok()?, session_id: session.to_owned() })
    }
}

impl std::fmt::Display for SessionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.last_ts, self.session_id)
    }
}

/// The sessions, with how each engine writes the loci of `$2` and a list of the sources. What was
/// recorded last says the model: asked for the sessions that are shown alone.
macro_rules! statement {
    ($reached:literal, $sources:literal) => {
        concat!(
            "SELECT s.session_id, s.locus, (SELECT m.model FROM exchanges m WHERE m.session_id = s.session_id AND m.session_id <> '' AND m.model <> '' \
             AND ($1 IS NULL OR m.locus = $1) AND ($2 IS NULL OR m.locus IN (", $reached, ")) ORDER BY m.ts DESC, m.id DESC LIMIT 1), \
             s.runs, s.tokens, s.cost, s.cache_read, s.cache_creation, s.last_ts, s.expires, s.sources \
             FROM (SELECT session_id, min(locus) AS locus, count(*) AS runs, ", tokens!(), " AS tokens, \
             coalesce(sum(cost_usd), 0.0) AS cost, ", sum!("cache_read_tokens"), " AS cache_read, ",
            sum!("cache_creation_tokens"), " AS cache_creation, max(ts) AS last_ts, max(cache_expires_at) AS expires, ",
            $sources, " AS sources FROM exchanges WHERE session_id <> '' AND ($1 IS NULL OR locus = $1) \
             AND ($2 IS NULL OR locus IN (", $reached, ")) GROUP BY session_id \
             HAVING max(ts) < $3 OR (max(ts) = $3 AND session_id > $4) ORDER BY max(ts) DESC, session_id LIMIT $5) AS s \
             ORDER BY s.last_ts DESC, s.session_id"
        )
    };
}

/// Sessions, those that were heard of last first, and whether more follow: of one locus, or of all
/// that the reader reaches.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn sessions(
    store: &Store,
    locus: Option<&Locus>,
    after: Option<&SessionKey>,
    limit: i64,
    rights: &Rights,
) -> Result<(Vec<Session>, bool), Error> {
    let mut conn = store.read().await?;
    let text = conn.pick(
        statement!("SELECT value FROM json_each($2)", "json_group_array(DISTINCT source)"),
        statement!(
            "SELECT jsonb_array_elements_text($2::jsonb)",
            "json_agg(DISTINCT source)::text"
        ),
    );
    let rows = conn
        .sql(text)
        .bind(locus.map(|locus| locus.as_str().to_owned()))
        .bind(reached(rights))
        .bind(after.map_or(i64::MAX, |key| key.last_ts))
        .bind(after.map_or("", |key| &*key.session_id))
        .bind(limit.saturating_add(1))
        .all()
        .await?;
    let mut found = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let most = usize::try_from(limit).unwrap_or_default();
    let is_more = found.len() > most;
    found.truncate(most);
    Ok((found, is_more))
}

fn read(row: &store::Row) -> Result<Session, Error> {
    let sources: Vec<String> = serde_json::from_str(&row.get::<String>(10)?)
        .map_err(|error| Error::Internal(format!("the sources of a session: {error}")))?;
    let mut sources: Vec<String> = sources.into_iter().filter(|one| !one.is_empty()).collect();
    sources.sort_unstable();
    Ok(Session {
        session_id: row.get(0)?,
        locus: row.get(1)?,
        model: row.get::<Option<String>>(2)?.unwrap_or_default(),
        runs: row.get(3)?,
        tokens: row.get(4)?,
        cost_usd: row.get(5)?,
        cache_read: row.get(6)?,
        cache_creation: row.get(7)?,
        last_ts: row.get(8)?,
        cache_expires_at: row.get(9)?,
        sources,
    })
}
