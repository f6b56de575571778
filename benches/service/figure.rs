//! What a figure is: a name, a purpose, and a function that measures rows.

use std::{fmt, pin::Pin, time::Duration};

use anyhow::bail;
use serde::Serialize;

use crate::arguments::Effort;

/// What a figure's function gives.
pub(crate) type Rows = Pin<Box<dyn Future<Output = anyhow::Result<Vec<Row>>>>>;

/// One figure of the list.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn(&Effort) -> Rows,
}

/// The figures of these names, in the order of the list; all where none is named.
pub(crate) fn choose<'a>(all: &'a [Figure], names: &[String]) -> anyhow::Result<Vec<&'a Figure>> {
    let known = |name: &String| all.iter().any(|figure| figure.name == name.to_lowercase());
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        bail!("there is no figure `{unknown}`: see `cargo bench --bench service -- --list`");
    }
    let is_chosen = |figure: &&Figure| {
        names.is_empty() || names.iter().any(|name| name.to_lowercase() == figure.name)
    };
    Ok(all.iter().filter(is_chosen).collect())
}

/// What a value is held to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
    Exactly(f64),
    /// Measured beside a bounded one, to read it by.
    None,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "≤ {}", number(*most)),
            Self::AtLeast(least) => write!(f, "≥ {}", number(*least)),
            Self::Exactly(value) => write!(f, "= {}", number(*value)),
            Self::None => Ok(()),
        }
    }
}

/// One measured value.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    pub(crate) bound: Bound,
    /// What else the run showed, in a few words.
    pub(crate) note: String,
}

impl Row {
    /// A value without a bound.
    pub(crate) fn new(what: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { what: what.into(), value, unit, bound: Bound::None, note: String::new() }
    }

    pub(crate) fn at_most(mut self, most: f64) -> Self {
        self.bound = Bound::AtMost(most);
        self
    }

    pub(crate) fn at_least(mut self, least: f64) -> Self {
        self.bound = Bound::AtLeast(least);
        self
    }

    pub(crate) fn exactly(mut self, value: f64) -> Self {
        self.bound = Bound::Exactly(value);
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Whether the bound holds; `None` without one.
    pub(crate) fn holds(&self) -> Option<bool> {
        match self.bound {
            Bound::AtMost(most) => Some(self.value <= most),
            Bound::AtLeast(least) => Some(self.value >= least),
            Bound::Exactly(value) => Some((self.value - value).abs() < f64::EPSILON),
            Bound::None => None,
        }
    }
}

/// A number for people: as many places as it needs, and no more.
pub(crate) fn number(value: f64) -> String {
    let places = match value.abs() {
        large if large >= 100.0 => 0,
        middle if middle >= 10.0 => 1,
        _ => 3,
    };
    let text = format!("{value:.places$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Milliseconds.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// A count as a value.
#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
pub(crate) fn count(count: impl TryInto<u64>) -> f64 {
    count.try_into().unwrap_or(u64::MAX) as f64
}

/// The first of these that is not as wanted, else what is wanted.
pub(crate) fn odd_one(values: &[u64], wanted: usize) -> f64 {
    let is_odd = |value: &f64| (value - count(wanted)).abs() > 0.5;
    values.iter().map(|value| count(*value)).find(is_odd).unwrap_or(count(wanted))
}

/// The value below which a share of all values lie; 0 without values.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the values there are"
)]
pub(crate) fn share(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let at = (count(last) * share).round().max(0.0) as usize;
    sorted.get(at.min(last)).copied().unwrap_or(0.0)
}

pub(crate) fn median(values: &[f64]) -> f64 {
    share(values, 0.5)
}

pub(crate) fn largest(values: &[f64]) -> f64 {
    share(values, 1.0)
}
