//! A TangleBrain roster as a roster of ours.
//!
//! A pure conversion of texts: what cannot carry over is said in comments, and what TangleBrain
//! itself would not load is an error. Keys are never repeated, only where they are.

mod entry;
pub(in crate::cli) mod ids;
mod settings;
mod text;
mod yaml;

#[cfg(test)]
mod tests;

use serde_json::Value;

use self::{
    ids::Ids,
    text::{Toml, kind_of},
};

/// Why a TangleBrain file could not be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ImportError {
    /// The file is no YAML.
    #[error("the TangleBrain {file} is not valid YAML: {message}")]
    Yaml {
        /// `roster` or `settings file`.
        file: &'static str,
        /// What the parser says, with line and column.
        message: String,
    },
    /// The file is YAML of another shape.
    #[error("the TangleBrain {file} must be a YAML {wanted}, not {found}")]
    Shape {
        /// `roster` or `settings file`.
        file: &'static str,
        /// What it must be.
        wanted: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// Entries or settings that TangleBrain does not load either: all of them at once.
    #[error("the TangleBrain {file} has {count} problem{s}: {list}",
        count = .problems.len(),
        s = if .problems.len() == 1 { "" } else { "s" },
        list = .problems.join("; "))]
    Invalid {
        /// `roster` or `settings file`.
        file: &'static str,
        /// What is wrong, in file order. Never empty.
        problems: Vec<String>,
    },
}

/// Converts a TangleBrain `roster.yaml`, and with it a `settings.yaml`, to the text of a roster
/// of ours.
///
/// # Errors
/// When a file is no YAML, has another shape, or holds what TangleBrain itself does not load.
pub(crate) fn tanglebrain(roster: &str, settings: Option<&str>) -> Result<String, ImportError> {
    let entries = match yaml::read("roster", roster)? {
        Value::Array(entries) => entries,
        other => {
            let found = kind_of(&other);
            return Err(ImportError::Shape { file: "roster", wanted: "list of entries", found });
        }
    };
    let settings = settings.map(|text| yaml::read("settings file", text)).transpose()?;
    let mut out = Toml::default();
    let many = if entries.len() == 1 { "entry" } else { "entries" };
    out.comment(&format!(
        "Imported from a TangleBrain roster of {} {many}. Check it with `adjutant roster check`.",
        entries.len()
    ));
    if let Some(settings) = settings {
        settings::convert(&settings, &mut out)?;
    }
    let mut ids = Ids::of(&entries);
    let mut problems = Vec::new();
    for (index, value) in entries.iter().enumerate() {
        match entry::convert(index, value, &mut ids) {
            Ok(block) => out.block(&block),
            Err(wrong) => problems.extend(wrong),
        }
    }
    if problems.is_empty() {
        Ok(out.into())
    } else {
        Err(ImportError::Invalid { file: "roster", problems })
    }
}
