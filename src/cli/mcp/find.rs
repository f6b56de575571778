//! The server that runs on a data directory, found through its endpoint file.
//!
//! The token goes to nobody but that server: the file and the token's file must be the user's own
//! and closed to others, the process must live, and what answers at the URL must be that run of it.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use mcp::{
    Code, Fault,
    bridge::{Client, Endpoint},
};
use rustix::process::{Pid, test_kill_process};
use secrecy::SecretString;

use crate::{boot, config::RosterFile, files};

/// How long the server may take to say who it is.
const ANSWER: Duration = Duration::from_secs(5);

/// The longest endpoint or token file.
const LONGEST: u64 = 64 << 10;

/// Where to look, and what the server must be like.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The data directory.
    pub(crate) data_dir: PathBuf,
    /// The roster file that it must have. `None`: any.
    pub(crate) roster: Option<RosterFile>,
    /// The token, for a server that does not lend its own.
    pub(crate) token: Option<SecretString>,
}

/// The server that runs there; nothing when none does.
///
/// # Errors
/// When one runs and is not to be used: it is of another version or has another roster, or its
/// files are not private; the words say what to do.
pub(crate) async fn look(place: &Place) -> Result<Option<Endpoint>, Fault> {
    let file = place.data_dir.join("endpoint.json");
    let Some(bytes) = private(&file)? else { return Ok(None) };
    // A file of anything else is one that a server is about to replace.
    let Ok(found) = serde_json::from_slice::<boot::Endpoint>(&bytes) else { return Ok(None) };
    if found.service != "adjutant" || !is_alive(found.pid) {
        return Ok(None);
    }
    let bare = Client::new(Endpoint::new(&found.url, None)?)?;
    let Ok(Ok(health)) = tokio::time::timeout(ANSWER, bare.healthz()).await else {
        return Ok(None);
    };
    if health.instance != found.instance {
        return Ok(None);
    }
    let running = format!("the server at {} (process {})", found.url, found.pid);
    let ours = env!("CARGO_PKG_VERSION");
    if found.version != ours {
        return Err(conflict(format!(
            "{running} is version {}, and this is version {ours}: stop it with `kill {}`, or use another `ADJUTANT_DATA_DIR`",
            found.version, found.pid
        )));
    }
    if let Some(wanted) = &place.roster {
        let same = match (wanted.path(), &found.roster) {
            (Some(wanted), Some(has)) => resolved(wanted) == resolved(has),
            (None, None) => true,
            _ => false,
        };
        if !same {
            return Err(conflict(format!(
                "{running} has the roster {}, and this has {}: name the same one with `ADJUTANT_ROSTER`, or use another `ADJUTANT_DATA_DIR`",
                shown(found.roster.as_deref()),
                shown(wanted.path()),
            )));
        }
    }
    let token = match (&place.token, &found.token_file) {
        (Some(token), _) => token.clone(),
        (None, Some(file)) => {
            let gone = || {
                Fault::new(
                    Code::Unavailable,
                    format!(
                        "the token file `{}` is gone or no token: start the server again",
                        file.display()
                    ),
                )
            };
            let bytes = private(file)?.ok_or_else(gone)?;
            SecretString::from(str::from_utf8(&bytes).map_err(|_| gone())?.trim())
        }
        (None, None) => {
            let words = format!("{running} does not lend its token: name it with `ADJUTANT_TOKEN`");
            return Err(Fault::new(Code::Unauthenticated, words));
        }
    };
    Endpoint::new(&found.url, Some(token)).map(Some)
}

fn conflict(words: String) -> Fault {
    Fault::new(Code::Conflict, words)
}

/// A small file that is the user's own and that nobody else can read or write; nothing when there
/// is none.
fn private(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    let failed = |error: io::Error| {
        Fault::new(Code::Unavailable, format!("cannot read `{}`: {error}", path.display()))
    };
    let file = match files::own(File::options().read(true), path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(Fault::new(Code::Forbidden, failed(error).message));
        }
        Err(error) => return Err(failed(error)),
    };
    if file.metadata().map_err(failed)?.mode() & 0o077 != 0 {
        let words =
            format!("`{}` can be read or written by others: `chmod 600` it", path.display());
        return Err(Fault::new(Code::Forbidden, words));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH)))
}

/// The file that a path means, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}

fn shown(path: Option<&Path>) -> String {
    path.map_or("no file".to_owned(), |path| format!("`{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_endpoint_file_of_anything_else_is_as_good_as_none() {
        let home = tempfile::tempdir().unwrap();
        let place = Place { data_dir: home.path().to_owned(), roster: None, token: None };
        assert!(look(&place).await.unwrap().is_none());
        let path = home.path().join("endpoint.json");
        let long = vec![b'['; 100_000];
        for content in [&b"\xff\xfe\x00\x9f random"[..], b"", b"{\"service\":", b"[1]", &long] {
            files::replace_own(&path, "").unwrap();
            fs::write(&path, content).unwrap();
            assert!(look(&place).await.unwrap().is_none());
        }
    }
}
