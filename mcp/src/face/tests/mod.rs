//! The face over a real listener: every promise of its module has a test here.

mod cancel;
mod generations;
pub(crate) mod harness;
mod listing;
mod plain;
mod progress;
pub(crate) mod sample;
mod sessions;
