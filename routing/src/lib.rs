//! How work gets done: selection, admission, retries, breakers, and the adapters that speak to
//! backends.

pub mod upstream;
