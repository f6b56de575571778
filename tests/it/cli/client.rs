//! `adjutant client`.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use serde_json::{Value, json};

use super::Cli;
use crate::harness::Server;

/// A program `claude` that keeps what it was called with, and refuses the first `add`.
const CLAUDE: &str = "#!/bin/sh
echo \"$@\" >> \"$HOME/calls\"
case \"$2\" in
add) if [ -e \"$HOME/free\" ]; then echo added; else echo \"MCP server adjutant already exists in user config\" >&2; exit 1; fi ;;
remove) touch \"$HOME/free\" ;;
esac
";

fn program(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn the_bridge_is_registered_with_what_says_which_server_it_means() {
    let binary = env!("CARGO_BIN_EXE_adjutant");
    let ended = Cli::new(&["client", "codex"]).end().await;
    assert_eq!(ended.out, format!("codex mcp add adjutant -- {binary} mcp\n"));
    let ended = Cli::new(&["client", "gemini", "--name", "boss"])
        .env("ADJUTANT_DATA_DIR", "/srv/a")
        .env("ADJUTANT_TOKEN", "canary")
        .end()
        .await;
    assert_eq!(
        ended.out,
        format!("gemini mcp add -s user boss env ADJUTANT_DATA_DIR=/srv/a {binary} mcp\n")
    );
    let report = Cli::new(&["client", "opencode", "--json"]).end().await.json();
    assert_eq!(
        report["entry"],
        json!({"type": "local", "command": [binary, "mcp"], "enabled": true})
    );
    assert_eq!((&report["client"], &report["transport"]), (&json!("opencode"), &json!("stdio")));
    let line = Cli::new(&["client", "claude", "--url", "https://host.example/"])
        .env("ADJUTANT_TOKEN", "canary")
        .end()
        .await;
    assert!(
        line.out.contains("env ADJUTANT_URL=https://host.example ")
            && line.err.contains("ADJUTANT_TOKEN"),
        "{line:?}"
    );
    assert!(!line.out.contains("canary"));
    Cli::new(&["client", "claude", "--name", "a b"]).end().await.failed(2, "--name");
    Cli::new(&["client", "nobody"]).end().await.failed(2, "claude");
}

#[tokio::test]
async fn over_http_the_token_is_in_the_line_with_a_warning() {
    let server = Server::start("").await;
    let at = |arguments: &[&str]| Cli::new(arguments).env("ADJUTANT_DATA_DIR", server.path("data"));
    let ended = at(&["client", "claude", "--http"]).end().await;
    let (url, token) = (&server.url, &server.token);
    assert_eq!(
        ended.out,
        format!(
            "claude mcp add --scope user --transport http adjutant {url}/mcp --header \"Authorization: Bearer {token}\"\n"
        )
    );
    assert!(ended.err.contains("warning: this holds the server's token"), "{ended:?}");
    // It listens on a free port, as one that was started by itself does.
    assert!(ended.err.contains("adjutant serve --listen 127.0.0.1:7004"), "{ended:?}");
    let port = url.rsplit(':').next().unwrap();
    let fixed = at(&["client", "claude", "--http"])
        .env("ADJUTANT__SERVER__LISTEN", format!("127.0.0.1:{port}"));
    assert!(!fixed.end().await.err.contains("adjutant serve"), "a port that stays");
    let ended = at(&["client", "codex", "--http"]).end().await;
    assert!(
        !ended.out.contains(token.as_str()) && ended.err.contains("ADJUTANT_TOKEN"),
        "{ended:?}"
    );
    Cli::new(&["client", "claude", "--http"]).end().await.failed(8, "adjutant serve");
    Cli::new(&["client", "claude", "--http", "--url", "http://h"])
        .end()
        .await
        .failed(3, "`ADJUTANT_TOKEN`");
}

#[tokio::test]
async fn apply_runs_the_clients_own_command_and_never_adds_twice() {
    let cli = Cli::new(&["client", "claude", "--apply"]);
    let home = cli.home.clone();
    program(home.path(), "claude", CLAUDE);
    let path = format!("{}:/usr/bin:/bin", home.path().display());
    let ended = cli.env("PATH", &path).end().await;
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), ""), "{ended:?}");
    let calls = fs::read_to_string(home.path().join("calls")).unwrap();
    let verbs: Vec<&str> = calls.lines().map(|call| call.split(' ').nth(1).unwrap()).collect();
    assert_eq!(verbs, ["add", "remove", "add"], "{calls}");
    Cli::new(&["client", "gemini", "--apply"])
        .env("PATH", "/nowhere")
        .end()
        .await
        .failed(5, "not on PATH");
    program(home.path(), "codex", "#!/bin/sh\necho \"no: $*\" >&2\nexit 3\n");
    let failed = Cli::at(&home, &["client", "codex", "--apply"]).env("PATH", &path).end().await;
    failed.failed(1, "no: mcp add adjutant -- ");
}

#[tokio::test]
async fn apply_edits_opencodes_file_whole_and_keeps_what_was_there() {
    let cli = Cli::new(&["client", "opencode", "--apply"]);
    let home = cli.home.clone();
    let dir = home.path().join(".config/opencode");
    fs::create_dir_all(&dir).unwrap();
    let file = dir.join("opencode.json");
    fs::write(&file, "{\"theme\": \"dark\"}").unwrap();
    let ended = cli.end().await;
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), ""), "{ended:?}");
    let read = || serde_json::from_str::<Value>(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(
        (&read()["theme"], &read()["mcp"]["adjutant"]["type"]),
        (&json!("dark"), &json!("local"))
    );
    assert_eq!(fs::read_to_string(dir.join("opencode.json.bak")).unwrap(), "{\"theme\": \"dark\"}");
    let again = Cli::at(&home, &["client", "opencode", "--apply"]).end().await;
    assert!(again.code == Some(0) && again.err.contains("already"), "{again:?}");
    fs::write(&file, "{ // mine\n}").unwrap();
    Cli::at(&home, &["client", "opencode", "--apply"]).end().await.failed(2, "by hand");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ // mine\n}");
}
