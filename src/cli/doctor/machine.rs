//! What a server needs of the machine: its data directory, room on the disk, a clock.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, access, statvfs};

use super::finding::{
    Finding,
    Verdict::{Ok as Fine, Warning, Wrong},
};
use crate::{
    clock::{self, Clock},
    files,
};

/// Less room than this is worth a warning, and less than that is too little, in bytes.
const LITTLE: u64 = 1024 * 1024 * 1024;
const TOO_LITTLE: u64 = 64 * 1024 * 1024;

/// The first moment of 2026 and of 2100, in microseconds of UTC: a clock outside is not set.
const EARLIEST: i64 = 1_767_225_600_000_000;
const LATEST: i64 = 4_102_444_800_000_000;

/// The data directory: that there can be one, and that it is its owner's alone.
pub(super) fn data_dir(dir: &Path) -> Finding {
    let finding = |verdict, words: String| Finding::new("data directory", verdict, words);
    let shown = dir.display();
    match fs::metadata(dir) {
        Ok(about) if !about.is_dir() => finding(
            Wrong,
            format!(
                "{shown} is no directory: move it away, or name another with `ADJUTANT_DATA_DIR`"
            ),
        ),
        Ok(about) => {
            let mode = about.permissions().mode() & 0o777;
            if access(dir, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).is_err() {
                let words =
                    format!("{shown} cannot be written: check its owner and mode ({mode:03o})");
                return finding(Wrong, words);
            }
            if let Some(lax) = files::lax(&about) {
                return finding(Wrong, format!("{shown} is not used: {lax}"));
            }
            if mode & 0o077 != 0 {
                return finding(
                    Warning,
                    format!("others can enter {shown} (mode {mode:03o}): `chmod 700` it"),
                );
            }
            finding(Fine, shown.to_string())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = existing(dir);
            if access(&parent, Access::WRITE_OK | Access::EXEC_OK).is_err() {
                let words =
                    format!("{shown} cannot be made: {} cannot be written", parent.display());
                return finding(Wrong, words);
            }
            finding(Fine, format!("{shown}, not there yet: the first start makes it"))
        }
        Err(error) => finding(Wrong, format!("{shown} cannot be looked at: {error}")),
    }
}

/// Who has a data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// No server.
    Nobody,
    /// A server, with its process where it says which it is.
    Server(Option<u32>),
}

/// Who holds the data directory's lock. It is looked at and not taken.
///
/// # Errors
/// When the lock cannot be looked at.
pub(super) fn holder(dir: &Path) -> io::Result<Holder> {
    let path = dir.join("lock");
    let lock = match files::own(File::options().read(true), &path) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Holder::Nobody),
        Err(error) => return Err(error),
    };
    match lock.try_lock_shared() {
        Ok(()) => Ok(Holder::Nobody),
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let read = lock.take(32).read_to_string(&mut text).ok();
            Ok(Holder::Server(read.and_then(|_| text.trim().parse().ok())))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The room on the disk of the data directory.
pub(super) fn disk(dir: &Path) -> Finding {
    let place = existing(dir);
    let about = match statvfs(&place) {
        Ok(about) => about,
        Err(error) => {
            let words = format!("the room at {} cannot be told: {error}", place.display());
            return Finding::new("disk", Warning, words);
        }
    };
    let free = about.f_bavail.saturating_mul(about.f_frsize);
    let words = format!("{} free at {}", bytesize::ByteSize(free), place.display());
    match free {
        ..TOO_LITTLE => Finding::new("disk", Wrong, format!("{words}: make room")),
        TOO_LITTLE..LITTLE => Finding::new("disk", Warning, format!("{words}: make room soon")),
        _ => Finding::new("disk", Fine, words),
    }
}

/// The clock: that somebody set it.
pub(super) fn time(clock: &Clock) -> Finding {
    let now = clock.now();
    let shown = clock::rfc3339(now);
    if (EARLIEST..LATEST).contains(&now) {
        Finding::new("clock", Fine, shown)
    } else {
        let words = format!(
            "it is {shown} by this machine's clock: set it, or certificates and leases fail"
        );
        Finding::new("clock", Wrong, words)
    }
}

/// The nearest directory above, or this one, that is there.
fn existing(dir: &Path) -> PathBuf {
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    dir.ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("/")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_judged_by_what_a_server_could_do_with_it() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("data");
        let missing = data_dir(&dir);
        assert!(missing.verdict == Fine && missing.words.contains("not there yet"), "{missing:?}");
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        let open = data_dir(&dir);
        assert!(open.verdict == Warning && open.words.contains("chmod 700"), "{open:?}");
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o775)).unwrap();
        let lax = data_dir(&dir);
        assert!(lax.verdict == Wrong && lax.words.contains("chmod 700"), "{lax:?}");
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(data_dir(&dir).verdict, Fine);
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(data_dir(&file).verdict, Wrong);
        assert_eq!(data_dir(&file.join("below")).verdict, Wrong);
    }

    #[test]
    fn a_lock_is_seen_while_it_is_held_and_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(holder(dir.path()).unwrap(), Holder::Nobody);
        fs::write(dir.path().join("lock"), "4711\n").unwrap();
        assert_eq!(holder(dir.path()).unwrap(), Holder::Nobody);
        let lock = File::open(dir.path().join("lock")).unwrap();
        lock.lock().unwrap();
        assert_eq!(holder(dir.path()).unwrap(), Holder::Server(Some(4711)));
        drop(lock);
        assert_eq!(holder(dir.path()).unwrap(), Holder::Nobody);
    }

    #[test]
    fn a_clock_that_nobody_set_is_wrong() {
        assert_eq!(time(&Clock::set_to(0)).verdict, Wrong);
        assert_eq!(time(&Clock::set_to(LATEST)).verdict, Wrong);
        assert_eq!(time(&Clock::set_to(EARLIEST)).verdict, Fine);
        assert_ne!(disk(Path::new("/no/such/place")).words, "");
    }
}
