//! The guarded client, against real servers on loopback addresses. Where a test needs a public
//! address, one that `[outbound] allow` lists stands in for it.

use std::{
    collections::VecDeque,
    io,
    net::IpAddr,
    process::Command,
    sync::{Arc, Mutex},
    time::Duration,
};

use adjutant::{
    config::{self, Env},
    outbound::{Answer, Destination, Error, LONGEST, Message, Outbound, Pushed, Resolver},
    telemetry::Secrets,
};
use futures::{
    FutureExt as _,
    future::{BoxFuture, join_all, pending},
};
use secrecy::SecretString;
use serde_json::json;
use url::Url;

use crate::harness::{
    Logs, PATIENCE,
    station::{Play, Station},
    until,
};

const TOKEN: &str = "canary-0123456789";

/// A resolver that answers as it was told, each answer once, and the last one for ever.
struct Names {
    answers: Mutex<VecDeque<io::Result<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    fn new<'a>(answers: impl IntoIterator<Item = &'a [&'a str]>) -> Arc<Self> {
        let parse = |all: &[&str]| Ok(all.iter().map(|text| text.parse().unwrap()).collect());
        let answers = answers.into_iter().map(parse).collect();
        Arc::new(Self { answers: Mutex::new(answers), asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Resolver for Names {
    fn resolve(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        self.asked.lock().unwrap().push(host.to_owned());
        let answer = self.answers.lock().unwrap().pop_front();
        let answer = answer.unwrap_or_else(|| Err(io::Error::other("no such name")));
        async move { answer }.boxed()
    }
}

fn settings(allow: &[&str]) -> config::Outbound {
    config::Outbound { allow: allow.iter().map(|text| text.parse().unwrap()).collect() }
}

/// A client that may reach these loopback addresses.
fn outbound(allow: &[&str]) -> Outbound {
    Outbound::new(&settings(allow))
}

async fn get(outbound: &Outbound, url: &str) -> Result<Answer, Error> {
    outbound.get_json(Destination::Supplied(url), PATIENCE).await
}

#[tokio::test]
async fn by_default_a_clients_url_reaches_nothing_private_and_the_operators_does() {
    let station = Station::start().await;
    let outbound = outbound(&[]);
    let port = station.address().port();
    for host in ["127.0.0.1", "localhost", "0x7f.1", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        let url = format!("http://{host}:{port}/x?key=s3cret");
        let error = get(&outbound, &url).await.unwrap_err();
        assert!(matches!(error, Error::Forbidden { .. }), "{host}: {error:?}");
        let words = error.to_string();
        assert!(words.contains("`[outbound] allow`") && !words.contains("s3cret"), "{words}");
        assert!(!error.may_have_arrived());
    }
    assert!(station.seen().is_empty());
    let url = Url::parse(&station.spawn_url()).unwrap();
    let to = Destination::Trusted { url: &url, headers: &[] };
    assert_eq!(outbound.get_json(to, PATIENCE).await.unwrap().status, 200);
}

#[tokio::test]
async fn what_the_operator_allows_is_reached_by_address_and_by_name() {
    let station = Station::start().await;
    let port = station.address().port();
    let by_net = outbound(&["127.0.0.0/8"]);
    for host in ["127.0.0.1", "localhost"] {
        let answer = get(&by_net, &format!("http://{host}:{port}/x")).await;
        // `localhost` may be `::1` too, which is not allowed.
        let fine = answer.as_ref().is_ok_and(|answer| answer.status == 202);
        let six = host == "localhost" && matches!(answer, Err(Error::Forbidden { .. }));
        assert!(fine || six, "{host}: {answer:?}");
    }
    let names = Names::new([&["127.0.0.1"][..], &["127.0.0.1"], &["127.0.0.1"]]);
    let by_name = Outbound::with_resolver(&settings(&["Station.Example"]), names.clone());
    for host in ["station.example", "STATION.example."] {
        assert_eq!(get(&by_name, &format!("http://{host}:{port}/x")).await.unwrap().status, 202);
    }
    let other = get(&by_name, &format!("http://a.station.example:{port}/x")).await;
    assert!(matches!(other, Err(Error::Forbidden { .. })), "{other:?}");
    assert_eq!(names.asked(), ["station.example", "station.example.", "a.station.example"]);
    assert_eq!(
        station.seen().len(),
        station.seen().iter().filter(|seen| seen.path == "/x").count()
    );
}

/// The name is public when it is judged and private a moment later: the connection goes where it
/// was judged, and the next request judges anew.
#[tokio::test]
async fn a_name_that_changes_its_address_is_pinned_for_the_call_and_judged_at_the_next() {
    let public = Station::on("127.0.0.2:0").await;
    let port = public.address().port();
    let inside = Station::on(&format!("127.0.0.3:{port}")).await;
    let names = Names::new([&["127.0.0.2"][..], &["127.0.0.3"]]);
    let outbound = Outbound::with_resolver(&settings(&["127.0.0.2"]), names.clone());
    let url = format!("http://rebind.example:{port}/hook");
    assert_eq!(get(&outbound, &url).await.unwrap().status, 202);
    assert_eq!(names.asked().len(), 1, "one resolution a call");
    let seen = public.seen();
    assert_eq!(seen[0].headers["host"], format!("rebind.example:{port}"));
    let error = get(&outbound, &url).await.unwrap_err();
    assert!(matches!(error, Error::Forbidden { .. }), "{error:?}");
    assert_eq!(names.asked().len(), 2);
    assert_eq!((public.seen().len(), inside.seen().len()), (1, 0));
}

#[tokio::test]
async fn a_name_with_one_address_inside_is_not_called_and_the_caller_is_not_told_which() {
    let station = Station::on("127.0.0.2:0").await;
    let names = Names::new([&["127.0.0.2", "10.11.12.13"][..]]);
    let outbound = Outbound::with_resolver(&settings(&["127.0.0.2"]), names);
    let logs = Logs::catch(&Secrets::default());
    let url = format!("http://both.example:{}/", station.address().port());
    let words = get(&outbound, &url).await.unwrap_err().to_string();
    assert!(words.contains("private network") && !words.contains("10.11"), "{words}");
    assert!(station.seen().is_empty());
    assert!(logs.text().contains("10.11.12.13"), "the operator is told: {}", logs.text());
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let (station, inside) = (Station::start().await, Station::on("127.0.0.2:0").await);
    let outbound = outbound(&["127.0.0.0/8"]);
    station.on_message(Play::Redirect(inside.spawn_url()));
    station.on_probe(Play::Redirect(inside.spawn_url()));
    let url = format!("{}/hook", station.serve_url());
    assert_eq!(get(&outbound, &url).await.unwrap().status, 302);
    let answer = outbound.post_json(Destination::Supplied(&url), &json!({}), PATIENCE).await;
    assert_eq!(answer.unwrap().status, 302);
    let trusted = Url::parse(&station.spawn_url()).unwrap();
    let to = Destination::Trusted { url: &trusted, headers: &[] };
    assert_eq!(outbound.get_json(to, PATIENCE).await.unwrap().status, 302);
    assert!(inside.seen().is_empty());
    assert_eq!(station.seen().len(), 3);
}

#[tokio::test]
async fn a_request_says_who_sends_it_and_carries_no_secret_to_a_clients_url() {
    let station = Station::start().await;
    let outbound = outbound(&["127.0.0.1"]);
    let url = format!("{}/hook?key=1", station.serve_url());
    let body = json!({ "event": "reply", "text": "grüße" });
    outbound.post_json(Destination::Supplied(&url), &body, PATIENCE).await.unwrap();
    let seen = &station.seen()[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/hook?key=1"));
    assert_eq!(seen.body, body);
    let names: Vec<&str> = seen.headers.keys().map(http::HeaderName::as_str).collect();
    for name in &names {
        let known = ["accept", "content-type", "content-length", "host", "user-agent"];
        assert!(known.contains(name), "{names:?}");
    }
    assert!(seen.headers["user-agent"].to_str().unwrap().starts_with("adjutant/"));
    assert_eq!(seen.headers["content-type"], "application/json");
}

#[tokio::test]
async fn an_answer_is_read_up_to_its_bound_and_no_further() {
    let station = Station::start().await;
    let outbound = outbound(&["127.0.0.1"]);
    let url = format!("{}/hook", station.serve_url());
    station.on_message(Play::Reply(200, "x".repeat(LONGEST)));
    assert_eq!(get(&outbound, &url).await.unwrap().text.len(), LONGEST);
    station.on_message(Play::Reply(201, "x".repeat(LONGEST + 1)));
    let error = get(&outbound, &url).await.unwrap_err();
    assert_eq!(error.status(), Some(201));
    assert!(error.to_string().contains("longer than 1 MiB"), "{error}");
    station.on_message(Play::Reply(200, "{\"a\":".repeat(100_000)));
    assert_eq!(get(&outbound, &url).await.unwrap().json(), None, "deep JSON is no JSON");
}

#[tokio::test]
async fn each_way_to_fail_has_its_name_and_tells_whether_the_request_may_have_arrived() {
    let station = Station::start().await;
    let outbound = outbound(&["127.0.0.0/8"]);
    let url = format!("{}/hook?key=s3cret", station.serve_url());
    let short = Duration::from_millis(200);
    for (play, time, wanted, status) in [
        (Play::Hang, short, "no answer from `http://127.0.0.1:", None),
        (Play::Close, PATIENCE, "ended before an answer", None),
        (Play::Cut, PATIENCE, "its body broke off", Some(200)),
        (Play::Stall, short, "its body did not end in time", Some(200)),
    ] {
        station.on_message(play.clone());
        let error = outbound.get_json(Destination::Supplied(&url), time).await.unwrap_err();
        let words = error.to_string();
        assert!(words.contains(wanted) && !words.contains("s3cret"), "{play:?}: {words}");
        // On a machine that is slow enough, a body stalls before its head is seen.
        let slow = matches!(play, Play::Stall) && error.status().is_none();
        assert!(error.may_have_arrived() && (error.status() == status || slow), "{error:?}");
    }
    let gone = station.address();
    drop(station);
    for url in [format!("http://{gone}/?key=s3cret"), format!("https://{gone}/?key=s3cret")] {
        let error = get(&outbound, &url).await.unwrap_err();
        assert!(matches!(error, Error::Connect { .. }), "{error:?}");
        assert!(!error.may_have_arrived() && !error.to_string().contains("s3cret"), "{error}");
    }
}

#[tokio::test]
async fn tls_is_not_faked_by_a_plain_server_and_an_unknown_name_is_no_connection() {
    let station = Station::start().await;
    let names = Names::new([&[][..]]);
    let outbound = Outbound::with_resolver(&settings(&["127.0.0.1"]), names);
    let https = format!("https://{}/", station.address());
    for url in [https.as_str(), "http://empty.example/", "http://unknown.example/"] {
        let error = get(&outbound, url).await.unwrap_err();
        assert!(matches!(error, Error::Connect { .. }), "{url}: {error:?}");
        assert!(!error.may_have_arrived());
    }
    assert!(station.seen().is_empty());
}

/// A resolver that never answers.
struct Silent;

impl Resolver for Silent {
    fn resolve(&self, _: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        pending().boxed()
    }
}

#[tokio::test]
async fn a_name_server_that_never_answers_holds_nobody() {
    let outbound = Outbound::with_resolver(&settings(&[]), Arc::new(Silent));
    let error = get(&outbound, "http://slow.example/").await.unwrap_err();
    assert!(matches!(&error, Error::Connect { why, .. } if why.contains("within 2s")), "{error:?}");
    let to = Destination::Supplied("http://slow.example/");
    let error = outbound.get_json(to, Duration::from_millis(50)).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
}

#[tokio::test]
async fn so_many_requests_to_clients_urls_are_under_way_at_once_and_the_operators_go_on() {
    let station = Station::start().await;
    station.on_message(Play::Hang);
    let outbound = outbound(&["127.0.0.1"]);
    let url = format!("{}/hook", station.serve_url());
    let call = |time| outbound.get_json(Destination::Supplied(&url), time);
    let meanwhile = async {
        until("every turn is taken", async || station.seen().len() == 64).await;
        assert_eq!(call(Duration::from_millis(50)).await, Err(Error::Busy));
        let trusted = Url::parse(&station.spawn_url()).unwrap();
        let to = Destination::Trusted { url: &trusted, headers: &[] };
        assert_eq!(outbound.get_json(to, PATIENCE).await.unwrap().status, 200);
        assert_eq!(station.seen().len(), 65, "64 and the operator's");
    };
    tokio::select! {
        ended = join_all((0..80).map(|_| call(2 * PATIENCE))) => panic!("{ended:?}"),
        () = meanwhile => {}
    }
    station.on_message(Play::Reply(200, String::new()));
    assert_eq!(get(&outbound, &url).await.unwrap().status, 200, "turns come back");
}

#[tokio::test]
async fn a_secret_is_sent_and_comes_back_in_no_answer_and_no_error() {
    let station = Station::start().await;
    let token = SecretString::from(TOKEN);
    let outbound = outbound(&[]);
    let url = format!("{}?key=s3cret", station.spawn_url().replace("//", "//user:s3cret@"));
    let url = Url::parse(&url).unwrap();
    let headers = [("x-console-token", &token)];
    let to = Destination::Trusted { url: &url, headers: &headers };
    station.on_probe(Play::json(403, &json!({ "error": format!("{TOKEN} is wrong") })));
    let logs = Logs::catch(&Secrets::default());
    let answer = outbound.get_json(to, PATIENCE).await.unwrap();
    assert_eq!(station.seen()[0].headers["x-console-token"], TOKEN);
    assert_eq!(answer.json(), Some(json!({ "error": "[redacted] is wrong" })));
    station.on_probe(Play::Close);
    let error = outbound.get_json(to, PATIENCE).await.unwrap_err();
    let odd = SecretString::from(format!("{TOKEN}\n"));
    let headers = [("x-console-token", &odd)];
    let to = Destination::Trusted { url: &url, headers: &headers };
    let unsent = outbound.get_json(to, PATIENCE).await.unwrap_err();
    assert_eq!(unsent, Error::Header("x-console-token"));
    for shown in [format!("{error} {error:?} {unsent}"), logs.text()] {
        assert!(!shown.contains("canary") && !shown.contains("s3cret"), "{shown}");
    }
}

#[tokio::test]
async fn a_push_hands_the_message_over_and_its_status_is_what_counts() {
    let station = Station::start().await;
    let outbound = outbound(&["127.0.0.1"]);
    let long = "ü".repeat(50);
    let message = Message { text: "look at t7", from: &long };
    for (play, wanted) in [
        (Play::Reply(200, "[]".to_owned()), Pushed::Taken),
        (Play::json(202, &json!({ "ok": true })), Pushed::Taken),
        (Play::json(409, &json!({ "error": "had it" })), Pushed::Taken),
        (Play::Reply(200, "x".repeat(LONGEST + 1)), Pushed::Taken),
        (Play::Cut, Pushed::Taken),
        (Play::Reply(500, String::new()), Pushed::Declined { status: 500 }),
        (Play::Redirect("http://127.0.0.1:1/".to_owned()), Pushed::Declined { status: 302 }),
    ] {
        station.on_message(play.clone());
        let pushed = outbound.push(&station.serve_url(), message, PATIENCE).await;
        assert_eq!(pushed, wanted, "{play:?}");
    }
    let seen = &station.seen()[0];
    assert_eq!(seen.path, "/api/session/message");
    let wanted = json!({
        "to": "keeper", "text": "look at t7", "from": "ü".repeat(40), "by": "toolserver-push",
        "wait": false,
    });
    assert_eq!(seen.body, wanted);
    assert!(!seen.headers.contains_key("authorization"));
    station.on_message(Play::Hang);
    let hung = outbound.push(&station.serve_url(), message, Duration::from_millis(50)).await;
    assert!(matches!(hung, Pushed::Failed(Error::Timeout { .. })), "{hung:?}");
    let guarded = Outbound::new(&settings(&[])).push(&station.serve_url(), message, PATIENCE).await;
    assert!(matches!(guarded, Pushed::Failed(Error::Forbidden { .. })), "{guarded:?}");
    let odd = outbound.push("not a url", message, PATIENCE).await;
    assert!(matches!(odd, Pushed::Failed(Error::Url(_))), "{odd:?}");
}

/// Runs the test below in a process whose environment names a proxy.
#[tokio::test(flavor = "multi_thread")]
async fn the_environments_proxy_never_sees_a_clients_url() {
    let (proxy, station) = (Station::start().await, Station::start().await);
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["outbound::a_call_beside_a_proxy", "--exact", "--ignored", "--nocapture"]);
    child.env_remove("NO_PROXY").env_remove("no_proxy");
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        child.env(name, proxy.serve_url());
    }
    child.env("ADJUTANT_TEST_STATION", station.address().port().to_string());
    let ended = tokio::task::spawn_blocking(move || child.output().unwrap()).await.unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    let paths = |station: &Station| -> Vec<String> {
        station.seen().into_iter().map(|seen| seen.path).collect()
    };
    // The proxy sees the operator's URL, which shows that the child knew of it.
    assert_eq!(paths(&proxy), ["http://operator.example/x"]);
    assert_eq!(paths(&station), ["/supplied", "/named"]);
}

#[tokio::test]
#[ignore = "run by the test above, with a proxy in its environment"]
async fn a_call_beside_a_proxy() {
    let env = Env::of_process();
    let port = env.get("ADJUTANT_TEST_STATION").expect("the test above runs this one");
    let names = Names::new([&["127.0.0.1"][..]]);
    let outbound = Outbound::with_resolver(&settings(&["127.0.0.1"]), names);
    for url in
        [format!("http://127.0.0.1:{port}/supplied"), format!("http://a.example:{port}/named")]
    {
        get(&outbound, &url).await.unwrap();
    }
    let url = Url::parse("http://operator.example/x").unwrap();
    let to = Destination::Trusted { url: &url, headers: &[] };
    assert_eq!(outbound.get_json(to, PATIENCE).await.unwrap().status, 202);
}
