//! How far a handoff is, and what may follow. Pure.

use crate::{store::Error, untrusted};

/// The state of a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Nobody has taken it up.
    Open,
    /// A station verified a seat for it.
    Spun,
    /// Somebody says that they are at it.
    Claimed,
    /// A session received it.
    Consumed,
    /// What it is about is finished.
    Done,
    /// It was given up.
    Abandoned,
}

impl State {
    /// Every state, in the order in which they follow.
    pub const ALL: [Self; 6] =
        [Self::Open, Self::Spun, Self::Claimed, Self::Consumed, Self::Done, Self::Abandoned];

    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Spun => "spun",
            Self::Claimed => "claimed",
            Self::Consumed => "consumed",
            Self::Done => "done",
            Self::Abandoned => "abandoned",
        }
    }

    /// The state of a name, in any case; `pending` is an older word for `open`.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the right ones.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let word = text.trim();
        let word = if word.eq_ignore_ascii_case("pending") { "open" } else { word };
        Self::ALL.into_iter().find(|state| state.name().eq_ignore_ascii_case(word)).ok_or_else(
            || {
                let names = Self::ALL.map(|state| format!("`{}`", state.name())).join(", ");
                let given = untrusted::one_line(text, 40);
                Error::Invalid(format!("`status` is one of {names}, not `{given}`"))
            },
        )
    }

    /// Whether this state may become that one. A state does not become itself.
    pub fn may_become(self, to: Self) -> bool {
        match to {
            Self::Open => false,
            Self::Spun => self == Self::Open,
            Self::Claimed => matches!(self, Self::Open | Self::Spun),
            Self::Consumed => matches!(self, Self::Open | Self::Spun | Self::Claimed),
            Self::Done | Self::Abandoned => !self.is_over(),
        }
    }

    /// Whether nothing may follow.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Abandoned)
    }

    /// The states that may become this one, as a list for a statement: `,open,spun,`.
    pub(super) fn before(self) -> String {
        let from = Self::ALL.into_iter().filter(|state| state.may_become(self));
        from.fold(",".to_owned(), |list, state| list + state.name() + ",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole table, written out.
    #[test]
    fn the_moves_are_the_known_ones() {
        let allowed = State::ALL.map(|from| {
            let to = State::ALL.into_iter().filter(|to| from.may_become(*to)).map(State::name);
            to.collect::<Vec<_>>().join(" ")
        });
        assert_eq!(
            allowed,
            [
                "spun claimed consumed done abandoned",
                "claimed consumed done abandoned",
                "consumed done abandoned",
                "done abandoned",
                "",
                ""
            ]
        );
        assert_eq!(State::Claimed.before(), ",open,spun,");
        assert_eq!(State::Open.before(), ",");
    }

    #[test]
    fn words_are_read_in_any_case_and_wrong_ones_are_told_the_right_ones() {
        assert_eq!(State::parse(" Pending "), Ok(State::Open));
        for state in State::ALL {
            assert_eq!(State::parse(&state.name().to_uppercase()), Ok(state));
        }
        let error = State::parse("zzz").unwrap_err().to_string();
        assert!(error.contains("`zzz`") && error.contains("`abandoned`"), "{error}");
        assert!(State::parse("").is_err());
    }
}
