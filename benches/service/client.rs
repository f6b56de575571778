//! A lean HTTP client: one kept connection, requests as ready-made bytes, answers read whole or
//! chunk by chunk. It closes when it is dropped.

use std::{fmt::Write as _, net::SocketAddr};

use anyhow::{Context as _, bail};
use bytes::{Buf as _, Bytes, BytesMut};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// The bytes of a `GET`.
pub(crate) fn get(to: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    request(to, "GET", path, headers, b"")
}

/// The bytes of a `POST`.
pub(crate) fn post(to: SocketAddr, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    request(to, "POST", path, headers, body)
}

/// The bytes of any request.
pub(crate) fn request(
    to: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Vec<u8> {
    let mut head =
        format!("{method} {path} HTTP/1.1\r\nhost: {to}\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat()
}

/// A kept connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: BytesMut,
    rest: Rest,
}

/// How much of an answer's body is still to come.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rest {
    Bytes(usize),
    Chunks,
    Nothing,
}

/// The head of an answer.
pub(crate) struct Head {
    pub(crate) status: u16,
    /// The session that the server made, if any.
    pub(crate) session: Option<String>,
}

/// A whole answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

impl Connection {
    pub(crate) async fn open(to: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(to).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: BytesMut::with_capacity(16 << 10), rest: Rest::Nothing })
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> anyhow::Result<Answer> {
        self.send(request).await?;
        self.answer().await
    }

    /// Reads the whole answer to what was sent.
    pub(crate) async fn answer(&mut self) -> anyhow::Result<Answer> {
        let head = self.head().await?;
        Ok(Answer { status: head.status, body: self.body().await? })
    }

    pub(crate) async fn send(&mut self, request: &[u8]) -> anyhow::Result<()> {
        Ok(self.stream.write_all(request).await?)
    }

    /// Reads the head of the next answer.
    pub(crate) async fn head(&mut self) -> anyhow::Result<Head> {
        loop {
            if let Some((head, length, rest)) = head_of(&self.buffer)? {
                self.buffer.advance(length);
                self.rest = rest;
                return Ok(head);
            }
            self.more().await?;
        }
    }

    /// The next part of the body as it was sent; `None` at its end.
    pub(crate) async fn part(&mut self) -> anyhow::Result<Option<Bytes>> {
        match self.rest {
            Rest::Nothing => Ok(None),
            Rest::Bytes(length) => {
                self.fill(length).await?;
                self.rest = Rest::Nothing;
                Ok(Some(self.buffer.split_to(length).freeze()))
            }
            Rest::Chunks => {
                let (skip, length) = loop {
                    match httparse::parse_chunk_size(&self.buffer) {
                        Ok(httparse::Status::Complete((skip, length))) => {
                            break (skip, usize::try_from(length)?);
                        }
                        Ok(httparse::Status::Partial) => self.more().await?,
                        Err(_) => bail!("an odd chunk in an answer"),
                    }
                };
                self.buffer.advance(skip);
                self.fill(length + 2).await?;
                let part = self.buffer.split_to(length).freeze();
                self.buffer.advance(2);
                if length > 0 {
                    return Ok(Some(part));
                }
                self.rest = Rest::Nothing;
                Ok(None)
            }
        }
    }

    async fn body(&mut self) -> anyhow::Result<Bytes> {
        let Some(first) = self.part().await? else { return Ok(Bytes::new()) };
        if self.rest == Rest::Nothing {
            return Ok(first);
        }
        let mut whole = BytesMut::from(first.as_ref());
        while let Some(part) = self.part().await? {
            whole.extend_from_slice(&part);
        }
        Ok(whole.freeze())
    }

    async fn fill(&mut self, length: usize) -> anyhow::Result<()> {
        while self.buffer.len() < length {
            self.more().await?;
        }
        Ok(())
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        self.buffer.reserve(16 << 10);
        let read = self.stream.read_buf(&mut self.buffer).await.context("an answer broke off")?;
        if read == 0 {
            bail!("the connection was closed before the answer was complete");
        }
        Ok(())
    }
}

/// The head at the beginning of the bytes, its length, and how the body is sent.
fn head_of(bytes: &[u8]) -> anyhow::Result<Option<(Head, usize, Rest)>> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut parsed = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(length) =
        parsed.parse(bytes).context("an odd head of an answer")?
    else {
        return Ok(None);
    };
    let mut head = Head { status: parsed.code.unwrap_or_default(), session: None };
    let mut rest = Rest::Nothing;
    for header in parsed.headers.iter() {
        let value = str::from_utf8(header.value).unwrap_or_default();
        if header.name.eq_ignore_ascii_case("content-length") {
            rest = Rest::Bytes(value.parse()?);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            rest = Rest::Chunks;
        } else if header.name.eq_ignore_ascii_case("mcp-session-id") {
            head.session = Some(value.to_owned());
        }
    }
    Ok(Some((head, length, rest)))
}
