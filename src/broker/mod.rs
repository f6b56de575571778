//! What the router reports, kept: receipts as log lines, metrics and the newest few in memory.

mod receipts;

pub use receipts::Receipts;
