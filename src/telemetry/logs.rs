//! Log events: which, in what form, and that a panic is one of them.

use std::{
    io::{self, IsTerminal as _},
    panic,
};

use tracing_subscriber::{
    filter::Targets, fmt::MakeWriter, layer::SubscriberExt as _, registry,
    util::SubscriberInitExt as _,
};

use super::{Redacting, Secrets};
use crate::config::{Format, Log};

/// Why events cannot be logged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The filter means nothing.
    #[error(
        "`log.filter` (`ADJUTANT_LOG`) is no filter: {0}; write a level such as `info`, or `info,routing=debug`"
    )]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// Events go somewhere already.
    #[error("events are logged already: {0}")]
    Taken(#[from] tracing_subscriber::util::TryInitError),
}

/// Sends this process's events to standard error, redacted. Panics become events too.
///
/// # Errors
/// See [`Error`].
pub fn log_to_stderr(settings: &Log, secrets: &Secrets) -> Result<(), Error> {
    let is_terminal = io::stderr().is_terminal();
    let json = match settings.format {
        Format::Auto => !is_terminal,
        Format::Text => false,
        Format::Json => true,
    };
    let writer = Redacting::new(io::stderr, secrets.clone());
    subscriber(settings, writer, json, is_terminal)?.try_init()?;
    let hidden = secrets.clone();
    panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let what = panic.payload_as_str().unwrap_or("no message");
        tracing::error!(%place, "panic: {}", hidden.redact(what));
    }));
    Ok(())
}

/// A subscriber that sends events to `writer`, for a test to look at: as JSON or as text.
///
/// # Errors
/// When the filter means nothing.
pub fn log_to<W>(
    settings: &Log,
    writer: Redacting<W>,
    json: bool,
) -> Result<impl tracing::Subscriber + Send + Sync, Error>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    subscriber(settings, writer, json, false)
}

fn subscriber<W>(
    settings: &Log,
    writer: Redacting<W>,
    json: bool,
    colours: bool,
) -> Result<impl tracing::Subscriber + Send + Sync, Error>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter: Targets = settings.filter.parse()?;
    let text = tracing_subscriber::fmt::layer().with_ansi(colours).with_target(true);
    let (text, lines) = if json {
        // What an event says stands in its own fields: spans are the libraries', and say nothing.
        let lines = tracing_subscriber::fmt::layer().json().flatten_event(true);
        let lines = lines.with_current_span(false).with_span_list(false).with_writer(writer);
        (None, Some(lines))
    } else {
        (Some(text.with_writer(writer)), None)
    };
    Ok(registry().with(filter).with(text).with(lines))
}
