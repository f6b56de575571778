//! Server-sent events, parsed as the bytes come: no I/O, no decoding before an event is whole.
//!
//! Any split of a stream gives the same events. Lines end in CRLF, CR or LF; comments are skipped;
//! the last event counts even without its blank line. Each byte is looked at once, so that a
//! stream which comes byte by byte costs no more than one which comes whole. Lines of a field
//! `error` (some servers write `error: {…}`) are read as the data of an event named `error`.

use std::{collections::VecDeque, mem};

/// The most bytes of one event, its name included, before the stream is refused.
pub const MAX_EVENT: usize = 4 * 1024 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One event: its name and its data, undecoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// The value of its `event` field; empty when it had none.
    pub name: Vec<u8>,
    /// The values of its `data` fields, joined by LF.
    pub data: Vec<u8>,
}

/// One event is larger than the parser's limit. What was parsed before it stays available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("one event of the stream is larger than {limit} bytes")]
pub struct TooLarge {
    /// The limit, in bytes.
    pub limit: usize,
}

/// The state between two reads.
#[derive(Debug)]
pub struct Parser {
    limit: usize,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    event: Event,
    /// An event without any data line is none.
    has_data: bool,
    /// The last byte was CR: a LF after it belongs to the same line end.
    after_cr: bool,
    /// No line has been taken yet: it may begin with a byte order mark.
    at_start: bool,
    ready: VecDeque<Event>,
}

impl Default for Parser {
    fn default() -> Self {
        Self::new(MAX_EVENT)
    }
}

impl Parser {
    /// A parser that refuses events of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            event: Event::default(),
            has_data: false,
            after_cr: false,
            at_start: true,
            ready: VecDeque::new(),
        }
    }

    /// Takes the next bytes of the stream, however they are cut.
    ///
    /// # Errors
    /// [`TooLarge`]; the stream cannot be read on after it.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), TooLarge> {
        while let Some(&first) = bytes.first() {
            if mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', bytes);
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.line.len() + part.len() + self.event.name.len() + self.event.data.len()
                > self.limit
            {
                return Err(TooLarge { limit: self.limit });
            }
            let Some((line_end, rest)) = rest.split_first() else {
                self.line.extend_from_slice(part);
                return Ok(());
            };
            self.after_cr = *line_end == b'\r';
            if self.line.is_empty() {
                self.take_line(part);
            } else {
                let mut line = mem::take(&mut self.line);
                line.extend_from_slice(part);
                self.take_line(&line);
                line.clear();
                self.line = line;
            }
            bytes = rest;
        }
        Ok(())
    }

    /// The next whole event, if there is one.
    pub fn next_event(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    /// Ends the stream: a last line without its end and a last event without its blank line count.
    pub fn finish(&mut self) {
        let line = mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line);
        }
        self.dispatch();
    }

    fn take_line(&mut self, mut line: &[u8]) {
        if mem::take(&mut self.at_start) {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.data(value),
            b"event" => self.event.name = value.to_vec(),
            b"error" => {
                self.event.name = b"error".to_vec();
                self.data(value);
            }
            // A comment (its field is empty), `id`, `retry` or something we do not know.
            _ => {}
        }
    }

    fn data(&mut self, value: &[u8]) {
        if mem::replace(&mut self.has_data, true) {
            self.event.data.push(b'\n');
        }
        self.event.data.extend_from_slice(value);
    }

    fn dispatch(&mut self) {
        let event = mem::take(&mut self.event);
        if mem::take(&mut self.has_data) {
            self.ready.push_back(event);
        }
    }
}

#[cfg(test)]
mod tests;
