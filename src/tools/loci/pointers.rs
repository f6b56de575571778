//! `loci_pointers`: how each locus is reached.

use std::collections::BTreeMap;

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{given, list::all};
use crate::{
    app::App,
    store::locus::{self, Kind, Record, Ssh},
};

/// Arguments of `loci_pointers`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LociPointers {
    /// Only those of this kind: `vm`, `station`, `session`, `handoff` or `ssh`. Empty: all.
    #[serde(default)]
    kind: String,
}

/// How a machine is reached.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Machine {
    /// The host.
    host: String,
    /// The login there.
    user: String,
    /// The port.
    port: u16,
    /// The name of the key to show; empty when none is named.
    key: String,
    /// The locus.
    locus: String,
    /// What it is.
    kind: Kind,
    /// What it is for.
    goal: String,
    /// When it was last changed, in seconds of UTC; 0 for one that is not registered.
    updated: i64,
    /// Always null: nodes are not kept here.
    node: Option<String>,
    /// True where the locus is not registered and stands in the server's settings.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    default: bool,
}

/// Where a session is.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Place {
    /// The locus.
    locus: String,
    /// What it is for.
    goal: String,
    /// The harness's id of it.
    session_id: String,
    /// How its machine is reached; no member when nobody said.
    ssh: Address,
    /// Its directory there.
    dir: String,
    /// The login that it runs as.
    login: String,
    /// Its seat.
    seat: String,
    /// `pull` or `seat`.
    mode: String,
    /// Whether it is a fork of another session.
    fork: bool,
    /// Its terminal.
    tmux: String,
    /// What its station calls it.
    handle: String,
    /// Its station.
    station: String,
    /// The handoff that it came of.
    handoff_id: String,
    /// When its locus was last changed, in seconds of UTC.
    updated: i64,
}

/// How a machine is reached; no member when nobody said.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Address {
    /// The host.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    /// The login there.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The port.
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    /// The name of the key to show; empty when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

/// How many there are.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Count {
    /// Of `ssh_hosts`.
    ssh_hosts: usize,
    /// Of `sessions`.
    sessions: usize,
}

/// The reply of `loci_pointers`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Now, in seconds of UTC.
    ts: i64,
    /// The machines that are reached by ssh, by locus.
    ssh_hosts: BTreeMap<String, Machine>,
    /// The sessions that have a pointer.
    sessions: Vec<Place>,
    /// Always `toolserver`: the registry of this server.
    source: &'static str,
    /// How many there are.
    count: Count,
}

impl Tool<App> for LociPointers {
    const SPEC: Spec = Spec {
        title: "Find loci",
        about: "How each active locus is reached: machines by ssh, sessions by machine, directory and terminal.",
        ..Spec::new("loci_pointers", "/loci/pointers", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let kind = given(Some(&self.kind)).map(Kind::parse).transpose()?;
        let (mut ssh_hosts, mut sessions) = (BTreeMap::new(), Vec::new());
        for record in all(&cx, kind).await? {
            if record.kind == Kind::Session {
                sessions.extend(session(&record));
            } else if let Some(host) = host(&record, false) {
                ssh_hosts.insert(host.locus.clone(), host);
            }
        }
        for default in absent(&cx, kind).await? {
            if let Some(host) = host(&default, true) {
                ssh_hosts.insert(host.locus.clone(), host);
            }
        }
        let count = Count { ssh_hosts: ssh_hosts.len(), sessions: sessions.len() };
        let ts = cx.app.clock.now() / 1_000_000;
        Ok(Reply { ts, ssh_hosts, sessions, source: "toolserver", count })
    }
}

/// The loci of the settings that are not registered, not even as archived.
async fn absent(cx: &Call<App>, kind: Option<Kind>) -> Result<Vec<Record>, Fault> {
    let is_wanted = |record: &&Record| {
        kind.is_none_or(|kind| kind == record.kind)
            && cx.caller.rights.reaches(record.locus.as_str())
    };
    let mut absent = Vec::new();
    let mut conn = cx.app.store.read().await?;
    for default in cx.app.default_loci.iter().filter(is_wanted) {
        if locus::get(&mut conn, &default.locus).await?.is_none() {
            absent.push(default.clone());
        }
    }
    Ok(absent)
}

fn host(record: &Record, default: bool) -> Option<Machine> {
    let Ssh { place, key } = record.ssh()?;
    Some(Machine {
        host: place.host,
        user: place.user,
        port: place.port,
        key,
        locus: record.locus.to_string(),
        kind: record.kind,
        goal: record.goal.clone(),
        updated: if default { 0 } else { record.updated / 1_000_000 },
        node: None,
        default,
    })
}

fn session(record: &Record) -> Option<Place> {
    let pointer = record.pointer.as_ref()?;
    let text = |name: &str, default: &str| match pointer.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => default.to_owned(),
    };
    let ssh = record.ssh().map(|Ssh { place, key }| Address {
        host: Some(place.host),
        user: Some(place.user),
        port: Some(place.port),
        key: Some(key),
    });
    Some(Place {
        locus: record.locus.to_string(),
        goal: record.goal.clone(),
        session_id: text("session_id", ""),
        ssh: ssh.unwrap_or_default(),
        dir: text("dir", ""),
        login: text("login", ""),
        seat: text("seat", "claude"),
        mode: text("mode", "pull"),
        fork: pointer.get("fork").and_then(Value::as_bool).unwrap_or(true),
        tmux: text("tmux", ""),
        handle: text("handle", ""),
        station: text("station", ""),
        handoff_id: text("handoff_id", ""),
        updated: record.updated / 1_000_000,
    })
}
