//! The face over a real listener: every promise of its module has a test here.

mod cancel;
mod generations;
mod harness;
mod listing;
mod plain;
mod progress;
mod sample;
mod sessions;
