//! Settings: what they are, where they come from, and the words for what is wrong with them.
//!
//! The environment is read in `env` alone; nothing here imports any other room of this crate.

mod allowed;
mod env;
mod layer;
mod load;
mod locus;
mod names;
mod records;
mod reference;
mod results;
mod schema;
mod settings;

#[cfg(test)]
mod tests;

pub use allowed::Allowed;
pub use bytesize::ByteSize;
pub use env::Env;
pub use load::{Error, Flags, Loaded, RosterFile, config_dir};
pub use locus::DefaultLocus;
pub use records::{Board, Check, Exchanges, Lease, Loci};
pub use reference::reference;
pub use results::Results;
pub use settings::{
    Auth, Billing, Files, Format, Limits, Log, Mcp, Outbound, Profile, Routing, Server, Settings,
    Station,
};
