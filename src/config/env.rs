//! The process's environment: read once, here and nowhere else in this crate, and handed down.

use std::{collections::BTreeMap, ffi::OsString, fmt, path::PathBuf};

/// A snapshot of environment variables. An empty value counts as an absent one.
#[derive(Clone, Default)]
pub struct Env(BTreeMap<String, OsString>);

impl Env {
    /// The environment of this process, as it is now. Names that are not UTF-8 are left out.
    pub fn of_process() -> Self {
        let named =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        Self(named.collect())
    }

    /// An environment of just these variables.
    pub fn of<N: Into<String>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// A variable's text; `None` when it is absent, empty or not UTF-8.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.to_str().filter(|text| !text.is_empty())
    }

    /// A variable as a path, whatever its encoding.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.0.get(name).filter(|text| !text.is_empty()).map(PathBuf::from)
    }

    /// The variables whose names begin so, with the rest of the name, in the order of their names.
    pub fn starting_with<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let after = self
            .0
            .range(prefix.to_owned()..)
            .map_while(move |(name, value)| Some((name.strip_prefix(prefix)?, value)));
        after.filter_map(|(rest, value)| {
            Some((rest, value.to_str().filter(|text| !text.is_empty())?))
        })
    }

    /// Every variable, for a child process's environment to be chosen from.
    pub fn all(&self) -> impl Iterator<Item = (&str, &OsString)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The names only: a value may be a secret.
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_variables_are_absent_and_values_are_not_shown() {
        let env = Env::of([("A", "x-secret"), ("B", ""), ("C__D", "1"), ("C__E", ""), ("CX", "2")]);
        assert_eq!(env.get("A"), Some("x-secret"));
        assert_eq!((env.get("B"), env.path("B"), env.get("Z")), (None, None, None));
        assert_eq!(env.starting_with("C__").collect::<Vec<_>>(), [("D", "1")]);
        assert!(!format!("{env:?}").contains("x-secret"));
    }
}
