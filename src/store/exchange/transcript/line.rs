//! Single lines, and what stands in them.

use std::time::UNIX_EPOCH;

use serde_json::Value;

/// A member's text; empty when it is none.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A moment as transcripts write it, such as `2026-11-30T10:00:00.123Z`, in microseconds of UTC; 0
/// for anything else.
pub(super) fn moment(text: &str) -> i64 {
    let whole = || humantime::parse_rfc3339_weak(text.get(..19)?).ok();
    let time = humantime::parse_rfc3339(text).ok().or_else(whole);
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_micros()).ok()).unwrap_or_default()
}

/// A line of JSON with every escape of half a character as U+FFFD; `None` where there is none.
pub(super) fn mended(line: &str) -> Option<String> {
    const LENGTH: usize = 6;
    let unit = |at: usize| {
        let escape = line.as_bytes().get(at..at + LENGTH)?;
        let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    let (mut out, mut kept, mut at) = (String::new(), 0, 0);
    while let Some(found) = memchr::memchr(b'\\', &line.as_bytes()[at..]) {
        let here = at + found;
        at = here + 2;
        match unit(here) {
            Some(0xD800..=0xDBFF) if matches!(unit(here + LENGTH), Some(0xDC00..=0xDFFF)) => {
                at = here + 2 * LENGTH;
            }
            Some(0xD800..=0xDFFF) => {
                out.push_str(&line[kept..here]);
                out.push_str("\\ufffd");
                at = here + LENGTH;
                kept = at;
            }
            _ => {}
        }
        if at > line.len() {
            break;
        }
    }
    out.push_str(&line[kept..]);
    (kept > 0).then_some(out)
}
