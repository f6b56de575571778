//! The rules of what callers say of a handoff. Pure.

use crate::store::{Error, locus::Endpoint, text};

/// The most characters of the name of who leaves or takes one up.
pub(super) const MOST_NAME: usize = 80;

/// The most characters of a session's id.
const MOST_SESSION: usize = 128;

/// The most characters of a directory.
const MOST_DIR: usize = 200;

/// The most characters of a login.
const MOST_LOGIN: usize = 64;

/// The most characters of what a seat is reached by.
const MOST_HANDLE: usize = 400;

/// The name of somebody, without blanks around it.
pub(super) fn by(given: &str) -> Result<&str, Error> {
    text::line("by", given.trim(), MOST_NAME)
}

/// A session's id in any form, without blanks around it.
pub(super) fn session<'t>(name: &str, given: &'t str) -> Result<&'t str, Error> {
    text::line(name, given.trim(), MOST_SESSION)
}

/// A directory.
pub(super) fn dir(given: &str) -> Result<&str, Error> {
    text::line("dir", given.trim(), MOST_DIR)
}

/// What a seat is reached by.
pub(super) fn handle(given: &str) -> Result<&str, Error> {
    text::line("station_handle", given.trim(), MOST_HANDLE)
}

/// A place, as it was given; empty for none.
pub(super) fn ssh(given: &str) -> Result<&str, Error> {
    let given = given.trim();
    if !given.is_empty() {
        given.parse::<Endpoint>()?;
    }
    Ok(given)
}

/// A login that no command line takes for something else; empty for none.
pub(super) fn login(given: &str) -> Result<&str, Error> {
    let login = text::line("user", given.trim(), MOST_LOGIN)?;
    let fits = |c: char| c.is_alphanumeric() || "._-$+".contains(c);
    if login.starts_with('-') || !login.chars().all(fits) {
        return Err(Error::Invalid(
            "`user` is a login such as `dana`: letters, digits and `._-$+`, no `-` at its start"
                .to_owned(),
        ));
    }
    Ok(login)
}
