//! Where an orchestrator is to find the server: through the bridge, or over HTTP.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::Name;
use crate::cli::{
    Context, connect,
    exit::{Error, Exit},
    output::Output,
};

/// Variables that say which server a command means, none of them a secret.
const CARRIED: [&str; 3] = ["ADJUTANT_CONFIG", "ADJUTANT_DATA_DIR", "ADJUTANT_ROSTER"];

/// Where the server is found.
pub(super) enum Place {
    /// Through `adjutant mcp`.
    Stdio(Stdio),
    /// Over HTTP.
    Http(Http),
}

/// The bridge.
pub(super) struct Stdio {
    /// The command that starts it.
    pub(super) argv: Vec<String>,
    /// The server that it is to use, when that is not the one of the data directory.
    pub(super) url: Option<String>,
}

/// The server itself.
pub(super) struct Http {
    /// The URL of `/mcp`.
    pub(super) url: String,
    token: SecretString,
    /// The address of the settings, where the server listens on another one.
    passing: Option<SocketAddr>,
}

impl Place {
    /// Its name in JSON.
    pub(super) fn transport(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(_) => "http",
        }
    }

    /// Says what a person must know of the registration.
    pub(super) fn warn(&self, client: Name, out: &Output) {
        if let Self::Http(Http { url, passing: Some(listen), .. }) = self {
            out.warn(format_args!(
                "{url} is not on the port of the settings: a server that was started by itself \
                 leaves when it is idle, and the next one has another port; for one that stays, \
                 run `adjutant serve --listen {listen}` and register that"
            ));
        }
        match self {
            Self::Http(_) if client == Name::Codex => {
                out.note("start Codex with the server's token in the variable ADJUTANT_TOKEN");
            }
            Self::Http(_) => {
                out.warn("this holds the server's token: whoever reads it may use the server");
            }
            Self::Stdio(Stdio { url: Some(url), .. }) => {
                out.note(format_args!(
                    "start the client with the token of {url} in the variable ADJUTANT_TOKEN"
                ));
            }
            Self::Stdio(_) => {}
        }
    }

    /// The text without the token.
    pub(super) fn redacted(&self, text: &str) -> String {
        match self {
            Self::Http(http) => text.replace(http.token(), "[redacted]"),
            Self::Stdio(_) => text.to_owned(),
        }
    }
}

impl Stdio {
    /// This very program as a bridge, with the variables and flags that say which server it means.
    ///
    /// # Errors
    /// When the program's own path cannot be known, or a path is not UTF-8.
    pub(super) fn find(cx: &Context, url: Option<&Url>) -> Result<Self, Error> {
        let program = std::env::current_exe().map_err(|error| {
            Error::failed(format!("cannot tell where this program is: {error}"))
        })?;
        let url = url.map(|url| url.as_str().trim_end_matches('/').to_owned());
        let url = url.or_else(|| cx.env.get("ADJUTANT_URL").map(ToOwned::to_owned));
        let mut words: Vec<String> = Vec::new();
        for name in CARRIED {
            // The flag counts more than the variable of its name.
            let flag = cx.globals.config.clone().filter(|_| name == "ADJUTANT_CONFIG");
            if let Some(path) = flag.or_else(|| cx.env.path(name)) {
                words.push(format!("{name}={}", utf8(absolute(&path)?)?));
            }
        }
        words.extend(url.as_ref().map(|url| format!("ADJUTANT_URL={url}")));
        if !words.is_empty() {
            words.insert(0, "env".to_owned());
        }
        words.extend([utf8(program)?, "mcp".to_owned()]);
        Ok(Self { argv: words, url })
    }
}

impl Http {
    #[cfg(test)]
    pub(super) fn new(url: &str, token: &str) -> Self {
        Self { url: url.to_owned(), token: token.into(), passing: None }
    }

    /// The server of `--url`, of `ADJUTANT_URL`, or the one that runs on the data directory.
    ///
    /// # Errors
    /// When there is no server, or no token for it.
    pub(super) async fn find(cx: &Context, url: Option<&Url>) -> Result<Self, Error> {
        let (base, token, passing) = if let Some(url) = url {
            let token = cx.env.get("ADJUTANT_TOKEN").ok_or_else(|| {
                Error::new(
                    Exit::Auth,
                    "a server named with --url needs its token in `ADJUTANT_TOKEN`",
                )
            })?;
            (url.to_string(), SecretString::from(token), None)
        } else {
            let server = connect::running(cx).await?.ok_or_else(|| {
                Error::new(
                    Exit::Temporary,
                    "no server runs on the data directory: start `adjutant serve`, or name one with --url",
                )
            })?;
            let token = server.token().ok_or_else(|| {
                Error::new(Exit::Auth, "the server's token is not known here: set `ADJUTANT_TOKEN`")
            })?;
            (server.url().to_owned(), token.clone(), passing(cx, server.url())?)
        };
        let base = base.trim_end_matches('/');
        let base = base.strip_suffix("/mcp").unwrap_or(base);
        Ok(Self { url: format!("{base}/mcp"), token, passing })
    }

    /// The token, for the registration.
    pub(super) fn token(&self) -> &str {
        self.token.expose_secret()
    }
}

/// The address of the settings, unless the server that was found has its port or was named.
fn passing(cx: &Context, url: &str) -> Result<Option<SocketAddr>, Error> {
    if cx.env.get("ADJUTANT_URL").is_some() {
        return Ok(None);
    }
    let listen = cx.settings(Vec::new())?.settings.server.listen;
    let port = Url::parse(url).ok().and_then(|url| url.port());
    Ok((port != Some(listen.port())).then_some(listen))
}

fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path)
        .map_err(|error| Error::usage(format!("`{}` is no path: {error}", path.display())))
}

fn utf8(path: PathBuf) -> Result<String, Error> {
    path.into_os_string().into_string().map_err(|path| {
        Error::usage(format!("`{}` is not UTF-8, and a registration must be", path.display()))
    })
}
