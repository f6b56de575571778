//! Files and standard input that a person names: read within bounds, replaced whole.

use std::{
    fs::{self, File},
    io::{self, Read, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use super::exit::Error;

/// The most bytes that are read of one file or of standard input.
const MOST: u64 = 256 * 1024 * 1024;

/// The whole of a file, or of standard input for `-`.
///
/// # Errors
/// When it cannot be read or is larger than 256 MiB.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    let name = if is_stdin(path) { "standard input".to_owned() } else { shown(path) };
    let mut bytes = Vec::new();
    let read = if is_stdin(path) {
        io::stdin().lock().take(MOST + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes))
    };
    match read {
        Ok(count) if u64::try_from(count).is_ok_and(|count| count <= MOST) => Ok(bytes),
        Ok(_) => Err(Error::usage(format!("{name} is larger than 256 MiB: split it"))),
        Err(error) => Err(unreadable(&name, &error)),
    }
}

/// What is said of a file, or of standard input, that cannot be read.
pub(crate) fn unreadable(name: &str, error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::NotFound {
        return Error::usage(format!("there is no file {name}: check the path"));
    }
    Error::usage(format!("cannot read {name}: {error}"))
}

/// As [`bytes()`], for text.
///
/// # Errors
/// Also when it is not UTF-8.
pub(crate) fn text(path: &Path) -> Result<String, Error> {
    String::from_utf8(bytes(path)?).map_err(|error| {
        let name = if is_stdin(path) { "standard input".to_owned() } else { shown(path) };
        let at = error.utf8_error().valid_up_to();
        Error::usage(format!("{name} is not UTF-8 from byte {at} on: convert it"))
    })
}

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A path in a message.
pub(crate) fn shown(path: &Path) -> String {
    format!("`{}`", path.display())
}

/// A path as one word of a line for a POSIX shell: in single quotes, and never taken for an option.
pub(crate) fn in_shell(path: &Path) -> String {
    let text = path.display().to_string();
    let text = if text.starts_with('-') { format!("./{text}") } else { text };
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Replaces a file whole, and keeps what was there beside it as `NAME.bak`. A new file is for its
/// owner alone, and so is one with a secret; another keeps its mode. A symbolic link is followed.
///
/// # Errors
/// When it cannot be written; then the file is as it was.
pub(crate) fn replace(path: &Path, content: &str, is_secret: bool) -> io::Result<Option<PathBuf>> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let mut backup = None;
    let mut mode = 0o600;
    if let Ok(about) = fs::metadata(&path) {
        mode = about.permissions().mode() & if is_secret { 0o700 } else { 0o777 };
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".bak");
        let kept = path.with_file_name(name);
        fs::copy(&path, &kept)?;
        backup = Some(kept);
    }
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    file.write_all(content.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    File::open(dir)?.sync_all()?;
    Ok(backup)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_with_a_backup_and_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/config.json");
        assert_eq!(replace(&path, "one", false).unwrap(), None);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let link = dir.path().join("link.json");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let backup = replace(&link, "two", false).unwrap().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!((fs::read_to_string(&backup).unwrap().as_str(), mode(&path)), ("one", 0o640));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
        replace(&path, "three", true).unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn a_path_in_a_shell_line_is_one_word_that_nothing_in_it_ends() {
        for (path, word) in [
            ("x/run.db", "'x/run.db'"),
            ("a b;`c`$(d).db", "'a b;`c`$(d).db'"),
            ("it's.db", r"'it'\''s.db'"),
            ("--help", "'./--help'"),
        ] {
            assert_eq!(in_shell(Path::new(path)), word);
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let missing = text(&dir.path().join("none.txt")).unwrap_err();
        assert!(missing.message.contains("there is no file `"), "{missing}");
        let path = dir.path().join("latin1");
        fs::write(&path, b"caf\xe9").unwrap();
        assert!(text(&path).unwrap_err().message.contains("from byte 3 on"));
        assert!(bytes(dir.path()).unwrap_err().message.contains("cannot read"));
    }
}
