//! The token, and the server that runs on the data directory, if one does.

use std::{fs, io, net::IpAddr, os::unix::fs::PermissionsExt as _, path::Path};

use secrecy::ExposeSecret as _;
use serde_json::json;

use super::{
    finding::{
        Finding,
        Verdict::{Ok as Fine, Warning, Wrong},
    },
    machine::{Holder, holder},
};
use crate::{
    auth::SHORTEST,
    cli::{Context, connect},
    config::Auth,
};

/// The token that a server would start with; nothing is made or shown.
pub(super) fn token(auth: &Auth, address: IpAddr, dir: &Path) -> Finding {
    let finding = |verdict, words: &str| Finding::new("token", verdict, words);
    if let Some(given) = &auth.operator_token {
        let length = given.expose_secret().trim().chars().count();
        if length < SHORTEST {
            let words = format!(
                "the token given has {length} characters and needs {SHORTEST}: `openssl rand -hex 32` makes one"
            );
            return finding(Wrong, &words);
        }
        return finding(Fine, "given");
    }
    if !address.is_loopback() {
        let words = format!(
            "`server.listen` is {address}, which others can reach, and no token is given: set `ADJUTANT_OPERATOR_TOKEN`"
        );
        return finding(Wrong, &words);
    }
    let path = dir.join("operator.token");
    match fs::metadata(&path) {
        Ok(about) if about.permissions().mode() & 0o077 != 0 => {
            finding(Wrong, &format!("others can read {}: `chmod 600` it", path.display()))
        }
        Ok(_) => finding(Fine, &format!("in {}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            finding(Fine, "none yet: the first start makes one")
        }
        Err(error) => finding(Wrong, &format!("{} cannot be read: {error}", path.display())),
    }
}

/// Whether a server runs, and whether programs can find it.
pub(super) async fn running(cx: &Context, dir: &Path) -> Finding {
    let finding = |verdict, words: String| Finding::new("server", verdict, words);
    let process = match holder(dir) {
        Ok(holder) => holder,
        Err(error) => {
            return finding(
                Wrong,
                format!("the lock of the data directory cannot be read: {error}"),
            );
        }
    };
    let endpoint = dir.join("endpoint.json");
    let about = fs::metadata(&endpoint).ok();
    let Holder::Server(process) = process else {
        return match about {
            Some(_) => finding(
                Warning,
                format!(
                    "none runs, and {} is left of one that was killed: the next start replaces it",
                    endpoint.display()
                ),
            ),
            None => finding(
                Fine,
                "none runs: `adjutant mcp` and `adjutant delegate` start one".to_owned(),
            ),
        };
    };
    let process = process.map_or_else(|| "a process".to_owned(), |pid| format!("process {pid}"));
    let Some(about) = about else {
        return finding(
            Warning,
            format!("{process} has the data directory and is not ready, or is about to end"),
        );
    };
    let mode = about.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let words =
            format!("others can read {} (mode {mode:03o}): `chmod 600` it", endpoint.display());
        return finding(Wrong, words);
    }
    match connect::local(cx).await {
        Ok(Some(server)) => match server.trouble().await {
            Ok(None) => finding(Fine, format!("{process} answers at {}", server.url())),
            Ok(Some(why)) => finding(Wrong, format!("{process} at {}: {why}", server.url())),
            Err(error) => finding(Wrong, error.message),
        },
        Ok(None) => finding(
            Wrong,
            format!(
                "{process} has the data directory and does not answer: look at its log, or stop it and start another"
            ),
        ),
        Err(error) => finding(Wrong, error.message),
    }
}

/// Whether the server that `ADJUTANT_URL` names answers, and takes the token in `ADJUTANT_TOKEN`.
pub(super) async fn named(cx: &Context) -> Option<Finding> {
    let url = cx.env.get("ADJUTANT_URL")?;
    let finding = |verdict, words: String| Finding::new("ADJUTANT_URL", verdict, words);
    let asked = async {
        let server = connect::server(cx).await?;
        server.call("ts_categories", json!({})).await
    };
    Some(match asked.await {
        Ok(_) => finding(Fine, format!("{url} answers and takes the token: the commands use it")),
        Err(error) => finding(Wrong, error.message),
    })
}
