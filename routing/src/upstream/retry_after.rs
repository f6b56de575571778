//! The wait that a server asks for.

use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// A longer wait is taken for this one, so that no server can bench itself for ever.
const MAX: Duration = Duration::from_hours(24);

/// `retry-after-ms`, else `Retry-After` in seconds or as a date; a date in the past is no wait.
pub(super) fn read(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let wait = text("retry-after-ms")
        .and_then(|value| number(value, 1000.0))
        .or_else(|| text(RETRY_AFTER.as_str()).and_then(|value| number(value, 1.0)))
        .or_else(|| date(text(RETRY_AFTER.as_str())?, text(DATE.as_str())))?;
    Some(wait.min(MAX))
}

fn number(value: &str, per_second: f64) -> Option<Duration> {
    let value = value.trim();
    // `f64` also reads `inf`, `nan` and signs, none of which is a wait.
    if !value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let number: f64 = value.parse().ok()?;
    Some(Duration::try_from_secs_f64(number / per_second).unwrap_or(MAX))
}

/// Seconds between the answer's own `Date` and the date asked for, so that the two clocks need not
/// agree; without a `Date`, from now.
fn date(value: &str, sent: Option<&str>) -> Option<Duration> {
    let until = httpdate::parse_http_date(value.trim()).ok()?;
    let sent = sent.and_then(|value| httpdate::parse_http_date(value).ok()).unwrap_or_else(now);
    Some(until.duration_since(sent).unwrap_or_default())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place of this crate that reads the wall clock: an HTTP date is wall time"
)]
fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        read(&map)
    }

    #[test]
    fn d3_every_form_is_read() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(wait(&[]), None);
        assert_eq!(wait(&[("retry-after", "7")]), seconds(7));
        assert_eq!(wait(&[("retry-after", " 0 ")]), seconds(0));
        assert_eq!(wait(&[("retry-after", "1.5")]), Some(Duration::from_millis(1500)));
        assert_eq!(wait(&[("retry-after-ms", "250")]), Some(Duration::from_millis(250)));
        assert_eq!(
            wait(&[("retry-after-ms", "250"), ("retry-after", "1")]),
            Some(Duration::from_millis(250)),
            "the exact one counts"
        );
        assert_eq!(wait(&[("retry-after-ms", "x"), ("retry-after", "1")]), seconds(1));
        let date = "Wed, 21 Oct 2015 07:28:00 GMT";
        assert_eq!(
            wait(&[("retry-after", date), ("date", "Wed, 21 Oct 2015 07:27:20 GMT")]),
            seconds(40),
            "by the server's clock, not by ours"
        );
        assert_eq!(wait(&[("retry-after", date)]), seconds(0), "long past");
        assert_eq!(
            wait(&[("retry-after", date), ("date", "nonsense")]),
            seconds(0),
            "a bad date header counts as none"
        );
    }

    #[test]
    fn d3_nonsense_is_no_wait_and_a_huge_wait_is_bounded() {
        for value in ["soon", "-1", "inf", "NaN", "1e9", "", "."] {
            assert_eq!(wait(&[("retry-after", value)]), None, "{value:?}");
        }
        for value in ["99999999999999999999999999", "864000000"] {
            assert_eq!(wait(&[("retry-after", value)]), Some(MAX), "{value:?}");
        }
    }
}
