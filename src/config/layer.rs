//! One source of settings: its values with where each came from, checked key by key before they
//! are put together.

use ::config::{ConfigError, FileFormat, Format as _, Map, Source, Value, ValueKind};

use super::{
    Env,
    names::{Now, OLDER, SHORT},
    schema,
};

/// Values by section and key, or by dotted key, as `config` takes them.
#[derive(Debug, Clone, Default)]
pub(super) struct Layer(Map<String, Value>);

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Value>, ConfigError> {
        Ok(self.0.clone())
    }
}

impl Layer {
    /// From the text of a settings file. `file` is how it is called in errors.
    pub(super) fn file(file: &str, text: &str, problems: &mut Vec<String>) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match FileFormat::Toml.parse(Some(&format!("`{file}`")), text) {
            Ok(values) => {
                check(file, &values, problems);
                Self(values)
            }
            Err(error) => {
                problems.push(format!("`{file}`: {}", error.to_string().trim_end()));
                Self::default()
            }
        }
    }

    /// From names of earlier programs.
    pub(super) fn older(env: &Env) -> Self {
        let mut layer = Self::default();
        for (name, now) in OLDER {
            if let (Now::Key(key), Some(value)) = (now, env.get(name))
                && !layer.0.contains_key(*key)
            {
                layer.variable(name, key, value);
            }
        }
        let (host, port) = (env.get("TOOLSERVER_HOST"), env.get("TOOLSERVER_PORT"));
        if host.is_some() || port.is_some() {
            let name = if host.is_some() { "TOOLSERVER_HOST" } else { "TOOLSERVER_PORT" };
            let host = host.unwrap_or("127.0.0.1");
            let port = port.unwrap_or("7004");
            let bracketed = host.contains(':') && !host.starts_with('[');
            let listen =
                if bracketed { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
            layer.variable(name, "server.listen", &listen);
        }
        layer
    }

    /// From our own names: the short ones, then `ADJUTANT__SECTION__KEY`.
    pub(super) fn environment(env: &Env, problems: &mut Vec<String>) -> Self {
        let mut layer = Self::default();
        for short in SHORT {
            if let Some(value) = env.get(short.name) {
                layer.variable(short.name, short.key, value);
            }
        }
        for (rest, value) in env.starting_with("ADJUTANT__") {
            let name = format!("ADJUTANT__{rest}");
            let key = rest.to_ascii_lowercase().replacen("__", ".", 1);
            if schema::key(&key).is_some() {
                layer.variable(&name, &key, value);
            } else {
                problems.push(format!(
                    "the environment variable `{name}` is no setting{}",
                    nearest_key(&key)
                ));
            }
        }
        layer
    }

    /// From command-line flags, by key.
    pub(super) fn flags(flags: &[(&'static str, String)]) -> Self {
        let mut layer = Self::default();
        for (key, value) in flags {
            let flag = key.rsplit('.').next().unwrap_or(key).replace('_', "-");
            layer.insert(&format!("the flag `--{flag}`"), key, value);
        }
        layer
    }

    fn variable(&mut self, name: &str, key: &str, value: &str) {
        self.insert(&format!("the environment variable `{name}`"), key, value);
    }

    fn insert(&mut self, origin: &str, key: &str, value: &str) {
        let origin = origin.to_owned();
        let is_list = schema::key(key).is_some_and(|key| key.takes("array"));
        let value = if is_list {
            let items = value.split(',').map(str::trim).filter(|item| !item.is_empty());
            let items: Vec<Value> = items.map(|item| Value::new(Some(&origin), item)).collect();
            Value::new(Some(&origin), items)
        } else {
            Value::new(Some(&origin), value)
        };
        self.0.insert(key.to_owned(), value);
    }

    /// Where this layer's value of a dotted key came from.
    pub(super) fn origin(&self, name: &str) -> Option<&str> {
        if let Some(value) = self.0.get(name) {
            return value.origin();
        }
        let (section, key) = name.split_once('.')?;
        match &self.0.get(section)?.kind {
            ValueKind::Table(keys) => keys.get(key)?.origin(),
            _ => None,
        }
    }
}

/// Notes every unknown section and key of a file, and every value of the wrong type.
fn check(file: &str, values: &Map<String, Value>, problems: &mut Vec<String>) {
    let mut names: Vec<&String> = values.keys().collect();
    names.sort();
    for name in names {
        let Some(value) = values.get(name) else { continue };
        let Some(section) = schema::sections().get(name) else {
            let known = schema::sections().keys().map(String::as_str);
            problems.push(format!("`{file}`: unknown section `[{name}]`{}", nearest(name, known)));
            continue;
        };
        let ValueKind::Table(keys) = &value.kind else {
            problems.push(format!(
                "`{file}`: `{name}` is a section: write `[{name}]` with its keys below"
            ));
            continue;
        };
        if !section.is_named {
            check_keys(file, name, section, keys, problems);
            continue;
        }
        for (own, value) in sorted(keys) {
            let name = format!("{name}.{own}");
            match &value.kind {
                ValueKind::Table(_) if !is_name(own) => problems.push(format!(
                    "`{file}`: `[{name}]` must be named with letters, digits, `_` and `-`, at most 63"
                )),
                ValueKind::Table(keys) => check_keys(file, &name, section, keys, problems),
                _ => problems.push(format!(
                    "`{file}`: `{name}` is a section: write `[{name}]` with its keys below"
                )),
            }
        }
    }
}

fn check_keys(
    file: &str,
    name: &str,
    section: &schema::Section,
    keys: &Map<String, Value>,
    problems: &mut Vec<String>,
) {
    for (key, value) in sorted(keys) {
        match section.keys.get(key) {
            None => {
                let known = section.keys.keys().map(String::as_str);
                problems
                    .push(format!("`{file}`: unknown key `{name}.{key}`{}", nearest(key, known)));
            }
            Some(known) if !known.takes(kind(&value.kind)) => {
                problems.push(format!("`{file}`: `{name}.{key}` must be {}", known.wants()));
            }
            Some(_) => {}
        }
    }
}

fn sorted(keys: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut sorted: Vec<(&String, &Value)> = keys.iter().collect();
    sorted.sort_by_key(|(key, _)| *key);
    sorted
}

/// Whether a section may be named so.
fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=63).contains(&name.len()) && name.bytes().all(fits)
}

/// The JSON type of a value.
fn kind(value: &ValueKind) -> &'static str {
    match value {
        ValueKind::Nil => "null",
        ValueKind::Boolean(_) => "boolean",
        ValueKind::I64(_) | ValueKind::I128(_) | ValueKind::U64(_) | ValueKind::U128(_) => {
            "integer"
        }
        ValueKind::Float(_) => "number",
        ValueKind::String(_) => "string",
        ValueKind::Table(_) => "object",
        ValueKind::Array(_) => "array",
    }
}

/// `: did you mean …?`, or what there is.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let close = known.clone().map(|word| (strsim::osa_distance(name, word), word)).min();
    match close {
        Some((distance, word)) if distance <= word.len().div_ceil(3) => {
            format!(": did you mean `{word}`?")
        }
        _ => format!(
            ": there are {}",
            known.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// As [`nearest`], for the dotted name of an environment variable, which is given back as one.
fn nearest_key(name: &str) -> String {
    let all = schema::sections()
        .iter()
        .filter(|(_, section)| !section.is_named)
        .flat_map(|(section, inner)| inner.keys.keys().map(move |key| format!("{section}.{key}")));
    let close = all.map(|key| (strsim::osa_distance(name, &key), key)).min();
    match close {
        Some((distance, key)) if distance <= 4 => {
            format!(": did you mean `ADJUTANT__{}`?", key.replace('.', "__").to_ascii_uppercase())
        }
        _ => ": the names are `ADJUTANT__SECTION__KEY`, as in `docs/config.md`".to_owned(),
    }
}
