//! `exchange_archive`: a file kept byte for byte.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{locus, row::seconds};
use crate::{
    app::App,
    store::archive::{self, Draft, hash},
    tools::{item::proof, work::work},
};

/// Arguments of `exchange_archive`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct ExchangeArchive {
    /// Whose it is, such as `web-7`.
    locus: String,
    /// What the file is called, such as its path; at most 4096 characters.
    source: String,
    /// All of its bytes, as base64.
    data: String,
    /// What wrote it, at most 40 characters; default `mct`.
    #[serde(default)]
    backend: Option<String>,
    /// The session that it is of, at most 128 characters.
    #[serde(default)]
    session_id: String,
    /// Rises with the file, such as the time of its last change in nanoseconds; default 0. A file that
    /// is there with a higher one stays.
    #[serde(default)]
    version: i64,
}

/// The reply of `exchange_archive`: what is kept now.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whose it is.
    locus: String,
    /// What it is called.
    source: String,
    /// Whether what you sent is what is kept; false when a newer version is.
    stored: bool,
    /// The SHA-256 of what is kept.
    sha256: String,
    /// Its bytes.
    size: i64,
    /// Its version.
    version: i64,
    /// When it was last written, in seconds of UTC.
    updated: i64,
    /// False when nothing is another than before.
    changed: bool,
    /// Why what you sent is not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// When that stood, as RFC 3339 in UTC.
    committed_at: String,
}

impl Tool<App> for ExchangeArchive {
    const SPEC: Spec = Spec {
        title: "Keep a file",
        about: "Keep a file byte for byte, such as the transcript of a session, under its name. An older version does not replace a newer one: the reply says what is kept.",
        idempotent: true,
        tightened: true,
        ..Spec::new("exchange_archive", "/exchange/archive", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = locus(&cx.caller, &self.locus)?;
        let data = self.data;
        let decoded = work(move || {
            let body = BASE64_STANDARD.decode(data.as_bytes())?;
            let hash = hash(&body);
            Ok::<_, base64::DecodeError>((body, hash))
        });
        let (body, hash) = decoded.await?.map_err(|error| {
            Fault::invalid(format!(
                "`data` is no base64 ({error}): send the file's bytes in the standard alphabet, with padding and without line breaks"
            ))
        })?;
        let draft = Draft {
            locus: &locus,
            source: &self.source,
            backend: self.backend.as_deref().unwrap_or("mct"),
            session_id: &self.session_id,
            version: self.version,
            body: &body,
            hash: &hash,
        };
        let quota = cx.app.settings.exchanges.archive_quota.as_u64();
        let (put, committed) = archive::put(&cx.app.store, draft, quota).await?;
        let row = put.row;
        let reason = (!put.stored).then(|| {
            format!(
                "version {} is kept, and yours is {}: nothing was replaced",
                row.version, self.version
            )
        });
        Ok(Reply {
            locus: row.locus,
            source: row.source,
            stored: put.stored,
            sha256: row.sha256,
            size: row.size,
            version: row.version,
            updated: seconds(row.updated),
            changed: put.changed,
            reason,
            committed_at: proof(&committed),
        })
    }
}
