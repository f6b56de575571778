//! `comms_ping`: asks for a keeper's attention.

use futures::future::join_all;
use mcp::{Call, Caller, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{
    FROM,
    push::{Outcome, push},
    sender,
    to::To,
};
use crate::{
    app::App,
    store::{
        Committed, Error,
        message::{self, Address, Ping, Pinged},
        names::{Keeper, Locus},
    },
    tools::item::{proof, seconds},
    untrusted,
};

/// Arguments of `comms_ping`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CommsPing {
    /// Whose attention is asked for: a keeper's locus, or a list of these (100 at most; all are
    /// pinged, or none).
    to: To,
    /// What it is about, at most 262144 characters.
    text: String,
    /// Your own locus. Default: the one that your token is for.
    #[serde(default)]
    from: String,
    /// Your own key, at most 200 characters: the same ping again under the same key is written once.
    #[serde(default, rename = "ref")]
    reference: String,
    /// `request` (something is asked) or `message` (something to read). Default `request`.
    #[serde(default)]
    kind: String,
    /// Your session's id, at most 128 characters.
    #[serde(default)]
    session: String,
    /// The lease that you work under, at most 128 characters.
    #[serde(default)]
    lease: String,
}

/// What one keeper's ping came to.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Receipt {
    /// Its row on the board.
    id: String,
    /// Whose board that is.
    to: String,
    /// Who sent it.
    from: Option<String>,
    /// The sender's own key.
    #[serde(rename = "ref")]
    reference: Option<String>,
    /// When it was written, in seconds of UTC.
    ts: i64,
    /// What became of the live push to the keeper's station.
    push: String,
    /// Whether the row is delivered.
    delivered: bool,
    /// Whether it was there already.
    already: bool,
    /// What that means.
    note: String,
    /// Since when the row is on the disk, as RFC 3339 in UTC.
    committed_at: String,
}

/// The reply of `comms_ping`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
#[serde(untagged)]
pub(super) enum Reply {
    /// Where `to` named one.
    One(Receipt),
    /// Where `to` was a list.
    Many {
        /// One receipt for each keeper, in their order, each once.
        receipts: Vec<Receipt>,
        /// How many.
        count: usize,
    },
}

impl Tool<App> for CommsPing {
    const SPEC: Spec = Spec {
        title: "Ping a keeper",
        about: "Ask for the attention of a locus's keeper: a row on its board, and a live push to its station where that is registered.",
        egress: true,
        aliases: FROM,
        ..Spec::new("comms_ping", "/comms/ping", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let keeper = |text: &str| Ok(Keeper::parse(text).map(Locus::from).map_err(Error::from)?);
        let to = self.to.read(keeper)?;
        let from = sender(&cx.caller, &self.from)?;
        let ping = Ping {
            to: &to.each,
            text: self.text.trim(),
            from: from.as_ref(),
            reference: self.reference.trim(),
            is_message: is_message(&self.kind)?,
            session: self.session.trim(),
            lease: self.lease.trim(),
        };
        let (pinged, committed) = message::ping(&cx.app.store, ping).await?;
        let name = from.as_ref().map(ToString::to_string).unwrap_or_default();
        let pushes = pinged.iter().map(|pinged| push(&cx.app, pinged, ping.text, &name));
        let outcomes = join_all(pushes).await;
        let receipts = pinged.into_iter().zip(outcomes);
        let mut receipts: Vec<Receipt> = receipts
            .map(|(pinged, outcome)| Receipt::of(pinged, outcome, from.as_ref(), committed))
            .map(|receipt| receipt.shown_to(&cx.caller))
            .collect();
        match receipts.pop() {
            Some(only) if !to.is_list => Ok(Reply::One(only)),
            last => {
                receipts.extend(last);
                Ok(Reply::Many { count: receipts.len(), receipts })
            }
        }
    }
}

fn is_message(kind: &str) -> Result<bool, Fault> {
    match kind.trim().to_ascii_lowercase().as_str() {
        "" | "request" => Ok(false),
        "message" => Ok(true),
        _ => {
            let given = untrusted::one_line(kind, 40);
            Err(Fault::invalid(format!("`kind` is one of `request`, `message`, not `{given}`")))
        }
    }
}

impl Receipt {
    fn of(
        Pinged { row, already }: Pinged,
        outcome: Outcome,
        from: Option<&Address>,
        committed: Committed,
    ) -> Self {
        let note = if already {
            "it was accepted before: that ping is on the board"
        } else if outcome.delivered {
            "on the board, and delivered by the live push"
        } else {
            "on the board, where whoever delivers for the keeper finds it"
        };
        Self {
            id: row.id().to_string(),
            to: row.locus,
            from: from.map(ToString::to_string),
            reference: Some(row.reference).filter(|reference| !reference.is_empty()),
            ts: seconds(row.created),
            push: outcome.words,
            delivered: outcome.delivered || row.delivered_at != 0,
            already,
            note: note.to_owned(),
            committed_at: proof(&committed),
        }
    }

    /// Where a locus is served is not for those who do not reach it.
    fn shown_to(self, caller: &Caller) -> Self {
        if caller.rights.reaches(&self.to) {
            return self;
        }
        let push = if self.delivered { "pushed" } else { "not delivered live" };
        Self { push: push.to_owned(), ..self }
    }
}
