//! `adjutant mcp`: the stdio bridge, and the server that it starts.

use std::{fs, sync::Arc};

use adjutant::boot;
use fake::Fake;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
    time::timeout,
};

use super::Cli;
use crate::harness::{PATIENCE, Server, local, until};

/// A home whose bridges start a server that leaves when it is not used.
struct Home(Arc<TempDir>);

impl Home {
    fn new(roster: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("roster.toml"), roster).unwrap();
        Self(Arc::new(home))
    }

    fn bridge(&self) -> Cli {
        let path = |name: &str| self.0.path().join(name);
        Cli::at(&self.0, &["mcp"])
            .env("PATH", "/usr/bin:/bin")
            .env("ADJUTANT_DATA_DIR", path("data"))
            .env("ADJUTANT_ROSTER", path("roster.toml"))
            .env("ADJUTANT_IDLE_EXIT", "2s")
    }

    fn endpoint(&self) -> Option<boot::Endpoint> {
        let text = fs::read(self.0.path().join("data/endpoint.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn kill(&self, signal: Signal) {
        let pid = self.endpoint().and_then(|endpoint| Pid::from_raw(endpoint.pid.cast_signed()));
        kill_process(pid.unwrap(), signal).unwrap();
    }
}

/// A client in conversation with a bridge.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl Client {
    async fn of(mut cli: Cli) -> Self {
        let mut child = cli.spawn();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let mut client = Self { child, input, output: BufReader::new(output).lines() };
        let answer = client.ask(&initialize()).await;
        assert_eq!(answer["result"]["serverInfo"]["name"], "adjutant", "{answer}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input.as_mut().unwrap().write_all(line.as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        loop {
            let line = timeout(PATIENCE, self.output.next_line()).await.unwrap().unwrap();
            let line: Value = serde_json::from_str(&line.expect("an answer")).unwrap();
            if line["id"] == message["id"] {
                return line;
            }
        }
    }

    /// Closes its end, and waits for that of the bridge.
    async fn leave(mut self) {
        self.input = None;
        let status = timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap();
        assert_eq!(status.code(), Some(0));
    }
}

fn initialize() -> Value {
    let info = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

#[tokio::test]
async fn several_bridges_share_one_server_that_leaves_when_they_have() {
    let home = Home::new("");
    let one = || async { Client::of(home.bridge()).await };
    let (mut a, b, c, d) = tokio::join!(one(), one(), one(), one());
    let targets = a.ask(&call(1, "delegate_targets", &json!({}))).await;
    assert_eq!(targets["result"]["structuredContent"]["targets"], json!([]), "{targets}");
    let log = fs::read_to_string(home.0.path().join("data/server.log")).unwrap();
    assert_eq!(log.matches("listening on").count(), 1, "{log}");
    let endpoint = home.endpoint().unwrap();
    // In a session of its own, and no child of a bridge when that is gone.
    let stat = fs::read_to_string(format!("/proc/{}/stat", endpoint.pid)).unwrap();
    let session = stat.rsplit(')').next().unwrap().split_whitespace().nth(3).unwrap().to_owned();
    assert_eq!(session, endpoint.pid.to_string());
    for client in [a, b, c, d] {
        assert!(home.endpoint().is_some());
        client.leave().await;
    }
    until("the server leaves", async || home.endpoint().is_none()).await;
}

#[tokio::test]
async fn a_server_that_is_started_gets_only_what_is_meant_for_it() {
    let roster = "[[backend]]\nid = \"one\"\ntier = \"local\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\nkey = \"env:MY_KEY\"\n";
    let home = Home::new(roster);
    let config = home.0.path().join("adjutant.toml");
    fs::write(&config, "[mcp]\npass_env = [\"PASSED\"]\n").unwrap();
    let mut cli = home.bridge().env("ADJUTANT_CONFIG", &config).env("ADJUTANT_TOKEN", "");
    for name in
        ["MY_KEY", "PASSED", "ANTHROPIC_API_KEY", "LC_ALL", "https_proxy", "LD_LIBRARY_PATH"]
    {
        cli = cli.env(name, "x");
    }
    let client = Client::of(cli).await;
    let environment = fs::read(format!("/proc/{}/environ", home.endpoint().unwrap().pid)).unwrap();
    let names: Vec<String> = environment
        .split(|byte| *byte == 0)
        .filter_map(|pair| Some(String::from_utf8_lossy(pair).split_once('=')?.0.to_owned()))
        .collect();
    for wanted in ["HOME", "PATH", "MY_KEY", "PASSED", "LC_ALL", "https_proxy", "ADJUTANT_CONFIG"] {
        assert!(names.iter().any(|name| name == wanted), "no {wanted} in {names:?}");
    }
    for unwanted in ["ANTHROPIC_API_KEY", "LD_LIBRARY_PATH", "ADJUTANT_TOKEN"] {
        assert!(!names.iter().any(|name| name == unwanted), "{unwanted} in {names:?}");
    }
    client.leave().await;
}

#[tokio::test]
async fn s28_a_server_that_died_is_replaced_in_mid_session() {
    let home = Home::new("");
    let mut client = Client::of(home.bridge()).await;
    let before = home.endpoint().unwrap();
    home.kill(Signal::KILL);
    until("the server is gone", async || {
        tokio::net::TcpStream::connect((before.host.as_str(), before.port)).await.is_err()
    })
    .await;
    let answer = client.ask(&call(1, "delegate_targets", &json!({}))).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_ne!(home.endpoint().unwrap().instance, before.instance);
    client.leave().await;
}

#[tokio::test]
async fn a_server_that_drains_is_waited_for_and_followed_by_another() {
    let fake = Fake::start().await;
    let home = Home::new(&local(&fake, "slow-3000"));
    let mut client = Client::of(home.bridge()).await;
    let before = home.endpoint().unwrap();
    client.send(&call(1, "delegate_local", &json!({"prompt": "hello"}))).await;
    until("the call is on its way", async || fake.stats().open > 0).await;
    home.kill(Signal::TERM);
    until("the server takes no work", async || home.endpoint().is_none()).await;
    let path = |name: &str| home.0.path().join(name);
    let targets = Cli::at(&home.0, &["targets"])
        .env("PATH", "/usr/bin:/bin")
        .env("ADJUTANT_DATA_DIR", path("data"))
        .env("ADJUTANT_ROSTER", path("roster.toml"))
        .env("ADJUTANT_IDLE_EXIT", "2s")
        .end();
    let again = call(2, "delegate_targets", &json!({}));
    let (ended, answer) = tokio::join!(targets, client.ask(&again));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("local"), "{ended:?}");
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_ne!(home.endpoint().unwrap().instance, before.instance);
    client.leave().await;
}

#[tokio::test]
async fn a_server_with_another_roster_or_version_is_not_joined() {
    let home = Home::new("");
    let mut client = Client::of(home.bridge()).await;
    let other = home.0.path().join("other.toml");
    fs::write(&other, "").unwrap();
    let input = format!("{}\n", initialize());
    let ended = home.bridge().env("ADJUTANT_ROSTER", &other).stdin(input.clone()).end().await;
    let answer: Value = ended.document();
    let words = answer["error"]["message"].as_str().unwrap();
    assert!(words.contains("other.toml") && words.contains("ADJUTANT_ROSTER"), "{words}");
    assert!(ended.err.contains("other.toml"), "{}", ended.err);

    let file = home.0.path().join("data/endpoint.json");
    let text = fs::read_to_string(&file).unwrap();
    let version = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(&file, text.replace(&version, "\"0.0.9\"")).unwrap();
    let answer = home.bridge().stdin(input).end().await.document();
    let words = answer["error"]["message"].as_str().unwrap();
    assert!(words.contains("0.0.9") && words.contains("ADJUTANT_DATA_DIR"), "{words}");
    fs::write(&file, text).unwrap();
    assert_eq!(
        client.ask(&json!({"jsonrpc": "2.0", "id": 9, "method": "ping"})).await["result"],
        json!({})
    );
    client.leave().await;
}

#[tokio::test]
async fn a_server_that_does_not_start_says_why() {
    let home = Home::new("nonsense = 1\n");
    let ended = home.bridge().stdin(format!("{}\n", initialize())).end().await;
    let answer = ended.document();
    let words = answer["error"]["message"].as_str().unwrap();
    assert!(words.contains("nonsense") && words.contains("server.log"), "{words}");
}

#[tokio::test]
async fn a_named_server_is_used_and_a_signal_ends_the_bridge() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let home = Home::new("");
    let mut client = Client::of(home.bridge().to(&server)).await;
    let answer = client.ask(&call(1, "delegate_local", &json!({"prompt": "hello"}))).await;
    assert_eq!(answer["result"]["structuredContent"]["text"], "echo:hello", "{answer}");
    assert!(home.endpoint().is_none());
    let pid = Pid::from_raw(client.child.id().unwrap().cast_signed()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let status = timeout(PATIENCE, client.child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(client.output.next_line().await.unwrap(), None);
}

/// A server does not see the session behind a token: the bridge, which runs where that runs, says
/// what a call leaves out, under every name by which the tool can be called.
#[tokio::test]
async fn a_bridge_says_which_session_runs_it() {
    const SESSION: &str = "44444444-2222-4222-8222-222222222222";
    let server = Server::start("").await;
    let home = Home::new("");
    let bridge = home
        .bridge()
        .to(&server)
        .env("CLAUDE_CODE_SESSION_ID", SESSION)
        .env("CLAUDE_SESSION_ID", "55555555-2222-4222-8222-222222222222")
        .env("TOOLSERVER_SELF_SSH", "ann@node.example:2222");
    let mut client = Client::of(bridge).await;
    let dir = std::env::current_dir().unwrap().to_str().unwrap().to_owned();
    let inner = json!({"name": "session_identity"});
    for (id, call) in [
        (1, call(1, "session_identity", &json!({}))),
        (2, call(2, "ts_call", &inner)),
        (3, call(3, "session_identity", &json!({"session_id": "", "ssh": null}))),
    ] {
        let answer = client.ask(&call).await;
        let known = &answer["result"]["structuredContent"];
        assert_eq!(
            (&known["session_id"], &known["complete"]),
            (&json!(SESSION), &json!(true)),
            "{id} {answer}"
        );
        assert_eq!(
            (&known["ssh"], &known["user"]),
            (&json!("ann@node.example:2222"), &json!("ann"))
        );
        assert_eq!(known["dir"], json!(dir));
        assert!(!known["machine"].as_str().unwrap().is_empty());
    }
    let other = json!({"session_id": "s", "ssh": "me@h", "dir": "/d"});
    let answer = client.ask(&call(4, "session_identity", &other)).await;
    let known = &answer["result"]["structuredContent"];
    assert_eq!(
        (&known["session_id"], &known["ssh"], &known["user"]),
        (&json!("s"), &json!("me@h"), &json!(""))
    );
    let left = json!({"locus": "ho", "text": "go on"});
    let answer = client.ask(&call(5, "handoff_request", &left)).await;
    assert_eq!(answer["result"]["structuredContent"]["source_session"], SESSION, "{answer}");
    // No call of a tool that takes none of it is given any.
    let answer = client.ask(&call(6, "handoff_list", &json!({}))).await;
    assert!(!answer.to_string().contains("was ignored"), "{answer}");
    client.leave().await;
}
