//! A shelf: a directory of the data directory, in which each place is a directory of files that is
//! written once, whole or not at all.
//!
//! The shelf is opened once, and everything is named from that handle by the kernel: no link is
//! followed, and no name leads out of it. Its places and files are their owner's alone.

use std::{
    fs::File,
    io::{self, ErrorKind, Write as _},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{
        AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, fsync, mkdirat, open,
        openat, openat2, renameat_with, statat, unlinkat,
    },
    io::Errno,
};

use super::{UNWAITING, own_dir, whole};

/// How often a name is resolved anew when something was moved meanwhile.
const TRIES: usize = 16;

/// What the name of a place begins with while it is made or taken away.
const MAKING: &str = ".new-";
const GOING: &str = ".old-";

/// An opened shelf.
#[derive(Debug)]
pub(crate) struct Shelf {
    path: PathBuf,
    dir: OwnedFd,
}

/// A place that is on the shelf, or what is left of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its name.
    pub(crate) name: String,
    /// When it was last changed, in seconds of UTC by the machine's clock.
    pub(crate) changed: i64,
}

impl Place {
    /// Whether it was never finished, or only half taken away.
    pub(crate) fn is_left_over(&self) -> bool {
        self.name.starts_with('.')
    }
}

impl Shelf {
    /// Opens the directory; makes it where it is missing.
    ///
    /// # Errors
    /// When it cannot be opened, is a symbolic link, or others can write to it.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let told =
            |error: &dyn std::fmt::Display| format!("`{}` cannot be used: {error}", path.display());
        own_dir(path).map_err(|error| io::Error::new(ErrorKind::PermissionDenied, told(&error)))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = open(path, flags, Mode::empty()).map_err(|errno| {
            let error = io::Error::from(errno);
            io::Error::new(error.kind(), told(&error))
        })?;
        Ok(Self { path: path.to_owned(), dir })
    }

    /// The path of a place, for people.
    pub(crate) fn path(&self, place: &str) -> PathBuf {
        self.path.join(place)
    }

    /// Writes a place: when this is `Ok`, all of it is on the disk.
    ///
    /// # Errors
    /// When it is there already ([`ErrorKind::AlreadyExists`]), a name is none, or it cannot be
    /// written; then nothing of it is left.
    pub(crate) fn put(&self, place: &str, files: &[(String, Vec<u8>)]) -> io::Result<()> {
        named(place)?;
        files.iter().try_for_each(|(name, _)| named(name))?;
        let making = format!("{MAKING}{place}");
        mkdirat(&self.dir, &*making, Mode::RWXU)?;
        let made = self.fill(&making, files).and_then(|()| {
            renameat_with(&self.dir, &*making, &self.dir, place, RenameFlags::NOREPLACE)?;
            Ok(fsync(&self.dir)?)
        });
        if made.is_err() {
            // What cannot be taken away now is looked for later.
            let _ = self.clear(&making);
        }
        made
    }

    fn fill(&self, place: &str, files: &[(String, Vec<u8>)]) -> io::Result<()> {
        let dir = self.enter(place)?;
        for (name, bytes) in files {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
            let mode = Mode::RUSR | Mode::WUSR;
            let mut file = File::from(openat(&dir, &**name, flags | OFlags::CLOEXEC, mode)?);
            file.write_all(bytes)?;
            file.sync_all()?;
        }
        Ok(fsync(&dir)?)
    }

    fn enter(&self, place: &str) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.dir, place, flags, Mode::empty())?)
    }

    /// A file of a place.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; [`ErrorKind::InvalidInput`] where it is a link or no regular file;
    /// [`ErrorKind::FileTooLarge`] beyond `most` bytes; when it cannot be read.
    pub(crate) fn read(&self, place: &str, name: &str, most: u64) -> io::Result<Vec<u8>> {
        named(place)?;
        named(name)?;
        let path = format!("{place}/{name}");
        let strange = || io::Error::new(ErrorKind::InvalidInput, "it is no regular file");
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let mut tries = 0;
        let file = loop {
            tries += 1;
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | UNWAITING;
            match openat2(&self.dir, &*path, flags, Mode::empty(), resolve) {
                Ok(file) => break File::from(file),
                Err(Errno::AGAIN | Errno::INTR) if tries < TRIES => {}
                Err(Errno::LOOP | Errno::XDEV | Errno::NXIO) => return Err(strange()),
                Err(Errno::NOTDIR) => return Err(ErrorKind::NotFound.into()),
                Err(error) => return Err(error.into()),
            }
        };
        if !file.metadata()?.is_file() {
            return Err(strange());
        }
        whole(file, most)
    }

    /// Takes a place away; one that is not there is gone already.
    ///
    /// # Errors
    /// When it cannot be taken away, or not all of it: then what is left is no place any more.
    pub(crate) fn remove(&self, place: &str) -> io::Result<()> {
        named(place)?;
        let going = format!("{GOING}{place}");
        match renameat_with(&self.dir, place, &self.dir, &*going, RenameFlags::NOREPLACE) {
            Ok(()) => self.clear(&going),
            Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes away what is left of a place.
    ///
    /// # Errors
    /// When it cannot be taken away.
    pub(crate) fn clear(&self, left: &str) -> io::Result<()> {
        match self.enter(left) {
            Ok(dir) => {
                for name in entries(dir.as_fd())? {
                    unlinkat(&dir, &*name, AtFlags::empty())?;
                }
                unlinkat(&self.dir, left, AtFlags::REMOVEDIR)?;
            }
            // Something else that somebody put there.
            Err(_) => unlinkat(&self.dir, left, AtFlags::empty())?,
        }
        Ok(fsync(&self.dir)?)
    }

    /// What is on the shelf.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn places(&self) -> io::Result<Vec<Place>> {
        let mut places = Vec::new();
        for name in entries(self.dir.as_fd())? {
            match statat(&self.dir, &*name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(about) if FileType::from_raw_mode(about.st_mode) == FileType::Directory => {
                    places.push(Place { name, changed: about.st_mtime });
                }
                // Something else, or gone meanwhile.
                Ok(_) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(places)
    }
}

/// The names in a directory; those that are no UTF-8 are none of ours.
fn entries(dir: BorrowedFd<'_>) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        match entry.file_name().to_str() {
            Ok("." | "..") | Err(_) => {}
            Ok(name) => names.push(name.to_owned()),
        }
    }
    Ok(names)
}

/// Refuses what is more than one plain name.
fn named(name: &str) -> io::Result<()> {
    let odd = |c: char| c == '/' || c.is_control();
    if name.is_empty() || name.starts_with('.') || name.len() > 200 || name.contains(odd) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no name of a file"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
