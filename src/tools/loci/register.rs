//! `loci_register`: a locus is put into the registry, or more is said of it.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::{named, row::Written};
use crate::{
    app::App,
    store::locus::{self, Kind, Pointer, Registration},
};

/// Arguments of `loci_register`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LociRegister {
    /// Its name: small letters, digits and `-`, at most 63; `_` is read as `-`.
    locus: String,
    /// What it is. Default `station`, also for a locus that was something else before.
    #[serde(default)]
    kind: Kind,
    /// What it is for, at most 400 characters. Empty: as it was.
    #[serde(default)]
    goal: String,
    /// Where it is reached by ssh, as `user@host[:port]`, at most 200 characters. Empty: as it was.
    #[serde(default)]
    endpoint: String,
    /// Keys to merge into its pointer (such as `serve_url`, or `ssh` with `host`, `user`, `port`,
    /// `key`): null takes a key away, other keys stay. At most 8000 characters as JSON in all.
    #[serde(default)]
    pointer: Option<Pointer>,
    /// True: an archived locus becomes active again. Otherwise it stays archived.
    #[serde(default)]
    reactivate: bool,
}

impl Tool<App> for LociRegister {
    const SPEC: Spec = Spec {
        title: "Register a locus",
        about: "Put a locus (a machine, station or session that has records) into the registry, or say more of one that is there.",
        ..Spec::new("loci_register", "/loci/register", Scope::Write)
    };
    type Reply = Written;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Written, Fault> {
        let registration = Registration {
            locus: named(&cx.caller, &self.locus)?,
            kind: self.kind,
            goal: self.goal,
            endpoint: self.endpoint,
            pointer: self.pointer,
            reactivate: self.reactivate,
        };
        Ok(locus::register(&cx.app.store, &registration).await?.into())
    }
}
