//! What a person sees while a command works: nothing in its first second, nothing at all where
//! standard error is no terminal.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, IsTerminal as _},
    pin::pin,
    time::{Duration, Instant},
};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::is_watched;
use crate::untrusted;

/// Work that is over by then shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the time that has passed is shown anew.
const TICK: Duration = Duration::from_millis(120);

/// The most backends that get a line of their own.
const LINES: usize = 8;

/// One line that says what is waited for and how long it has been.
#[derive(Debug)]
pub(crate) struct Spinner {
    bar: ProgressBar,
}

impl Spinner {
    /// A spinner with these words, not shown yet.
    pub(crate) fn new(words: impl Into<Cow<'static, str>>) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(style("{spinner} {msg} · {elapsed}"));
        bar.set_message(words);
        Self { bar }
    }

    /// Other words from now on.
    pub(crate) fn say(&self, words: impl Into<Cow<'static, str>>) {
        self.bar.set_message(words);
    }

    /// Does the work, and shows the spinner once it has lasted over a second.
    pub(crate) async fn during<F: Future>(&self, work: F) -> F::Output {
        let mut work = pin!(work);
        if !is_watched() {
            return work.await;
        }
        if let Ok(done) = tokio::time::timeout(PATIENCE, &mut work).await {
            return done;
        }
        self.bar.set_draw_target(ProgressDrawTarget::stderr());
        let cleared = Cleared(&self.bar);
        loop {
            match tokio::time::timeout(TICK, &mut work).await {
                Ok(done) => return done,
                Err(_) => cleared.0.tick(),
            }
        }
    }
}

/// Takes the bar off the screen, also when the work is given up.
struct Cleared<'b>(&'b ProgressBar);

impl Drop for Cleared<'_> {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// How far a batch is: one bar for all of it, and a line for each backend that answered.
#[derive(Debug)]
pub(crate) struct Bars {
    lines: MultiProgress,
    all: ProgressBar,
    backends: BTreeMap<String, Answers>,
    failed: usize,
    are_in_the_way: bool,
}

#[derive(Debug)]
struct Answers {
    line: ProgressBar,
    count: u64,
    ms: u64,
}

impl Bars {
    /// Bars for a batch of `total` items.
    pub(crate) fn new(total: u64) -> Self {
        // Hidden by itself where standard error is no terminal.
        let lines = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let all = lines.add(ProgressBar::new(total));
        all.set_style(style("{bar:32} {pos}/{len} · {elapsed}, {eta} left{msg}"));
        let are_in_the_way = io::stdout().is_terminal();
        Self { lines, all, backends: BTreeMap::new(), failed: 0, are_in_the_way }
    }

    /// Waits for the next item, and shows the time that passes meanwhile.
    pub(crate) async fn during<F: Future>(&self, next: F) -> F::Output {
        let mut next = pin!(next);
        loop {
            match tokio::time::timeout(TICK, &mut next).await {
                Ok(done) => return done,
                Err(_) => self.all.tick(),
            }
        }
    }

    /// Writes a row, with the bars out of its way where both are on one terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        if self.are_in_the_way { self.lines.suspend(write) } else { write() }
    }

    /// One item is done: on this backend in that time, or nowhere.
    pub(crate) fn done(&mut self, ok: bool, backend: Option<&str>, ms: Option<u64>) {
        if !ok {
            self.failed += 1;
            self.all.set_message(format!(" · {} not answered", self.failed));
        }
        self.all.inc(1);
        let Some(name) = backend else { return };
        if !self.backends.contains_key(name) {
            if self.backends.len() >= LINES {
                return;
            }
            let line = self.lines.add(ProgressBar::no_length());
            line.set_style(style("  {prefix} {msg}"));
            line.set_prefix(untrusted::one_line(name, 40));
            self.backends.insert(name.to_owned(), Answers { line, count: 0, ms: 0 });
        }
        let Some(backend) = self.backends.get_mut(name) else { return };
        backend.count += 1;
        backend.ms = backend.ms.saturating_add(ms.unwrap_or(0));
        let each = backend.ms / backend.count;
        backend.line.set_message(format!("{} answered, {each} ms each", backend.count));
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        for backend in self.backends.values() {
            backend.line.finish_and_clear();
        }
        self.all.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A duration as a person reads it: `640 ms`, `3.2 s`, `2 min 5 s`.
pub(crate) fn took(since: Instant) -> String {
    let took = since.elapsed();
    match took.as_secs() {
        0 => format!("{} ms", took.as_millis()),
        1..=59 => format!("{:.1} s", took.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_one() {
        for template in [
            "{spinner} {msg} · {elapsed}",
            "{bar:32} {pos}/{len} · {elapsed}, {eta} left{msg}",
            "  {prefix} {msg}",
        ] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn bars_count_what_each_backend_answered() {
        let mut bars = Bars::new(3);
        bars.done(true, Some("coder"), Some(10));
        bars.done(true, Some("coder"), Some(20));
        bars.done(false, None, None);
        assert_eq!(bars.backends["coder"].count, 2);
        assert_eq!(bars.backends["coder"].line.message(), "2 answered, 15 ms each");
        assert_eq!((bars.failed, bars.all.position()), (1, 3));
    }
}
