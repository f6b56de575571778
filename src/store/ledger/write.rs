//! Documents written: each write is one statement that sees what is there and says what became of
//! it, so that nobody's change is lost between a look and a write.

use super::{
    super::{
        Committed, Error, Store, Tx,
        feed::Op,
        names::{Locus, Task},
    },
    Action, Draft, Head, Ledger,
    draft::{self, SESSION},
    heads, history, patch,
};

/// The kind of these records in the feed; the id is the task.
pub const KIND: &str = "ledger";

/// What a write came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The ledger as it stands.
    pub head: Head,
    /// Whether anything is another than before.
    pub changed: bool,
}

/// One section of a ledger to be edited.
#[derive(Debug, Clone, Copy)]
pub struct Edit<'a> {
    /// The heading of the section.
    pub section: &'a str,
    /// What is done to it.
    pub action: Action,
    /// The text that replaces or follows its own.
    pub text: &'a str,
}

/// Writes a document. Where text, status and session are those that are there, nothing is written
/// and everything stays, the name of the writer too; another status or session with the same text
/// is written at the same revision; another text makes the next one.
///
/// # Errors
/// [`Error::Stale`] where another revision was expected; [`Error::Invalid`], [`Error::TooLarge`];
/// those of the store.
pub async fn put(store: &Store, draft: &Draft<'_>) -> Result<(Written, Committed), Error> {
    let chars = draft.check()?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let written = write(&mut tx, draft, chars).await?;
            // Committed even when nothing was written: what is answered must be on the disk, and
            // may be of a transaction that is not there yet.
            Ok((written, tx.commit().await?))
        })
        .await
}

/// [`put`] as part of a transaction.
///
/// # Errors
/// Those of [`put`].
pub async fn put_in(tx: &mut Tx, draft: &Draft<'_>) -> Result<Written, Error> {
    let chars = draft.check()?;
    write(tx, draft, chars).await
}

async fn write(tx: &mut Tx, draft: &Draft<'_>, chars: i64) -> Result<Written, Error> {
    let (locus, task) = (draft.locus.as_str(), draft.task.as_str());
    let at = tx.now();
    let row = tx
        .sql(heads!(
            "INSERT INTO ledgers (locus, task, doc, chars, author, note, session_id, status, rev, created, updated) \
             SELECT $1, $2, $3, $4, $5, $6, $7, CASE WHEN $8 = '' THEN 'active' ELSE $8 END, 1, $9, $9 \
             WHERE $10 <= 0 OR EXISTS (SELECT 1 FROM ledgers WHERE locus = $1 AND task = $2 AND rev = $10) \
             ON CONFLICT (locus, task) DO UPDATE SET \
             doc = excluded.doc, \
             chars = excluded.chars, \
             rev = ledgers.rev + CASE WHEN ledgers.doc = excluded.doc THEN 0 ELSE 1 END, \
             author = CASE WHEN ledgers.doc = excluded.doc AND excluded.author = '' THEN ledgers.author ELSE excluded.author END, \
             note = CASE WHEN ledgers.doc = excluded.doc AND excluded.note = '' THEN ledgers.note ELSE excluded.note END, \
             session_id = CASE WHEN excluded.session_id = '' THEN ledgers.session_id ELSE excluded.session_id END, \
             status = CASE WHEN $8 = '' THEN ledgers.status ELSE $8 END, \
             updated = CASE WHEN excluded.updated > ledgers.updated THEN excluded.updated ELSE ledgers.updated END \
             WHERE ($10 < 0 OR ledgers.rev = $10) AND (ledgers.doc <> excluded.doc \
             OR ($8 <> '' AND ledgers.status <> $8) \
             OR (excluded.session_id <> '' AND ledgers.session_id <> excluded.session_id)) \
             RETURNING",
            ""
        ))
        .bind(locus)
        .bind(task)
        .bind(draft.doc)
        .bind(chars)
        .bind(draft.by.trim())
        .bind(draft.note.trim())
        .bind(draft.session_id.trim())
        .bind(draft.status.map_or("", super::Status::as_str))
        .bind(at)
        .bind(draft.expected_rev.unwrap_or(-1))
        .opt()
        .await?;
    let Some(row) = row else { return unwritten(tx, draft).await };
    let head = Head::read(&row)?;
    let is_another = history::keep(tx, &head).await?;
    let op = if is_another && head.rev == 1 { Op::Insert } else { Op::Update };
    tx.event(KIND, locus, task, op).await?;
    Ok(Written { head, changed: true })
}

/// Why nothing was written: another revision was expected, or all is there already.
async fn unwritten(tx: &mut Tx, draft: &Draft<'_>) -> Result<Written, Error> {
    let (locus, task) = (draft.locus, draft.task);
    let row = tx
        .sql(heads!(
            "SELECT",
            ", doc = $3 AND ($4 = '' OR status = $4) AND ($5 = '' OR session_id = $5) \
             FROM ledgers WHERE locus = $1 AND task = $2"
        ))
        .bind(locus.as_str())
        .bind(task.as_str())
        .bind(draft.doc)
        .bind(draft.status.map_or("", super::Status::as_str))
        .bind(draft.session_id.trim())
        .opt()
        .await?;
    let (head, is_there) = match &row {
        Some(row) => (Some(Head::read(row)?), row.get(13)?),
        None => (None, false),
    };
    let rev = head.as_ref().map_or(0, |head| head.rev);
    match (draft.expected_rev, head) {
        (Some(expected), _) if expected != rev => {
            Err(Error::Stale { what: format!("ledger `{locus}/{task}`"), expected, rev })
        }
        (_, Some(head)) if is_there => Ok(Written { head, changed: false }),
        // Another replica wrote between the two statements what this write is on top of.
        _ => Err(Error::Retry),
    }
}

/// Edits one section; every byte around it stays. The draft says everything but the document.
///
/// # Errors
/// Those of [`put`]; [`Error::NotFound`] without the ledger or the section, [`Error::Conflict`]
/// where several sections have the heading.
pub async fn edit(
    store: &Store,
    draft: &Draft<'_>,
    edit: &Edit<'_>,
) -> Result<(Written, Committed), Error> {
    // Before the writer is lent to it: nobody waits for a text that is too long anyway.
    draft::bounded("text", edit.text, draft::DOC)?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let text = tx.pick(
                "SELECT rev, doc FROM ledgers WHERE locus = $1 AND task = $2",
                "SELECT rev, doc FROM ledgers WHERE locus = $1 AND task = $2 FOR UPDATE",
            );
            let row =
                tx.sql(text).bind(draft.locus.as_str()).bind(draft.task.as_str()).opt().await?;
            let Some(row) = row else {
                return Err(super::read::missing(draft.locus, Some(draft.task)));
            };
            let (rev, doc): (i64, String) = (row.get(0)?, row.get(1)?);
            if let Some(expected) = draft.expected_rev.filter(|expected| *expected != rev) {
                let what = format!("ledger `{}/{}`", draft.locus, draft.task);
                return Err(Error::Stale { what, expected, rev });
            }
            let doc = patch::apply(&doc, edit.section, edit.action, edit.text)?;
            let draft = Draft { doc: &doc, expected_rev: Some(rev), ..*draft };
            let written = put_in(&mut tx, &draft).await?;
            Ok((written, tx.commit().await?))
        })
        .await
}

/// Says that a session takes a ledger up: without a task, the active one that was written last.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Invalid`] without a session; those of the store.
pub async fn resume(
    store: &Store,
    locus: &Locus,
    task: Option<&Task>,
    session_id: &str,
) -> Result<(Ledger, Committed), Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let ledger = resume_in(&mut tx, locus, task, session_id).await?;
            Ok((ledger, tx.commit().await?))
        })
        .await
}

/// [`resume`] as part of a transaction.
///
/// # Errors
/// Those of [`resume`].
pub async fn resume_in(
    tx: &mut Tx,
    locus: &Locus,
    task: Option<&Task>,
    session_id: &str,
) -> Result<Ledger, Error> {
    let session_id = session_id.trim();
    if session_id.is_empty() {
        let words = "`session_id` is required: the id of the session that takes the ledger up";
        return Err(Error::Invalid(words.to_owned()));
    }
    draft::label("session_id", session_id, SESSION)?;
    let at = tx.now();
    let row = tx
        .sql(heads!(
            "UPDATE ledgers SET resumed_by = $3, resumed_at = $4, resumes = resumes + 1 \
             WHERE locus = $1 AND task = CASE WHEN $2 = '' THEN \
             (SELECT task FROM ledgers WHERE locus = $1 AND status = 'active' ORDER BY updated DESC, task LIMIT 1) \
             ELSE $2 END RETURNING",
            ", doc"
        ))
        .bind(locus.as_str())
        .bind(task.map_or("", Task::as_str))
        .bind(session_id)
        .bind(at)
        .opt()
        .await?;
    let row = row.ok_or_else(|| super::read::missing(locus, task))?;
    let ledger = Ledger::read(&row)?;
    tx.event(KIND, &ledger.head.locus, &ledger.head.task, Op::Update).await?;
    Ok(ledger)
}
