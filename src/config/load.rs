//! From the file, the environment and the flags to the settings, or to everything that is wrong
//! with them.

use std::{
    fmt, fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use ::config::{Config, ConfigError};

use super::{
    Env, Settings,
    layer::Layer,
    names::{OTHER, SHORT},
    schema,
};
use crate::files;

/// Keys whose values are never shown.
const SECRETS: [&str; 3] = ["auth.operator_token", "station.spawn_token", "store.database_url"];

/// The longest settings file, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// What a command line says of the settings.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// The settings file; it must exist. Wins over `ADJUTANT_CONFIG`.
    pub config: Option<PathBuf>,
    /// Settings by dotted key, such as `server.listen`; each flag is named after its key.
    pub settings: Vec<(&'static str, String)>,
}

/// The settings with the places that they leave to the machine filled in.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The settings.
    pub settings: Settings,
    /// The settings file that was read, if there was one.
    pub file: Option<PathBuf>,
    /// The data directory.
    pub data_dir: PathBuf,
    /// The roster of backends.
    pub roster: RosterFile,
    /// What is allowed but probably not meant.
    pub warnings: Vec<String>,
}

/// Where the roster is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RosterFile {
    /// At a place that was named: it must exist.
    Named(PathBuf),
    /// At the usual place: it may be missing.
    Usual(PathBuf),
    /// Nowhere: nothing was named and there is no home directory.
    Nowhere,
}

impl RosterFile {
    /// The path, if there is any.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Named(path) | Self::Usual(path) => Some(path),
            Self::Nowhere => None,
        }
    }
}

/// Everything that is wrong with the settings, each with its file or variable and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Never empty.
    pub problems: Vec<String>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems.join("\n"))
    }
}

impl std::error::Error for Error {}

impl From<String> for Error {
    fn from(problem: String) -> Self {
        Self { problems: vec![problem] }
    }
}

impl Settings {
    /// Reads the settings: defaults, then the file, then the older names in the environment, then
    /// our own, then the flags; what comes later counts more.
    ///
    /// # Errors
    /// All problems at once: a file that is named and missing or cannot be read, unknown keys with
    /// the nearest right word, values of the wrong type.
    pub fn load(env: &Env, flags: &Flags) -> Result<Loaded, Error> {
        let mut problems = Vec::new();
        let file = find(env, flags)?;
        let in_file = match &file {
            Some((path, text)) => Layer::file(&path.display().to_string(), text, &mut problems),
            None => Layer::default(),
        };
        let layers = [
            in_file,
            Layer::older(env),
            Layer::environment(env, &mut problems),
            Layer::flags(&flags.settings),
        ];
        if !problems.is_empty() {
            return Err(Error { problems });
        }
        let builder = layers
            .iter()
            .fold(Config::builder(), |builder, layer| builder.add_source(layer.clone()));
        let settings: Settings = builder
            .build()
            .and_then(Config::try_deserialize)
            .map_err(|error| Error::from(explain(error, &layers)))?;
        let data_dir = match &settings.files.data_dir {
            Some(dir) => dir.clone(),
            None => home(env, "XDG_DATA_HOME", ".local/share")
                .map(|dir| dir.join("adjutant"))
                .ok_or_else(|| {
                    "there is no home directory: name one for data with `ADJUTANT_DATA_DIR`"
                        .to_owned()
                })?,
        };
        let roster = match (&settings.files.roster, config_dir(env)) {
            (Some(path), _) => RosterFile::Named(path.clone()),
            (None, Some(dir)) => RosterFile::Usual(dir.join("roster.toml")),
            (None, None) => RosterFile::Nowhere,
        };
        let file = file.map(|(path, _)| path);
        let warnings = warnings(env, file.as_deref(), &layers);
        Ok(Loaded { settings, file, data_dir, roster, warnings })
    }
}

/// Variables that look like ours and are not, and a secret in a file that others can read.
fn warnings(env: &Env, file: Option<&Path>, layers: &[Layer]) -> Vec<String> {
    let known = |name: &str| {
        name.starts_with("ADJUTANT__")
            || SHORT.iter().any(|short| short.name == name)
            || OTHER.iter().any(|(other, _)| *other == name)
    };
    let ours = env.starting_with("ADJUTANT_").map(|(rest, _)| format!("ADJUTANT_{rest}"));
    let mut warnings: Vec<String> = ours
        .filter(|name| !known(name))
        .map(|name| format!("the environment variable `{name}` means nothing here: see `docs/config.md` for the names"))
        .collect();
    let has_token = |layer: &Layer| SECRETS.iter().any(|key| layer.origin(key).is_some());
    if let (Some(path), true) = (file, layers.first().is_some_and(has_token)) {
        let mode = fs::metadata(path).map_or(0, |about| about.permissions().mode());
        if mode & 0o077 != 0 {
            warnings.push(format!(
                "others can read the secret in `{}`: `chmod 600` it",
                path.display()
            ));
        }
    }
    warnings
}

/// `$XDG_CONFIG_HOME/adjutant`, else `~/.config/adjutant`.
pub fn config_dir(env: &Env) -> Option<PathBuf> {
    home(env, "XDG_CONFIG_HOME", ".config").map(|dir| dir.join("adjutant"))
}

/// A directory of the XDG specification, which holds relative paths to be absent.
fn home(env: &Env, variable: &str, below: &str) -> Option<PathBuf> {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    env.path(variable)
        .and_then(absolute)
        .or_else(|| Some(env.path("HOME").and_then(absolute)?.join(below)))
}

/// The settings file with its text: the one that is named, else the usual one where it exists.
fn find(env: &Env, flags: &Flags) -> Result<Option<(PathBuf, String)>, Error> {
    let named = flags.config.clone().or_else(|| env.path("ADJUTANT_CONFIG"));
    let is_named = named.is_some();
    let usual = || config_dir(env).map(|dir| dir.join("adjutant.toml"));
    let Some(path) = named.or_else(usual) else { return Ok(None) };
    match files::read_text(&path, LONGEST) {
        Ok(text) => Ok(Some((path, text))),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_named => Ok(None),
        Err(error) => {
            let path = path.display();
            Err(format!("cannot read the settings file `{path}`: {error}; mend it, or name another with `ADJUTANT_CONFIG`").into())
        }
    }
}

/// Puts an error of the library into our words: where the value came from, its key, what it must
/// be. The value itself is left out: it may be a secret.
fn explain(error: ConfigError, layers: &[Layer]) -> String {
    let (key, why) = match error {
        ConfigError::At { key: Some(key), error, .. } => (key, error.to_string()),
        ConfigError::Type { key: Some(key), expected, .. } => (key, format!("expected {expected}")),
        other => return other.to_string(),
    };
    // An item of a list came from where the list did.
    let whole = key.split('[').next().unwrap_or(&key);
    let origin = layers.iter().rev().find_map(|layer| layer.origin(whole));
    let origin = origin.map(|origin| format!("{origin}: ")).unwrap_or_default();
    match schema::key(&key) {
        Some(known) if SECRETS.contains(&key.as_str()) => {
            format!("{origin}`{key}` must be {}", known.wants())
        }
        Some(known) => format!("{origin}`{key}` must be {} ({why})", known.wants()),
        None => format!("{origin}`{key}`: {why}"),
    }
}
