//! Opening files so that none of them surprises: what a path leads to may be a pipe that nobody
//! writes to, a device without an end, or a link that somebody else planted.
//!
//! [`read`] is for files that a person names, where links are fine. [`own`], [`own_dir`] and
//! [`replace_own`] are for the data directory, where nothing is followed, and [`Shelf`] for what
//! callers bring there. [`Roots`] is for files that a caller names.

mod beneath;
mod shelf;

use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions},
    io::{self, ErrorKind, Read as _, Write as _},
    os::unix::fs::{
        DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
    },
    path::Path,
};

use bytesize::ByteSize;
use rustix::{fs::OFlags, io::Errno, process::geteuid};

pub(crate) use self::{
    beneath::Roots,
    shelf::{Place, Shelf},
};

/// The whole of a regular file of at most `most` bytes. A symbolic link is followed.
///
/// # Errors
/// When it cannot be read, is no regular file ([`ErrorKind::InvalidInput`]) or is larger
/// ([`ErrorKind::FileTooLarge`]). It never waits for a writer.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::options().read(true).custom_flags(flags(OFlags::empty())).open(path)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(Errno::ISDIR.into());
    }
    if !about.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file"));
    }
    whole(file, most)
}

/// All that a file has, if that is no more than `most` bytes.
fn whole(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The size may be a lie, and grow.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= most) {
        return Ok(bytes);
    }
    let words = format!("it is larger than {}: is it the right file?", ByteSize(most));
    Err(io::Error::new(ErrorKind::FileTooLarge, words))
}

/// As [`read`], for text.
///
/// # Errors
/// Also when it is not UTF-8 ([`ErrorKind::InvalidData`]).
pub(crate) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    text(read(path, most)?)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::new(ErrorKind::InvalidData, format!("it is not UTF-8 from byte {at} on"))
    })
}

/// Opens a file of the data directory; one that is made is its owner's alone. Nothing of it is
/// changed: leave `truncate` off, and cut it when this has gone well.
///
/// # Errors
/// When it cannot be opened, is a symbolic link or no regular file ([`ErrorKind::InvalidInput`]),
/// or belongs to another user ([`ErrorKind::PermissionDenied`]).
pub(crate) fn own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let shown = path.display();
    let strange = || {
        let words = format!("`{shown}` is no regular file of its own: move it elsewhere");
        io::Error::new(ErrorKind::InvalidInput, words)
    };
    let strange_if = |error: io::Error| match error.raw_os_error().map(Errno::from_raw_os_error) {
        // A link; a pipe or a socket opened to write; a directory opened to write.
        Some(Errno::LOOP | Errno::NXIO | Errno::ISDIR) => strange(),
        _ => error,
    };
    let options = options.mode(0o600).custom_flags(flags(OFlags::NOFOLLOW));
    let file = options.open(path).map_err(strange_if)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(strange());
    }
    if about.uid() != geteuid().as_raw() {
        let words = format!("`{shown}` belongs to another user: it is not trusted");
        return Err(io::Error::new(ErrorKind::PermissionDenied, words));
    }
    Ok(file)
}

/// Replaces a file of the data directory, all of it or nothing; its owner alone can read it.
///
/// # Errors
/// When it cannot be written; then nothing is left of it, and what was there stays.
pub(crate) fn replace_own(path: &Path, text: &str) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut file =
        tempfile::Builder::new().permissions(Permissions::from_mode(0o600)).tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    File::open(dir)?.sync_all()
}

/// Why a directory is not used as the data directory.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DirError {
    /// Others can put files into it.
    #[error(
        "others can write to it (mode {mode:03o}, owner {owner}): make it your own and `chmod 700` it, or name another with `ADJUTANT_DATA_DIR`"
    )]
    Lax {
        /// Its mode.
        mode: u32,
        /// The user that it belongs to.
        owner: u32,
    },
    /// It cannot be made or looked at.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Makes the data directory where it is missing. Gives its mode: that others may look into it is
/// allowed, as its files are closed to them one by one.
///
/// # Errors
/// When others can write to it, or it cannot be made.
pub(crate) fn own_dir(path: &Path) -> Result<u32, DirError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let about = fs::metadata(path)?;
    lax(&about).map_or_else(|| Ok(about.mode() & 0o777), Err)
}

/// What is wrong with a directory that others can write to; nothing when they cannot.
pub(crate) fn lax(about: &Metadata) -> Option<DirError> {
    let (mode, owner) = (about.mode() & 0o777, about.uid());
    let is_ours = owner == 0 || owner == geteuid().as_raw();
    (mode & 0o022 != 0 || !is_ours).then_some(DirError::Lax { mode, owner })
}

/// Never waits for a pipe's other end, and never takes a terminal as its own.
const UNWAITING: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// As [`UNWAITING`], with more.
fn flags(more: OFlags) -> i32 {
    // A flag is one of the low bits: it fits.
    i32::try_from((UNWAITING | more).bits()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn pipe(path: &Path) {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    #[test]
    fn a_file_without_an_end_or_a_writer_is_refused_and_a_link_to_a_file_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "12345").unwrap();
        symlink(at("file"), at("link")).unwrap();
        assert_eq!(read(&at("link"), 5).unwrap(), b"12345");
        let large = read(&at("file"), 4).unwrap_err();
        assert_eq!(large.kind(), ErrorKind::FileTooLarge, "{large}");
        symlink("/dev/zero", at("zero")).unwrap();
        pipe(&at("pipe"));
        for name in ["zero", "pipe"] {
            let error = read(&at(name), 5).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name}: {error}");
        }
        assert_eq!(read(dir.path(), 5).unwrap_err().kind(), ErrorKind::IsADirectory);
        fs::write(at("latin1"), b"caf\xe9").unwrap();
        assert!(read_text(&at("latin1"), 5).unwrap_err().to_string().contains("from byte 3 on"));
    }

    #[test]
    fn a_planted_link_or_pipe_is_not_opened_and_what_it_points_to_stays() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("precious"), "precious").unwrap();
        symlink(at("precious"), at("link")).unwrap();
        symlink(at("absent"), at("dangling")).unwrap();
        pipe(&at("pipe"));
        fs::create_dir(at("dir")).unwrap();
        for name in ["link", "dangling", "pipe", "dir"] {
            let mut ways = [File::options(), File::options(), File::options(), File::options()];
            ways[0].read(true);
            ways[1].append(true).create(true);
            ways[2].write(true).create(true);
            ways[3].read(true).write(true).create(true);
            for options in &mut ways {
                let error = own(options, &at(name)).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name}: {error}");
            }
        }
        assert_eq!(fs::read_to_string(at("precious")).unwrap(), "precious");
        assert!(!at("absent").exists());
        let made = own(File::options().append(true).create(true), &at("made")).unwrap();
        assert_eq!(made.metadata().unwrap().mode() & 0o777, 0o600);
        // A link is replaced and not written through.
        replace_own(&at("link"), "new").unwrap();
        assert_eq!(fs::read_to_string(at("precious")).unwrap(), "precious");
        assert!(!fs::symlink_metadata(at("link")).unwrap().is_symlink());
    }

    #[test]
    fn an_own_file_is_replaced_whole_or_not_at_all() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("endpoint.json");
        replace_own(&path, "one").unwrap();
        replace_own(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        // What cannot be put in its place leaves nothing behind.
        let taken = home.path().join("taken");
        fs::create_dir(&taken).unwrap();
        replace_own(&taken, "three").unwrap_err();
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_directory_that_others_can_write_to_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("a/b");
        assert_eq!(own_dir(&dir).unwrap(), 0o700);
        for (mode, is_fine) in
            [(0o755, true), (0o750, true), (0o770, false), (0o702, false), (0o1777, false)]
        {
            fs::set_permissions(&dir, Permissions::from_mode(mode)).unwrap();
            let outcome = own_dir(&dir);
            assert_eq!(outcome.is_ok(), is_fine, "{mode:o}: {outcome:?}");
        }
    }
}
