//! The trait that makes an argument struct a tool.

use std::{borrow::Cow, future::Future, sync::Arc};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{Call, Fault, Spec};

/// A block of what a client that reads text alone is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Plain text.
    Text(String),
    /// A value, as JSON.
    Json(Value),
    /// The part of the reply that this JSON pointer names, as JSON: `/results`.
    Part(&'static str),
    /// An image.
    Image {
        /// Its type, such as `image/png`.
        mime: String,
        /// Its bytes in Base64.
        data: String,
    },
    /// A link to a resource.
    Link {
        /// Where it leads.
        uri: String,
        /// What it is called.
        name: String,
    },
}

/// Which tool a reply is truly of, and what it promises.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The tool's name.
    pub tool: &'static str,
    /// The JSON Schema of its replies.
    pub output: Arc<Map<String, Value>>,
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

    /// The reply as JSON; one that holds much of it gives it away instead of copying it.
    ///
    /// # Errors
    /// When it has no form in JSON.
    fn value(reply: Self::Reply) -> serde_json::Result<Value> {
        serde_json::to_value(reply)
    }

    /// The tool that truly answered, where this one calls others.
    fn origin(_reply: &Self::Reply) -> Option<Origin> {
        None
    }

    /// What the caller should know of its own call besides the reply.
    fn warnings(_reply: &Self::Reply) -> Vec<String> {
        Vec::new()
    }
}
