//! The bridge between pipes and a real server.

mod client;
mod harness;
mod pipe;
mod restart;
