//! Why the server does not start.

use std::{io, net::SocketAddr, path::PathBuf};

use crate::{auth::Posture, store::OpenError};

/// Why the server does not start. Nothing is left half done.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The token is missing or too weak for the address.
    #[error(transparent)]
    Token(#[from] Posture),
    /// Another server has the data directory.
    #[error("another server{} runs on the data directory `{}` already: stop that one, or name another directory with `ADJUTANT_DATA_DIR`", .pid.map(|pid| format!(" (process {pid})")).unwrap_or_default(), .dir.display())]
    SecondInstance {
        /// The directory.
        dir: PathBuf,
        /// The other server's process, when it said so.
        pid: Option<u32>,
    },
    /// The data directory cannot be used.
    #[error("the data directory `{}` cannot be used: {error}", .dir.display())]
    DataDir {
        /// The directory.
        dir: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Others can write to the data directory.
    #[error("the data directory `{}` is not used: {why}", .dir.display())]
    LaxDir {
        /// The directory.
        dir: PathBuf,
        /// Its mode and owner, and what to do.
        why: String,
    },
    /// The records cannot be opened.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// A setting names what cannot be.
    #[error("{0}")]
    Setting(String),
    /// The roster is missing, cannot be read, or is wrong: every problem on a line of its own, the
    /// first 200 of them.
    #[error("{0}")]
    Roster(String),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}{}", if .error.kind() == io::ErrorKind::AddrInUse { "; another program has it: stop that one, or choose another with `--listen`" } else { "" })]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// Something else.
    #[error("{0:#}")]
    Other(#[from] anyhow::Error),
}
