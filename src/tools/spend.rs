//! Whether a caller may hand anything to a backend at all.

use mcp::{Call, Code, Fault};

use crate::{app::App, store::budget};

/// Refuses a caller whose budget is 0, whatever the call would cost and whoever would run it. Every
/// tool that delegates asks this first; what a call that costs may spend is routing's to decide.
///
/// # Errors
/// [`Code::Exhausted`], until the next midnight of UTC.
pub(super) fn may_delegate(cx: &Call<App>) -> Result<(), Fault> {
    if cx.caller.budget != Some(0) {
        return Ok(());
    }
    let words = format!(
        "the budget of `{}` is 0: it may hand nothing to a backend, unpaid ones included; do it yourself, or use a token with a budget",
        cx.caller.name
    );
    let renews = budget::renews_in(cx.app.clock.now());
    Err(Fault::new(Code::Exhausted, words).kind("budget").retry_after(Some(renews)))
}
