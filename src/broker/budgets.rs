//! Routing's port for budgets over the store: set aside in one statement before a call that costs,
//! booked after it. A caller without a budget, and a call that costs nothing, touch no database.
//!
//! Booking is handed to one task, which books many at once and tries again until it stands; a call
//! that ends waits for its first try, so that the next call of the same caller sees what is left.
//! The task also renews what is set aside for long calls, and counts what other processes left
//! behind as spent.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;
use routing::budget::{Budget, Micros, Refused, Reservation};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};

use crate::store::{
    Error, Store,
    budget::{self, Hold},
};

/// How often what is set aside is renewed and what lapsed is looked for.
const LOOK: Duration = Duration::from_mins(2);

/// How long the task waits before it books again what could not be booked.
const AGAIN: Duration = Duration::from_secs(1);

/// The most bookings of one transaction.
const BATCH: usize = 256;

/// See the module. Ends with its last handle; [`Budgets::settled`] comes before that.
pub struct Budgets {
    desk: Desk,
    task: JoinSet<()>,
}

/// What the port and the reservations share.
#[derive(Clone)]
struct Desk {
    store: Store,
    bookings: mpsc::UnboundedSender<Job>,
    /// The holds of calls in flight.
    live: Arc<Mutex<HashSet<i64>>>,
}

enum Job {
    Book {
        hold: Hold,
        cost: i64,
        tried: oneshot::Sender<()>,
    },
    /// Says when everything before it has been tried.
    Flush(oneshot::Sender<()>),
}

impl Budgets {
    /// Budgets over that store. Must be called within a Tokio runtime.
    pub fn new(store: &Store) -> Self {
        // As many jobs wait as calls are in flight, which have limits of their own.
        let (bookings, jobs) = mpsc::unbounded_channel();
        let desk = Desk { store: store.clone(), bookings, live: Arc::default() };
        let mut task = JoinSet::new();
        task.spawn(keep(store.clone(), desk.live.clone(), jobs));
        Self { desk, task }
    }

    /// Waits until every call that has ended is booked, or was tried to be.
    pub async fn settled(&self) {
        let (tried, all) = oneshot::channel();
        if self.desk.bookings.send(Job::Flush(tried)).is_ok() {
            // Without an answer the task is gone, and nothing is booked any more.
            let _ = all.await;
        }
    }

    /// Whether its task lives.
    pub fn is_kept(&self) -> bool {
        !self.task.is_empty() && !self.desk.bookings.is_closed()
    }
}

impl Budget for Budgets {
    fn reserve<'a>(
        &'a self,
        caller: &'a str,
        limit: Option<Micros>,
        amount: Micros,
    ) -> BoxFuture<'a, Result<Reservation, Refused>> {
        Box::pin(async move {
            match limit {
                None => Ok(Reservation::free()),
                Some(0) => Err(Refused::Spent {
                    message: format!(
                        "the budget of `{caller}` is 0: it may hand nothing to a backend; use another token"
                    ),
                    renews_in: Some(budget::renews_in(self.desk.store.now())),
                }),
                Some(_) if amount == 0 => Ok(Reservation::free()),
                Some(limit) => Box::pin(self.desk.reserve(caller, limit, amount)).await,
            }
        })
    }
}

impl Desk {
    async fn reserve(
        &self,
        caller: &str,
        limit: Micros,
        amount: Micros,
    ) -> Result<Reservation, Refused> {
        let (most, wanted) = (whole(limit), whole(amount));
        let store = &self.store;
        let taken = store
            .again(async || {
                let mut tx = store.begin().await?;
                let lapses = budget::lapses(store, &mut tx).await?;
                let held = budget::reserve_in(&mut tx, caller, most, wanted, lapses).await?;
                let Some(hold) = held else { return Ok(None) };
                // Before the commit: a caller that leaves during it leaves nothing set aside.
                let reservation = self.reservation(hold, amount);
                tx.commit().await?;
                Ok(Some(reservation))
            })
            .await
            .map_err(|error| unavailable(&error))?;
        match taken {
            Some(reservation) => Ok(reservation),
            None => {
                Err(self.spent(caller, limit, amount).await.unwrap_or_else(|e| unavailable(&e)))
            }
        }
    }

    fn reservation(&self, hold: Hold, amount: Micros) -> Reservation {
        let live = || self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live().insert(hold.id);
        let (bookings, all) = (self.bookings.clone(), self.live.clone());
        Reservation::new(amount, move |cost| {
            all.lock().unwrap_or_else(PoisonError::into_inner).remove(&hold.id);
            let (tried, wait) = oneshot::channel();
            // Where the task is gone the process ends: the hold lapses and counts as spent.
            let sent = bookings.send(Job::Book { hold, cost: whole(cost), tried });
            Box::pin(async move {
                if sent.is_ok() {
                    let _ = wait.await;
                }
            })
        })
    }

    /// What a caller is told whose budget does not cover a call.
    async fn spent(&self, caller: &str, limit: Micros, amount: Micros) -> Result<Refused, Error> {
        let now = self.store.now();
        let mut conn = self.store.read().await?;
        let day = budget::day(&mut conn, caller, budget::day_of(now)).await?;
        Ok(Refused::Spent {
            message: format!(
                "the budget of `{caller}` does not cover this call, which may cost {}: of {} a day {} are spent and {} are set aside for calls in flight; it renews at the next midnight of UTC, and unpaid backends need none",
                dollars(whole(amount)),
                dollars(whole(limit)),
                dollars(day.spent),
                dollars(day.reserved),
            ),
            renews_in: Some(budget::renews_in(now)),
        })
    }
}

/// Books, renews and sweeps until no handle is left.
async fn keep(
    store: Store,
    live: Arc<Mutex<HashSet<i64>>>,
    mut jobs: mpsc::UnboundedReceiver<Job>,
) {
    // SQLite has one process: what is set aside at its start is of one that is gone.
    sweep(&store, store.engine() == "sqlite").await;
    let mut due = Instant::now() + LOOK;
    let mut batch = Vec::new();
    loop {
        tokio::select! {
            some = jobs.recv_many(&mut batch, BATCH) => {
                if some == 0 {
                    return;
                }
                book(&store, batch.drain(..)).await;
            }
            () = sleep_until(due) => {
                due = Instant::now() + LOOK;
                let holds: Vec<i64> =
                    live.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
                if let Err(error) = renew(&store, &holds).await {
                    tracing::warn!(detail = ?error, "what is set aside of budgets cannot be renewed: it is tried again");
                }
                sweep(&store, false).await;
            }
        }
    }
}

/// Books a batch. Whoever waits goes on after the first try, whatever it came to.
async fn book(store: &Store, jobs: impl Iterator<Item = Job>) {
    let (mut calls, mut waiting) = (Vec::new(), Vec::new());
    for job in jobs {
        match job {
            Job::Book { hold, cost, tried } => {
                calls.push((hold, cost));
                waiting.push(tried);
            }
            Job::Flush(tried) => waiting.push(tried),
        }
    }
    let tell = |waiting: &mut Vec<oneshot::Sender<()>>| {
        for tried in waiting.drain(..) {
            // Whoever left does not need to know.
            let _ = tried.send(());
        }
    };
    while !calls.is_empty() {
        match budget::settle(store, &calls).await {
            Ok(()) => break,
            Err(error @ Error::Internal(_)) => {
                tracing::error!(detail = ?error, "what calls cost cannot be booked");
                break;
            }
            Err(error) => {
                tracing::warn!(detail = ?error, "what calls cost cannot be booked at this moment: it is tried again");
                tell(&mut waiting);
                sleep(AGAIN).await;
            }
        }
    }
    tell(&mut waiting);
}

async fn renew(store: &Store, holds: &[i64]) -> Result<(), Error> {
    if holds.is_empty() { Ok(()) } else { budget::renew(store, holds).await }
}

async fn sweep(store: &Store, all: bool) {
    match budget::sweep(store, all).await {
        Ok(0) => {}
        Ok(calls) => tracing::warn!(
            calls,
            "calls that nobody saw the end of are counted as spent in the budgets: {calls}"
        ),
        Err(error) => {
            tracing::warn!(detail = ?error, "budgets cannot be looked through: it is tried again");
        }
    }
}

fn unavailable(error: &Error) -> Refused {
    tracing::warn!(detail = ?error, "nothing can be set aside of a budget at this moment");
    Refused::Unavailable
}

fn whole(amount: Micros) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

/// An amount for people: `$0.25`, with as many digits as it has.
fn dollars(micros: i64) -> String {
    let (whole, rest) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let rest = format!("{rest:06}");
    let rest = rest.trim_end_matches('0');
    format!("${whole}.{rest:0<2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_said_in_dollars() {
        let said =
            [(0, "$0.00"), (250_000, "$0.25"), (1_000_001, "$1.000001"), (7_500_000, "$7.50")];
        for (micros, text) in said {
            assert_eq!(dollars(micros), text);
        }
    }
}
