//! The settings reference, made of the settings themselves.

use std::fmt::Write as _;

use super::{
    names::{Now, OLDER, OTHER, SHORT},
    schema,
};

/// The text of `docs/config.md`.
pub fn reference() -> String {
    let mut text = HEAD.to_owned();
    for (name, section) in schema::sections() {
        let _ = write!(
            text,
            "\n## `[{name}{}]`\n\n{}\n\n| key | default | meaning |\n|---|---|---|\n",
            if section.is_named { ".NAME" } else { "" },
            section.about
        );
        for (key, known) in &section.keys {
            let mut about = known.about.replace('|', "\\|");
            if !known.words.is_empty() {
                let words: Vec<String> =
                    known.words.iter().map(|word| format!("`{word}`")).collect();
                let _ = write!(about, " One of {}.", words.join(", "));
            }
            let _ = writeln!(text, "| `{key}` | {} | {about} |", known.default());
        }
    }
    text.push_str("\n## Short names in the environment\n\n| name | setting |\n|---|---|\n");
    for short in SHORT {
        let _ = writeln!(text, "| `{}` | `{}` |", short.name, short.key);
    }
    for (name, meaning) in OTHER {
        let _ = writeln!(text, "| `{name}` | {meaning} |");
    }
    text.push_str(OLDER_HEAD);
    for (name, now) in OLDER {
        let _ = match now {
            Now::Key(key) => writeln!(text, "| `{name}` | read: sets `{key}` |"),
            Now::Read(how) => writeln!(text, "| `{name}` | read: {how} |"),
            Now::Unread(why) => writeln!(text, "| `{name}` | not read: {why} |"),
            Now::Instead(what) => writeln!(text, "| `{name}` | not read; use {what} |"),
        };
    }
    text
}

const HEAD: &str = "\
# Settings

<!-- Generated from `src/config` by its test: edit the comments there. -->

The settings are read at start, from these places; what comes later counts more:

1. the defaults below;
2. the file `adjutant.toml`: the one that `--config` or `ADJUTANT_CONFIG` names, which must exist, else the one in `$XDG_CONFIG_HOME/adjutant` or `~/.config/adjutant`, which may be missing;
3. the older names in the environment (last table);
4. the short names in the environment;
5. `ADJUTANT__SECTION__KEY` in the environment, such as `ADJUTANT__SERVER__LISTEN`; a list is written with commas;
6. the flags of the command line.

An unknown section, key or `ADJUTANT__` variable is an error that names the nearest right one, and so is a value of the wrong type. A duration is written `250ms`, `90s`, `15m`, `2h`; a size `512 KiB`, `16 MiB`, or as a number of bytes. An empty variable counts as absent.
";

const OLDER_HEAD: &str = "
## Older names

What became of the names of earlier programs. One that is not read does no harm.

| name | now |
|---|---|
";
