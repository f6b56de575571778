//! Canvases: at most one drawing of each kind for each locus, which people and models revise in
//! turns. A document is held to the rules of its kind before it is stored ([`Document::read`]), and
//! one that breaks them changes nothing.
//!
//! Each other document has a higher revision; none is given twice, not even after a canvas was
//! cleared. The newest revisions are kept, those of a cleared canvas too: [`KEPT`], unless they have
//! more than [`SIZE`] bytes together.

mod document;
mod history;
mod read;
mod row;
#[cfg(test)]
mod tests;
mod write;

use self::row::heads;
pub use self::{
    document::{Document, MOST_BYTES, MOST_NODES, MOST_REV, MOST_SHAPES},
    history::{KEPT, SIZE, at, revs},
    read::{Filter, get, list},
    row::{Canvas, Head, Kind},
    write::{Draft, MOST_BY, MOST_NOTE, Written, clear, put},
};

/// The kind of these records in the feed; the id is the kind of the canvas.
pub const KIND: &str = "canvas";
