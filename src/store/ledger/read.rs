//! Ledgers read, alone and in lists.

use super::{
    super::{
        Conn, Error, Row,
        names::{Locus, Task},
    },
    Head, Ledger, Status, heads,
};

/// What a list shows.
#[derive(Debug, Clone, Default)]
pub struct Filter<'a> {
    /// Only those of these loci; none: of all.
    pub loci: Option<Vec<&'a str>>,
    /// Only those that stand so.
    pub status: Option<Status>,
    /// Only those behind this one.
    pub after: Option<Key>,
    /// At most so many.
    pub limit: i64,
}

/// The place of a ledger in lists, which begin with what was written last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    updated: i64,
    locus: String,
    task: String,
}

impl Key {
    /// The place of this one.
    pub fn of(head: &Head) -> Self {
        Self { updated: head.updated, locus: head.locus.clone(), task: head.task.clone() }
    }

    /// From the text that it is shown as.
    pub fn parse(text: &str) -> Option<Self> {
        let (updated, name) = text.split_once('/')?;
        let (locus, task) = name.split_once('/')?;
        Some(Self {
            updated: updated.parse().ok()?,
            locus: Locus::parse(locus).ok()?.to_string(),
            task: Task::parse(task).ok()?.to_string(),
        })
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Neither name has a `/`.
        write!(f, "{}/{}/{}", self.updated, self.locus, self.task)
    }
}

/// A ledger without its document, if it is there; without a task, the active one that was written
/// last.
///
/// # Errors
/// Those of the store.
pub async fn find(
    conn: &mut Conn,
    locus: &Locus,
    task: Option<&Task>,
) -> Result<Option<Head>, Error> {
    let stmt = if let Some(task) = task {
        let text = heads!("SELECT", " FROM ledgers WHERE locus = $1 AND task = $2");
        conn.sql(text).bind(locus.as_str()).bind(task.as_str())
    } else {
        let text = heads!(
            "SELECT",
            " FROM ledgers WHERE locus = $1 AND status = 'active' ORDER BY updated DESC, task LIMIT 1"
        );
        conn.sql(text).bind(locus.as_str())
    };
    stmt.opt().await?.as_ref().map(Head::read).transpose()
}

/// A ledger; without a task, the active one that was written last.
///
/// # Errors
/// [`Error::NotFound`]; those of the store.
pub async fn get(conn: &mut Conn, locus: &Locus, task: Option<&Task>) -> Result<Ledger, Error> {
    let stmt = if let Some(task) = task {
        let text = heads!("SELECT", ", doc FROM ledgers WHERE locus = $1 AND task = $2");
        conn.sql(text).bind(locus.as_str()).bind(task.as_str())
    } else {
        let text = heads!(
            "SELECT",
            ", doc FROM ledgers WHERE locus = $1 AND status = 'active' ORDER BY updated DESC, task LIMIT 1"
        );
        conn.sql(text).bind(locus.as_str())
    };
    let row = stmt.opt().await?.ok_or_else(|| missing(locus, task))?;
    Ledger::read(&row)
}

/// Ledgers without their documents, what was written last first.
///
/// # Errors
/// Those of the store.
pub async fn list(conn: &mut Conn, filter: &Filter<'_>) -> Result<Vec<Head>, Error> {
    let Some(loci) = &filter.loci else { return page(conn, filter, None).await };
    let mut found = Vec::new();
    for locus in loci {
        found.extend(page(conn, filter, Some(locus)).await?);
    }
    found.sort_by(|a, b| {
        b.updated.cmp(&a.updated).then_with(|| (&a.locus, &a.task).cmp(&(&b.locus, &b.task)))
    });
    found.truncate(usize::try_from(filter.limit).unwrap_or(usize::MAX));
    Ok(found)
}

async fn page(
    conn: &mut Conn,
    filter: &Filter<'_>,
    locus: Option<&str>,
) -> Result<Vec<Head>, Error> {
    let text = if locus.is_some() {
        heads!(
            "SELECT",
            " FROM ledgers WHERE locus = $6 AND ($1 = '' OR status = $1) \
             AND (updated < $2 OR (updated = $2 AND (locus > $3 OR (locus = $3 AND task > $4)))) \
             ORDER BY updated DESC, locus, task LIMIT $5"
        )
    } else {
        heads!(
            "SELECT",
            " FROM ledgers WHERE ($1 = '' OR status = $1) \
             AND (updated < $2 OR (updated = $2 AND (locus > $3 OR (locus = $3 AND task > $4)))) \
             ORDER BY updated DESC, locus, task LIMIT $5"
        )
    };
    let after = filter.after.as_ref();
    let stmt = conn
        .sql(text)
        .bind(filter.status.map_or("", Status::as_str))
        .bind(after.map_or(i64::MAX, |key| key.updated))
        .bind(after.map_or("", |key| &*key.locus))
        .bind(after.map_or("", |key| &*key.task))
        .bind(filter.limit);
    let stmt = match locus {
        Some(locus) => stmt.bind(locus),
        None => stmt,
    };
    let rows: Vec<Row> = stmt.all().await?;
    rows.iter().map(Head::read).collect()
}

/// There is no such ledger.
pub(super) fn missing(locus: &Locus, task: Option<&Task>) -> Error {
    Error::NotFound(match task {
        Some(task) => {
            format!("no ledger `{locus}/{task}`: `ledger_list` names those that there are")
        }
        None => format!("no active ledger of `{locus}`: `ledger_list` names those that there are"),
    })
}
