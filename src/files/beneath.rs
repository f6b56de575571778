//! Files that a caller names: only beneath directories that the operator has opened to callers, and
//! it is the kernel that holds to that.
//!
//! The directories are opened once. Each path is resolved by `openat2` from such a handle, so that
//! neither `..` nor a symbolic link nor a directory moved meanwhile leads out of it.

use std::{
    fs::File,
    io::{self, ErrorKind},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2},
    io::Errno,
};

/// How often a path is resolved anew when something was moved meanwhile.
const TRIES: usize = 16;

/// The directories whose files callers may name.
#[derive(Debug, Default)]
pub(crate) struct Roots(Vec<Root>);

#[derive(Debug)]
struct Root {
    /// What it is called: as it was named, and where that leads.
    names: Vec<PathBuf>,
    dir: OwnedFd,
}

/// The path leads out of every directory that callers may name files of.
#[derive(Debug, thiserror::Error)]
#[error("it leads out of the directories of `files.roots`")]
struct Outside;

impl Roots {
    /// Opens the directories.
    ///
    /// # Errors
    /// When one is not named by an absolute path, or cannot be opened; the text names it.
    pub(crate) fn open(paths: &[PathBuf]) -> io::Result<Self> {
        let root = |path: &PathBuf| {
            let told = |error: &dyn std::fmt::Display| {
                let path = path.display();
                format!("`{path}` of `files.roots` {error}: mend the setting, or take it out")
            };
            if !path.is_absolute() {
                let words = told(&"is no absolute path");
                return Err(io::Error::new(ErrorKind::InvalidInput, words));
            }
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let opened = open(path, flags, Mode::empty()).map_err(io::Error::from);
            let opened = opened.and_then(|dir| Ok((dir, path.canonicalize()?)));
            let (dir, real) = opened.map_err(|error| {
                io::Error::new(error.kind(), told(&format!("cannot be opened ({error})")))
            })?;
            Ok(Root { names: vec![path.clone(), real], dir })
        };
        paths.iter().map(root).collect::<io::Result<_>>().map(Self)
    }

    /// Whether no file can be named.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The whole text of a regular file of at most `most` bytes. A relative path is looked for in
    /// each directory in turn.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; [`ErrorKind::InvalidInput`] when it leads out of them; when it is no
    /// regular file ([`ErrorKind::InvalidInput`]: devices are not even opened), larger
    /// ([`ErrorKind::FileTooLarge`]), not UTF-8 ([`ErrorKind::InvalidData`]), or cannot be read. It
    /// never waits for a writer.
    pub(crate) fn read_text(&self, path: &str, most: u64) -> io::Result<String> {
        if path.contains(char::is_control) {
            let words = "it has a control character";
            return Err(io::Error::new(ErrorKind::InvalidInput, words));
        }
        let path = Path::new(path);
        let mut places: Vec<(&Root, &Path)> =
            self.0.iter().filter_map(|root| Some((root, root.below(path)?))).collect();
        // Of directories that lie in each other, the inner one.
        places.sort_by_key(|(_, rest)| rest.components().count());
        let mut last = io::Error::new(ErrorKind::InvalidInput, Outside);
        for (root, rest) in places {
            match root.file(rest) {
                Ok(file) => return super::text(super::whole(file, most)?),
                Err(error) if error.kind() == ErrorKind::NotFound => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }
}

impl Root {
    /// What is left of a path below this directory; nothing when it is not below it by its words.
    fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        if path.is_relative() {
            return Some(path);
        }
        self.names.iter().find_map(|name| path.strip_prefix(name).ok())
    }

    fn file(&self, rest: &Path) -> io::Result<File> {
        let rest = if rest.as_os_str().is_empty() { Path::new(".") } else { rest };
        // To open a device can already do something: it is looked at first.
        is_file(&self.beneath(rest, OFlags::PATH)?)?;
        let file = self.beneath(rest, OFlags::RDONLY | super::UNWAITING)?;
        is_file(&file)?;
        Ok(File::from(file))
    }

    fn beneath(&self, rest: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let mut tries = 0;
        loop {
            tries += 1;
            let opened = openat2(&self.dir, rest, flags | OFlags::CLOEXEC, Mode::empty(), resolve);
            return match opened {
                Ok(file) => Ok(file),
                Err(Errno::AGAIN | Errno::INTR) if tries < TRIES => continue,
                // Out by `..` or an absolute link; by a link of the kernel's own.
                Err(Errno::XDEV | Errno::LOOP) => {
                    Err(io::Error::new(ErrorKind::InvalidInput, Outside))
                }
                Err(Errno::NOTDIR | Errno::NAMETOOLONG) => Err(ErrorKind::NotFound.into()),
                Err(Errno::NOSYS) => {
                    let words = "this system cannot confine paths: it has no `openat2` (Linux 5.6)";
                    Err(io::Error::new(ErrorKind::Unsupported, words))
                }
                Err(error) => Err(error.into()),
            };
        }
    }
}

fn is_file(file: &OwnedFd) -> io::Result<()> {
    match FileType::from_raw_mode(fstat(file)?.st_mode) {
        FileType::RegularFile => Ok(()),
        _ => Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file")),
    }
}

#[cfg(test)]
mod tests;
