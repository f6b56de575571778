//! The roster as its users see it: texts in, entries or findings out.

mod arbitrary;
mod helpers;
mod reach;
mod rules;
mod syntax;
mod values;
