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
pub enum Refused {
    /// The budget does not cover the amount.
    Spent {
        /// For the caller: what is spent.
        message: String,
        /// When the budget renews, if it does.
        renews_in: Option<Duration>,
    },
    /// Budgets cannot be kept at this moment: nothing that costs may be sent.
    Unavailable,
}

/// Where budgets are kept. Reserving is atomic: callers at once cannot pass the same check.
pub trait Budget: Send + Sync + 'static {
    /// Sets `amount` aside for a call of `caller`, whose budget is `limit`. A budget of 0 is
    /// refused whatever the amount. Without a budget, and for an amount of 0 under another one,
    /// nothing is set aside and nothing is refused.
    fn reserve<'a>(
        &'a self,
        caller: &'a str,
        limit: Option<Micros>,
        amount: Micros,
    ) -> BoxFuture<'a, Result<Reservation, Refused>>;
}

/// Books an amount; what it returns is over when that can be relied on, and may be dropped.
type Settle = Box<dyn FnOnce(Micros) -> BoxFuture<'static, ()> + Send>;

/// Money set aside for one call. Dropped unsettled, it is given back whole, or booked whole once
/// the call has left: nobody will see any more what that came to.
pub struct Reservation {
    settle: Option<Settle>,
    amount: Micros,
    unseen: Micros,
}

impl Reservation {
    /// A reservation of that amount, which calls `settle` once, with what was spent. What `settle`
    /// does before it returns must be enough for the amount to be booked in the end.
    pub fn new(
        amount: Micros,
        settle: impl FnOnce(Micros) -> BoxFuture<'static, ()> + Send + 'static,
    ) -> Self {
        Self { settle: Some(Box::new(settle)), amount, unseen: 0 }
    }

    /// A reservation of nothing.
    pub fn free() -> Self {
        Self { settle: None, amount: 0, unseen: 0 }
    }

    /// What is set aside.
    pub fn amount(&self) -> Micros {
        self.amount
    }

    /// From now on the call may cost.
    pub fn leaves(&mut self) {
        self.unseen = self.amount;
    }

    /// Books what the call cost; the rest of the reservation is given back. The booking is under
    /// way when this returns; the future is over when it stands.
    pub fn settle(mut self, spent: Micros) -> BoxFuture<'static, ()> {
        match self.settle.take() {
            Some(settle) => settle(spent),
            None => Box::pin(std::future::ready(())),
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(settle) = self.settle.take() {
            drop(settle(self.unseen));
        }
    }
}

/// What is spent in this process's memory, without renewal.
#[derive(Debug, Clone, Default)]
pub struct Purses(Arc<Mutex<HashMap<String, Purse>>>);

/// What one caller has spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purse {
    /// What has been spent.
    pub spent: Micros,
    /// What is set aside for calls in flight.
    pub reserved: Micros,
}

impl Purses {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Purse>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a caller has spent; nothing where it never reserved anything.
    pub fn purse(&self, caller: &str) -> Purse {
        self.lock().get(caller).copied().unwrap_or_default()
    }

    fn take(
        &self,
        caller: &str,
        limit: Option<Micros>,
        amount: Micros,
    ) -> Result<Reservation, Refused> {
        let limit = match limit {
            None => return Ok(Reservation::free()),
            Some(limit) if limit > 0 && amount == 0 => return Ok(Reservation::free()),
            Some(limit) => limit,
        };
        let mut purses = self.lock();
        let purse = purses.entry(caller.to_owned()).or_default();
        let committed = purse.spent.saturating_add(purse.reserved);
        if limit == 0 || committed > limit || limit - committed < amount {
            let message = format!(
                "the budget of `{caller}` does not cover this call: {committed} of {limit} micro-dollars are spent or reserved and it may cost {amount}; raise the budget or name an unpaid backend"
            );
            return Err(Refused::Spent { message, renews_in: None });
        }
        purse.reserved += amount;
        drop(purses);
        let (all, caller) = (self.clone(), caller.to_owned());
        Ok(Reservation::new(amount, move |spent| {
            if let Some(purse) = all.lock().get_mut(&caller) {
                purse.reserved = purse.reserved.saturating_sub(amount);
                purse.spent = purse.spent.saturating_add(spent);
            }
            Box::pin(std::future::ready(()))
        }))
    }
}

impl Budget for Purses {
    fn reserve<'a>(
        &'a self,
        caller: &'a str,
        limit: Option<Micros>,
        amount: Micros,
    ) -> BoxFuture<'a, Result<Reservation, Refused>> {
        Box::pin(std::future::ready(self.take(caller, limit, amount)))
    }
}
