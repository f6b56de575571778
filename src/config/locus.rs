//! A locus of the settings: `name=user@host[:port][|goal]`.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One entry of `loci.default`. Whether its parts are right is for the registry to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DefaultLocus {
    /// What it is called.
    pub name: String,
    /// `user@host[:port]`.
    pub endpoint: String,
    /// What it is for; empty when nobody said.
    pub goal: String,
}

impl FromStr for DefaultLocus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (place, goal) = text.split_once('|').unwrap_or((text, ""));
        let (name, endpoint, goal) = match place.split_once('=') {
            Some((name, endpoint)) => (name.trim(), endpoint.trim(), goal.trim()),
            None => ("", "", ""),
        };
        if name.is_empty() || !endpoint.contains('@') {
            return Err(format!(
                "`{text}` is no locus: write `name=user@host[:port]`, or the same with `|goal` behind it"
            ));
        }
        let owned = str::to_owned;
        Ok(Self { name: owned(name), endpoint: owned(endpoint), goal: owned(goal) })
    }
}

impl TryFrom<String> for DefaultLocus {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<DefaultLocus> for String {
    fn from(locus: DefaultLocus) -> Self {
        let DefaultLocus { name, endpoint, goal } = locus;
        if goal.is_empty() {
            format!("{name}={endpoint}")
        } else {
            format!("{name}={endpoint}|{goal}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_told_apart() {
        for (text, name, endpoint, goal) in [
            ("home-box=me@127.0.0.1", "home-box", "me@127.0.0.1", ""),
            (" a = me@h:22 | what it = is | for ", "a", "me@h:22", "what it = is | for"),
        ] {
            let locus: DefaultLocus = text.parse().unwrap();
            assert_eq!((&*locus.name, &*locus.endpoint, &*locus.goal), (name, endpoint, goal));
            assert_eq!(String::from(locus.clone()).parse::<DefaultLocus>().unwrap(), locus);
        }
        for text in ["", "a", "a=", "=me@h", "a=h", "a|me@h"] {
            let error = text.parse::<DefaultLocus>().unwrap_err();
            assert!(error.contains("name=user@host"), "{text}: {error}");
        }
    }
}
