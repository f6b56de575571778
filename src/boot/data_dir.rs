//! The data directory, and the lock that makes one server its only writer.

use std::{
    fs::{File, TryLockError},
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
};

use super::Failure;
use crate::files::{self, DirError};

/// The longest process number that is read of the lock, in bytes.
const LONGEST: u64 = 32;

/// A data directory that is ours until this is dropped. The lock is the kernel's: it goes with the
/// process, however that ends.
#[derive(Debug)]
pub(crate) struct DataDir {
    pub(crate) path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Makes the directory where it is missing and locks it.
    ///
    /// # Errors
    /// [`Failure::SecondInstance`] at once when another process has it; [`Failure::LaxDir`] when
    /// others can write to it, as they could plant what the server then writes to;
    /// [`Failure::DataDir`].
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |error| Failure::DataDir { dir: path.to_owned(), error };
        let mode = files::own_dir(path).map_err(|error| match error {
            DirError::Io(error) => failed(error),
            lax @ DirError::Lax { .. } => {
                Failure::LaxDir { dir: path.to_owned(), why: lax.to_string() }
            }
        })?;
        if mode & 0o077 != 0 {
            tracing::warn!(dir = %path.display(), mode = format!("{mode:03o}"), "others can enter the data directory: `chmod 700` it");
        }
        let options = &mut File::options();
        options.read(true).write(true).create(true).truncate(false);
        let mut lock = files::own(options, &path.join("lock")).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let read = lock.take(LONGEST).read_to_string(&mut text).ok();
                let pid = read.and_then(|_| text.trim().parse().ok());
                return Err(Failure::SecondInstance { dir: path.to_owned(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // For the words of a second server alone: the lock does not depend on it.
        let _ = lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id()));
        Ok(Self { path: path.to_owned(), _lock: lock })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt as _, symlink},
    };

    use super::*;

    #[test]
    fn s19_a_second_server_is_refused_at_once_and_told_of_the_first() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b");
        let first = DataDir::open(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        let Failure::SecondInstance { pid, .. } = DataDir::open(&path).unwrap_err() else {
            panic!("another failure")
        };
        assert_eq!(pid, Some(std::process::id()));
        drop(first);
        DataDir::open(&path).unwrap();
    }

    #[test]
    fn a_planted_lock_is_refused_and_its_target_is_whole() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("data");
        drop(DataDir::open(&path).unwrap());
        let precious = home.path().join("precious");
        fs::write(&precious, "precious").unwrap();
        fs::remove_file(path.join("lock")).unwrap();
        symlink(&precious, path.join("lock")).unwrap();
        let failure = DataDir::open(&path).unwrap_err();
        assert!(matches!(failure, Failure::DataDir { .. }), "{failure}");
        assert!(failure.to_string().contains("data/lock"), "{failure}");
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    }

    #[test]
    fn a_directory_that_others_can_write_to_is_refused_with_the_remedy() {
        let home = tempfile::tempdir().unwrap();
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o775)).unwrap();
        let failure = DataDir::open(home.path()).unwrap_err();
        assert!(matches!(failure, Failure::LaxDir { .. }), "{failure}");
        let words = failure.to_string();
        assert!(words.contains("775") && words.contains("chmod 700"), "{words}");
        assert!(!home.path().join("lock").exists());
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
        DataDir::open(home.path()).unwrap();
    }
}
