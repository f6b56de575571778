//! Ledgers found by the words of their documents, as they stand now.

use super::{Ledger, Status, heads, write::KIND};
use crate::store::{
    Conn, Error, Store,
    search::{Found, Indexed, Key, Source, Wanted, find},
};

/// How ledgers are indexed.
pub(in crate::store) const INDEXED: Indexed = Indexed {
    kind: KIND,
    key: |locus, task| Some(Key::named(locus, task)),
    text: "SELECT doc, locus FROM ledgers WHERE locus = $1 AND task = $2 AND $3 = 0",
    keys: "SELECT locus, task, CAST(0 AS BIGINT) FROM ledgers \
           WHERE (locus, task) > ($1, $2) AND $3 = 0 ORDER BY locus, task LIMIT $4",
};

struct Ledgers {
    status: Option<Status>,
}

impl Source for Ledgers {
    type Record = Ledger;

    const INDEXED: Indexed = INDEXED;

    async fn read(&self, conn: &mut Conn, key: &Key) -> Result<Option<Ledger>, Error> {
        let text = heads!(
            "SELECT",
            ", doc FROM ledgers WHERE locus = $1 AND task = $2 AND ($3 = '' OR status = $3)"
        );
        let status = self.status.map_or("", Status::as_str);
        let stmt = conn.sql(text).bind(&*key.home).bind(&*key.name).bind(status);
        stmt.opt().await?.as_ref().map(Ledger::read).transpose()
    }

    fn locus(record: &Ledger) -> &str {
        &record.head.locus
    }

    fn texts(record: &Ledger) -> Vec<&str> {
        vec![&record.doc]
    }
}

/// A page of the ledgers whose documents have what is looked for, with the passages that show it.
/// With a status, only those that stand so.
///
/// # Errors
/// [`Error::NotReady`]; those of the store.
pub async fn search(
    store: &Store,
    wanted: &Wanted<'_>,
    status: Option<Status>,
) -> Result<Found<Ledger>, Error> {
    find(store, &Ledgers { status }, wanted).await
}
