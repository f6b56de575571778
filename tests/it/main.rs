//! The one integration binary: the real server, on a real port, with fake backends.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests say what they expect by failing"
)]

mod harness;

mod assess;
mod auth;
mod b;
mod board;
mod budget;
mod canvas;
mod chaos;
mod cli;
mod comms;
mod comms_storm;
mod delegate;
mod events;
mod exchange;
mod faults;
mod floors;
mod handoff;
mod http;
mod http_help;
mod http_limits;
mod instructions;
mod ledger;
mod library;
mod loci;
mod nul;
mod outbound;
mod prompt;
mod reload;
mod results;
mod rollover;
mod search;
mod seat;
mod serve;
mod session;
mod station;
mod todo;
mod tokens;
mod tools;
