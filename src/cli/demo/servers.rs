//! The model servers that the demo may use: those that run here and that the person agrees to.

use std::io::{self, BufRead as _, IsTerminal as _};

use crate::{
    cli::{
        exit::Error,
        output::{Output, is_watched},
        progress::Spinner,
        roster::discover::{self, Server},
    },
    untrusted,
};

/// The servers that were found and agreed to, each with one model that makes text. Without a
/// person at a terminal none is looked for.
///
/// # Errors
/// When no HTTP client can be had.
pub(super) async fn agreed(out: &Output) -> Result<Vec<Server>, Error> {
    if !io::stdin().is_terminal() || !is_watched() {
        return Ok(Vec::new());
    }
    let found = Spinner::new("looking for model servers on this machine");
    let found = found.during(discover::find(&discover::PORTS)).await?;
    let mut agreed = Vec::new();
    for mut server in found {
        server.models.retain(|model| !model.is_embedding());
        server.models.truncate(1);
        let Some(model) = server.models.first() else { continue };
        let name = untrusted::one_line(&model.name, 80);
        out.note(format_args!(
            "{} runs here with `{name}`. Use it for this demo too? [y/N]",
            server.base_url
        ));
        if yes().await {
            agreed.push(server);
        }
    }
    Ok(agreed)
}

/// Whether the next line of the terminal says yes.
async fn yes() -> bool {
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    let line = line.await.ok().and_then(Result::ok).unwrap_or_default();
    matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}
