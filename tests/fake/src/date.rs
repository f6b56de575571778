//! Dates as HTTP writes them.

use std::time::{Duration, SystemTime};

use http::HeaderValue;

/// Now, and so many seconds later.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place of the fake that reads the wall clock: a date in a header is wall time"
)]
pub(crate) fn now_and_in(seconds: u64) -> (HeaderValue, HeaderValue) {
    let now = SystemTime::now();
    (value(now), value(now + Duration::from_secs(seconds)))
}

fn value(time: SystemTime) -> HeaderValue {
    HeaderValue::from_str(&httpdate::fmt_http_date(time))
        .unwrap_or(HeaderValue::from_static("Thu, 01 Jan 1970 00:00:00 GMT"))
}
