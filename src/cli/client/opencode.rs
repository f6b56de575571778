//! OpenCode's settings file, where a registration is an entry of its own.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::place::Place;
use crate::{
    cli::{exit::Error, files},
    config::Env,
};

/// The file: `OPENCODE_CONFIG`, else `opencode/opencode.json` in the configuration directory.
pub(super) fn file(env: &Env) -> Option<PathBuf> {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    env.path("OPENCODE_CONFIG").or_else(|| {
        let dir = env.path("XDG_CONFIG_HOME").and_then(absolute);
        let dir = dir.or_else(|| Some(env.path("HOME").and_then(absolute)?.join(".config")))?;
        Some(dir.join("opencode/opencode.json"))
    })
}

/// What the file says of the server.
pub(super) fn entry(place: &Place) -> Value {
    match place {
        Place::Stdio(stdio) => json!({ "type": "local", "command": stdio.argv, "enabled": true }),
        Place::Http(http) => json!({
            "type": "remote",
            "url": http.url,
            "headers": { "Authorization": format!("Bearer {}", http.token()) },
            "enabled": true,
            "oauth": false,
        }),
    }
}

/// The file's text with the entry in it, whatever else it holds; `None` when it is there already.
///
/// # Errors
/// When the file is no plain JSON object: it is not ours to mend.
pub(super) fn with(path: &Path, name: &str, entry: Value) -> Result<Option<String>, Error> {
    let old = if path.exists() { files::text(path)? } else { String::new() };
    let odd = |what: &str| {
        Error::usage(format!(
            "{} {what}, so it is left alone: put the entry in by hand (`adjutant client opencode` shows it)",
            files::shown(path)
        ))
    };
    let commented = path.with_extension("jsonc");
    if !path.exists() && commented.exists() {
        return Err(Error::usage(format!(
            "OpenCode's settings are in {}, which may hold comments, so it is left alone: put the entry \
             in by hand (`adjutant client opencode` shows it)",
            files::shown(&commented)
        )));
    }
    let mut settings: Map<String, Value> = match old.trim() {
        "" => Map::from_iter([("$schema".to_owned(), json!("https://opencode.ai/config.json"))]),
        text => serde_json::from_str(text)
            .map_err(|error| odd(&format!("is no plain JSON ({error})")))?,
    };
    let servers = settings.entry("mcp").or_insert_with(|| json!({}));
    let servers = servers.as_object_mut().ok_or_else(|| odd("has an `mcp` that is no object"))?;
    if servers.get(name) == Some(&entry) {
        return Ok(None);
    }
    servers.insert(name.to_owned(), entry);
    Ok(Some(format!("{:#}\n", Value::Object(settings))))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_entry_is_put_in_once_and_all_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("opencode.json");
        let entry = json!({"type": "local", "command": ["a", "mcp"], "enabled": true});
        let fresh = with(&path, "adjutant", entry.clone()).unwrap().unwrap();
        assert!(fresh.contains("\"$schema\""));
        fs::write(&path, "{\"theme\": \"x\", \"mcp\": {\"other\": {\"type\": \"local\"}}}")
            .unwrap();
        let text = with(&path, "adjutant", entry.clone()).unwrap().unwrap();
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            read,
            json!({"theme": "x", "mcp": {"other": {"type": "local"}, "adjutant": entry.clone()}})
        );
        fs::write(&path, &text).unwrap();
        assert_eq!(with(&path, "adjutant", entry).unwrap(), None);
        assert!(with(&path, "adjutant", json!({"enabled": false})).unwrap().is_some());
    }

    #[test]
    fn a_file_that_is_not_plain_json_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("opencode.json");
        for odd in ["{ // comment\n}", "[]", "{\"mcp\": []}"] {
            fs::write(&path, odd).unwrap();
            let error = with(&path, "adjutant", json!({})).unwrap_err();
            assert!(error.message.contains("by hand"), "{error}");
        }
        fs::remove_file(&path).unwrap();
        fs::write(path.with_extension("jsonc"), "{}").unwrap();
        assert!(with(&path, "adjutant", json!({})).unwrap_err().message.contains("opencode.jsonc"));
    }
}
