//! Who may import whom: imports run downwards, and each library has its rooms. A room that is not
//! listed here fails: it gets a floor on purpose.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The rooms of `src/` from the ground up, floor by floor. Rooms of one floor do not name each
/// other, but for the top one.
const FLOORS: &[&[&str]] = &[
    &["files"],
    &["clock", "ids", "config", "untrusted"],
    &["telemetry", "outbound", "reading", "reduce"],
    &["store"],
    &["auth", "broker"],
    &["app"],
    &["tools", "library"],
    &["http"],
    &["boot", "cli", "main"],
];

/// What a room must not name, of this workspace and of the libraries.
const BANS: &[(&str, &[&str])] = &[
    ("files", &["tokio", "serde", "mcp", "routing", "roster"]),
    ("clock", &["tokio", "serde", "mcp", "routing", "roster"]),
    ("ids", &["tokio", "mcp", "routing", "roster"]),
    ("config", &["tokio", "mcp", "routing", "roster"]),
    ("untrusted", &["tokio", "mcp", "routing", "roster"]),
    ("telemetry", &["mcp", "routing", "roster"]),
    ("store", &["axum", "http", "rmcp", "routing", "roster"]),
    ("outbound", &["mcp", "routing", "roster"]),
    ("reading", &["tokio", "mcp", "routing", "roster", "fs", "tracing"]),
    ("reduce", &["tokio", "mcp", "routing", "roster", "fs", "tracing", "clock", "time"]),
    ("auth", &["http", "routing", "roster"]),
    ("tools", &["http", "hyper"]),
    ("library", &["http", "hyper", "roster", "routing"]),
    ("http", &["notify"]),
];

/// Where a library may be named: rooms of `src/`, or paths of the other crates.
const KEEPS: &[(&str, &[&str])] = &[
    ("sqlx", &["src/store"]),
    ("rusqlite", &["src/store"]),
    ("axum", &["src/http", "src/boot", "examples/conformance_server"]),
    ("rmcp", &["mcp/src/face", "mcp/src/bridge", "examples/conformance_server"]),
    ("reqwest", &["routing/src/upstream", "src/outbound", "mcp/src/bridge"]),
    ("anyhow", &["src/boot", "src/cli", "examples"]),
    ("clap", &["src/cli"]),
    ("notify", &["src/boot"]),
];

/// What a member crate must not name.
const CRATES: &[(&str, &[&str])] = &[
    ("roster", &["tokio", "axum", "sqlx", "rmcp", "reqwest", "routing", "mcp", "adjutant"]),
    ("routing", &["axum", "sqlx", "rmcp", "mcp", "adjutant"]),
    ("mcp", &["axum", "sqlx", "roster", "routing", "adjutant"]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below a directory, by its path from the root, with its text free of comments,
/// strings and tests.
fn sources(dir: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut dirs: Vec<PathBuf> = vec![root().join(dir)];
    while let Some(dir) = dirs.pop() {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                if name != "tests" {
                    dirs.push(path);
                }
            } else if path.extension().is_some_and(|kind| kind == "rs")
                && !name.starts_with("tests")
            {
                let text = fs::read_to_string(&path).unwrap();
                let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                files.insert(name, code(&text));
            }
        }
    }
    assert!(!files.is_empty() || dir == "examples", "no sources in {dir}");
    files
}

/// A file's text without comments and string literals, up to its own tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap();
    let mut out = String::new();
    for line in text.lines() {
        let line = line.trim_start();
        if line.starts_with("//") {
            continue;
        }
        // Pieces between quotes alternate; an escaped quote or a raw string only hides more.
        for (at, piece) in line.split('"').enumerate() {
            if at % 2 == 0 {
                out.push_str(piece.split(" //").next().unwrap());
            }
            out.push(' ');
        }
        out.push('\n');
    }
    out
}

/// The words that stand in front of a `::`, which is how a crate or a room is named; those that
/// follow another `::` are parts of a longer path.
fn named(code: &str) -> BTreeSet<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = BTreeSet::new();
    for (at, _) in code.match_indices("::") {
        let before = &code[..at];
        let word = &before[before.rfind(|c| !is_word(c)).map_or(0, |at| at + 1)..];
        let lead = &before[..before.len() - word.len()];
        let is_absolute =
            lead.ends_with("::") && !lead[..lead.len() - 2].ends_with(|c| is_word(c) || c == '>');
        if !word.is_empty() && (!lead.ends_with("::") || is_absolute) {
            words.insert(word);
        }
    }
    words
}

/// The rooms of this crate that a file names: `crate::room`, and `crate::{room, …}`.
fn rooms(code: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for (at, lead) in code.match_indices("crate::").chain(code.match_indices("adjutant::")) {
        let rest = code[at + lead.len()..].trim_start();
        if let Some(list) = rest.strip_prefix('{') {
            let (mut depth, mut start) = (0, 0);
            for (at, c) in list.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => {
                        rooms.extend(first_word(&list[start..at]));
                        break;
                    }
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        rooms.extend(first_word(&list[start..at]));
                        start = at + 1;
                    }
                    _ => {}
                }
            }
        } else {
            rooms.extend(first_word(rest));
        }
    }
    rooms
}

fn first_word(text: &str) -> Option<String> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

fn room_of(file: &str) -> String {
    let below = file.strip_prefix("src/").unwrap();
    below.split(['/', '.']).next().unwrap().to_owned()
}

fn floor_of(room: &str) -> Option<usize> {
    FLOORS.iter().position(|rooms| rooms.contains(&room))
}

#[test]
fn imports_run_downwards() {
    let mut wrong = Vec::new();
    for (file, code) in sources("src") {
        let room = room_of(&file);
        if room == "lib" {
            continue;
        }
        let Some(floor) = floor_of(&room) else {
            wrong.push(format!(
                "{file}: the room `{room}` has no floor: give it one in tests/it/floors.rs"
            ));
            continue;
        };
        for other in rooms(&code) {
            if other == room {
                continue;
            }
            match floor_of(&other) {
                None => wrong.push(format!("{file}: `crate::{other}` is no room with a floor")),
                Some(other_floor) if other_floor > floor => {
                    wrong.push(format!("{file}: `{room}` names `{other}`, which is above it"));
                }
                Some(other_floor) if other_floor == floor && floor + 1 < FLOORS.len() => {
                    wrong.push(format!("{file}: `{room}` names `{other}`, which is beside it"));
                }
                Some(_) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rooms_and_crates_do_not_name_what_is_not_theirs() {
    let mut wrong = Vec::new();
    for (file, code) in sources("src") {
        let (room, named) = (room_of(&file), named(&code));
        for (_, banned) in BANS.iter().filter(|(one, _)| *one == room) {
            wrong.extend(
                banned
                    .iter()
                    .filter(|word| named.contains(*word))
                    .map(|word| format!("{file} names `{word}`")),
            );
        }
    }
    for (dir, banned) in CRATES {
        for (file, code) in sources(&format!("{dir}/src")) {
            let named = named(&code);
            wrong.extend(
                banned
                    .iter()
                    .filter(|word| named.contains(*word))
                    .map(|word| format!("{file} names `{word}`")),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn libraries_are_named_in_their_rooms_alone() {
    let mut wrong = Vec::new();
    for dir in ["src", "roster/src", "routing/src", "mcp/src", "examples"] {
        for (file, code) in sources(dir) {
            let named = named(&code);
            for (library, rooms) in KEEPS {
                let at_home = rooms.iter().any(|room| file.starts_with(room));
                if named.contains(library) && !at_home {
                    wrong.push(format!(
                        "{file} names `{library}`, whose place is {}",
                        rooms.join(", ")
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The scanner itself: what it must see and what it must not.
#[test]
fn the_scanner_sees_paths_and_nothing_else() {
    let text = "//! crate::http\nuse crate::{app::App, auth::{Tokens, X}, config};\nlet a = \"crate::http\"; // crate::tools\nfoo::axum::x(); ::sqlx::y();\n#[cfg(test)]\nuse crate::boot;";
    let code = code(text);
    assert_eq!(rooms(&code).into_iter().collect::<Vec<_>>(), ["app", "auth", "config"]);
    let named = named(&code);
    assert!(named.contains("sqlx") && named.contains("foo") && !named.contains("axum"));
}
