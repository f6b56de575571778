//! Where a command's results and its notes go: results to standard output and nothing else there,
//! notes to standard error. No other file of the commands writes to either.

use std::{
    fmt::{Arguments, Display},
    io::{self, IsTerminal as _, Stderr, Stdout, Write},
};

use serde::Serialize;

use super::{exit::Error, table::Table};
use crate::config::Env;

/// Standard output and error of this process, and what they can show.
#[derive(Debug)]
pub(crate) struct Output {
    out: Stdout,
    err: Stderr,
    /// Whether a person reads the results.
    is_terminal: bool,
    /// Whether results may have colours.
    colours: bool,
    /// Whether notes may have colours.
    note_colours: bool,
}

impl Output {
    /// The streams of this process: colours only on a terminal, and never where `NO_COLOR` is set
    /// or the terminal is dumb.
    pub(crate) fn new(env: &Env) -> Self {
        let wanted = env.get("NO_COLOR").is_none() && env.get("TERM") != Some("dumb");
        let (out, err) = (io::stdout(), io::stderr());
        let (is_terminal, is_watched) = (out.is_terminal(), err.is_terminal());
        Self {
            out,
            err,
            is_terminal,
            colours: wanted && is_terminal,
            note_colours: wanted && is_watched,
        }
    }

    /// One line of results, or a text of several lines.
    ///
    /// # Errors
    /// When it cannot be written; quietly when the reader left.
    pub(crate) fn line(&self, text: impl Display) -> Result<(), Error> {
        write(&mut self.out.lock(), format_args!("{text}\n"))
    }

    /// A text, with a line feed at its end.
    ///
    /// # Errors
    /// As for [`Output::line`].
    pub(crate) fn text(&self, text: &str) -> Result<(), Error> {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        write(&mut self.out.lock(), format_args!("{text}{end}"))
    }

    /// A text byte for byte.
    ///
    /// # Errors
    /// As for [`Output::line`].
    pub(crate) fn raw(&self, text: &str) -> Result<(), Error> {
        write(&mut self.out.lock(), format_args!("{text}"))
    }

    /// A document: indented on a terminal, one line otherwise.
    ///
    /// # Errors
    /// As for [`Output::line`].
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), Error> {
        let text = if self.is_terminal {
            serde_json::to_string_pretty(value)
        } else {
            serde_json::to_string(value)
        };
        self.line(text.map_err(|error| Error::failed(format!("cannot write JSON: {error}")))?)
    }

    /// One line of JSON, whoever reads it.
    ///
    /// # Errors
    /// As for [`Output::line`].
    pub(crate) fn json_line(&self, value: &impl Serialize) -> Result<(), Error> {
        let text = serde_json::to_string(value);
        self.line(text.map_err(|error| Error::failed(format!("cannot write JSON: {error}")))?)
    }

    /// A table, within the width of the terminal; as wide as it needs otherwise.
    ///
    /// # Errors
    /// As for [`Output::line`].
    pub(crate) fn table(&self, table: Table) -> Result<(), Error> {
        let width = self.is_terminal.then(|| rustix::termios::tcgetwinsize(&self.out));
        let width = width.and_then(Result::ok).map(|size| size.ws_col).filter(|width| *width > 0);
        self.line(table.render(width, self.colours))
    }

    /// What a person should know besides the results.
    pub(crate) fn note(&self, text: impl Display) {
        self.note_all(format_args!("{text}\n"));
    }

    /// Something that is probably not meant.
    pub(crate) fn warn(&self, text: impl Display) {
        if self.note_colours {
            self.note_all(format_args!("\u{1b}[1;33mwarning:\u{1b}[0m {text}\n"));
        } else {
            self.note_all(format_args!("warning: {text}\n"));
        }
    }

    fn note_all(&self, text: Arguments<'_>) {
        // Nobody can be told that nobody can be told.
        let _ = self.err.lock().write_fmt(text);
    }
}

/// Says what is waited for, on a line of its own: whatever stands on the terminal's last line, such
/// as a spinner, makes place for it.
pub(crate) fn aside(words: &str) {
    let clear = if is_watched() { "\r\u{1b}[2K" } else { "" };
    // Nobody can be told that nobody can be told.
    let _ = writeln!(io::stderr(), "{clear}adjutant: {words}");
}

/// Whether a person watches standard error.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

fn write(out: &mut impl Write, text: Arguments<'_>) -> Result<(), Error> {
    written(out.write_fmt(text).and_then(|()| out.flush()))
}

/// How a write to standard output ended.
///
/// # Errors
/// When it failed; quietly when the reader left.
pub(super) fn written(outcome: io::Result<()>) -> Result<(), Error> {
    outcome.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Error::reader_left(),
        _ => Error::failed(format!("cannot write to standard output: {error}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit::Exit;

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_left_ends_the_command_quietly_and_a_full_disk_does_not() {
        let end = |kind| write(&mut Failing(kind), format_args!("x")).unwrap_err();
        assert_eq!(end(io::ErrorKind::BrokenPipe), Error::new(Exit::Ok, ""));
        let full = end(io::ErrorKind::StorageFull);
        assert_eq!(full.exit, Exit::Failed);
        assert!(full.message.contains("standard output"), "{full}");
    }
}
