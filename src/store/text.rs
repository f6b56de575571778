//! What texts of callers may hold: everything but what would be lost on the way.

use super::Error;

/// A text of several lines: at most so many characters, none of them NUL.
///
/// # Errors
/// [`Error::TooLarge`]; [`Error::Invalid`].
pub(super) fn block<'t>(name: &str, text: &'t str, most: usize) -> Result<&'t str, Error> {
    sized(name, text, most)?;
    if text.contains('\0') {
        return Err(nul(&format!("`{name}`")));
    }
    Ok(text)
}

/// What is said of a text with a NUL character.
pub(super) fn nul(what: &str) -> Error {
    Error::Invalid(format!("{what} has a NUL character, which no record can hold: leave it out"))
}

/// A text of one line: at most so many characters, none of them a control character.
///
/// # Errors
/// [`Error::TooLarge`]; [`Error::Invalid`].
pub(super) fn line<'t>(name: &str, text: &'t str, most: usize) -> Result<&'t str, Error> {
    sized(name, text, most)?;
    if text.contains(char::is_control) {
        return Err(Error::Invalid(format!(
            "`{name}` has a control character: give one line of plain text"
        )));
    }
    Ok(text)
}

fn sized(name: &str, text: &str, most: usize) -> Result<(), Error> {
    // No text has more characters than bytes.
    let count = if text.len() <= most { 0 } else { text.chars().count() };
    if count > most {
        return Err(Error::TooLarge(format!(
            "`{name}` has {count} characters, and may have {most}: shorten it"
        )));
    }
    Ok(())
}
