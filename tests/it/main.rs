//! The one integration binary: the real server, on a real port, with fake backends.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests say what they expect by failing"
)]

mod harness;

mod auth;
mod cli;
mod delegate;
mod faults;
mod floors;
mod http;
mod http_help;
mod http_limits;
mod reload;
mod serve;
mod tools;
