//! The form of the board's items that somebody else acts on: an `operator` item, whose commands a
//! person runs, and a `proposal`, which a person decides.
//!
//! An item is a title and a note; the note is made of sections (`WHY:`, `DO:` …). [`check`] mends
//! what can be mended safely (each [`Change`] is reported) and names what it cannot (each
//! [`Problem`]); [`judge`] is what a write does with that under a [`Mode`]. Text is added, moved or
//! marked up, never reworded. Everything here is a function of its arguments.

mod finding;
mod header;
mod markdown;
mod note;
mod placeholder;
mod repair;
mod script;
mod section;
#[cfg(test)]
mod tests;

use std::str::FromStr;

use note::Note;

pub use finding::{Change, Problem};
pub use section::{Kind, Section};

/// What a write does with an item of poor form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// It is refused. The default.
    #[default]
    Enforce,
    /// It is stored as it is, and the reply lists its problems.
    Warn,
    /// It is not looked at.
    Off,
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        match text.trim().to_ascii_lowercase().as_str() {
            "enforce" => Ok(Self::Enforce),
            "warn" => Ok(Self::Warn),
            "off" => Ok(Self::Off),
            _ => Err(UnknownMode(text.to_owned())),
        }
    }
}

/// A text that is no [`Mode`].
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no way to check the form of board items: it is `enforce`, `warn` or `off`")]
pub struct UnknownMode(String);

/// A board item's text, as far as its form is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The title; `text` of the board's row.
    pub title: &'a str,
    /// The sections; `note` of the board's row.
    pub note: &'a str,
}

/// An item after the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The title to store.
    pub title: String,
    /// The note to store.
    pub note: String,
    /// What was changed to get there, in order; `format_normalized` of the reply.
    pub changes: Vec<Change>,
    /// What is wrong with it, in order; `format_problems` of the reply.
    pub problems: Vec<Problem>,
}

/// The refusal of an item; its text is the reply's `error`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("board format ({kind}): {} — {}", list(.problems), .kind.rule())]
pub struct Refused {
    /// The type of the item.
    pub kind: Kind,
    /// Why; never empty.
    pub problems: Vec<Problem>,
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Whether what `by` writes is not looked at: the operator's own items are not.
pub fn is_exempt(by: &str) -> bool {
    by.trim().eq_ignore_ascii_case("operator")
}

/// Checks an item. The title and note that come back are mended as far as they can be, whatever
/// problems remain; an item without problems comes back unchanged when it is checked again.
pub fn check(kind: Kind, item: Item<'_>) -> Checked {
    let (mut changes, mut problems) = (Vec::new(), Vec::new());
    let title = repair::title(kind, item.title, &mut changes);
    let plain = repair::line_ends(item.note, &mut changes);
    let mut note = Note::parse(kind, &plain);
    repair::headers(&mut note, &mut changes);
    repair::sections(&mut note, &mut changes, &mut problems);
    if kind == Kind::Operator {
        script::build(&title, &mut note, &mut changes);
        script::check(&note, &mut problems);
    }
    problems.extend(note.lacks(kind));
    let note = if changes.is_empty() { item.note.to_owned() } else { note.render() };
    Checked { title, note, changes, problems }
}

/// Checks a write and says what it stores: a new item (`stored` absent), or one that replaces
/// another, where only problems that the stored one does not have count.
///
/// An item without any problem is stored mended; one whose problems are tolerated is stored as it
/// was given, without changes, and `problems` has the ones that count.
///
/// The caller leaves out what is not checked at all: other types, [`is_exempt`] writers of new
/// items, and updates of an item that is done afterwards.
///
/// # Errors
/// [`Refused`] in [`Mode::Enforce`] when a problem counts.
pub fn judge(
    mode: Mode,
    kind: Kind,
    item: Item<'_>,
    stored: Option<Item<'_>>,
) -> Result<Checked, Refused> {
    let as_given = |problems| Checked {
        title: item.title.to_owned(),
        note: item.note.to_owned(),
        changes: Vec::new(),
        problems,
    };
    if mode == Mode::Off {
        return Ok(as_given(Vec::new()));
    }
    let checked = check(kind, item);
    if checked.problems.is_empty() {
        return Ok(checked);
    }
    let old = stored.map_or_else(Vec::new, |stored| check(kind, stored).problems);
    let new: Vec<Problem> =
        checked.problems.into_iter().filter(|problem| !old.contains(problem)).collect();
    if mode == Mode::Enforce && !new.is_empty() {
        return Err(Refused { kind, problems: new });
    }
    Ok(as_given(new))
}
