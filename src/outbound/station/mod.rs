//! The client side of a station's seat API: whether it is there and what it can do, and asking it
//! for a seat.
//!
//! A seat is a running program, so the order for one is sent once. Whatever comes back is one of a
//! few outcomes, and the one that matters most is [`Spin::Ambiguous`]: nobody here knows whether
//! there is a seat, and nothing may be given up or asked for again on its account.

mod order;
mod reply;

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

pub use self::{
    order::{Order, Resume},
    reply::{About, Probe, RESUME, Seat, Spin},
};
use super::{Destination, Outbound, Secret};
use crate::config;

/// The header that holds the station's token.
const TOKEN: &str = "x-console-token";

/// How long a station may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// To say what it can do: 8 s.
    pub probe: Duration,
    /// To make a seat: 30 s.
    pub spin: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { probe: Duration::from_secs(8), spin: Duration::from_secs(30) }
    }
}

/// The station of the settings. A clone is the same one.
#[derive(Clone)]
pub struct Station {
    outbound: Outbound,
    url: Option<Url>,
    token: Option<SecretString>,
    patience: Patience,
}

impl Station {
    /// The station that the settings name, if they name one.
    pub fn new(outbound: Outbound, settings: &config::Station) -> Self {
        let token = settings.spawn_token.clone();
        Self {
            outbound,
            url: settings.spawn_url.clone(),
            token: token.filter(|token| !token.expose_secret().is_empty()),
            patience: Patience::default(),
        }
    }

    /// With other times.
    #[must_use]
    pub fn patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// Its URL as it may be shown: without user, password, query and fragment. `None` when no
    /// station is configured.
    pub fn url(&self) -> Option<String> {
        let mut url = self.url.clone()?;
        // A URL of the web takes all of these.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        url.set_fragment(None);
        Some(url.into())
    }

    /// Asks what it can do.
    pub async fn probe(&self) -> Probe {
        let Some(url) = &self.url else { return Probe::NotConfigured };
        let headers = self.headers();
        let to = Destination::Trusted { url, headers: headers.as_slice() };
        match self.outbound.get_json(to, self.patience.probe).await {
            Ok(answer) => reply::probed(answer.status, &answer.text),
            Err(error) => Probe::Failed { why: error.to_string() },
        }
    }

    /// Asks for a seat, once. Where a session is to be resumed, the station is first asked whether
    /// it can do that: one that cannot would make a fresh seat without a word.
    ///
    /// Orders for one handoff must not be sent at the same time: each may get a seat.
    pub async fn spin(&self, order: &Order<'_>) -> Spin {
        self.spin_asking(order).await.1
    }

    /// As [`Station::spin`], with what the station answered to the question, where it was put.
    pub async fn spin_asking(&self, order: &Order<'_>) -> (Option<Probe>, Spin) {
        let Some(url) = &self.url else { return (None, Spin::NotConfigured) };
        let mut probe = None;
        if order.resume.is_some() {
            let answer = self.probe().await;
            let barred = answer.clone().bars_resuming();
            probe = Some(answer);
            if let Some(outcome) = barred {
                return (probe, outcome);
            }
        }
        let headers = self.headers();
        let to = Destination::Trusted { url, headers: headers.as_slice() };
        let outcome = match self.outbound.post_json(to, &order.body(), self.patience.spin).await {
            Ok(answer) => reply::spun(answer.status, &answer.text),
            Err(error) if error.may_have_arrived() => Spin::Ambiguous { why: error.to_string() },
            Err(error) => Spin::NotAsked { why: error.to_string() },
        };
        (probe, outcome)
    }

    fn headers(&self) -> Vec<Secret<'_>> {
        self.token.iter().map(|token| (TOKEN, token)).collect()
    }
}
