//! Closed-loop load: connections that each send their next request once they have the answer to
//! the last.

use std::{
    cell::{Cell, RefCell},
    net::SocketAddr,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures::future::try_join_all;

use crate::{
    client::{Answer, Connection},
    figure::{count, millis},
};

/// What a load came to.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) elapsed: Duration,
    /// Milliseconds from each request to its answer.
    pub(crate) times: Vec<f64>,
    pub(crate) failed: u64,
    /// The first answer that was not as it should be.
    pub(crate) complaint: Option<String>,
}

impl Outcome {
    fn add(&mut self, took: f64, complaint: Option<String>) {
        self.times.push(took);
        self.failed += u64::from(complaint.is_some());
        self.complaint = self.complaint.take().or(complaint);
    }

    /// Requests a second.
    pub(crate) fn rate(&self) -> f64 {
        count(self.times.len()) / self.elapsed.as_secs_f64()
    }

    /// Fails when any request did.
    pub(crate) fn whole(self) -> anyhow::Result<Self> {
        match &self.complaint {
            None => Ok(self),
            Some(complaint) => {
                anyhow::bail!("{} requests failed, the first with: {complaint}", self.failed)
            }
        }
    }
}

/// Sends what `next` gives for each number from 0 on, over so many connections, until it gives
/// nothing more. A connection that breaks is a failed request; it is opened anew.
pub(crate) async fn run(
    to: SocketAddr,
    connections: usize,
    next: impl Fn(usize) -> Option<Bytes>,
    is_right: impl Fn(&Answer) -> bool,
) -> anyhow::Result<Outcome> {
    let opened = try_join_all((0..connections).map(|_| Connection::open(to))).await?;
    let (sent, outcome) = (Cell::new(0), RefCell::new(Outcome::default()));
    let began = Instant::now();
    let worker = async |mut connection: Connection| {
        loop {
            let number = sent.replace(sent.get() + 1);
            let Some(request) = next(number) else { return anyhow::Ok(()) };
            let asked = Instant::now();
            let answer = connection.exchange(&request).await;
            let took = millis(asked.elapsed());
            let complaint = match answer {
                Ok(answer) if is_right(&answer) => None,
                Ok(answer) => {
                    Some(format!("{} {}", answer.status, String::from_utf8_lossy(&answer.body)))
                }
                Err(error) => Some(format!("{error:#}")),
            };
            let failed = complaint.is_some();
            outcome.borrow_mut().add(took, complaint);
            if failed {
                connection = Connection::open(to).await?;
            }
        }
    };
    try_join_all(opened.into_iter().map(worker)).await?;
    let mut outcome = outcome.into_inner();
    outcome.elapsed = began.elapsed();
    Ok(outcome)
}

/// The same request for so long.
pub(crate) fn lasting(
    request: impl Into<Bytes>,
    time: Duration,
) -> impl Fn(usize) -> Option<Bytes> {
    let (request, end) = (request.into(), Instant::now() + time);
    move |_| (Instant::now() < end).then(|| request.clone())
}

/// The same request so many times.
pub(crate) fn times(request: impl Into<Bytes>, times: usize) -> impl Fn(usize) -> Option<Bytes> {
    let request = request.into();
    move |number| (number < times).then(|| request.clone())
}

/// Whether it was answered with 200.
pub(crate) fn is_ok(answer: &Answer) -> bool {
    answer.status == 200
}
