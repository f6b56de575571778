//! Numbers as clients send them: with a fraction or without.

use mcp::Fault;

/// Beyond any count that there is, and exact as a floating-point number.
const MOST: f64 = 1e15;

/// The first second behind the year 9999.
const NEVER: f64 = 253_402_300_800.0;

/// A count in whole numbers; what is behind the point is left out.
pub(super) fn count(name: &str, value: Option<f64>) -> Result<Option<i64>, Fault> {
    let Some(value) = value else { return Ok(None) };
    if !(-MOST..=MOST).contains(&value) {
        return Err(Fault::invalid(format!("`{name}` is a number up to 1e15")));
    }
    Ok(Some(whole(value)))
}

/// A moment in seconds of UTC, in microseconds. None and 0 are none.
pub(super) fn moment(name: &str, value: Option<f64>) -> Result<Option<i64>, Fault> {
    let Some(value) = value.filter(|value| *value != 0.0) else { return Ok(None) };
    if !(0.0..NEVER).contains(&value) {
        return Err(Fault::invalid(format!(
            "`{name}` is in seconds of UTC since 1970, such as 1796052780"
        )));
    }
    Ok(Some(whole((value * 1e6).round())))
}

fn whole(value: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "its range was looked at")]
    let whole = value as i64;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_with_a_fraction_and_within_their_range() {
        assert_eq!(count("n", Some(12.9)).unwrap(), Some(12));
        assert_eq!(count("n", None).unwrap(), None);
        assert_eq!(moment("n", Some(1_796_052_780.5)).unwrap(), Some(1_796_052_780_500_000));
        assert_eq!(moment("n", Some(0.0)).unwrap(), None);
        for value in [f64::NAN, f64::INFINITY, -1e16, 1e16] {
            assert!(count("n", Some(value)).is_err(), "{value}");
        }
        // Milliseconds are a date that there is not.
        for value in [f64::NAN, -1.0, 1_796_052_780_000.0] {
            assert!(moment("n", Some(value)).is_err(), "{value}");
        }
    }
}
