//! Each orchestrator's own command for a registration, word for word.

use super::{Name, place::Place};

/// The command that registers the server, one argument an item.
pub(super) fn of(client: Name, name: &str, place: &Place) -> Vec<String> {
    let mut argv = vec![client.program(), "mcp", "add"];
    match place {
        Place::Stdio(stdio) => {
            match client {
                // User-wide, where the client would take the current directory alone.
                Name::Claude => argv.extend(["--scope", "user", name, "--"]),
                Name::Codex | Name::OpenCode => argv.extend([name, "--"]),
                Name::Gemini => argv.extend(["-s", "user", name]),
            }
            argv.extend(stdio.argv.iter().map(String::as_str));
            owned(&argv)
        }
        Place::Http(http) => {
            let (url, bearer) = (http.url.as_str(), format!("Bearer {}", http.token()));
            let header = match client {
                Name::OpenCode => format!("Authorization={bearer}"),
                _ => format!("Authorization: {bearer}"),
            };
            match client {
                Name::Claude => argv.extend([
                    "--scope",
                    "user",
                    "--transport",
                    "http",
                    name,
                    url,
                    "--header",
                    &header,
                ]),
                Name::Codex => {
                    argv.extend([name, "--url", url, "--bearer-token-env-var", "ADJUTANT_TOKEN"]);
                }
                Name::OpenCode => argv.extend([name, "--url", url, "--header", &header]),
                // The header last: it takes every word after it.
                Name::Gemini => argv.extend(["-s", "user", "-t", "http", name, url, "-H", &header]),
            }
            owned(&argv)
        }
    }
}

/// The command that takes the registration back, where adding it again would fail.
pub(super) fn undo(client: Name, name: &str) -> Option<Vec<String>> {
    match client {
        Name::Claude => Some(owned(&["claude", "mcp", "remove", "--scope", "user", name])),
        Name::Codex | Name::OpenCode | Name::Gemini => None,
    }
}

fn owned(argv: &[&str]) -> Vec<String> {
    argv.iter().map(|word| (*word).to_owned()).collect()
}

/// A command as a line for a POSIX shell.
pub(super) fn quoted(argv: &[String]) -> String {
    argv.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if !word.is_empty() && word.chars().all(|c| c == ' ' || plain(c)) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::place::{Http, Stdio},
        *,
    };

    const ALL: [Name; 4] = [Name::Claude, Name::Codex, Name::OpenCode, Name::Gemini];

    fn lines(place: &Place) -> Vec<String> {
        ALL.iter().map(|client| quoted(&of(*client, "adjutant", place))).collect()
    }

    #[test]
    fn each_client_is_told_in_its_own_words() {
        let argv = ["/opt/my tools/adjutant", "mcp"].map(ToOwned::to_owned).to_vec();
        let place = Place::Stdio(Stdio { argv, url: None });
        assert_eq!(
            lines(&place),
            [
                "claude mcp add --scope user adjutant -- \"/opt/my tools/adjutant\" mcp",
                "codex mcp add adjutant -- \"/opt/my tools/adjutant\" mcp",
                "opencode mcp add adjutant -- \"/opt/my tools/adjutant\" mcp",
                "gemini mcp add -s user adjutant \"/opt/my tools/adjutant\" mcp",
            ]
        );
        let place = Place::Http(Http::new("http://127.0.0.1:7004/mcp", "T0KEN"));
        assert_eq!(
            lines(&place),
            [
                "claude mcp add --scope user --transport http adjutant http://127.0.0.1:7004/mcp --header \"Authorization: Bearer T0KEN\"",
                "codex mcp add adjutant --url http://127.0.0.1:7004/mcp --bearer-token-env-var ADJUTANT_TOKEN",
                "opencode mcp add adjutant --url http://127.0.0.1:7004/mcp --header \"Authorization=Bearer T0KEN\"",
                "gemini mcp add -s user -t http adjutant http://127.0.0.1:7004/mcp -H \"Authorization: Bearer T0KEN\"",
            ]
        );
    }

    #[test]
    fn the_readme_registers_as_this_command_does() {
        let argv = ["adjutant", "mcp"].map(ToOwned::to_owned).to_vec();
        let readme = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"));
        for line in lines(&Place::Stdio(Stdio { argv, url: None })) {
            assert!(readme.contains(&format!("| `{line}` |")), "no `{line}` in README.md");
        }
    }

    #[test]
    fn what_a_shell_would_read_otherwise_is_quoted() {
        for (word, quoted) in [
            ("plain-1.2", "plain-1.2"),
            ("", "''"),
            ("two words", "\"two words\""),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("a\"b`c", "'a\"b`c'"),
        ] {
            assert_eq!(quote(word), quoted);
        }
    }
}
