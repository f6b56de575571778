//! The port to which every try is reported, and its in-memory version.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::outcome::Attempt;

/// One try, with the call that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// The caller's name.
    pub caller: String,
    /// The request's random id.
    pub request: String,
    /// The roster's revision.
    pub revision: String,
    /// Why this backend.
    pub why: String,
    /// The tier of the backend.
    pub tier: roster::Tier,
    /// What it cost in US dollars, when the price is known.
    pub cost_usd: Option<f64>,
    /// The try itself.
    pub attempt: Attempt,
}

/// Where receipts go. Called once a try, when it has ended; it must not block.
pub trait Journal: Send + Sync + 'static {
    /// Takes one receipt.
    fn record(&self, receipt: Receipt);
}

/// The newest receipts in memory, within a bound.
#[derive(Debug)]
pub struct Recent {
    bound: usize,
    receipts: Mutex<VecDeque<Receipt>>,
}

impl Recent {
    /// Keeps the newest `bound` receipts.
    pub fn new(bound: usize) -> Self {
        Self { bound, receipts: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Receipt>> {
        self.receipts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The receipts kept, oldest first.
    pub fn all(&self) -> Vec<Receipt> {
        self.lock().iter().cloned().collect()
    }
}

impl Journal for Recent {
    fn record(&self, receipt: Receipt) {
        let mut receipts = self.lock();
        if receipts.len() >= self.bound {
            receipts.pop_front();
        }
        if self.bound > 0 {
            receipts.push_back(receipt);
        }
    }
}
