//! The server that a command talks to: the one that `ADJUTANT_URL` names, else the one that runs
//! on the data directory, else one that is started for it.

use futures::{StreamExt as _, TryStreamExt as _, stream::BoxStream};
use mcp::{
    Fault, Reply,
    bridge::{Client, Endpoint, Find as _},
};
use secrecy::SecretString;
use serde_json::Value;

use super::{
    Context, edited,
    exit::Error,
    mcp::{Finder, look},
    output,
};
use crate::config::RosterFile;

/// A server, and the token for it.
pub(crate) struct Server {
    client: Client,
    token: Option<SecretString>,
}

impl Server {
    /// The server at that URL.
    ///
    /// # Errors
    /// When the URL is none.
    pub(crate) fn at(url: &str, token: Option<SecretString>) -> Result<Self, Error> {
        Self::of(Endpoint::new(url, token)?)
    }

    fn of(endpoint: Endpoint) -> Result<Self, Error> {
        let token = endpoint.token().cloned();
        Ok(Self { client: Client::new(endpoint)?, token })
    }

    /// Its URL.
    pub(crate) fn url(&self) -> &str {
        self.client.url()
    }

    /// The token for it.
    pub(crate) fn token(&self) -> Option<&SecretString> {
        self.token.as_ref()
    }

    /// Why the server cannot write the records at this moment, as its `/readyz` says.
    ///
    /// # Errors
    /// When it does not answer.
    pub(crate) async fn trouble(&self) -> Result<Option<String>, Error> {
        let ready = Box::pin(self.client.get("/readyz")).await?;
        let why = ready.get("records").and_then(|records| records.get("error")?.as_str());
        Ok(why.map(ToOwned::to_owned))
    }

    /// Calls a tool by its name. Dropping the future stops the call.
    ///
    /// # Errors
    /// The server's, with the exit code of each.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Reply, Error> {
        Ok(Box::pin(self.client.call(tool, arguments)).await?)
    }

    /// Calls a tool that gives its items one by one. Dropping the stream stops the call.
    ///
    /// # Errors
    /// The server's; also in the stream.
    pub(crate) async fn stream(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<BoxStream<'static, Result<Value, Error>>, Error> {
        let rows = Box::pin(self.client.stream(tool, arguments)).await?;
        Ok(rows.map_err(Error::from).boxed())
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::of_fault(fault.body())
    }
}

/// The server for a command, which is started where none runs.
///
/// # Errors
/// Why there is none, or why the one that runs is not to be used.
pub(crate) async fn server(cx: &Context) -> Result<Server, Error> {
    let finder = finder(cx)?;
    let server = Server::of(Box::pin(finder.find()).await?)?;
    if finder.named.is_none() {
        Box::pin(edited::is_taken(&server, &finder.place.data_dir)).await;
    }
    Ok(server)
}

/// The server that is named or runs; none is started.
///
/// # Errors
/// Why the one that runs is not to be used.
pub(crate) async fn running(cx: &Context) -> Result<Option<Server>, Error> {
    match finder(cx)?.named {
        Some(named) => Server::of(named).map(Some),
        None => local(cx).await,
    }
}

/// The server that runs on the data directory, whatever the environment names.
///
/// # Errors
/// Why it is not to be used.
pub(crate) async fn local(cx: &Context) -> Result<Option<Server>, Error> {
    let place = finder(cx)?.place;
    Box::pin(look(&place)).await?.map(Server::of).transpose()
}

/// A command takes the server as it is, unless a roster was named on purpose: then it must be that.
fn finder(cx: &Context) -> Result<Finder, Error> {
    let loaded = cx.settings(Vec::new())?;
    let is_named = matches!(loaded.roster, RosterFile::Named(_));
    let mut finder = Finder::new(cx, loaded, output::aside)?;
    if !is_named {
        finder.place.roster = None;
    }
    Ok(finder)
}
