//! What speaks to a running server from outside: a client of its HTTP routes for the commands,
//! and the stdio bridge.
//!
//! The bridge ([`Bridge`]) is a server of the Model Context Protocol on standard input and output
//! that holds no state of its own: every message goes to `/mcp` of a running server and every
//! answer comes from there. It speaks to it in the generation that the client speaks, each request
//! at its own pace. When the server is gone it finds the next one, begins a session again with the
//! client's own words, and sends anew what certainly was not done. To calls that are about the session
//! which runs it, it adds what it knows of that ([`Identity`]).
//!
//! Nothing but messages is written to its output.

mod client;
mod endpoint;
mod forward;
mod identity;
mod lines;
mod link;
mod listen;
mod message;
mod net;
mod relay;
mod stdio;
#[cfg(test)]
mod tests;

pub use self::{
    client::{Client, Health},
    endpoint::Endpoint,
    identity::Identity,
    stdio::{Bridge, Find},
};
