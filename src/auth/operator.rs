//! Where the operator's token comes from, and when the server may start with it.

use std::{
    fs::File,
    io::{self, Read as _},
    net::IpAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use secrecy::{ExposeSecret as _, SecretString};

use super::{SHORTEST, TooShort};
use crate::{files, ids};

/// The file of a token that the server made itself.
const MADE: &str = "operator.token";

/// The longest token file, in bytes.
const LONGEST: u64 = 64 << 10;

/// The operator's token.
#[derive(Debug, Clone)]
pub struct Operator {
    /// The token.
    pub secret: SecretString,
    /// Where it came from.
    pub origin: Origin,
}

/// Where a token came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It was given, in the environment or the settings.
    Given,
    /// It is the one in this file, which the server made.
    File(PathBuf),
}

/// Why the server may not start with the token that it has.
#[derive(Debug, thiserror::Error)]
pub enum Posture {
    /// It would be reached from other machines with a token that nobody chose.
    #[error(
        "`server.listen` is {address}, which other machines can reach, and no token was given: set `ADJUTANT_OPERATOR_TOKEN` ({SHORTEST} characters or more, such as from `openssl rand -hex 32`), or listen on 127.0.0.1"
    )]
    Open {
        /// The address.
        address: IpAddr,
    },
    /// The token that was given is too short.
    #[error("`auth.operator_token` (`ADJUTANT_OPERATOR_TOKEN`): {0}")]
    Given(#[source] TooShort),
    /// The token in the file is too short.
    #[error("`{}`: {short}; or remove the file, and the server makes a new one", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// How short it is.
        short: TooShort,
    },
    /// Others can read the file.
    #[error("others can read `{}` (mode {mode:03o}): `chmod 600` it, or remove it and the server makes a new one", .path.display())]
    Shared {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file cannot be read or written.
    #[error("cannot read or write the token file `{}`: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Operator {
    /// The token that was given; else, for a loopback address, the one in the data directory,
    /// which is made at the first start.
    ///
    /// # Errors
    /// See [`Posture`].
    pub fn resolve(
        given: Option<&SecretString>,
        address: IpAddr,
        data_dir: &Path,
    ) -> Result<Self, Posture> {
        if let Some(secret) = given {
            let text = secret.expose_secret().trim();
            long_enough(text).map_err(Posture::Given)?;
            return Ok(Self { secret: text.into(), origin: Origin::Given });
        }
        if !address.is_loopback() {
            return Err(Posture::Open { address });
        }
        let path = data_dir.join(MADE);
        let io = |error| Posture::Io { path: path.clone(), error };
        let secret = if let Some(file) = open(&path).map_err(io)? {
            let mode = file.metadata().map_err(io)?.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                return Err(Posture::Shared { path, mode });
            }
            let mut text = String::new();
            file.take(LONGEST).read_to_string(&mut text).map_err(io)?;
            let text = text.trim();
            if let Err(short) = long_enough(text) {
                return Err(Posture::File { path, short });
            }
            SecretString::from(text)
        } else {
            let secret = SecretString::from(ids::secret().map_err(io)?);
            let text = format!("{}\n", secret.expose_secret());
            files::replace_own(&path, &text).map_err(io)?;
            secret
        };
        Ok(Self { secret, origin: Origin::File(path) })
    }
}

fn long_enough(text: &str) -> Result<(), TooShort> {
    let length = text.chars().count();
    if length < SHORTEST { Err(TooShort { length }) } else { Ok(()) }
}

/// The token's file. One without a byte counts as none: nobody wrote that, a disk was full.
fn open(path: &Path) -> io::Result<Option<File>> {
    match files::own(File::options().read(true), path) {
        Ok(file) if file.metadata()?.len() == 0 => Ok(None),
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const ANY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);

    #[test]
    fn a_made_token_is_private_and_used_again() {
        let dir = tempfile::tempdir().unwrap();
        let first = Operator::resolve(None, LOOPBACK, dir.path()).unwrap();
        let again = Operator::resolve(None, LOOPBACK, dir.path()).unwrap();
        assert_eq!(first.secret.expose_secret(), again.secret.expose_secret());
        let path = dir.path().join("operator.token");
        assert_eq!(again.origin, Origin::File(path.clone()));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = Operator::resolve(None, LOOPBACK, dir.path()).unwrap_err();
        assert!(matches!(error, Posture::Shared { mode: 0o644, .. }), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, "short\n").unwrap();
        let error = Operator::resolve(None, LOOPBACK, dir.path()).unwrap_err();
        assert!(matches!(error, Posture::File { .. }), "{error}");
    }

    #[test]
    fn a_token_file_without_a_byte_is_replaced_and_a_planted_link_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("operator.token");
        fs::write(&path, "").unwrap();
        let made = Operator::resolve(None, LOOPBACK, dir.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().trim(), made.secret.expose_secret());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let elsewhere = dir.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        let error = Operator::resolve(None, LOOPBACK, dir.path()).unwrap_err();
        assert!(matches!(error, Posture::Io { .. }), "{error}");
    }

    #[test]
    fn an_open_address_needs_a_token_that_was_given() {
        let dir = tempfile::tempdir().unwrap();
        Operator::resolve(None, LOOPBACK, dir.path()).unwrap();
        let error = Operator::resolve(None, ANY, dir.path()).unwrap_err();
        assert!(error.to_string().contains("ADJUTANT_OPERATOR_TOKEN"), "{error}");
        let good = SecretString::from(" 0123456789abcdef0123456789abcdef\n");
        let operator = Operator::resolve(Some(&good), ANY, dir.path()).unwrap();
        assert_eq!(operator.secret.expose_secret().len(), 32);
        let short = SecretString::from("hunter2");
        let error = Operator::resolve(Some(&short), LOOPBACK, dir.path()).unwrap_err();
        assert!(matches!(error, Posture::Given(TooShort { length: 7 })), "{error}");
        assert!(!error.to_string().contains("hunter2"));
    }
}
