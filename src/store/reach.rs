//! Whether anybody listens where PostgreSQL is said to be: a pool alone would try for long, and not
//! say what was wrong.

use std::{io, str::FromStr as _, time::Duration};

use secrecy::{ExposeSecret as _, SecretString};
use sqlx::postgres::PgConnectOptions;
use tokio::{net::TcpStream, time::timeout};

use super::OpenError;

/// How long a connection may take to be made.
const PATIENCE: Duration = Duration::from_secs(10);

/// Looks whether somebody listens there.
///
/// # Errors
/// The host and port, and what to do. What is no URL is for others to refuse.
pub(super) async fn reach(url: &SecretString) -> Result<(), OpenError> {
    let Some((host, port)) = place(url) else { return Ok(()) };
    let failed = |why: &str| Err(OpenError::failed("PostgreSQL", &why));
    match timeout(PATIENCE, TcpStream::connect((&*host, port))).await {
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => failed(&format!(
            "nobody listens at `{host}:{port}`: start the server there, or mend `store.database_url`"
        )),
        Ok(Err(error)) => failed(&format!("`{host}:{port}` cannot be reached: {error}")),
        Ok(Ok(_)) => Ok(()),
        Err(_) => failed(&silent(&host, port)),
    }
}

/// With words for a server that took the connection and never spoke.
pub(super) fn explain(error: OpenError, url: &SecretString) -> OpenError {
    match (error, place(url)) {
        (OpenError::Failed { place, why }, Some((host, port)))
            if why.contains("pool timed out") =>
        {
            OpenError::Failed { place, why: silent(&host, port) }
        }
        (error, _) => error,
    }
}

fn silent(host: &str, port: u16) -> String {
    format!(
        "the server at `{host}:{port}` does not answer within {} s: look whether it is PostgreSQL, runs and has connections free",
        PATIENCE.as_secs()
    )
}

/// The host and port; none for a socket in a directory.
fn place(url: &SecretString) -> Option<(String, u16)> {
    let options = PgConnectOptions::from_str(url.expose_secret()).ok()?;
    let host = options.get_host();
    let is_directory = options.get_socket().is_some() || host.starts_with('/');
    (!is_directory).then(|| (host.to_owned(), options.get_port()))
}
