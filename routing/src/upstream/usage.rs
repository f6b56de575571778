//! Tokens: as the backend reported them, else estimated by a stated rule.

use serde_json::Value;

use super::Usage;

/// Reads a `usage` object in the forms that servers use. A count of 0 is one that the server does
/// not keep: no call used nothing.
pub(super) fn read(usage: &Value) -> Reported {
    let count = |paths: &[&[&str]]| {
        let at = |path: &&[&str]| path.iter().try_fold(usage, |value, name| value.get(name));
        paths.iter().filter_map(at).find_map(number).filter(|n| *n > 0)
    };
    Reported {
        input: count(&[&["prompt_tokens"], &["input_tokens"]]),
        output: count(&[&["completion_tokens"], &["output_tokens"]]),
        cached: count(&[
            &["prompt_tokens_details", "cached_tokens"],
            &["input_tokens_details", "cached_tokens"],
            &["prompt_cache_hit_tokens"],
            &["cached_tokens"],
        ]),
        reasoning: count(&[
            &["completion_tokens_details", "reasoning_tokens"],
            &["output_tokens_details", "reasoning_tokens"],
            &["reasoning_tokens"],
        ]),
    }
}

/// The most tokens that one call can be believed to have used.
const MOST: u64 = 1_000_000_000;

/// A count; some servers write it as a float. One that no call can have used counts as not said.
fn number(value: &Value) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a token count: `as` saturates, and what is behind the point means nothing"
    )]
    let count = value.as_u64().or_else(|| value.as_f64().map(|float| float as u64));
    count.filter(|count| *count <= MOST)
}

/// What a backend said of its use; each part may be missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reported {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) cached: Option<u64>,
    pub(super) reasoning: Option<u64>,
}

impl Reported {
    /// Whether anything was said.
    pub(super) fn is_some(&self) -> bool {
        self.input.is_some() || self.output.is_some()
    }

    /// The use of a call, estimating the missing parts from the bytes that went and came.
    pub(super) fn or_estimate(self, sent: usize, came: usize) -> Usage {
        let input_tokens = self.input.unwrap_or_else(|| estimate(sent));
        let output_tokens = self.output.unwrap_or_else(|| estimate(came));
        Usage {
            input_tokens,
            output_tokens,
            // A part that is larger than its whole was not counted right: it is left out.
            cached_tokens: self.cached.filter(|cached| *cached <= input_tokens),
            reasoning_tokens: self.reasoning.filter(|reasoning| *reasoning <= output_tokens),
            estimated: self.input.is_none() || self.output.is_none(),
        }
    }
}

/// ceil(bytes / 4), at least 1.
pub(super) fn estimate(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4).max(1)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn d27_every_usual_form_is_read() {
        let openai = json!({
            "prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
            "prompt_tokens_details": {"cached_tokens": 60},
            "completion_tokens_details": {"reasoning_tokens": 20},
        });
        let usage = read(&openai).or_estimate(1, 1);
        let expected = Usage {
            input_tokens: 100,
            output_tokens: 50,
            cached_tokens: Some(60),
            reasoning_tokens: Some(20),
            estimated: false,
        };
        assert_eq!(usage, expected);
        let deepseek =
            json!({"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 8});
        assert_eq!(read(&deepseek).cached, Some(8));
        assert_eq!(read(&json!({"prompt_tokens": 9, "prompt_tokens_details": null})).cached, None);
        assert_eq!(read(&json!({"input_tokens": 3.0, "output_tokens": 4})).input, Some(3));
    }

    #[test]
    fn impossible_counts_are_not_believed() {
        let absurd = json!({"prompt_tokens": 1e300, "completion_tokens": 4});
        let usage = read(&absurd).or_estimate(9, 0);
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.estimated), (3, 4, true));
        let cached = json!({"prompt_tokens": 5, "completion_tokens": 4, "cached_tokens": 500});
        assert_eq!(read(&cached).or_estimate(9, 0).cached_tokens, None);
    }

    #[test]
    fn what_is_missing_is_estimated_marked_and_never_zero() {
        for usage in [
            json!(null),
            json!({}),
            json!([1]),
            json!({"prompt_tokens": 0, "completion_tokens": 0}),
        ] {
            let usage = read(&usage).or_estimate(9, 0);
            assert_eq!((usage.input_tokens, usage.output_tokens, usage.estimated), (3, 1, true));
        }
        let half = read(&json!({"prompt_tokens": 7})).or_estimate(400, 8);
        assert_eq!((half.input_tokens, half.output_tokens, half.estimated), (7, 2, true));
    }
}
