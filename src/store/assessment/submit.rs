//! Somebody's judgement, with the items that came up and are on no board yet.

use std::collections::HashSet;

use mcp::Rights;

use super::{MOST_BY, MOST_RATIONALE, MOST_SUMMARY, New, Row, note};
use crate::store::{
    Committed, Error, Moment, Store, Tx,
    names::{BoardId, BoardType, Locus},
    text,
    todo::{self, Added, Priority},
};

/// The most items that come with a judgement.
const MOST_TODOS: usize = 50;

/// The most characters of all items together that are only proposed.
const MOST_PROPOSED: usize = 16_384;

/// How many open items of the board are compared with those that came up.
const COMPARED: i64 = 500;

/// An item that came up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Todo {
    /// What it says.
    pub text: String,
    /// What it is.
    pub kind: BoardType,
    /// How much it presses.
    pub priority: Priority,
}

/// What becomes of items that came up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filing {
    /// They go on the board of the locus, unless it has them open.
    File,
    /// They are proposed in the rationale, for somebody to pick up.
    Propose,
}

/// A judgement.
#[derive(Debug, Clone, Copy)]
pub struct Judgement<'a> {
    /// Whose focus it is about; nothing for nobody's in particular.
    pub locus: Option<&'a Locus>,
    /// The item that the locus is at.
    pub item: Option<BoardId>,
    /// What the locus is at, at most [`MOST_SUMMARY`] characters.
    pub summary: &'a str,
    /// Whether that is done; nothing where that is open.
    pub fulfilled: Option<bool>,
    /// Why, at most [`MOST_RATIONALE`] characters.
    pub rationale: &'a str,
    /// Who judges, at most [`MOST_BY`] characters.
    pub by: &'a str,
    /// What came up, at most 50.
    pub todos: &'a [Todo],
    /// What becomes of that.
    pub filing: Filing,
}

/// What came of a judgement.
#[derive(Debug, Clone, PartialEq)]
pub struct Submitted {
    /// The assessment.
    pub row: Row,
    /// The items that were filed.
    pub added: Vec<Added>,
    /// What those that are open already say.
    pub known: Vec<String>,
    /// What those that were only proposed say.
    pub proposed: Vec<String>,
    /// When it was, for the leases of items.
    pub at: Moment,
}

/// Notes a judgement: the locus awaits no closer look any more.
///
/// # Errors
/// [`Error::Invalid`], [`Error::TooLarge`]; [`Error::NotFound`] for an item that is not there or not
/// within reach; those of the store.
pub async fn submit(
    store: &Store,
    judgement: Judgement<'_>,
    rights: &Rights,
) -> Result<(Submitted, Committed), Error> {
    text::block("focus_summary", judgement.summary, MOST_SUMMARY)?;
    text::block("rationale", judgement.rationale, MOST_RATIONALE)?;
    text::line("by", judgement.by, MOST_BY)?;
    if judgement.todos.len() > MOST_TODOS {
        return Err(Error::TooLarge(format!(
            "`new_todos` has {} items, and may have {MOST_TODOS}: submit the rest with another call",
            judgement.todos.len()
        )));
    }
    let filing = judgement.locus.filter(|_| judgement.filing == Filing::File);
    let (rationale, proposed) = match filing {
        Some(_) => (judgement.rationale.to_owned(), Vec::new()),
        None => propose(judgement.rationale, judgement.todos)?,
    };
    let item = match judgement.item {
        Some(id) => Some(todo::find(store, id, rights).await?.0.number),
        None => None,
    };
    let locus = judgement.locus.map_or("", Locus::as_str);
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let at = tx.moment().await?;
            let (added, known) = match filing {
                Some(locus) => file(&mut tx, locus, judgement.by, judgement.todos).await?,
                None => (Vec::new(), Vec::new()),
            };
            let new = New {
                item,
                summary: judgement.summary,
                fulfilled: judgement.fulfilled,
                rationale: &rationale,
                by: judgement.by,
                ..New::of(locus)
            };
            let row = note(&mut tx, &new).await?;
            let committed = tx.commit().await?;
            let proposed = proposed.clone();
            Ok((Submitted { row, added, known, proposed, at }, committed))
        })
        .await
}

/// The rationale with the items that are not filed.
fn propose(rationale: &str, todos: &[Todo]) -> Result<(String, Vec<String>), Error> {
    let texts: Vec<String> = todos
        .iter()
        .map(|todo| todo.text.trim().to_owned())
        .filter(|text| !text.is_empty())
        .collect();
    if texts.is_empty() {
        return Ok((rationale.to_owned(), texts));
    }
    let list = texts.join(" | ");
    text::block("new_todos", &list, MOST_PROPOSED)?;
    Ok((format!("{rationale}\n[proposed todos, not filed] {list}"), texts))
}

/// Files the items that the board has not open, one of each wording.
async fn file(
    tx: &mut Tx,
    locus: &Locus,
    by: &str,
    todos: &[Todo],
) -> Result<(Vec<Added>, Vec<String>), Error> {
    if todos.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    tx.hold("items that came up at ", locus.as_str()).await?;
    let open = tx
        .sql(
            "SELECT text FROM todos WHERE locus = $1 AND status = 'open' ORDER BY id DESC LIMIT $2",
        )
        .bind(locus.as_str())
        .bind(COMPARED)
        .all()
        .await?;
    let mut there = HashSet::new();
    for row in &open {
        there.insert(wording(&row.get::<String>(0)?));
    }
    let (mut added, mut known) = (Vec::new(), Vec::new());
    for todo in todos {
        let text = todo.text.trim();
        if text.is_empty() {
            continue;
        }
        if !there.insert(wording(text)) {
            known.push(text.to_owned());
            continue;
        }
        let new = todo::New {
            priority: Some(todo.priority),
            by,
            source: "focus-assessor",
            ..todo::New::of(todo.kind, locus, text)
        };
        added.push(todo::add_in(tx, new).await?);
    }
    Ok((added, known))
}

/// A text as two of one wording have it: without case, blanks and punctuation.
fn wording(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
