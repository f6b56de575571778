//! Arbitrary bytes: as the body of an answer, or as the whole of what a connection says.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinSet,
};

use crate::{
    behaviour::Plan,
    body::Piece,
    state::{InFlight, State},
};

/// The most bytes of a request that are read while its end is awaited.
const MAX_REQUEST: usize = 64 * 1024 * 1024;

/// The answer of a scripted step: these chunks, each as one chunk on the wire.
pub(crate) fn plan(
    status: u16,
    content_type: &str,
    chunks: Vec<Bytes>,
    gap: Option<Duration>,
    cut: bool,
) -> Plan {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let mut plan = Plan::json(status, Bytes::new());
    plan.headers.clear();
    if let Ok(value) = HeaderValue::from_str(content_type)
        && !content_type.is_empty()
    {
        plan.headers.push((header::CONTENT_TYPE, value));
    }
    for (at, chunk) in chunks.into_iter().enumerate() {
        if let Some(gap) = gap
            && at > 0
        {
            plan.pieces.push_back(Piece::Wait(gap));
        }
        plan.pieces.push_back(Piece::Data(chunk));
    }
    if cut {
        plan.pieces.push_back(Piece::Wait(Duration::from_millis(1)));
        plan.pieces.push_back(Piece::Break);
    }
    plan
}

/// Answers each connection's request with the same bytes, written chunk by chunk, then closes it.
pub(crate) async fn serve(
    listener: TcpListener,
    state: Arc<State>,
    chunks: Arc<[Bytes]>,
    mut stop: oneshot::Receiver<()>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stop => return,
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                connections.spawn(connection(stream, Arc::clone(&state), Arc::clone(&chunks)));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(mut stream: TcpStream, state: Arc<State>, chunks: Arc<[Bytes]>) {
    let _ = stream.set_nodelay(true);
    if !read_request(&mut stream).await {
        return;
    }
    let mut in_flight = InFlight::new(&state);
    for (at, chunk) in chunks.iter().enumerate() {
        if at + 1 == chunks.len() {
            in_flight.release();
        }
        if stream.write_all(chunk).await.is_err() {
            return;
        }
        tokio::task::yield_now().await;
    }
    let _ = stream.shutdown().await;
}

/// Reads a head and as many bytes as its `content-length` says. False when the client left.
async fn read_request(stream: &mut TcpStream) -> bool {
    let mut got = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = got.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&got[..end]).to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"))
                .and_then(|value| value.trim().parse::<usize>().ok())
                .unwrap_or(0);
            if got.len() >= end + 4 + length {
                return true;
            }
        }
        match stream.read(&mut buffer).await {
            Ok(1..) if got.len() > MAX_REQUEST => return false,
            Ok(read @ 1..) => got.extend_from_slice(&buffer[..read]),
            _ => return false,
        }
    }
}
