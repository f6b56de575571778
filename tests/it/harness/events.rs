//! A reader of server-sent events on a connection of its own, frame by frame, comments included.

use std::{collections::VecDeque, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

use super::{PATIENCE, Server};

/// One frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Its `id`.
    pub(crate) id: Option<i64>,
    /// Its `event`.
    pub(crate) event: String,
    /// Its `data`.
    pub(crate) data: String,
    /// Its comment.
    pub(crate) comment: String,
    /// Its `retry`.
    pub(crate) retry: String,
}

impl Frame {
    fn parse(text: &str) -> Self {
        let mut frame = Self::default();
        for line in text.lines() {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
            match name {
                "id" => frame.id = Some(value.parse().unwrap()),
                "event" => frame.event = value,
                "data" => frame.data = value,
                "retry" => frame.retry = value,
                "" => frame.comment = value,
                other => panic!("an odd line in a frame: {other}"),
            }
        }
        frame
    }

    /// The data as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }

    /// The record of a change.
    pub(crate) fn record(&self) -> String {
        assert_eq!(self.event, "change", "{self:?}");
        self.json()["id"].as_str().unwrap().to_owned()
    }
}

/// An open stream.
pub(crate) struct Events {
    stream: TcpStream,
    raw: Vec<u8>,
    text: String,
    frames: VecDeque<Frame>,
    /// The `id` that was seen last: where to go on.
    pub(crate) last: i64,
}

impl Events {
    /// Opens a stream; its first frame is read.
    pub(crate) async fn open(server: &Server, path: &str, last: Option<i64>) -> Self {
        Self::with_room(server, path, last, None).await
    }

    /// As [`Events::open`], with a bound on what the kernel takes before it is read, in bytes.
    pub(crate) async fn with_room(
        server: &Server,
        path: &str,
        last: Option<i64>,
        room: Option<u32>,
    ) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        if let Some(room) = room {
            socket.set_recv_buffer_size(room).unwrap();
        }
        let mut stream = socket.connect(server.address().parse().unwrap()).await.unwrap();
        let last_id = last.map(|last| format!("last-event-id: {last}\r\n")).unwrap_or_default();
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n{last_id}\r\n",
            server.address(),
            server.token
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut events =
            Self { stream, raw: Vec::new(), text: String::new(), frames: VecDeque::new(), last: 0 };
        let end = loop {
            if let Some(end) = events.raw.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            assert!(events.more().await, "no answer: {}", String::from_utf8_lossy(&events.raw));
        };
        let head = String::from_utf8(events.raw.drain(..end).collect()).unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.to_lowercase().contains("content-type: text/event-stream"), "{head}");
        let first = events.next().await.expect("a first frame");
        assert!(first.comment.starts_with("connected") && first.retry == "2000", "{first:?}");
        events
    }

    /// The next frame; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.frames.pop_front() {
                self.last = frame.id.unwrap_or(self.last);
                return Some(frame);
            }
            self.unpack();
            while let Some((frame, rest)) = self.text.split_once("\n\n") {
                self.frames.push_back(Frame::parse(frame));
                self.text = rest.into();
            }
            if self.frames.is_empty() && !self.more().await {
                return None;
            }
        }
    }

    /// The next frame that is no comment.
    pub(crate) async fn event(&mut self) -> Frame {
        loop {
            let frame = self.next().await.expect("an event and not the end");
            if !frame.event.is_empty() {
                return frame;
            }
        }
    }

    /// The records of the next so many changes.
    pub(crate) async fn records(&mut self, count: usize) -> Vec<String> {
        let mut records = Vec::new();
        while records.len() < count {
            records.push(self.event().await.record());
        }
        records
    }

    /// Whether nothing comes for this while.
    pub(crate) async fn is_quiet(&mut self, time: Duration) -> bool {
        timeout(time, self.event()).await.is_err()
    }

    /// Takes whole chunks out of what was read.
    fn unpack(&mut self) {
        let mut at = 0;
        while let Ok(httparse::Status::Complete((skip, length))) =
            httparse::parse_chunk_size(&self.raw[at..])
        {
            let (begin, length) = (at + skip, usize::try_from(length).unwrap());
            if length == 0 || self.raw.len() < begin + length + 2 {
                break;
            }
            self.text.push_str(std::str::from_utf8(&self.raw[begin..begin + length]).unwrap());
            at = begin + length + 2;
        }
        self.raw.drain(..at);
    }

    async fn more(&mut self) -> bool {
        let read = timeout(PATIENCE, self.stream.read_buf(&mut self.raw)).await;
        matches!(read.expect("something in time"), Ok(1..))
    }
}
