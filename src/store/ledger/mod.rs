//! Ledgers: the document of record of each task of a locus. It is written whole or by section,
//! each other text is a revision, and the newest revisions are kept.

mod complete;
mod draft;
mod history;
mod outline;
mod patch;
mod read;
mod restore;
mod row;
mod search;
mod template;
#[cfg(test)]
mod tests;
mod write;

use self::row::heads;
pub(super) use self::search::INDEXED;
pub use self::{
    complete::{loci_from, tasks_from},
    draft::{BY, DOC, Draft, NOTE, SESSION, label},
    history::{KEPT, Rev, SIZE, at, revs},
    outline::{Section, named, sections, texts},
    patch::{Action, apply, missing as no_section},
    read::{Filter, Key, find, get, list},
    restore::restore,
    row::{Head, Ledger, Status},
    search::search,
    template::{HEADINGS, template},
    write::{Edit, KIND, Written, edit, put, put_in, resume, resume_in},
};
