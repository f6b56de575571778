//! One try against one backend. Nothing here retries, waits for a permit or chooses: it sends,
//! reads within bounds, and says exactly what happened.
//!
//! | kind | what happens | time-outs |
//! |---|---|---|
//! | `openai` | one `POST {base_url}/chat/completions` on the process's pooled client | `connect`, `first_token`, `idle`, the call's deadline |
//! | `cli` | one child process in a process group of its own | the call's deadline |
//! | `extract` | sentences of the prompt itself, ranked | none: it does not wait |
//!
//! Where an answer is not streamed, `first_token` bounds the wait for its first byte, which for most
//! servers is the whole generation, and `idle` the wait for more of it.
//!
//! Dropping the future of a call closes its connection, or kills its process group, at once.

mod body;
mod calls;
mod cli;
mod client;
mod describe;
mod extract;
mod failure;
mod fold;
mod group;
mod json;
mod judge;
mod key;
mod openai;
mod output;
mod plain;
mod probe;
mod redact;
mod request;
mod retry_after;
mod sentences;
pub mod sse;
mod stream;
#[cfg(test)]
mod tests;
mod timers;
mod usage;
mod usual;

use std::time::{Duration, Instant};

pub use failure::{Failure, Kind, Sent};
use roster::Backend;
use serde::Serialize;
use serde_json::{Map, Value};
use url::Url;

/// What one call asks of a backend.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The user's message.
    pub prompt: String,
    /// The system message, if any.
    pub system: Option<String>,
    /// The most output tokens; `None` leaves it to the backend.
    pub max_tokens: Option<u64>,
    /// Further members of a server's request: below the roster's `extra`, and never the place of
    /// the prompt, the model, the limit or the stream.
    pub more: Map<String, Value>,
    /// When the whole call must be over, waits included.
    pub deadline: Option<Instant>,
}

/// Tokens of one call, as the backend reported them or as estimated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub input_tokens: u64,
    /// Answer tokens, reasoning included.
    pub output_tokens: u64,
    /// Prompt tokens that the backend had in its cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Answer tokens spent on reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// True when the backend sent no usage: ceil(bytes / 4) of what went and came, at least 1.
    pub estimated: bool,
}

/// A whole answer of a backend.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The text, raw: untrusted and not yet projected.
    pub text: String,
    /// Reasoning text (`reasoning_content`, `reasoning`, `thinking`), kept apart.
    pub reasoning: Option<String>,
    /// Tool calls, merged over all deltas, as the backend named them.
    pub tool_calls: Vec<Value>,
    /// Members of the message and of the answer that we do not know, as they came.
    pub unknown: Map<String, Value>,
    /// The model that says it answered; the one asked for when it did not say.
    pub model: String,
    /// `stop`, `length` or whatever the backend said; `unknown` when a whole answer did not say.
    pub finish_reason: String,
    /// What it used.
    pub usage: Usage,
    /// From the request sent to the first token (reasoning included), where the answer was
    /// streamed.
    pub first_token: Option<Duration>,
}

/// The adapters with what they share: the pooled HTTP clients. One for the whole process.
#[derive(Debug)]
pub struct Upstream {
    clients: client::Clients,
    keys: key::Keys,
}

impl Upstream {
    /// Readies the HTTP client.
    ///
    /// # Errors
    /// [`Kind::Connect`] when no client can be built.
    pub fn new() -> Result<Self, Failure> {
        Ok(Self { clients: client::Clients::new()?, keys: key::Keys::default() })
    }

    /// Tries the backend once. Dropping the future stops the work at once.
    ///
    /// # Errors
    /// See [`Kind`]; `sent` says whether the request may be sent again.
    pub async fn call(&self, backend: &Backend, request: &Request) -> Result<Answer, Failure> {
        match &backend.kind {
            roster::Kind::OpenAi(server) => {
                Box::pin(openai::call(self, backend, server, request)).await
            }
            roster::Kind::Cli(program) => {
                Box::pin(cli::call(self, backend, program, request)).await
            }
            roster::Kind::Extract => extract::call(request),
        }
    }

    /// The models that the backend offers, for `doctor` and `roster show`. A server is asked
    /// (`GET {base_url}/models`, three seconds in all); of a program it is seen that it can be
    /// found, and its one model is named.
    ///
    /// # Errors
    /// Why it could not be asked, with the remedy.
    pub async fn models(&self, backend: &Backend) -> Result<Vec<String>, Failure> {
        match &backend.kind {
            roster::Kind::OpenAi(server) => Box::pin(probe::server(self, backend, server)).await,
            roster::Kind::Cli(program) => {
                let name = program.cmd.first().map(String::as_str).unwrap_or_default();
                probe::program(name, key::environment("PATH").as_deref()).await?;
                Ok(vec![backend.model().to_owned()])
            }
            roster::Kind::Extract => Ok(vec![backend.model().to_owned()]),
        }
    }

    /// The models of a server that no roster entry names yet, for `roster discover`.
    ///
    /// # Errors
    /// Why it could not be asked.
    pub async fn models_at(&self, base_url: &Url) -> Result<Vec<String>, Failure> {
        self.models(&probe::unnamed(base_url)).await
    }
}
