//! The face over a real listener: every promise of its module has a test here.

mod cancel;
mod clip;
mod generations;
pub(crate) mod harness;
mod listing;
mod plain;
mod progress;
mod prompts;
mod resources;
pub(crate) mod sample;
mod sessions;
pub(crate) mod shelf;
