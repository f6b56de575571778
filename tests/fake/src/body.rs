//! The body of an answer: frames with waits between them, which tells the counter before its last
//! byte goes out.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::{
    sync::Notify,
    time::{Sleep, sleep},
};

use crate::state::InFlight;

/// One piece of what happens while the body is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Bytes, as one chunk on the wire.
    Data(Bytes),
    /// Nothing for a while.
    Wait(Duration),
    /// The connection closes after this answer, without having said so in its head.
    LastOnConnection,
    /// The connection breaks here.
    Break,
}

pub(crate) struct Body {
    pieces: VecDeque<Piece>,
    sleep: Option<Pin<Box<Sleep>>>,
    in_flight: Option<InFlight>,
    close: Arc<Notify>,
}

impl Body {
    pub(crate) fn new(
        pieces: VecDeque<Piece>,
        in_flight: Option<InFlight>,
        close: &Arc<Notify>,
    ) -> Self {
        let mut body = Self { pieces, sleep: None, in_flight, close: Arc::clone(close) };
        body.release_when_over();
        body
    }

    fn release_when_over(&mut self) {
        let more = self.pieces.iter().any(|piece| matches!(piece, Piece::Data(_)));
        if !more && let Some(in_flight) = &mut self.in_flight {
            in_flight.release();
        }
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        loop {
            if let Some(sleep) = &mut self.sleep {
                std::task::ready!(sleep.as_mut().poll(cx));
                self.sleep = None;
            }
            match self.pieces.pop_front() {
                None => return Poll::Ready(None),
                Some(Piece::Data(bytes)) => {
                    self.release_when_over();
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                Some(Piece::Wait(time)) => self.sleep = Some(Box::pin(sleep(time))),
                Some(Piece::LastOnConnection) => self.close.notify_one(),
                Some(Piece::Break) => {
                    return Poll::Ready(Some(Err(io::Error::other("the fake breaks off here"))));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let mut pieces = self.pieces.iter();
        match (pieces.next(), pieces.next()) {
            (None, None) => SizeHint::with_exact(0),
            (Some(Piece::Data(bytes)), None) => SizeHint::with_exact(bytes.len() as u64),
            _ => SizeHint::new(),
        }
    }
}
