//! Canvases written and cleared.

use super::{
    Document, Head, KIND, Kind, heads,
    history::{self, highest, present},
};
use crate::{
    store::{
        Committed, Error, Store, Tx,
        feed::Op,
        names::{BoardId, BoardType, Keeper, Locus},
        text,
        todo::{self, Priority},
    },
    untrusted,
};

/// The most characters of the name of who writes.
pub const MOST_BY: usize = 40;

/// The most characters of a note.
pub const MOST_NOTE: usize = 500;

/// A document to be written.
#[derive(Debug, Clone, Copy)]
pub struct Draft<'a> {
    /// Whose canvas.
    pub locus: &'a Keeper,
    /// The whole document.
    pub document: &'a Document,
    /// Who writes, at most [`MOST_BY`] characters in one line.
    pub by: &'a str,
    /// Why, at most [`MOST_NOTE`] characters.
    pub note: &'a str,
    /// The revision that the canvas must have, 0 for one that must not exist; none writes over
    /// whatever is there.
    pub expected_rev: Option<i64>,
    /// Whether a request on the board of the locus tells of a change.
    pub notify: bool,
}

impl Draft<'_> {
    fn check(&self) -> Result<(), Error> {
        text::line("by", self.by.trim(), MOST_BY)?;
        text::block("note", self.note.trim(), MOST_NOTE)?;
        if self.expected_rev.is_some_and(i64::is_negative) {
            let words = "`expected_rev` is the `rev` that was read, or 0 for a canvas that must not exist yet";
            return Err(Error::Invalid(words.to_owned()));
        }
        Ok(())
    }
}

/// What a write came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The canvas as it stands.
    pub head: Head,
    /// Whether its document is another than before.
    pub changed: bool,
    /// The request that tells of that.
    pub notified: Option<BoardId>,
}

/// Writes a document. The same one as is there changes nothing, its author and note included; another
/// has the next revision, a flow at least the one that it asks for.
///
/// # Errors
/// [`Error::Stale`] where another revision was expected; [`Error::Invalid`], [`Error::TooLarge`];
/// those of the store.
pub async fn put(store: &Store, draft: &Draft<'_>) -> Result<(Written, Committed), Error> {
    draft.check()?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let (head, op) = match update(&mut tx, draft).await? {
                Some(head) => (head, Op::Update),
                None => match unwritten(&mut tx, draft).await? {
                    Some(head) => {
                        // Also for what was there: on the disk before it is said.
                        let written = Written { head, changed: false, notified: None };
                        return Ok((written, tx.commit().await?));
                    }
                    None => (insert(&mut tx, draft).await?, Op::Insert),
                },
            };
            history::keep(&mut tx, &head).await?;
            tx.event(KIND, &head.locus, head.kind.name(), op).await?;
            let notified =
                if draft.notify { Some(notify(&mut tx, draft.locus, &head).await?) } else { None };
            Ok((Written { head, changed: true, notified }, tx.commit().await?))
        })
        .await
}

/// Another document for a canvas that is there.
async fn update(tx: &mut Tx, draft: &Draft<'_>) -> Result<Option<Head>, Error> {
    let now = tx.now();
    let row = tx
        .sql(heads!(
            "UPDATE canvases SET rev = CASE WHEN $4 > rev + 1 THEN $4 ELSE rev + 1 END, author = $5, note = $6, \
             updated = CASE WHEN $7 > updated THEN $7 ELSE updated END, size = $8, doc = $3 \
             WHERE locus = $1 AND kind = $2 AND doc <> $3 AND ($9 < 0 OR rev = $9) RETURNING",
            ""
        ))
        .bind(draft.locus.as_str())
        .bind(draft.document.kind.name())
        .bind(&*draft.document.text)
        .bind(draft.document.wanted)
        .bind(draft.by.trim())
        .bind(draft.note.trim())
        .bind(now)
        .bind(size(&draft.document.text)?)
        .bind(draft.expected_rev.unwrap_or(-1))
        .opt()
        .await?;
    row.as_ref().map(Head::read).transpose()
}

/// Why that wrote nothing: the canvas, where the document is there already; nothing where there is
/// no canvas.
async fn unwritten(tx: &mut Tx, draft: &Draft<'_>) -> Result<Option<Head>, Error> {
    let (locus, kind) = (draft.locus.as_str(), draft.document.kind);
    let present = present(tx, locus, kind, &draft.document.text).await?;
    let rev = present.as_ref().map_or(0, |(head, _)| head.rev);
    match (draft.expected_rev, present) {
        (Some(expected), _) if expected != rev => {
            Err(Error::Stale { what: format!("canvas `{locus}/{}`", kind.name()), expected, rev })
        }
        (_, Some((head, true))) => Ok(Some(head)),
        // Another replica wrote between the two statements what this write is on top of.
        (_, Some((_, false))) => Err(Error::Retry),
        (_, None) => Ok(None),
    }
}

/// The document of a canvas that is not there, or not any more.
async fn insert(tx: &mut Tx, draft: &Draft<'_>) -> Result<Head, Error> {
    let now = tx.now();
    let before = highest(tx, draft.locus.as_str(), draft.document.kind).await?;
    let row = tx
        .sql(heads!(
            "INSERT INTO canvases (locus, kind, rev, author, note, created, updated, size, doc) \
             VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8) ON CONFLICT (locus, kind) DO NOTHING RETURNING",
            ""
        ))
        .bind(draft.locus.as_str())
        .bind(draft.document.kind.name())
        .bind(draft.document.wanted.max(before + 1))
        .bind(draft.by.trim())
        .bind(draft.note.trim())
        .bind(now)
        .bind(size(&draft.document.text)?)
        .bind(&*draft.document.text)
        .opt()
        .await?;
    // Another replica was first.
    Head::read(&row.ok_or(Error::Retry)?)
}

fn size(text: &str) -> Result<i64, Error> {
    i64::try_from(text.len()).map_err(|error| Error::Internal(error.to_string()))
}

/// The request that tells the board of the locus.
async fn notify(tx: &mut Tx, locus: &Keeper, head: &Head) -> Result<BoardId, Error> {
    let (kind, rev) = (head.kind.name(), head.rev);
    let by = if head.by.is_empty() { String::new() } else { format!(" by {}", head.by) };
    let why = untrusted::one_line(&head.note, MOST_NOTE);
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    let words = format!("[canvas] {kind} updated{by} (rev {rev}){why}");
    let note = format!(
        "[ping] canvas/get locus={locus} kind={kind}: read revision {rev}, answer with `canvas_put` and `expected_rev`, and name the revision on the board"
    );
    let locus = Locus::from(locus.clone());
    let new = todo::New {
        note: &note,
        priority: Some(Priority::High),
        by: if head.by.is_empty() { "operator" } else { &head.by },
        source: "canvas.put",
        ..todo::New::of(BoardType::Request, &locus, &words)
    };
    Ok(todo::add_in(tx, new).await?.row.id())
}

/// Clears a canvas; whether there was one. Its revisions stay, and the next document goes on from
/// them.
///
/// # Errors
/// Those of the store.
pub async fn clear(store: &Store, locus: &Keeper, kind: Kind) -> Result<(bool, Committed), Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let gone = tx
                .sql("DELETE FROM canvases WHERE locus = $1 AND kind = $2")
                .bind(locus.as_str())
                .bind(kind.name())
                .run()
                .await?;
            if gone > 0 {
                tx.event(KIND, locus.as_str(), kind.name(), Op::Delete).await?;
            }
            Ok((gone > 0, tx.commit().await?))
        })
        .await
}
