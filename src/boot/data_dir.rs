//! The data directory, and the lock that makes one server its only writer.

use std::{
    fs::{self, DirBuilder, File, TryLockError},
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use super::Failure;

/// A data directory that is ours until this is dropped. The lock is the kernel's: it goes with the
/// process, however that ends.
#[derive(Debug)]
pub(super) struct DataDir {
    pub(super) path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Makes the directory where it is missing and locks it.
    ///
    /// # Errors
    /// [`Failure::SecondInstance`] at once when another process has it; [`Failure::DataDir`].
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |error| Failure::DataDir { dir: path.to_owned(), error };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        let mode = fs::metadata(path).map_err(failed)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            tracing::warn!(dir = %path.display(), mode = format!("{mode:03o}"), "others can enter the data directory: `chmod 700` it");
        }
        let mut lock = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path.join("lock"))
            .map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let pid =
                    lock.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                return Err(Failure::SecondInstance { dir: path.to_owned(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // For the words of a second server alone: the lock does not depend on it.
        let _ = lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id()));
        Ok(Self { path: path.to_owned(), _lock: lock })
    }
}

/// Writes a file that its owner alone can read, all of it or nothing.
pub(super) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut file =
        tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o600)).tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
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
    fn a_private_file_is_replaced_whole() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("endpoint.json");
        write_private(&path, "one").unwrap();
        write_private(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
