//! The records that a query has, page by page: the index names candidates, each of which is read and
//! looked at.

use std::sync::Arc;

use mcp::Rights;

use super::{Indexed, Key, expression, index::ready, work};
use crate::{
    reading::find::{Passage, Query, passages},
    store::{Conn, Error, Store, names::Locus},
};

/// How many candidates are asked for at once, and looked at in one call; how many bytes of texts,
/// and one record more. A call that comes to such an end gives what it has, and where to go on.
const AT_ONCE: i64 = 64;
const CANDIDATES: usize = 2_000;
const BYTES: usize = 32 << 20;

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// The words.
    pub query: Arc<Query>,
    /// Only what this reader reaches.
    pub rights: &'a Rights,
    /// Only of this locus.
    pub locus: Option<&'a Locus>,
    /// Only what follows this place: [`Found::next`] of the page before.
    pub after: Option<i64>,
    /// At most so many, one at least.
    pub limit: usize,
}

/// A record that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit<T> {
    /// The record.
    pub record: T,
    /// What of it shows the words.
    pub passages: Vec<Passage>,
}

/// A page of what was found, what is newest in the index first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<T> {
    /// The records; there may be fewer than were asked for, or none, and yet more behind.
    pub hits: Vec<Hit<T>>,
    /// The place to go on from; none behind the last.
    pub next: Option<i64>,
}

impl<T> Found<T> {
    /// The same with the records as something else.
    pub fn map<U>(self, of: impl Fn(T) -> U) -> Found<U> {
        let hit = |hit: Hit<T>| Hit { record: of(hit.record), passages: hit.passages };
        Found { hits: self.hits.into_iter().map(hit).collect(), next: self.next }
    }
}

/// How the records of a kind are read.
pub(in crate::store) trait Source: Sync {
    /// A record with its texts.
    type Record: Send + 'static;

    /// How they are indexed.
    const INDEXED: Indexed;

    /// The record of a key, if it is there and wanted.
    fn read(
        &self,
        conn: &mut Conn,
        key: &Key,
    ) -> impl Future<Output = Result<Option<Self::Record>, Error>> + Send;

    /// Whose it is.
    fn locus(record: &Self::Record) -> &str;

    /// Its texts, in one order.
    fn texts(record: &Self::Record) -> Vec<&str>;
}

/// A page of the records that a query has. What was committed before this was called is among them.
///
/// # Errors
/// [`Error::NotReady`]; those of the store.
pub(in crate::store) async fn find<S: Source>(
    store: &Store,
    source: &S,
    wanted: &Wanted<'_>,
) -> Result<Found<S::Record>, Error> {
    ready(store, &S::INDEXED).await?;
    let mut conn = store.read().await?;
    let (mut hits, mut last) = (Vec::new(), wanted.after);
    let (mut looked_at, mut bytes) = (0, 0);
    loop {
        let candidates = candidates(&mut conn, &S::INDEXED, wanted, last).await?;
        if candidates.is_empty() {
            return Ok(Found { hits, next: None });
        }
        for (place, key) in candidates {
            if looked_at == CANDIDATES || bytes >= BYTES {
                return Ok(Found { hits, next: last });
            }
            looked_at += 1;
            if let Some(record) = source.read(&mut conn, &key).await?
                && is_for(S::locus(&record), wanted)
            {
                let size = S::texts(&record).iter().map(|text| text.len()).sum();
                bytes += size;
                let query = wanted.query.clone();
                let looked = work(size, move || look::<S>(&query, record)).await?;
                if looked.is_some() && hits.len() == wanted.limit {
                    return Ok(Found { hits, next: last });
                }
                hits.extend(looked);
            }
            last = Some(place);
        }
    }
}

/// The index may be older than the record.
fn is_for(locus: &str, wanted: &Wanted<'_>) -> bool {
    wanted.rights.reaches(locus) && wanted.locus.is_none_or(|named| named.as_str() == locus)
}

fn look<S: Source>(query: &Query, record: S::Record) -> Option<Hit<S::Record>> {
    let texts = S::texts(&record);
    let passages = passages(&texts, &query.find(&texts)?);
    drop(texts);
    Some(Hit { record, passages })
}

/// The next records that the index has every word for, with their places.
pub(super) async fn candidates(
    conn: &mut Conn,
    kind: &Indexed,
    wanted: &Wanted<'_>,
    after: Option<i64>,
) -> Result<Vec<(i64, Key)>, Error> {
    let loci = wanted.rights.loci.as_ref().map(|loci| serde_json::json!(loci).to_string());
    let expression = if conn.is_sqlite() { expression::sqlite } else { expression::postgres };
    let text = conn.pick(
        "SELECT d.id, d.number, d.home, d.name FROM search_words JOIN search_docs d ON d.id = search_words.rowid \
         WHERE search_words MATCH $1 AND search_words.rowid < $2 AND d.kind = $3 \
         AND ($4 IS NULL OR d.locus IN (SELECT value FROM json_each($4))) AND ($5 IS NULL OR d.locus = $5) \
         ORDER BY search_words.rowid DESC LIMIT $6",
        "SELECT id, number, home, name FROM search_docs \
         WHERE words @@ $1::tsquery AND id < $2 AND kind = $3 \
         AND ($4 IS NULL OR locus IN (SELECT jsonb_array_elements_text($4::jsonb))) AND ($5 IS NULL OR locus = $5) \
         ORDER BY id DESC LIMIT $6",
    );
    let rows = conn
        .sql(text)
        .bind(expression(kind.kind, &wanted.query))
        .bind(after.unwrap_or(i64::MAX))
        .bind(kind.kind)
        .bind(loci)
        .bind(wanted.locus.map(Locus::as_str))
        .bind(AT_ONCE)
        .all()
        .await?;
    let candidate = |row: &crate::store::Row| {
        Ok((row.get(0)?, Key { number: row.get(1)?, home: row.get(2)?, name: row.get(3)? }))
    };
    rows.iter().map(candidate).collect()
}
