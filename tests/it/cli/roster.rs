//! `adjutant roster …`.

use std::fs;

use fake::Fake;
use serde_json::{Value, json};

use super::Cli;
use crate::harness::{Server, backend, local};

#[tokio::test]
async fn check_names_every_error_with_its_place() {
    let cli = Cli::new(&["roster", "check"]);
    let text = "[[backend]]\nid = \"A\"\ntier = \"lokal\"\nkind = \"extract\"\n\n[[backend]]\nid = \"b\"\ntier = \"local\"\nkind = \"cli\"\ncmd = []\n";
    let path = cli.file("roster.toml", text);
    let name = path.to_str().unwrap();
    let ended = Cli::new(&["roster", "check", name]).end().await;
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.len(), 3, "{ended:?}");
    for (line, place) in lines.iter().zip(["2:6", "3:8", "10:7"]) {
        assert!(line.starts_with(&format!("{name}:{place}: error: ")), "{line}");
    }
    let report = Cli::new(&["roster", "check", name, "--json"]).end().await;
    assert_eq!(report.code, Some(2));
    let report = report.document();
    assert_eq!((&report["ok"], report["errors"].as_array().unwrap().len()), (&json!(false), 3));
    assert_eq!(
        (&report["errors"][1]["line"], &report["errors"][1]["column"]),
        (&json!(3), &json!(8))
    );
}

#[tokio::test]
async fn check_takes_the_roster_of_the_settings_or_standard_input() {
    let cli = Cli::new(&["roster", "check"]);
    let priced = "[[backend]]\nid = \"a\"\ntier = \"local\"\nkind = \"extract\"\ncost = { input_per_mtok = 3.0 }\n";
    let path = cli.file("roster.toml", priced);
    let ended = cli.env("ADJUTANT_ROSTER", &path).end().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.out.contains(": warning: ") && ended.err.contains("1 backend, no error"),
        "{ended:?}"
    );
    let report = Cli::new(&["roster", "check", "-", "--json"]).stdin("").end().await.json();
    assert_eq!((&report["ok"], &report["backends"]), (&json!(true), &json!(0)));
    Cli::new(&["roster", "check", "/no.toml"]).end().await.failed(2, "there is no file `/no.toml`");
    Cli::new(&["roster", "check"]).end().await.failed(2, "adjutant roster discover");
}

#[tokio::test]
async fn show_probes_the_backends_where_no_server_runs() {
    let fake = Fake::start().await;
    fake.set_models(json!({"data": [{"id": "m1"}]}));
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let roster = backend("up", &fake, "m1")
        + "good_at = [\"code\"]\n"
        + &backend("odd", &fake, "m2")
        + &backend("dark", &fake, "m1")
            .replace(&fake.url(), &format!("http://{}/v1", silent.local_addr().unwrap()))
        + "[[backend]]\nid = \"paid\"\ntier = \"api\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\nkey = \"env:THE_KEY\"\n"
        + "[[backend]]\nid = \"own\"\ntier = \"local\"\nkind = \"extract\"\n";
    let cli = Cli::new(&["roster", "show", "--json"]).env("THE_KEY", "sk-canary-0123456789");
    let path = cli.file("roster.toml", &roster);
    let home = cli.home.clone();
    let ended = cli.env("ADJUTANT_ROSTER", &path).end().await;
    assert!(!ended.out.contains("canary") && !ended.err.contains("canary"));
    let report = ended.json();
    let states: Vec<&Value> =
        report["backends"].as_array().unwrap().iter().map(|b| &b["health"]["state"]).collect();
    assert_eq!(json!(states), json!(["up", "odd", "down", "unasked", "up"]), "{report}");
    assert_eq!(
        (&report["server"], &report["backends"][3]["key"]),
        (&Value::Null, &json!("env:THE_KEY"))
    );
    let table = Cli::at(&home, &["roster", "show"]).env("ADJUTANT_ROSTER", &path).end().await;
    assert_eq!((table.code, table.out.lines().count()), (Some(0), 6), "{table:?}");
    for says in ["HEALTH", "lists no model `m2`; it has `m1`", "down: ", "billing is off", "code"] {
        assert!(table.out.contains(says), "no `{says}`: {}", table.out);
    }
    assert!(!home.path().join(".local").exists(), "a server was started");
}

#[tokio::test]
async fn show_asks_the_running_server_what_its_calls_have_shown() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    server.post("/delegate/local", json!({"prompt": "hi"})).await.result();
    let cli = Cli::new(&["roster", "show", "--json"])
        .env("ADJUTANT_DATA_DIR", server.path("data"))
        .env("ADJUTANT_ROSTER", server.path("roster.toml"));
    let report = cli.end().await.json();
    assert_eq!(report["server"], json!(server.url));
    assert_eq!(report["backends"][0]["health"], json!({"state": "ready", "source": "traffic"}));
}

#[tokio::test]
async fn an_edit_is_taken_before_the_next_command_is_answered() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    for id in ["one", "two", "three"] {
        fs::write(server.path("roster.toml"), backend(id, &fake, "ok")).unwrap();
        let cli = Cli::new(&["delegate", "--target", id, "hello"])
            .env("ADJUTANT_DATA_DIR", server.path("data"));
        let ended = cli.end().await;
        assert_eq!((ended.code, ended.out.as_str()), (Some(0), "echo:hello\n"), "{ended:?}");
    }
}

#[tokio::test]
async fn show_without_a_backend_says_where_to_get_one() {
    for arguments in [&["roster", "show"][..], &["roster", "show", "--json"]] {
        let ended = Cli::new(arguments).end().await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(
            arguments.len() == 3 || ended.err.contains("adjutant roster discover"),
            "{ended:?}"
        );
    }
}

#[tokio::test]
async fn discover_prints_entries_that_a_roster_takes() {
    let (one, two) = (Fake::start().await, Fake::start().await);
    let html = Fake::raw([
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 13\r\n\r\n<html></html>",
    ])
    .await;
    one.set_models(
        json!({"object": "list", "data": [{"id": "Qwen/Qwen3-8B"}, {"id": "bge-embed"}]}),
    );
    two.set_models(json!(["qwen3-8b", "bad\nname", 7]));
    let ports: Vec<String> =
        [&one, &two, &html].iter().map(|fake| fake.address().port().to_string()).collect();
    let mut arguments = vec!["roster", "discover", "--port", "1"];
    for port in &ports {
        arguments.extend(["--port", port]);
    }
    let ended = Cli::new(&arguments).end().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let roster = ::roster::Roster::parse(&ended.out).unwrap();
    let ids: Vec<&str> = roster.backends().iter().map(|backend| backend.id.as_str()).collect();
    assert_eq!(ids, ["qwen3-8b", "bge-embed", "qwen3-8b-2"]);
    assert!(!roster.get("bge-embed").unwrap().enabled);
    arguments.push("--json");
    let report = Cli::new(&arguments).end().await.json();
    assert_eq!(
        (report["servers"].as_array().unwrap().len(), report["asked"].as_array().unwrap().len()),
        (2, 4)
    );
    assert_eq!(
        report["servers"][0]["models"][0],
        json!({"id": "qwen3-8b", "model": "Qwen/Qwen3-8B"})
    );
}

#[tokio::test]
async fn discover_that_finds_nothing_says_so_by_its_exit_code() {
    let none = Cli::new(&["roster", "discover", "--port", "1"]).end().await;
    none.failed(5, "no model server answers");
    let none = Cli::new(&["roster", "discover", "--port", "1", "--json"]).end().await;
    assert_eq!((none.code, &none.document()["servers"]), (Some(5), &json!([])), "{none:?}");
}

#[tokio::test]
async fn import_prints_a_roster_and_says_what_is_no_yaml() {
    let cli = Cli::new(&["roster", "import"]);
    let path = cli.file(
        "roster.yaml",
        "- id: coder\n  tier: local\n  invoke: {kind: openai-compat, base_url: \"http://127.0.0.1:8080/v1\", model: m}\n  good_at: [code]\n",
    );
    let settings = cli.file("settings.yaml", "delegate_max_concurrency: 3\n");
    let (path, settings) = (path.to_str().unwrap(), settings.to_str().unwrap());
    let ended = Cli::new(&["roster", "import", path, "--settings", settings]).end().await;
    assert!(ended.code == Some(0) && ended.out.contains("concurrency = 3"), "{ended:?}");
    let ended = Cli::new(&["roster", "import", "-"]).stdin("]").end().await;
    ended.failed(2, "is not valid YAML");
    assert!(fs::metadata(path).is_ok());
}
