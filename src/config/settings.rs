//! The settings: every section and key with its meaning and default. The comments are the
//! reference (`docs/config.md` is made of them).

use std::{
    collections::BTreeMap, net::SocketAddr, num::NonZeroUsize, path::PathBuf, time::Duration,
};

use bytesize::ByteSize;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use url::Url;

use super::{
    Allowed, Results,
    records::{Assess, B, Board, Events, Exchanges, Lease, Loci, Prompts, Rolling, Store},
    schema,
};

/// The settings of `adjutant.toml`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Where the server listens, who may reach it, and how long it waits.
    pub server: Server,
    /// How much one request may bring and how much is served at once. JSON may be nested at most
    /// 128 deep on every route.
    pub limits: Limits,
    /// Who may call.
    pub auth: Auth,
    /// Which tools a token has, by the name of its profile. Names: letters, digits, `_` and `-`, at
    /// most 63. Only in the file, not in the environment.
    pub profiles: BTreeMap<String, Profile>,
    /// Backends that are paid by the call.
    pub billing: Billing,
    /// How work is given to backends.
    pub routing: Routing,
    /// The Model Context Protocol: the `/mcp` route and the stdio bridge.
    pub mcp: Mcp,
    /// Replies that are too large for a model to read: they are shown in part, and kept whole for a
    /// while (`docs/results.md`).
    pub results: Results,
    /// Requests that this server sends to URLs which its clients gave it: pushes to stations and
    /// webhooks.
    pub outbound: Outbound,
    /// The station that is asked for seats.
    pub station: Station,
    /// What is logged, to standard error.
    pub log: Log,
    /// Where files are.
    pub files: Files,
    /// Where the records are.
    pub store: Store,
    /// The items of boards.
    pub board: Board,
    /// Leases on the items of boards.
    pub lease: Lease,
    /// The feed of changes.
    pub events: Events,
    /// Exchanges, and the archives of conversations.
    pub exchanges: Exchanges,
    /// Loci that are registered at each start, where their names are free.
    pub loci: Loci,
    /// Questions about a text, a ledger or a file (`b_ask`).
    pub b: B,
    /// Exchanges rolled up into what the next seat has to know (`assess_roll`).
    pub rolling: Rolling,
    /// What is judged of a locus's focus (`assess_submit`).
    pub assess: Assess,
    /// What people submit for sessions (`prompt_submit`).
    pub prompts: Prompts,
}

/// Where the server listens, who may reach it, and how long it waits.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// The address and port to listen on; port 0 takes a free one. An address other than loopback
    /// needs a token that was given on purpose (`auth.operator_token`).
    #[serde(deserialize_with = "address")]
    #[schemars(schema_with = "schema::address")]
    pub listen: SocketAddr,
    /// Values of the `Host` header that are served besides the loopback names and the address
    /// listened on: `name` for any port, or `name:port`. Any other is answered 403, which keeps a
    /// page in a browser from reaching the server by DNS rebinding.
    pub allowed_hosts: Vec<String>,
    /// Values of the `Origin` header that are served, such as `https://app.example` or
    /// `http://localhost:*`. A request without `Origin` is served; one with any other is answered
    /// 403.
    pub allowed_origins: Vec<String>,
    /// The longest time for the head of a request to arrive; also how long a connection without a
    /// request is kept open.
    #[serde(with = "humantime_serde")]
    #[schemars(schema_with = "schema::duration")]
    pub head_timeout: Duration,
    /// The longest time for the body of a request to arrive.
    #[serde(with = "humantime_serde")]
    #[schemars(schema_with = "schema::duration")]
    pub body_timeout: Duration,
    /// The longest time that a client may leave its answer unread before it is given up.
    #[serde(with = "humantime_serde")]
    #[schemars(schema_with = "schema::duration")]
    pub write_timeout: Duration,
    /// How long calls in flight may go on after SIGTERM or SIGINT; a second signal ends them at
    /// once.
    #[serde(with = "humantime_serde")]
    #[schemars(schema_with = "schema::duration")]
    pub drain: Duration,
    /// Leaves by itself after this time without a call, an open stream or a session. Absent: never.
    #[serde(with = "humantime_serde")]
    #[schemars(schema_with = "schema::optional_duration")]
    pub idle_exit: Option<Duration>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7004)),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            head_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_mins(1),
            write_timeout: Duration::from_mins(1),
            drain: Duration::from_secs(30),
            idle_exit: None,
        }
    }
}

/// How much one request may bring and how much is served at once.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The largest body of a route that no other key names.
    #[schemars(schema_with = "schema::size")]
    pub body: ByteSize,
    /// The largest body of a route that takes a whole document (`/ledger/put`, `/ledger/patch`,
    /// `/canvas/put`, `/instructions/add`, `/exchange/record`): one of the greatest length, with each of its characters
    /// escaped.
    #[schemars(schema_with = "schema::size")]
    pub document_body: ByteSize,
    /// The largest body of `/exchange/ingest_transcript` and of `/exchange/archive`, whose files come
    /// as base64; the largest transcript, too, that is read from a file.
    #[schemars(schema_with = "schema::size")]
    pub transcript_body: ByteSize,
    /// The largest body of a route that hands one prompt to a backend.
    #[schemars(schema_with = "schema::size")]
    pub delegate_body: ByteSize,
    /// The largest body of `/delegate/many`, and of `/ts/call`, which may call it.
    #[schemars(schema_with = "schema::size")]
    pub delegate_many_body: ByteSize,
    /// The largest body of `/prompt/submit`: files of the greatest size as base64, and a text.
    #[schemars(schema_with = "schema::size")]
    pub prompt_body: ByteSize,
    /// The largest body of `/mcp`.
    #[schemars(schema_with = "schema::size")]
    pub mcp_body: ByteSize,
    /// The largest head of a request: its path, query and headers.
    #[schemars(schema_with = "schema::size")]
    pub head: ByteSize,
    /// The most connections at once; further ones wait to be accepted.
    pub connections: NonZeroUsize,
    /// The most requests of one token at once, open streams included; one more is answered 429.
    pub requests_per_token: NonZeroUsize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: ByteSize::mib(1),
            document_body: ByteSize::mib(4),
            transcript_body: ByteSize::mib(64),
            delegate_body: ByteSize::mib(16),
            delegate_many_body: ByteSize::mib(64),
            prompt_body: ByteSize::mib(90),
            mcp_body: ByteSize::mib(64),
            head: ByteSize::kib(16),
            connections: nonzero(16_384),
            requests_per_token: nonzero(12_288),
        }
    }
}

/// Who may call.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Auth {
    /// The operator's token, at least 32 characters: it may do everything. Better given as
    /// `ADJUTANT_OPERATOR_TOKEN` than in the file. Absent: a server on a loopback address makes
    /// one, keeps it in `<data dir>/operator.token` and uses it again at the next start.
    #[schemars(with = "Option<String>")]
    pub operator_token: Option<SecretString>,
    /// Whether a token that was given is lent to programs of the same user on this machine, as the
    /// file `<data dir>/endpoint.token` (readable by the user alone, removed at exit): the stdio
    /// bridge needs it unless it is given the token itself.
    pub lend_token: bool,
}

impl Default for Auth {
    fn default() -> Self {
        Self { operator_token: None, lend_token: true }
    }
}

/// Which tools the tokens of one profile have, by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// The tools that there are for such a token, on every face; any other is answered as one that
    /// does not exist. Absent: all that its scope permits.
    pub allowed: Option<Vec<String>>,
    /// The tools that `tools/list` shows, of those that are allowed. Absent: the core ones.
    pub listed: Option<Vec<String>>,
}

/// Backends that are paid by the call.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Billing {
    /// Whether a backend of `tier = "api"` may be used at all, and then only where a call names it.
    pub enabled: bool,
}

/// How work is given to backends.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Routing {
    /// The most calls in flight over all backends together, at least 1. Absent: no limit but the
    /// backends' own.
    pub concurrency: Option<NonZeroUsize>,
}

/// The Model Context Protocol: the `/mcp` route and the stdio bridge.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mcp {
    /// Names of environment variables that a server started by the stdio bridge gets besides those
    /// that it always gets.
    pub pass_env: Vec<String>,
    /// The most sessions at once (clients older than revision 2026-07-28 have one each). At the
    /// limit the one that has been idle longest makes room.
    pub sessions: NonZeroUsize,
    /// The most sessions of one token.
    pub sessions_per_token: NonZeroUsize,
    /// After how long without a call or an open stream a session ends.
    #[serde(with = "humantime_serde")]
    #[schemars(schema_with = "schema::duration")]
    pub session_idle: Duration,
}

impl Default for Mcp {
    fn default() -> Self {
        Self {
            pass_env: Vec::new(),
            sessions: nonzero(1024),
            sessions_per_token: nonzero(256),
            session_idle: Duration::from_mins(30),
        }
    }
}

/// Requests that this server sends to URLs which its clients gave it: pushes to stations and
/// webhooks.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Outbound {
    /// Where such a URL (`reply_to` of a message, `serve_url` of a locus) may lead besides public
    /// addresses: networks (`10.0.0.0/8`), addresses, and hosts by their whole names, whose
    /// addresses are then not looked at. Empty: to public addresses alone. With `127.0.0.0/8` a
    /// client can have requests sent to every service of this machine.
    #[schemars(with = "Vec<String>")]
    pub allow: Vec<Allowed>,
}

/// The station that is asked for seats.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Station {
    /// The URL of its seat API; it may well be on this machine or in a private network. No redirect
    /// is followed. Absent: no seats are asked for.
    #[serde(deserialize_with = "web")]
    #[schemars(schema_with = "schema::optional_url")]
    pub spawn_url: Option<Url>,
    /// What the station is shown in the header `X-Console-Token`.
    #[schemars(with = "Option<String>")]
    pub spawn_token: Option<SecretString>,
}

/// What is logged, to standard error.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// Which events, as `level` or `target=level`, separated by commas: `info`, `debug`,
    /// `info,routing=debug`.
    pub filter: String,
    /// How an event is written.
    pub format: Format,
}

impl Default for Log {
    fn default() -> Self {
        Self { filter: "info,rmcp=warn".to_owned(), format: Format::Auto }
    }
}

/// How an event is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// As text on a terminal, as JSON otherwise.
    #[default]
    Auto,
    /// As text.
    Text,
    /// As one JSON object a line.
    Json,
}

/// Where files are.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Files {
    /// The data directory, made with mode 0700; one that others can write to is refused. Absent: `$XDG_DATA_HOME/adjutant`, else
    /// `~/.local/share/adjutant`.
    pub data_dir: Option<PathBuf>,
    /// The roster of backends. Absent: `roster.toml` in `$XDG_CONFIG_HOME/adjutant`, else in
    /// `~/.config/adjutant`; that one may be missing.
    pub roster: Option<PathBuf>,
    /// Directories, by absolute paths, whose files callers may name as `path` (`b_ask`), with all
    /// that is below them. What leads out of them, by `..` or by a symbolic link, is refused by the
    /// kernel. Each must be there at the start. Empty: no file can be named.
    pub roots: Vec<PathBuf>,
}

/// An address and port; `localhost` is the loopback address.
fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    let local = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    local.as_deref().unwrap_or(&text).parse().map_err(D::Error::custom)
}

/// A URL of the web.
fn web<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    // Nothing of the URL is repeated: it may hold a secret.
    let url = Url::parse(text.trim()).map_err(D::Error::custom)?;
    if matches!(url.scheme(), "http" | "https") {
        Ok(Some(url))
    } else {
        Err(D::Error::custom("its scheme is neither `http` nor `https`"))
    }
}

/// A count that is known not to be zero.
pub(super) fn nonzero(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN)
}
