//! How work gets done: selection, admission, retries, breakers, fan-out, and the adapters that
//! speak to backends.
//!
//! A [`Router`] holds one immutable roster at a time. [`Router::delegate`] chooses a backend,
//! waits for its permits within the call's deadline, sends, repeats what may be repeated, and
//! records every try. It knows nothing of tools, faces or stores: budgets and receipts go through
//! the ports [`budget::Budget`] and [`journal::Journal`].

mod breaker;
pub mod budget;
mod error;
mod gate;
pub mod journal;
mod many;
mod outcome;
mod permits;
mod post;
mod retry;
mod router;
mod run;
mod select;
mod targets;
mod tasks;
mod tries;
pub mod upstream;

pub use error::Error;
pub use many::Item;
pub use outcome::{Attempt, Delegated, Outcome, cost_usd};
pub use permits::{Limit, Path, Permit, Permits};
pub use router::{Context, Notice, Ports, Router, Settings, Task};
pub use select::{Index, Pick, Selected, Standing, Want, Why};
pub use targets::{State, Target};

#[cfg(test)]
mod tests;
