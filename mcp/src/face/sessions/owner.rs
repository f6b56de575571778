//! To whom a session belongs.

use std::sync::Arc;

use http::request::Parts;

use crate::Caller;

/// The caller that a session is bound to. Two requests are of one owner when the token's name and
/// its rights are the same: a token that was weakened since does not reach what it saw before.
/// The profile may change, as it is read anew for each request.
#[derive(Debug, Clone)]
pub(in crate::face) struct Owner(Option<Arc<Caller>>);

impl Owner {
    /// The caller of a request; nobody where the application authenticates nobody.
    pub(in crate::face) fn of(parts: &Parts) -> Self {
        Self(parts.extensions.get::<Arc<Caller>>().cloned())
    }

    /// Waits until the caller's token has ended; for ever where there is none.
    pub(super) async fn ended(&self) {
        match &self.0 {
            Some(caller) => caller.ended.cancelled().await,
            None => std::future::pending().await,
        }
    }
}

impl PartialEq for Owner {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => {
                Arc::ptr_eq(one, other) || (one.name == other.name && one.rights == other.rights)
            }
            _ => false,
        }
    }
}
