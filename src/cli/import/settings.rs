//! TangleBrain's settings as lines for `adjutant.toml`.

use serde_json::{Map, Value};

use super::{
    ImportError,
    text::{Toml, kind_of, names},
};

const FILE: &str = "settings file";

/// Says in comments what the settings become; a roster has no place for them.
pub(super) fn convert(settings: &Value, out: &mut Toml) -> Result<(), ImportError> {
    let none = Map::new();
    let settings = match settings {
        Value::Object(settings) => settings,
        Value::Null => &none,
        other => {
            let found = kind_of(other);
            return Err(ImportError::Shape { file: FILE, wanted: "mapping", found });
        }
    };
    let mut problems = Vec::new();
    let mut unknown = Vec::new();
    for (key, value) in settings {
        match key.as_str() {
            _ if value.is_null() => {}
            "delegate_max_concurrency" => match value.as_u64() {
                Some(most @ 1..) => concurrency(most, out),
                _ => problems.push(format!("`{key}` must be a whole number of 1 or more")),
            },
            "api_billing_enabled" | "classifier_gate_enabled" => match value {
                Value::Bool(false) => {}
                Value::Bool(true) if key == "api_billing_enabled" => billing(out),
                Value::Bool(true) => gate(out),
                _ => problems.push(format!("`{key}` must be true or false")),
            },
            _ => unknown.push(key.as_str()),
        }
    }
    if !unknown.is_empty() {
        out.blank();
        out.comment(&format!("Settings without a meaning, left out: {}.", names(&unknown)));
    }
    if problems.is_empty() { Ok(()) } else { Err(ImportError::Invalid { file: FILE, problems }) }
}

fn concurrency(most: u64, out: &mut Toml) {
    out.blank();
    out.comment(
        "`delegate_max_concurrency` is a limit on all calls together. It belongs into \
         `adjutant.toml`:",
    );
    out.comment("[routing]");
    out.comment(&format!("concurrency = {most}"));
}

fn billing(out: &mut Toml) {
    out.blank();
    out.comment(
        "`api_billing_enabled` was true. Here paid backends wait until `adjutant.toml` says so:",
    );
    out.comment("[billing]");
    out.comment("enabled = true");
}

fn gate(out: &mut Toml) {
    out.blank();
    out.comment("`classifier_gate_enabled` was true. There is no such gate: the caller chooses.");
}
