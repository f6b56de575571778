//! What nobody asks for and must happen all the same: a seat whose last word counts no more is
//! said in the feed, and one that nobody speaks of any more goes. So are a rollover that got no
//! handoff, and a session of which nothing is heard any more.

use std::time::Duration;

use crate::store::{Store, rollover, seat, seat_session};

/// How often it is looked whether a seat's term is over.
const LOOK: Duration = Duration::from_secs(5);

/// How many looks lie between two prunings: an hour.
const PRUNE: u32 = 720;

/// Looks after the seats until the server ends.
pub(super) async fn look_after(store: Store) {
    let mut looks = 0_u32;
    loop {
        let mut outcomes = vec![seat::sweep(&store).await, rollover::sweep(&store).await];
        if looks.is_multiple_of(PRUNE) {
            outcomes.extend([seat::prune(&store).await, seat_session::prune(&store).await]);
        }
        for outcome in outcomes {
            if let Err(error) = outcome {
                tracing::warn!(detail = ?error, "the seats cannot be looked after: it is tried again");
            }
        }
        looks = looks.wrapping_add(1);
        tokio::time::sleep(LOOK).await;
    }
}
