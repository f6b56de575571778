//! The trait that makes an argument struct a tool.

use std::{borrow::Cow, future::Future};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::{Call, Fault, Spec};

/// A block of what a client that reads text alone is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Plain text.
    Text(String),
}

/// A tool: its argument struct, whose doc comments are the schema that a model reads.
pub trait Tool<S>: DeserializeOwned + JsonSchema + Send + 'static {
    /// What it declares of itself.
    const SPEC: Spec;
    /// What it answers: an object, save where an older client wants a list or a scalar.
    type Reply: Serialize + JsonSchema + Send;
    /// How it fails.
    type Error: Into<Fault> + Send;

    /// Does the work.
    fn call(self, cx: Call<S>) -> impl Future<Output = Result<Self::Reply, Self::Error>> + Send;

    /// The description that is listed; live state may be part of it.
    fn about(_app: &S) -> Cow<'static, str> {
        Cow::Borrowed(Self::SPEC.about)
    }

    /// What a text-only client reads; `None` is the reply as JSON.
    fn text(_reply: &Self::Reply) -> Option<Vec<Block>> {
        None
    }

    /// What the caller should know of its own call besides the reply.
    fn warnings(_reply: &Self::Reply) -> Vec<String> {
        Vec::new()
    }
}
