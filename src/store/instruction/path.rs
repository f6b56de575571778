//! Where a document is: the rule of paths. Pure.

use std::fmt;

use crate::{store::Error, untrusted};

/// The document that stands for the server itself.
pub const DEFAULT: &str = "tools/toolserver";

/// What every other path begins with.
const ROOT: &str = "instructions/";

/// The most bytes of a path, and the most parts behind `instructions/`.
const MOST_BYTES: usize = 512;
const MOST_PARTS: usize = 8;

/// Single parts that are routes of tools: a document there could not be fetched by its path.
const TAKEN: [&str; 4] = ["add", "read", "remove", "tree"];

/// How much of a wrong path an error repeats, in characters.
const SHOWN: usize = 80;

/// A path in its one spelling: small letters, no slash around it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(String);

impl Path {
    /// Reads a path, with a slash before and behind it or not: [`DEFAULT`], or `instructions/` and 1
    /// to 8 parts.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the rule.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let path = text.trim();
        let path = path.strip_prefix('/').unwrap_or(path);
        let path = path.strip_suffix('/').unwrap_or(path).to_ascii_lowercase();
        if path == DEFAULT || path.strip_prefix(ROOT).is_some_and(is_right) {
            return Ok(Self(path));
        }
        Err(refused(text, "no path of a document"))
    }

    /// Reads the path of a document that is to be contributed.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the rule.
    pub fn contributed(text: &str) -> Result<Self, Error> {
        let path = Self::parse(text)?;
        match path.0.strip_prefix(ROOT) {
            None => Err(refused(text, "the server's own")),
            Some(part) if TAKEN.contains(&part) => Err(refused(text, "the route of a tool")),
            Some(_) => Ok(path),
        }
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_right(below: &str) -> bool {
    let is_part = |part: &str| {
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        part.bytes().next().is_some_and(fits)
            && part.bytes().all(|byte| fits(byte) || b"._-".contains(&byte))
    };
    let mut parts = below.split('/');
    below.len() <= MOST_BYTES - ROOT.len()
        && below.split('/').count() <= MOST_PARTS
        && parts.all(is_part)
}

fn refused(text: &str, why: &str) -> Error {
    let given = untrusted::one_line(text, SHOWN);
    Error::Invalid(format!(
        "`path` `{given}` is {why}: it is `instructions/` and 1 to {MOST_PARTS} parts `[a-z0-9][a-z0-9._-]*` with `/` between them, at most {MOST_BYTES} bytes, as in `instructions/web-7/deploy`"
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn slashes_around_a_path_and_capitals_do_not_count() {
        for (text, path) in [
            ("tools/toolserver", "tools/toolserver"),
            (" /Tools/Toolserver/ ", "tools/toolserver"),
            ("instructions/a", "instructions/a"),
            ("/instructions/A.b_c-1/2/", "instructions/a.b_c-1/2"),
            ("instructions/a..b/c.", "instructions/a..b/c."),
            ("instructions/a/b/c/d/e/f/g/h", "instructions/a/b/c/d/e/f/g/h"),
            ("instructions/read/it", "instructions/read/it"),
        ] {
            assert_eq!(Path::parse(text).unwrap().as_str(), path);
        }
    }

    #[test]
    fn what_leads_elsewhere_is_no_path() {
        let long = format!("instructions/{}", "a".repeat(MOST_BYTES));
        for text in [
            "",
            "/",
            "instructions",
            "instructions/",
            "instructions//",
            "//instructions/a",
            "instructions/a//b",
            "instructions//a",
            "instructions/..",
            "instructions/../a",
            "instructions/a/../b",
            "instructions/a/..",
            "instructions/./a",
            "instructions/.a",
            "instructions/-a",
            "instructions/a/b/c/d/e/f/g/h/i",
            "instructions/%2e%2e/a",
            "instructions/a%2fb",
            "instructions/a\0",
            "instructions/a\\b",
            "instructions/a b",
            "instructions/é",
            "instructions/a\u{2024}\u{2024}/b",
            "tools/other",
            "tools/toolserver/x",
            "/etc/passwd",
            "../instructions/a",
            "file:///etc/passwd",
            "a/instructions/b",
            &long,
        ] {
            let error = Path::parse(text).unwrap_err();
            assert!(
                matches!(&error, Error::Invalid(words) if words.contains("1 to 8 parts")),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn the_servers_own_and_the_routes_of_tools_are_not_for_contributions() {
        for text in [
            "tools/toolserver",
            "instructions/tree",
            "/instructions/ADD/",
            "instructions/read",
            "instructions/remove",
        ] {
            Path::parse(text).unwrap();
            assert!(matches!(Path::contributed(text), Err(Error::Invalid(_))), "{text}");
        }
        Path::contributed("instructions/tree/of-life").unwrap();
    }

    proptest! {
        #[test]
        fn a_path_is_its_own_spelling_and_never_leads_up(text in "/?(instructions/|tools/)?[a-zA-Z0-9._/%\\\\ -]{0,40}") {
            if let Ok(path) = Path::parse(&text) {
                prop_assert_eq!(Path::parse(path.as_str()).unwrap(), path.clone());
                prop_assert!(path.as_str().split('/').all(|part| !part.is_empty() && !part.starts_with('.')));
                prop_assert!(!path.as_str().contains(['%', '\\', ' ']));
            }
        }
    }
}
