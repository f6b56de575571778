//! What a tool is: declared once as its argument struct, erased into an [`Entry`], listed in one
//! [`Catalogue`], and projected onto every face.
//!
//! This crate knows nothing of backends, stores or HTTP routers. No type of the protocol library
//! appears outside `face` and `bridge`.

mod arguments;
pub mod bridge;
pub mod broken;
mod call;
mod caller;
mod catalogue;
pub mod clip;
mod entry;
pub mod face;
mod fault;
pub mod hosts;
pub mod library;
pub mod number;
mod recipe;
mod spec;
mod tool;
pub mod weight;

pub use call::{Call, Emitter, Face, Progress, Room, Update};
pub use caller::{Caller, Profile, Rights};
pub use catalogue::Catalogue;
pub use entry::{Entry, Reply};
pub use fault::{Code, Fault};
pub use library::{Library, Shelf};
pub use recipe::{Given, Parameter, Recipe};
pub use schemars;
pub use spec::{Hints, Scope, Spec};
pub use tool::{Block, Origin, Tool};
