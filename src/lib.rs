//! Adjutant: a delegation broker and fleet-facing orchestration service.
//!
//! An orchestrator hands it sub-tasks over MCP or HTTP, and it runs them on the cheapest fitting
//! backend of a roster. This library is the server and the commands of the one binary;
//! `docs/ARCHITECTURE.md` has the map and the rules of who may import whom.

pub mod app;
pub mod auth;
pub mod boot;
pub mod broker;
pub mod cli;
pub mod clock;
pub mod config;
mod files;
pub mod http;
pub mod ids;
pub mod library;
pub mod outbound;
pub mod reading;
pub mod reduce;
pub mod store;
pub mod telemetry;
pub mod tools;
pub mod untrusted;
