//! What the router reports, kept: receipts as log lines, metrics and the newest few in memory;
//! budgets in the store.

mod budgets;
mod receipts;

pub use budgets::Budgets;
pub use receipts::Receipts;
