//! What exchanges cost together.

use mcp::Rights;

use super::{
    Query, Row, list,
    list::reached,
    row::{counted, sum, tokens},
};
use crate::store::{self, Conn, Error, Store, names::Locus};

/// Sums over exchanges that say what they cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    /// How many there are.
    pub runs: i64,
    /// Tokens that went in and were in no cache.
    pub input: i64,
    /// Tokens that came out.
    pub output: i64,
    /// Tokens that were written to the cache.
    pub cache_creation: i64,
    /// Tokens that were read from the cache.
    pub cache_read: i64,
    /// All tokens: what an exchange says of all, or else what it says of the kinds together.
    pub tokens: i64,
    /// US dollars.
    pub cost_usd: f64,
}

impl Totals {
    /// The share of the tokens of the cache that were read from it; `None` where there are none.
    pub fn cache_hit_rate(&self) -> Option<f64> {
        let all = self.cache_read.saturating_add(self.cache_creation);
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let share = |part: i64| part as f64 / all as f64;
        (all > 0).then(|| share(self.cache_read))
    }
}

/// The sums of what was recorded by one source.
#[derive(Debug, Clone, PartialEq)]
pub struct BySource {
    /// The source; empty where none was said.
    pub source: String,
    /// Its sums.
    pub totals: Totals,
}

/// What exchanges cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// All of them.
    pub totals: Totals,
    /// By source, the one with most tokens first.
    pub by_source: Vec<BySource>,
    /// The newest, without what is long in them.
    pub recent: Vec<Row>,
}

/// How many sources are told apart; the totals are of all.
const SOURCES: i64 = 200;

/// The sums over exchanges that say what they cost: with what is given in front, and behind.
macro_rules! sums {
    ($what:literal, $reached:literal, $behind:literal) => {
        concat!(
            "SELECT ",
            $what,
            ", count(*), ",
            sum!("input_tokens"),
            ", ",
            sum!("output_tokens"),
            ", ",
            sum!("cache_creation_tokens"),
            ", ",
            sum!("cache_read_tokens"),
            ", ",
            tokens!(),
            ", coalesce(sum(cost_usd), 0.0) FROM exchanges WHERE ",
            counted!(),
            " AND ts >= $1 AND ($2 IS NULL OR locus = $2) AND ($3 IS NULL OR locus IN (",
            $reached,
            ")) ",
            $behind
        )
    };
}

/// The same for each engine.
macro_rules! sums_of_both {
    ($what:literal, $behind:literal) => {
        (
            sums!($what, "SELECT value FROM json_each($3)", $behind),
            sums!($what, "SELECT jsonb_array_elements_text($3::jsonb)", $behind),
        )
    };
}

const ALL: (&str, &str) = sums_of_both!("''", "LIMIT $4");
const EACH: (&str, &str) =
    sums_of_both!("source", "GROUP BY source ORDER BY 7 DESC, source LIMIT $4");

/// What the exchanges cost that say so: of one locus or of all that the reader reaches, from a moment
/// on (microseconds of UTC), with the newest of them.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn report(
    store: &Store,
    locus: Option<&Locus>,
    since: Option<i64>,
    newest: i64,
    rights: &Rights,
) -> Result<Report, Error> {
    let mut conn = store.read().await?;
    let window = Window { locus, since, rights };
    let totals = sums(&mut conn, ALL, &window, 1).await?;
    let totals = totals.first().map(|all| all.totals).unwrap_or_default();
    let by_source = sums(&mut conn, EACH, &window, SOURCES).await?;
    drop(conn);
    let query = Query { locus, since, counted: true, limit: newest, ..Query::default() };
    let (recent, _) = list(store, query, rights).await?;
    Ok(Report { totals, by_source, recent })
}

/// Which exchanges count.
struct Window<'a> {
    locus: Option<&'a Locus>,
    since: Option<i64>,
    rights: &'a Rights,
}

async fn sums(
    conn: &mut Conn,
    (sqlite, postgres): (&'static str, &'static str),
    window: &Window<'_>,
    most: i64,
) -> Result<Vec<BySource>, Error> {
    let text = conn.pick(sqlite, postgres);
    let rows = conn
        .sql(text)
        .bind(window.since.unwrap_or(i64::MIN))
        .bind(window.locus.map(|locus| locus.as_str().to_owned()))
        .bind(reached(window.rights))
        .bind(most)
        .all()
        .await?;
    rows.iter().map(read).collect()
}

fn read(row: &store::Row) -> Result<BySource, Error> {
    let totals = Totals {
        runs: row.get(1)?,
        input: row.get(2)?,
        output: row.get(3)?,
        cache_creation: row.get(4)?,
        cache_read: row.get(5)?,
        tokens: row.get(6)?,
        cost_usd: row.get(7)?,
    };
    Ok(BySource { source: row.get(0)?, totals })
}
