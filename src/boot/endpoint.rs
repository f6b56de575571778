//! The endpoint file: how programs of the same user find the running server. It is there while the
//! server takes work, and names a token file that the user alone can read.

use std::{
    fs, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
};

use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};

use crate::{
    auth::{Operator, Origin},
    clock::{self, Clock},
    files::replace_own,
};

/// The content of `<data dir>/endpoint.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Always `adjutant`.
    pub service: String,
    /// Where to call it, such as `http://127.0.0.1:7004`.
    pub url: String,
    /// The host of the URL.
    pub host: String,
    /// The port of the URL.
    pub port: u16,
    /// The server's process.
    pub pid: u32,
    /// The id of this run; `/healthz` says the same.
    pub instance: String,
    /// The server's version.
    pub version: String,
    /// The roster file that it was started with, if any.
    pub roster: Option<PathBuf>,
    /// The file with the operator's token; absent when the token was given and is not lent.
    pub token_file: Option<PathBuf>,
    /// When it started, RFC 3339.
    pub started: String,
}

impl Endpoint {
    /// Of a server that listens there.
    pub(super) fn new(
        listening: SocketAddr,
        instance: &str,
        roster: Option<&Path>,
        clock: &Clock,
    ) -> Self {
        // A server on every address is called by the loopback one.
        let host = match listening.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        Self {
            service: "adjutant".to_owned(),
            url: format!("http://{}", SocketAddr::new(host, listening.port())),
            host: host.to_string(),
            port: listening.port(),
            pid: std::process::id(),
            instance: instance.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            // Whoever reads it may be in another directory.
            roster: roster
                .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned())),
            token_file: None,
            started: clock::rfc3339(clock.now()),
        }
    }
}

/// The files that say where the server is; removed when this is dropped.
#[derive(Debug)]
pub(super) struct Published {
    files: Vec<PathBuf>,
}

impl Published {
    /// Writes the endpoint file, and the token beside it where a token that was given is lent.
    pub(super) fn publish(
        endpoint: &mut Endpoint,
        operator: &Operator,
        lend: bool,
        data_dir: &Path,
    ) -> io::Result<Self> {
        let mut files = Vec::new();
        match &operator.origin {
            Origin::File(path) => endpoint.token_file = Some(path.clone()),
            Origin::Given if lend => {
                let path = data_dir.join("endpoint.token");
                replace_own(&path, &format!("{}\n", operator.secret.expose_secret()))?;
                endpoint.token_file = Some(path.clone());
                files.push(path);
            }
            Origin::Given => {}
        }
        let mut published = Self { files };
        let path = data_dir.join("endpoint.json");
        let text = serde_json::to_string_pretty(endpoint).map_err(io::Error::other)?;
        replace_own(&path, &format!("{text}\n"))?;
        published.files.push(path);
        Ok(published)
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        for file in self.files.iter().rev() {
            if let Err(error) = fs::remove_file(file)
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(file = %file.display(), %error, "a file could not be removed");
            }
        }
    }
}
