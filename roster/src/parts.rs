//! The tables within an entry: prices, limits, time-outs, retries.

use crate::{
    Cost, Limits, Retry, Timeouts,
    field::{Field, Fields},
    notes::Notes,
};

pub(crate) const COST: [&str; 3] = ["input_per_mtok", "output_per_mtok", "cached_input_per_mtok"];
pub(crate) const LIMITS: [&str; 6] =
    ["concurrency", "queue", "rpm", "tpm", "context_tokens", "max_output_tokens"];
pub(crate) const TIMEOUTS: [&str; 4] = ["connect", "first_token", "idle", "total"];
pub(crate) const RETRY: [&str; 3] = ["attempts", "base", "max"];

/// The most permits or places in a queue: more than any server takes, fewer than any counter holds.
const MOST_CALLS: u64 = 1_000_000;
/// The most tokens: far beyond any context window.
const MOST_TOKENS: u64 = 1_000_000_000;

/// A number of permits.
pub(crate) fn concurrency(field: Field<'_>, notes: &mut Notes) -> Option<usize> {
    usize::try_from(field.whole(1..=MOST_CALLS, notes)?).ok()
}

/// A table that may be absent, its unknown keys noted.
fn part<'f>(
    fields: &Fields<'f>,
    key: &str,
    known: &[&str],
    example: &str,
    notes: &mut Notes,
) -> Option<Fields<'f>> {
    let part = fields.get(key)?.table(example, notes)?;
    part.only(known, notes);
    Some(part)
}

/// Prices; `None` when none is given.
pub(crate) fn cost(fields: &Fields<'_>, notes: &mut Notes) -> Option<Cost> {
    let part = part(fields, "cost", &COST, "{ input_per_mtok = 0.1 }", notes)?;
    let mut price = |key| part.get(key).and_then(|field: Field<'_>| field.price(notes));
    let cost = Cost {
        input_per_mtok: price("input_per_mtok"),
        output_per_mtok: price("output_per_mtok"),
        cached_input_per_mtok: price("cached_input_per_mtok"),
    };
    let known = [cost.input_per_mtok, cost.output_per_mtok, cost.cached_input_per_mtok];
    known.iter().any(Option::is_some).then_some(cost)
}

/// Limits, the defaults where none is given.
pub(crate) fn limits(fields: &Fields<'_>, notes: &mut Notes) -> Limits {
    let mut limits = Limits::default();
    let Some(part) = part(fields, "limits", &LIMITS, "{ concurrency = 4 }", notes) else {
        return limits;
    };
    if let Some(calls) = part.get("concurrency").and_then(|field| concurrency(field, notes)) {
        limits.concurrency = calls;
    }
    let mut number = |key, least, most| part.get(key)?.whole(least..=most, notes);
    if let Some(places) = number("queue", 0, MOST_CALLS).and_then(|n| usize::try_from(n).ok()) {
        limits.queue = places;
    }
    let mut rate = |key| number(key, 1, u32::MAX.into()).and_then(|n| u32::try_from(n).ok());
    limits.rpm = rate("rpm");
    limits.tpm = rate("tpm");
    limits.context_tokens = number("context_tokens", 1, MOST_TOKENS);
    limits.max_output_tokens = number("max_output_tokens", 1, MOST_TOKENS);
    limits
}

/// Time-outs, the defaults where none is given.
pub(crate) fn timeouts(fields: &Fields<'_>, notes: &mut Notes) -> Timeouts {
    let mut timeouts = Timeouts::default();
    let Some(part) = part(fields, "timeouts", &TIMEOUTS, "{ total = \"10m\" }", notes) else {
        return timeouts;
    };
    for (key, timeout) in [
        ("connect", &mut timeouts.connect),
        ("first_token", &mut timeouts.first_token),
        ("idle", &mut timeouts.idle),
        ("total", &mut timeouts.total),
    ] {
        if let Some(field) = part.get(key) {
            field.timeout(timeout, notes);
        }
    }
    timeouts
}

/// Retries, the defaults where none is given.
pub(crate) fn retry(fields: &Fields<'_>, notes: &mut Notes) -> Retry {
    let mut retry = Retry::default();
    let Some(part) = part(fields, "retry", &RETRY, "{ attempts = 3 }", notes) else {
        return retry;
    };
    let attempts = part.get("attempts").and_then(|field| field.whole(1..=u32::MAX.into(), notes));
    if let Some(attempts) = attempts.and_then(|n| u32::try_from(n).ok()) {
        retry.attempts = attempts;
    }
    for (key, time) in [("base", &mut retry.base), ("max", &mut retry.max)] {
        if let Some(given) = part.get(key).and_then(|field| field.duration(notes)) {
            *time = given;
        }
    }
    if retry.base > retry.max {
        let what = "`retry` has a `base` above its `max`: no wait is longer than `max`";
        notes.warn(part.at, what);
    }
    retry
}
