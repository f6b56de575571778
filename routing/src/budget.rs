//! The port through which a call's cost is reserved before it leaves and settled after, and its
//! in-memory version. Amounts are whole millionths of a US dollar.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;

/// Millionths of a US dollar.
pub type Micros = u64;

/// Why nothing was reserved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spent {
    /// For the caller: what is spent.
    pub message: String,
    /// When the budget renews, if it does.
    pub renews_in: Option<Duration>,
}

/// Where budgets are kept. Reserving is atomic: callers at once cannot pass the same check.
pub trait Budget: Send + Sync + 'static {
    /// Sets `amount` aside for a call of `caller`. A caller with a budget of 0 is refused whatever
    /// the amount; one without a budget never is.
    fn reserve<'a>(
        &'a self,
        caller: &'a str,
        amount: Micros,
    ) -> BoxFuture<'a, Result<Reservation, Spent>>;
}

/// Money set aside for one call. Dropped unsettled, it is given back whole.
pub struct Reservation {
    settle: Option<Box<dyn FnOnce(Micros) + Send>>,
}

impl Reservation {
    /// A reservation that calls `settle` once, with what was spent.
    pub fn new(settle: impl FnOnce(Micros) + Send + 'static) -> Self {
        Self { settle: Some(Box::new(settle)) }
    }

    /// A reservation of a caller without a budget.
    pub fn free() -> Self {
        Self { settle: None }
    }

    /// Books what the call cost; the rest of the reservation is given back.
    pub fn settle(mut self, spent: Micros) {
        if let Some(settle) = self.settle.take() {
            settle(spent);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(settle) = self.settle.take() {
            settle(0);
        }
    }
}

/// Budgets in this process's memory, without renewal.
#[derive(Debug, Clone, Default)]
pub struct Purses(Arc<Mutex<HashMap<String, Purse>>>);

/// One caller's budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purse {
    /// What may be spent.
    pub limit: Micros,
    /// What has been spent.
    pub spent: Micros,
    /// What is set aside for calls in flight.
    pub reserved: Micros,
}

impl Purses {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Purse>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a caller a budget, keeping what it has spent and reserved.
    pub fn limit(&self, caller: &str, limit: Micros) {
        self.lock().entry(caller.to_owned()).or_default().limit = limit;
    }

    /// A caller's budget, if it has one.
    pub fn purse(&self, caller: &str) -> Option<Purse> {
        self.lock().get(caller).copied()
    }
}

impl Budget for Purses {
    fn reserve<'a>(
        &'a self,
        caller: &'a str,
        amount: Micros,
    ) -> BoxFuture<'a, Result<Reservation, Spent>> {
        let mut purses = self.lock();
        let Some(purse) = purses.get_mut(caller) else {
            return Box::pin(std::future::ready(Ok(Reservation::free())));
        };
        let committed = purse.spent.saturating_add(purse.reserved);
        if committed >= purse.limit || purse.limit - committed < amount {
            let message = format!(
                "the budget of `{caller}` does not cover this call: {} of {} micro-dollars are spent or reserved and it may cost {amount}; raise the budget or name an unpaid backend",
                committed, purse.limit,
            );
            return Box::pin(std::future::ready(Err(Spent { message, renews_in: None })));
        }
        purse.reserved += amount;
        let (all, caller) = (self.clone(), caller.to_owned());
        let reservation = Reservation::new(move |spent| {
            if let Some(purse) = all.lock().get_mut(&caller) {
                purse.reserved = purse.reserved.saturating_sub(amount);
                purse.spent = purse.spent.saturating_add(spent);
            }
        });
        Box::pin(std::future::ready(Ok(reservation)))
    }
}
