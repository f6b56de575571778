//! The server as a process: when it starts, when it does not, how it is found and how it ends.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use adjutant::boot::Failure;
use reqwest::Method;
use rustix::{
    fs::{CWD, FileType, Mode, mknodat},
    process::Signal,
};
use serde_json::json;

use crate::harness::{Process, Server, Setup, client, local, until};

#[tokio::test]
async fn s19_a_second_server_is_refused_with_its_own_code_and_the_first_goes_on() {
    let setup = Setup::new("");
    let first = Process::serve(&setup).await;
    let data = first.home.path().join("data");
    let second = Setup::new("").env("ADJUTANT_DATA_DIR", data.to_str().unwrap());
    let ended = Process::run(&second, &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    let pid = first.endpoint().pid.to_string();
    assert!(ended.err.contains(&pid) && ended.err.contains("ADJUTANT_DATA_DIR"), "{}", ended.err);
    assert_eq!(ended.out, "");
    let health = client().get(format!("{}/healthz", first.endpoint().url)).send().await.unwrap();
    let health: serde_json::Value = serde_json::from_str(&health.text().await.unwrap()).unwrap();
    assert_eq!(health["instance"], first.endpoint().instance);
}

#[tokio::test]
async fn s19_a_second_server_in_the_same_process_is_refused_too() {
    let server = Server::start("").await;
    let failure = server.second().await.err().unwrap();
    assert!(
        matches!(failure, Failure::SecondInstance { pid: Some(pid), .. } if pid == std::process::id()),
        "{failure}"
    );
    assert!(server.path("data/endpoint.json").exists());
}

#[tokio::test]
async fn a_data_directory_is_free_again_after_a_kill() {
    let setup = Setup::new("");
    let first = Process::serve(&setup).await;
    let (home, endpoint) = (first.home.clone(), first.endpoint());
    first.signal(Signal::KILL);
    first.end();
    let stale = home.path().join("data/endpoint.json");
    assert!(stale.exists());
    let again = Setup::new("").env("ADJUTANT_DATA_DIR", home.path().join("data").to_str().unwrap());
    let server = again.start().await;
    let fresh: adjutant::boot::Endpoint =
        serde_json::from_slice(&fs::read(&stale).unwrap()).unwrap();
    assert_ne!(fresh.instance, endpoint.instance);
    assert_eq!(fresh.url, server.url);
}

/// S23: the lock is the kernel's and goes with its holder; what the file says is for people.
#[tokio::test]
async fn s23_a_lock_file_without_a_holder_is_no_lock() {
    let setup = Setup::new("");
    let first = Process::serve(&setup).await;
    let (home, pid) = (first.home.clone(), first.endpoint().pid);
    let lock = home.path().join("data/lock");
    first.signal(Signal::KILL);
    first.end();
    assert_eq!(fs::read_to_string(&lock).unwrap().trim(), pid.to_string());
    // The number is another process's by now, which lives.
    fs::write(&lock, format!("{}\n", std::process::id())).unwrap();
    let again = Setup::new("").env("ADJUTANT_DATA_DIR", home.path().join("data").to_str().unwrap());
    again.start().await.stop().await;
}

/// S37: Windows is not claimed. On Unix the prefix of its verbatim paths is a name like others.
#[tokio::test]
async fn s37_a_verbatim_prefix_is_a_name_like_others() {
    let home = tempfile::tempdir().unwrap();
    let [data, copy] = [r"\\?\C:\data", r"\\?\UNC\copy.db"].map(|name| home.path().join(name));
    let setup = || Setup::new("").env("ADJUTANT_DATA_DIR", data.to_str().unwrap());
    let server = setup().start().await;
    server.post("/loci/register", json!({ "locus": "kept" })).await.result();
    let made = Process::run(&setup(), &["backup", copy.to_str().unwrap()]);
    assert_eq!(made.code, Some(0), "{made:?}");
    server.stop().await;
    for file in ["adjutant.db", "lock"] {
        assert!(data.join(file).is_file(), "{file}");
    }
    let server = setup().start().await;
    let loci = server.post("/loci/list", json!({})).await.result();
    assert!(loci.as_array().unwrap().iter().any(|row| row["locus"] == "kept"), "{loci}");
}

#[tokio::test]
async fn it_does_not_start_with_a_weak_token_or_an_open_door() {
    let open = ["serve", "--listen", "0.0.0.0:0"];
    let loopback = ["serve", "--listen", "127.0.0.1:0"];
    for (setup, arguments, words) in [
        (Setup::new(""), open, "ADJUTANT_OPERATOR_TOKEN"),
        (
            Setup::new("").env("ADJUTANT_OPERATOR_TOKEN", "short-secret"),
            loopback,
            "at least 32 characters",
        ),
        (
            Setup::new("").env("TOOLSERVER_OPERATOR_TOKEN", "short-secret"),
            open,
            "at least 32 characters",
        ),
    ] {
        let ended = Process::run(&setup, &arguments);
        assert_eq!(ended.code, Some(3), "{}", ended.err);
        assert!(ended.err.contains(words), "{}", ended.err);
        assert!(!ended.err.contains("short-secret"), "{}", ended.err);
    }
}

#[tokio::test]
async fn it_does_not_start_with_a_broken_roster_or_broken_settings() {
    let arguments = ["serve", "--listen", "127.0.0.1:0"];
    let ended =
        Process::run(&Setup::new("[[backend]]\nid = \"A\"\n\n[[backend]]\nid = 7\n"), &arguments);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(
        ended.err.contains("roster.toml:2:") && ended.err.contains("roster.toml:5:"),
        "{}",
        ended.err
    );
    let ended = Process::run(&Setup::new("").settings("[server]\nlisen = 1"), &arguments);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("did you mean `listen`?"), "{}", ended.err);
    let ended = Process::run(&Setup::new("").env("ADJUTANT_ROSTER", "/nowhere/r.toml"), &arguments);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("/nowhere/r.toml"), "{}", ended.err);
    let ended = Process::run(&Setup::new(""), &["serve", "--lisen", "x"]);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    let ended = Process::run(&Setup::new("").settings("[log]\nfilter = \"a=b=c\""), &arguments);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
}

#[tokio::test]
async fn an_address_that_is_taken_is_told() {
    let server = Server::start("").await;
    let failure = Setup::new("")
        .env("ADJUTANT__SERVER__LISTEN", &server.address())
        .try_start()
        .await
        .err()
        .unwrap();
    assert!(matches!(failure, Failure::Listen { .. }), "{failure}");
    assert!(failure.to_string().contains(&server.address()), "{failure}");
}

#[tokio::test]
async fn it_is_found_while_it_runs_and_its_files_are_private() {
    let server = Server::start("").await;
    let mode = |name: &str| fs::metadata(server.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode("data"), mode("data/endpoint.json"), mode("data/operator.token"), mode("data/lock")),
        (0o700, 0o600, 0o600, 0o600)
    );
    let endpoint: adjutant::boot::Endpoint =
        serde_json::from_slice(&fs::read(server.path("data/endpoint.json")).unwrap()).unwrap();
    assert_eq!(
        (endpoint.service.as_str(), endpoint.url.as_str(), endpoint.pid),
        ("adjutant", server.url.as_str(), std::process::id())
    );
    assert_eq!(endpoint.roster.as_deref(), Some(server.path("roster.toml").as_path()));
    assert_eq!(fs::read_to_string(endpoint.token_file.unwrap()).unwrap().trim(), server.token);
    let (file, token) = (server.path("data/endpoint.json"), server.token.clone());
    let again = server.restart().await;
    assert_eq!(again.token, token);
    let kept = again.path("data/operator.token");
    again.stop().await;
    assert!(!file.exists() || !kept.exists());
}

#[tokio::test]
async fn a_token_that_was_given_is_lent_while_the_server_runs_unless_it_is_not() {
    let given = "0123456789abcdef0123456789abcdef-given";
    let server = Setup::new("").env("ADJUTANT_OPERATOR_TOKEN", given).start().await;
    assert_eq!(server.token, given);
    let lent = server.path("data/endpoint.token");
    assert_eq!(fs::read_to_string(&lent).unwrap().trim(), given);
    assert_eq!(fs::metadata(&lent).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!server.path("data/operator.token").exists());
    let kept = Setup::new("")
        .env("ADJUTANT_OPERATOR_TOKEN", given)
        .settings("[auth]\nlend_token = false")
        .start()
        .await;
    assert!(!kept.path("data/endpoint.token").exists());
    let endpoint = fs::read_to_string(kept.path("data/endpoint.json")).unwrap();
    assert!(!endpoint.contains(given) && endpoint.contains("\"token_file\": null"), "{endpoint}");
}

#[tokio::test]
async fn sigterm_drains_and_the_token_is_not_printed() {
    let fake = fake::Fake::start().await;
    let process = Process::serve(&Setup::new(&local(&fake, "slow-1500"))).await;
    let (endpoint, token) = (process.endpoint(), process.token());
    let call = client()
        .post(format!("{}/delegate/local", endpoint.url))
        .bearer_auth(&token)
        .body("{\"prompt\":\"x\"}");
    let mut calls = tokio::task::JoinSet::from_iter([call.send()]);
    assert!(fake.wait_for(|stats| stats.open == 1).await);
    process.signal(Signal::TERM);
    let file = process.home.path().join("data/endpoint.json");
    until("it is found no more", async || !file.exists()).await;
    let refused = client().get(format!("{}/healthz", endpoint.url)).send().await;
    assert!(refused.is_err(), "a new connection was taken while draining");
    let reply = calls.join_next().await.unwrap().unwrap().unwrap();
    assert_eq!(reply.status(), 200);
    let ended = process.end();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(
        ended.out.contains(&endpoint.url) && ended.out.contains("operator.token"),
        "{}",
        ended.out
    );
    assert!(!ended.out.contains(&token) && !ended.err.contains(&token));
    assert_eq!(ended.out.lines().count(), 2, "{}", ended.out);
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once_and_so_does_the_bound() {
    let fake = fake::Fake::start().await;
    for (settings, signals) in [("[server]\ndrain = \"1h\"", 2), ("[server]\ndrain = \"200ms\"", 1)]
    {
        let process = Process::serve(&Setup::new(&local(&fake, "hang")).settings(settings)).await;
        let call = client()
            .post(format!("{}/delegate/local", process.endpoint().url))
            .bearer_auth(process.token())
            .body("{\"prompt\":\"x\"}");
        let _calls = tokio::task::JoinSet::from_iter([call.send()]);
        assert!(fake.wait_for(|stats| stats.open == 1).await);
        let file = process.home.path().join("data/endpoint.json");
        process.signal(Signal::INT);
        until("it drains", async || !file.exists()).await;
        if signals == 2 {
            process.signal(Signal::INT);
        }
        let ended = process.end();
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        assert!(ended.err.contains("stopped before all calls had ended"), "{}", ended.err);
        assert!(fake.wait_for(|stats| stats.open == 0).await);
    }
}

#[tokio::test]
async fn readyz_says_that_it_drains() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "hang")).await;
    assert_eq!(server.get("/readyz").await.status, 200);
    // Asked on a connection that was there before, as a load balancer's is.
    let address = server.address();
    let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    let head = format!(
        "GET /readyz HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n",
        server.token
    );
    tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.unwrap();
    // The head has begun and not ended when the server begins to drain.
    until("the connection is taken", async || server.get("/healthz").await.status == 200).await;
    let stop = tokio::task::JoinSet::from_iter([server.stop()]);
    until("it drains", async || tokio::net::TcpStream::connect(&address).await.is_err()).await;
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"\r\n").await.unwrap();
    let mut answer = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut stream, &mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("\"draining\":true"), "{answer}");
    stop.join_all().await;
}

#[tokio::test]
async fn it_leaves_when_nothing_goes_on_and_only_then() {
    let fake = fake::Fake::start().await;
    let setup = Setup::new(&local(&fake, "slow-2600")).env("ADJUTANT_IDLE_EXIT", "2s");
    let client = client();
    let mut process = Process::serve(&setup).await;
    let call = client
        .post(format!("{}/delegate/local", process.endpoint().url))
        .bearer_auth(process.token())
        .body("{\"prompt\":\"x\"}");
    assert_eq!(call.send().await.unwrap().status(), 200);
    assert!(!process.has_ended());
    let ended = process.end();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.contains("nothing has been going on"), "{}", ended.err);
}

#[tokio::test]
async fn a_session_keeps_it_up_and_a_stream_does_not_hold_its_end_up() {
    let client = client();
    let process = Process::serve(&Setup::new("").env("ADJUTANT_IDLE_EXIT", "1500ms")).await;
    let url = format!("{}/mcp", process.endpoint().url);
    let ask = |method: Method| {
        client
            .request(method, &url)
            .bearer_auth(process.token())
            .header("accept", "application/json, text/event-stream")
    };
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } },
    });
    let answer = ask(Method::POST)
        .header("content-type", "application/json")
        .body(initialize.to_string())
        .send()
        .await
        .unwrap();
    let session = answer.headers()["mcp-session-id"].clone();
    drop(answer);
    // Longer than it would stay without the session.
    tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    let sent = ask(Method::POST)
        .header("mcp-session-id", session.clone())
        .header("content-type", "application/json")
        .body(ready);
    assert_eq!(sent.send().await.unwrap().status(), 202);
    let stream = ask(Method::GET).header("mcp-session-id", session).send().await.unwrap();
    assert_eq!(stream.status(), 200);
    process.signal(Signal::TERM);
    let ended = process.end();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.contains("\"stopped\""), "{}", ended.err);
}

#[tokio::test]
async fn detached_it_has_a_session_of_its_own() {
    let (home, env) = Setup::new("").prepare();
    let home = std::sync::Arc::new(home);
    let process = Process::spawn(&["serve", "--listen", "127.0.0.1:0", "--detached"], &env, &home);
    until("it listens", async || home.path().join("data/endpoint.json").exists()).await;
    let pid = rustix::process::Pid::from_raw(process.endpoint().pid.try_into().unwrap()).unwrap();
    assert_eq!(rustix::process::getsid(Some(pid)).unwrap(), pid);
}

#[tokio::test]
async fn hugpy_base_makes_a_backend_where_there_is_no_roster() {
    let fake = fake::Fake::start().await;
    fake.script("default", ["ok"]);
    let home = tempfile::tempdir().unwrap();
    let base = fake.url().trim_end_matches("/v1").to_owned();
    let env =
        adjutant::config::Env::of([("HOME", home.path().to_str().unwrap()), ("HUGPY_BASE", &base)]);
    let mut flags = adjutant::config::Flags::default();
    flags.settings.push(("server.listen", "127.0.0.1:0".to_owned()));
    let loaded = adjutant::config::Settings::load(&env, &flags).unwrap();
    let running = adjutant::boot::start(loaded, &env, &adjutant::telemetry::Secrets::default())
        .await
        .unwrap();
    let token = secrecy::ExposeSecret::expose_secret(&running.token).to_owned();
    let url = format!("{}/delegate/local", running.endpoint.url);
    let request = client()
        .request(Method::POST, url)
        .bearer_auth(token)
        .body(json!({ "prompt": "hi" }).to_string());
    let reply = request.send().await.unwrap().text().await.unwrap();
    assert!(reply.contains("echo:hi") && reply.contains("\"hugpy\""), "{reply}");
    running.stop().await;
}

/// A data directory with one thing planted in it: a link to a file that must stay what it is.
fn planted(name: &str) -> (tempfile::TempDir, Setup) {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
    let precious = home.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    symlink(&precious, data.join(name)).unwrap();
    let setup = Setup::new("").env("ADJUTANT_DATA_DIR", data.to_str().unwrap());
    (home, setup)
}

#[tokio::test]
async fn a_planted_link_in_the_data_directory_is_refused_and_its_target_stays() {
    let serve = ["serve", "--listen", "127.0.0.1:0"].as_slice();
    for (name, arguments) in [
        ("lock", serve),
        ("operator.token", serve),
        ("endpoint.json", &["targets"]),
        ("start.lock", &["targets"]),
        ("server.log", &["targets"]),
    ] {
        let (home, setup) = planted(name);
        let ended = Process::run(&setup, arguments);
        assert!(ended.code.is_some_and(|code| code != 0), "{name}: {ended:?}");
        assert!(ended.err.contains(&format!("data/{name}")), "{name}: {}", ended.err);
        let kept = fs::read_to_string(home.path().join("precious")).unwrap();
        assert_eq!(kept, "precious", "{name}");
    }
}

#[tokio::test]
async fn a_data_directory_that_others_can_write_to_is_a_set_up_error() {
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let setup = Setup::new("").env("ADJUTANT_DATA_DIR", home.path().to_str().unwrap());
    let ended = Process::run(&setup, &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("chmod 700"), "{}", ended.err);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_token_file_that_cannot_be_written_is_no_matter_of_rights() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("operator.token")).unwrap();
    let setup = Setup::new("").env("ADJUTANT_DATA_DIR", home.path().to_str().unwrap());
    let ended = Process::run(&setup, &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains("operator.token"), "{}", ended.err);
}

#[tokio::test]
async fn a_roster_that_is_no_file_or_has_no_end_or_thousands_of_problems_is_told_at_once() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    symlink("/dev/zero", at("zero")).unwrap();
    mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    fs::write(at("large"), vec![b'#'; roster::MAX_BYTES + 1]).unwrap();
    fs::write(at("wrong"), "[[backend]]\nid = 1\n".repeat(3_000)).unwrap();
    for (name, words) in [
        ("zero", "no regular file"),
        ("pipe", "no regular file"),
        ("large", "larger than"),
        ("wrong", "more: `adjutant roster check` lists all"),
    ] {
        let setup = Setup::new("").env("ADJUTANT_ROSTER", at(name).to_str().unwrap());
        let ended = Process::run(&setup, &["serve", "--listen", "127.0.0.1:0"]);
        assert_eq!(ended.code, Some(2), "{name}: {}", ended.err);
        assert!(ended.err.contains(words), "{name}: {}", ended.err);
        assert!(ended.err.lines().count() < 210, "{name}: {}", ended.err.lines().count());
        let check = Process::run(&setup, &["roster", "check"]);
        assert_eq!(check.code, Some(2), "{name}: {}", check.err);
        assert_eq!(check.out.lines().count() > 3_000, name == "wrong", "{name}");
    }
}

/// A file that is gone takes nothing more, and is said to be gone, until it is put back.
#[tokio::test]
async fn records_that_were_removed_under_the_server_are_not_written_and_readyz_says_so() {
    let server = Server::start("").await;
    let write = async || server.post("/loci/register", json!({ "locus": "a" })).await;
    write().await.result();
    let ready = server.get("/readyz").await;
    assert_eq!((ready.status, &ready.json()["records"]["ready"]), (200, &json!(true)));
    let (file, aside) = (server.path("data/adjutant.db"), server.path("aside.db"));
    std::fs::rename(&file, &aside).unwrap();
    until("it is noticed", async || server.get("/readyz").await.status == 503).await;
    let ready = server.get("/readyz").await.json();
    let why = ready["records"]["error"].as_str().unwrap();
    assert!(ready["ready"] == false && why.contains("removed or replaced"), "{ready}");
    let refused = write().await;
    assert_eq!(refused.fault().0, "unavailable");
    assert!(refused.fault().1.contains("put the file back"), "{}", refused.text);
    // Another file there is not the one that was opened.
    std::fs::copy(&aside, &file).unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert_eq!((write().await.status, server.get("/readyz").await.status), (503, 503));
    std::fs::rename(&aside, &file).unwrap();
    until("it is back", async || server.get("/readyz").await.status == 200).await;
    write().await.result();
}
