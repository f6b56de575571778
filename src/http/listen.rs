//! Connections: accepted within a number, read and written within times, ended in good order.

use std::{future::poll_fn, io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::stall::Stall;
use crate::config::Settings;

/// How long what a client still sends is read after its answer, so that the answer is not lost to
/// a reset, and how much of it.
const LINGER: Duration = Duration::from_secs(5);
const LINGER_BYTES: u64 = 512 << 20;

/// How many connections the system holds that were made and not accepted yet; it may hold fewer
/// (`net.core.somaxconn`, 4096 on Linux). Whoever comes beyond that waits for seconds.
const BACKLOG: u32 = 4_096;

/// Listens on an address.
///
/// # Errors
/// As [`TcpListener::bind`].
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A port can be taken again at once after the end of a server.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// How connections are treated.
#[derive(Debug, Clone, Copy)]
pub struct Manners {
    head_timeout: Duration,
    write_timeout: Duration,
    drain: Duration,
    head: usize,
    connections: usize,
}

impl Manners {
    /// As the settings say.
    pub fn of(settings: &Settings) -> Self {
        Self {
            head_timeout: settings.server.head_timeout,
            write_timeout: settings.server.write_timeout,
            drain: settings.server.drain,
            head: usize::try_from(settings.limits.head.as_u64()).unwrap_or(usize::MAX),
            connections: settings.limits.connections.get(),
        }
    }
}

/// Serves until `draining` is cancelled; then takes no more connections and waits for the calls in
/// flight, at most the settings' `drain`, or until `now` is cancelled. Says whether all ended by
/// themselves.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    manners: Manners,
    draining: CancellationToken,
    now: CancellationToken,
) -> bool {
    let places = Arc::new(Semaphore::new(manners.connections.min(Semaphore::MAX_PERMITS)));
    let mut connections = JoinSet::new();
    while let Some((stream, place)) = next(&listener, &places, &mut connections, &draining).await {
        // A reply must not wait for the client's acknowledgement of the packet before it.
        let _ = stream.set_nodelay(true);
        connections.spawn(connection(stream, router.clone(), manners, draining.clone(), place));
    }
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    let in_time = tokio::select! {
        () = ended => true,
        () = sleep(manners.drain) => false,
        () = now.cancelled() => false,
    };
    connections.shutdown().await;
    in_time
}

/// The next connection, when there is a place for it; `None` when no more are taken.
async fn next(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
    connections: &mut JoinSet<()>,
    draining: &CancellationToken,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let accept = async {
        // The semaphore is never closed.
        let place = places.clone().acquire_owned().await.ok()?;
        loop {
            match listener.accept().await {
                Ok((stream, _)) => return Some((stream, place)),
                Err(error) => {
                    // A client that left already is nothing; a full table of files passes.
                    if !matches!(
                        error.kind(),
                        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
                    ) {
                        tracing::warn!(%error, "a connection could not be accepted");
                        sleep(Duration::from_millis(50)).await;
                    }
                }
            }
        }
    };
    let mut accept = pin!(accept);
    loop {
        tokio::select! {
            biased;
            () = draining.cancelled() => return None,
            Some(_) = connections.join_next() => {}
            accepted = &mut accept => return accepted,
        }
    }
}

async fn connection(
    stream: TcpStream,
    router: Router,
    manners: Manners,
    draining: CancellationToken,
    _place: OwnedSemaphorePermit,
) {
    let io = TokioIo::new(Stall::new(stream, manners.write_timeout));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(manners.head_timeout)
        // The router refuses a head that is over the limit with words; this is for far larger ones.
        .max_header_size(manners.head.saturating_mul(4));
    let mut served = builder.serve_connection(io, TowerToHyperService::new(router));
    let outcome = tokio::select! {
        outcome = poll_fn(|cx| served.poll_without_shutdown(cx)) => outcome,
        () = draining.cancelled() => {
            std::pin::Pin::new(&mut served).graceful_shutdown();
            poll_fn(|cx| served.poll_without_shutdown(cx)).await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, "a connection ended");
    }
    let stream = served.into_parts().io.into_inner().into_inner();
    if !draining.is_cancelled() {
        linger(stream).await;
    }
}

/// Reads what the client still sends, for a while: closing at once would reset the connection, and
/// the client would lose an answer such as 413.
async fn linger(mut stream: TcpStream) {
    if stream.shutdown().await.is_err() {
        return;
    }
    let rest = async {
        let mut buffer = vec![0; 16 << 10];
        let mut read = 0_u64;
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            read = read.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
            if read > LINGER_BYTES {
                break;
            }
        }
    };
    let _ = timeout(LINGER, rest).await;
}
