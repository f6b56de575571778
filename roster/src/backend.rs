//! The types of one roster entry. Everything here is plain data, already validated.

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::{Deserialize, Serialize};
use url::Url;

use crate::KeyRef;

/// The longest id of a backend, in characters: `[a-z0-9][a-z0-9_-]{0,62}`.
pub const MAX_ID: usize = 63;

/// What a call to a backend draws on. The order is the order of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// A server of one's own: costs nothing a call.
    Local,
    /// A subscription already paid for.
    Sub,
    /// Paid by the call. Never chosen and never failed over to unless named, with billing on.
    Api,
}

impl Tier {
    /// The name in the roster file and in replies.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Sub => "sub",
            Self::Api => "api",
        }
    }

    /// Whether a call to this tier is billed. The billing gate keys on this alone.
    pub fn is_paid(self) -> bool {
        self == Self::Api
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a backend is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// An OpenAI-compatible server: `POST {base_url}/chat/completions`.
    OpenAi(OpenAi),
    /// A program that answers on its standard output.
    Cli(Cli),
    /// No model: ranked sentences of the prompt's own material.
    Extract,
}

impl Kind {
    /// The name in the roster file and in replies.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::OpenAi(_) => "openai",
            Self::Cli(_) => "cli",
            Self::Extract => "extract",
        }
    }
}

/// Where an OpenAI-compatible server is and how it is spoken to.
#[derive(Clone, PartialEq)]
pub struct OpenAi {
    /// The URL up to and including `/v1`, normalised: lower-case host, no default port, no
    /// trailing slash, no user information, no query.
    pub base_url: Url,
    /// The model asked for.
    pub model: String,
    /// Headers added to each request. Values may be secret: they are never shown.
    pub headers: BTreeMap<String, String>,
    /// Members merged into the request body, over our own.
    pub extra: serde_json::Map<String, serde_json::Value>,
    /// Whether the answer is streamed on the wire (default true).
    pub stream: bool,
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The names of headers only: a value may be a secret.
        f.debug_struct("OpenAi")
            .field("base_url", &self.base_url.as_str())
            .field("model", &self.model)
            .field("headers", &self.headers.keys())
            .field("extra", &self.extra)
            .field("stream", &self.stream)
            .finish()
    }
}

/// A program as a backend: argv only, no shell of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cli {
    /// The argument vector, never empty. `{prompt}` in any argument is replaced by the prompt;
    /// without it the prompt goes to standard input.
    pub cmd: Vec<String>,
    /// How its standard output is read (default `plain`).
    pub parse: Parse,
    /// Names of environment variables that the program must not see.
    pub scrub_env: Vec<String>,
    /// The model it is known to run, for replies (default: the backend's id).
    pub model: Option<String>,
}

/// How the output of a `cli` backend is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parse {
    /// The whole output, trimmed, is the answer.
    Plain,
    /// `claude -p --output-format json`.
    ClaudeJson,
    /// `gemini -o json`.
    GeminiJson,
}

/// A price in US dollars per million tokens. Orders candidates within a tier; a missing part is
/// unknown, never zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cost {
    /// Input (prompt) tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_per_mtok: Option<f64>,
    /// Output (completion) tokens, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_per_mtok: Option<f64>,
    /// Input tokens that the backend had in its cache. Absent: priced as input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_input_per_mtok: Option<f64>,
}

/// What a backend may be loaded with. All calls through all aliases count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Calls in flight at once (default 4, at least 1).
    pub concurrency: usize,
    /// Calls that may wait for a permit before `saturated` is answered (default 256).
    pub queue: usize,
    /// Requests per minute (default: no limit).
    pub rpm: Option<u32>,
    /// Tokens per minute, prompt and `max_tokens` together (default: no limit).
    pub tpm: Option<u32>,
    /// The backend's context window in tokens (default: unknown).
    pub context_tokens: Option<u64>,
    /// The most output tokens it may be asked for; a larger `max_tokens` is lowered to it.
    pub max_output_tokens: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: 4,
            queue: 256,
            rpm: None,
            tpm: None,
            context_tokens: None,
            max_output_tokens: None,
        }
    }
}

/// The separate time-outs of a call. `None` (written `"none"`) means that there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands (default 2 s).
    pub connect: Option<Duration>,
    /// From the request sent to the first token, reasoning included (default 120 s).
    pub first_token: Option<Duration>,
    /// Between two tokens (default 60 s).
    pub idle: Option<Duration>,
    /// The whole call with its waits and retries (default 10 min).
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Some(Duration::from_secs(2)),
            first_token: Some(Duration::from_mins(2)),
            idle: Some(Duration::from_mins(1)),
            total: Some(Duration::from_mins(10)),
        }
    }
}

/// How a failed try is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Tries in all, the first included (default 3, at least 1).
    pub attempts: u32,
    /// The first wait's upper bound; it doubles with each try (default 250 ms).
    pub base: Duration,
    /// The longest wait of our own choosing (default 15 s). A server's `Retry-After` may be longer.
    pub max: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 3, base: Duration::from_millis(250), max: Duration::from_secs(15) }
    }
}

/// One entry of the roster.
#[derive(Debug, Clone, PartialEq)]
pub struct Backend {
    /// The name by which a call targets it.
    pub id: String,
    /// What a call draws on.
    pub tier: Tier,
    /// How it is reached.
    pub kind: Kind,
    /// Capabilities that a call may ask for by `task`, in file order.
    pub good_at: Vec<String>,
    /// What it costs; `None` is unknown.
    pub cost: Option<Cost>,
    /// Whether callers may name it or reach it by capability (default false).
    pub can_delegate: bool,
    /// Whether it is in use at all (default true).
    pub enabled: bool,
    /// Where its key is, if it needs one.
    pub key: Option<KeyRef>,
    /// What it may be loaded with.
    pub limits: Limits,
    /// Its time-outs.
    pub timeouts: Timeouts,
    /// Its retries.
    pub retry: Retry,
}

impl Backend {
    /// Whether a backend can have that id: `[a-z0-9][a-z0-9_-]{0,62}`.
    pub fn is_id(id: &str) -> bool {
        let inner = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_');
        id.len() <= MAX_ID && id.chars().all(inner) && !id.is_empty() && !id.starts_with(['-', '_'])
    }

    /// The model name shown in replies when the backend does not report one.
    pub fn model(&self) -> &str {
        match &self.kind {
            Kind::OpenAi(server) => &server.model,
            Kind::Cli(program) => program.model.as_deref().unwrap_or(&self.id),
            Kind::Extract => "extractive",
        }
    }

    /// Whether it may run without being named: enabled, unpaid and open to delegation.
    pub fn is_automatic(&self) -> bool {
        self.enabled && self.can_delegate && !self.tier.is_paid()
    }
}

/// A limit on a whole server, whatever backends share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The server's URL, normalised as a backend's.
    pub base_url: Url,
    /// Calls in flight at once over all its backends (at least 1).
    pub concurrency: usize,
}
