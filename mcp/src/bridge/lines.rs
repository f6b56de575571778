//! Lines of a stream, each within a bound.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Its text, without the end.
    Text(Vec<u8>),
    /// It was over the bound, and was skipped.
    TooLong,
}

/// Reads line by line; empty lines are skipped.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    longest: usize,
    line: Vec<u8>,
    too_long: bool,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, longest: usize) -> Self {
        Self { reader, longest, line: Vec::new(), too_long: false }
    }

    /// The next line; the last one may lack its end. What was read of a line is kept when the
    /// future is dropped.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let read = self.reader.fill_buf().await?;
            if read.is_empty() {
                return Ok(self.take());
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let part = &read[..end.unwrap_or(read.len())];
            if part.len() > self.longest.saturating_sub(self.line.len()) {
                self.too_long = true;
                self.line = Vec::new();
            }
            if !self.too_long {
                self.line.extend_from_slice(part);
            }
            let used = end.map_or(part.len(), |end| end + 1);
            self.reader.consume(used);
            if end.is_some()
                && let Some(line) = self.take()
            {
                return Ok(Some(line));
            }
        }
    }

    fn take(&mut self) -> Option<Line> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) {
            return Some(Line::TooLong);
        }
        (!line.trim_ascii().is_empty()).then_some(Line::Text(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_bounded_and_a_long_one_spoils_no_other() {
        let long = "x".repeat(5_000);
        let text = format!("one\r\n\n  \ntwo\n{long}\nthree\n{long}\nlast");
        let mut lines = Lines::new(tokio::io::BufReader::with_capacity(7, text.as_bytes()), 100);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            seen.push(match line {
                Line::Text(text) => String::from_utf8(text).unwrap().trim().to_owned(),
                Line::TooLong => "(long)".to_owned(),
            });
        }
        assert_eq!(seen, ["one", "two", "(long)", "three", "(long)", "last"]);
    }
}
