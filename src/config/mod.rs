//! Settings: what they are, where they come from, and the words for what is wrong with them.
//!
//! The environment is read in `env` alone; nothing here imports any other room of this crate.

mod env;
mod layer;
mod load;
mod names;
mod reference;
mod schema;
mod settings;

#[cfg(test)]
mod tests;

pub use bytesize::ByteSize;
pub use env::Env;
pub use load::{Error, Flags, Loaded, RosterFile, config_dir};
pub use reference::reference;
pub use settings::{Auth, Billing, Files, Format, Limits, Log, Mcp, Routing, Server, Settings};
