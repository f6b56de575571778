//! Canvases: drawings of a locus that people and models revise in turns.

use mcp::Entry;

use crate::app::App;

mod clear;
mod get;
mod history;
mod list;
mod put;
mod row;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<get::CanvasGet>(),
        Entry::of::<put::CanvasPut>(),
        Entry::of::<list::CanvasList>(),
        Entry::of::<clear::CanvasClear>(),
        Entry::of::<history::CanvasHistory>(),
    ]
}
