//! Items found by the words of their text and note.

use super::{KIND, Row, Status, row::columns};
use crate::store::{
    Conn, Error, Store,
    names::{BoardId, BoardType},
    search::{Found, Indexed, Key, Source, Wanted, find},
};

/// How items are indexed.
pub(in crate::store) const INDEXED: Indexed = Indexed {
    kind: KIND,
    key: |_, id| BoardId::parse(id).ok().map(|id| Key::numbered(id.number())),
    text: "SELECT text || ' ' || note, locus FROM todos WHERE id = $3 AND $1 = '' AND $2 = ''",
    keys: "SELECT '', '', id FROM todos WHERE id > $3 AND $1 = '' AND $2 = '' ORDER BY id LIMIT $4",
};

/// Which items are wanted beside their words.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter {
    /// Only these.
    pub status: Option<Status>,
    /// Only these.
    pub kind: Option<BoardType>,
}

impl Source for Filter {
    type Record = Row;

    const INDEXED: Indexed = INDEXED;

    async fn read(&self, conn: &mut Conn, key: &Key) -> Result<Option<Row>, Error> {
        let text = concat!(
            "SELECT ",
            columns!(),
            " FROM todos WHERE id = $1 AND ($2 IS NULL OR status = $2) AND ($3 IS NULL OR type = $3)"
        );
        let (status, kind) = (self.status.map(Status::name), self.kind.map(BoardType::name));
        let stmt = conn.sql(text).bind(key.number).bind(status).bind(kind);
        stmt.opt().await?.as_ref().map(Row::read).transpose()
    }

    fn locus(record: &Row) -> &str {
        &record.locus
    }

    fn texts(record: &Row) -> Vec<&str> {
        vec![&record.text, &record.note]
    }
}

/// A page of the items that have what is looked for, with the passages that show it: those of the
/// first text are of `text`, those of the second of `note`.
///
/// # Errors
/// [`Error::NotReady`]; those of the store.
pub async fn search(
    store: &Store,
    wanted: &Wanted<'_>,
    filter: Filter,
) -> Result<Found<Row>, Error> {
    find(store, &filter, wanted).await
}
