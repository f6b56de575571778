//! Text files that callers name.

use std::io::ErrorKind;

use bytesize::ByteSize;
use mcp::{Call, Code, Fault};

use super::work::work;
use crate::{app::App, untrusted};

/// Characters of a path that are repeated.
const SHOWN: usize = 200;

/// The text of a file below a directory of `files.roots`, of at most `most` bytes. `instead` is what
/// to do where no directory is open to callers, `large` makes the words for a file that is larger,
/// of what it is called.
///
/// # Errors
/// In the words of the file and what is wrong with it.
pub(super) async fn text(
    cx: &Call<App>,
    path: String,
    most: ByteSize,
    instead: &str,
    large: impl Fn(&str) -> Fault,
) -> Result<String, Fault> {
    let roots = cx.app.roots.clone();
    if roots.is_empty() {
        let words = format!(
            "`path` is off, as no directory is open to callers: set `[files] roots` in adjutant.toml, or {instead}"
        );
        return Err(Fault::invalid(words));
    }
    let shown = untrusted::one_line(&path, SHOWN);
    let read = work(move || roots.read_text(&path, most.as_u64())).await?;
    read.map_err(|error| {
        let words = |why: &str| format!("the file `{shown}` is not read: {why}");
        match error.kind() {
            ErrorKind::NotFound => {
                let words = words("there is none in the directories of `files.roots`");
                Fault::new(Code::NotFound, words)
            }
            ErrorKind::FileTooLarge => large(&format!("the file `{shown}`")),
            ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                Fault::invalid(words(&error.to_string()))
            }
            ErrorKind::PermissionDenied => {
                Fault::invalid(words("the server may not read it: change its mode"))
            }
            _ => Fault::new(Code::Unavailable, words(&error.to_string())),
        }
    })
}
