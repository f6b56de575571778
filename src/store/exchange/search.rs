//! Exchanges found by the words of their prompt and response.

use super::{KIND, Origin, Row, row::wholes};
use crate::store::{
    Conn, Error, Store,
    names::ExchangeId,
    search::{Found, Indexed, Key, Source, Wanted, find},
};

/// How exchanges are indexed.
pub(in crate::store) const INDEXED: Indexed = Indexed {
    kind: KIND,
    key: |_, id| ExchangeId::parse(id).ok().map(|id| Key::numbered(id.number())),
    text: "SELECT prompt || ' ' || response, locus FROM exchanges WHERE id = $3 AND $1 = '' AND $2 = ''",
    keys: "SELECT '', '', id FROM exchanges WHERE id > $3 AND $1 = '' AND $2 = '' ORDER BY id LIMIT $4",
};

/// Which exchanges are wanted beside their words.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'a> {
    /// Only of this session.
    pub session: Option<&'a str>,
    /// Only those whose prompts are these words.
    pub origin: Option<Origin>,
}

impl Source for Filter<'_> {
    type Record = Row;

    const INDEXED: Indexed = INDEXED;

    async fn read(&self, conn: &mut Conn, key: &Key) -> Result<Option<Row>, Error> {
        let text =
            wholes!("WHERE id = $1 AND ($2 = '' OR session_id = $2) AND ($3 = '' OR origin = $3)");
        let stmt = conn.sql(text).bind(key.number).bind(self.session.unwrap_or_default());
        let stmt = stmt.bind(self.origin.map_or("", Origin::name));
        stmt.opt().await?.as_ref().map(Row::read).transpose()
    }

    fn locus(record: &Row) -> &str {
        &record.locus
    }

    fn texts(record: &Row) -> Vec<&str> {
        vec![&record.prompt, &record.response]
    }
}

/// A page of the exchanges that have what is looked for, whole, with the passages that show it:
/// those of the first text are of the prompt, those of the second of the response.
///
/// # Errors
/// [`Error::NotReady`]; those of the store.
pub async fn search(
    store: &Store,
    wanted: &Wanted<'_>,
    filter: Filter<'_>,
) -> Result<Found<Row>, Error> {
    find(store, &filter, wanted).await
}
