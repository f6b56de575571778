//! The rules that hold across entries.

use std::collections::HashMap;

use crate::{
    Backend, Endpoint, Kind, address::same_server, entry::Read, notes::Notes, place::Lines,
};

/// Notes every name that is given a second time, with the line of the first.
pub(crate) fn unique<T>(key: &str, read: &[Read<T>], lines: &Lines<'_>, notes: &mut Notes) {
    let mut seen = HashMap::new();
    for (at, name) in read.iter().filter_map(|read| read.name.as_ref()) {
        if let Some(first) = seen.get(name) {
            let (line, _) = lines.place(*first);
            let what = format!("duplicate `{key}`: line {line} has `{name}` already");
            notes.error(*at, what);
        } else {
            seen.insert(name, *at);
        }
    }
}

/// Warns of limits on servers that no backend uses.
pub(crate) fn used(endpoints: &[Read<Endpoint>], backends: &[Backend], notes: &mut Notes) {
    let servers = || {
        backends.iter().filter_map(|backend| match &backend.kind {
            Kind::OpenAi(server) => Some(&server.base_url),
            Kind::Cli(_) | Kind::Extract => None,
        })
    };
    for read in endpoints {
        let (Some((at, _)), Some(endpoint)) = (&read.name, &read.value) else { continue };
        if servers().any(|url| *url == endpoint.base_url) {
            continue;
        }
        let near = servers().find(|url| same_server(url, &endpoint.base_url));
        let what = match near {
            Some(url) => format!("no backend has this `base_url`, but one has `{url}`"),
            None => "no backend has this `base_url`: the limit has no effect".to_owned(),
        };
        notes.warn(*at, what);
    }
}
