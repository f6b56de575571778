//! Lines of a stream, each within a bound.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

use crate::broken::Scan;

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Its text, without the end.
    Text(Vec<u8>),
    /// It was over the bound, and was skipped; the id of the request that it was, or null.
    TooLong { id: Value },
}

/// Reads line by line; empty lines are skipped.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    longest: usize,
    line: Vec<u8>,
    /// What looks through a line that is over the bound.
    too_long: Option<Scan>,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, longest: usize) -> Self {
        Self { reader, longest, line: Vec::new(), too_long: None }
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
                let begun = std::mem::take(&mut self.line);
                self.too_long.get_or_insert_default().feed(&begun);
            }
            match &mut self.too_long {
                Some(scan) => scan.feed(part),
                None => self.line.extend_from_slice(part),
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
        if let Some(scan) = self.too_long.take() {
            return Some(Line::TooLong { id: scan.id().unwrap_or_default() });
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
        let asks = format!("{{\"a\":\"{long}\",\"id\":7}}");
        let text = format!("one\r\n\n  \ntwo\n{long}\nthree\n{asks}\nlast");
        let mut lines = Lines::new(tokio::io::BufReader::with_capacity(7, text.as_bytes()), 100);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            seen.push(match line {
                Line::Text(text) => String::from_utf8(text).unwrap().trim().to_owned(),
                Line::TooLong { id } => format!("(long {id})"),
            });
        }
        assert_eq!(seen, ["one", "two", "(long null)", "three", "(long 7)", "last"]);
    }
}
