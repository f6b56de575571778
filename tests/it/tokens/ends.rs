//! The end of a token while something is open under it: by being revoked, here or on another
//! replica, and by its time.

use fake::Fake;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{BOTH, NEW, OLD, ask, rpc};
use crate::harness::{PATIENCE, Server, Setup, backend, local, on_both, until};

/// Makes a session of the revisions before 2026-07-28; its id.
pub(super) async fn session(server: &Server, token: &str) -> String {
    let params = json!({
        "protocolVersion": OLD, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    });
    let request = server.request(Method::POST, "/mcp").token(Some(token)).header("accept", BOTH);
    let answer = request.json(rpc(0, "initialize", params)).open().await;
    assert_eq!(answer.status(), 200);
    let id = answer.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(in_session(server, token, &id, notice).await.status(), 202);
    id
}

/// A message in a session.
pub(super) async fn in_session(server: &Server, token: &str, id: &str, message: Value) -> Response {
    let request = server.request(Method::POST, "/mcp").token(Some(token)).header("accept", BOTH);
    let request = request.header("mcp-session-id", id).header("mcp-protocol-version", OLD);
    request.json(message).open().await
}

/// The session's own stream.
pub(super) async fn listen(server: &Server, token: &str, id: &str, last: Option<&str>) -> Response {
    let request = server.request(Method::GET, "/mcp").token(Some(token));
    let request = request.header("accept", "text/event-stream");
    let request = request.header("mcp-session-id", id).header("mcp-protocol-version", OLD);
    let request = match last {
        Some(last) => request.header("last-event-id", last),
        None => request,
    };
    request.open().await
}

/// A subscription of 2026-07-28.
async fn subscribe(server: &Server, token: &str) -> Response {
    let params = json!({
        "notifications": { "toolsListChanged": true },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    let request = server.request(Method::POST, "/mcp").token(Some(token)).header("accept", BOTH);
    let request = request.header("mcp-protocol-version", NEW);
    let request = request.header("mcp-method", "subscriptions/listen");
    request.json(rpc(1, "subscriptions/listen", params)).open().await
}

/// Reads until that text has come.
async fn hears(stream: &mut Response, text: &str) {
    let mut heard = String::new();
    let read = async {
        while !heard.contains(text) {
            let chunk = stream.chunk().await.expect("it stands").expect("it goes on");
            heard.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    };
    timeout(PATIENCE, read).await.expect("it is heard");
}

/// Reads to the end, however it comes.
async fn ends(what: &str, mut stream: Response) {
    let read = async { while let Ok(Some(_)) = stream.chunk().await {} };
    timeout(PATIENCE, read).await.unwrap_or_else(|_| panic!("{what} did not end"));
}

/// Every sort of stream that there is, open under one token.
struct Open {
    lines: Response,
    common: Response,
    call: Response,
    subscription: Response,
    changes: Response,
    hints: Response,
}

impl Open {
    async fn all(server: &Server, token: &str) -> Self {
        let tasks = json!({ "tasks": [{ "prompt": "a", "target": "quick" }, { "prompt": "b", "target": "stuck" }] });
        let request = server.request(Method::POST, "/delegate/many").token(Some(token));
        let request = request.header("accept", "application/x-ndjson").json(tasks);
        let mut lines = request.open().await;
        assert_eq!(lines.status(), 200);
        hears(&mut lines, "echo:a").await;
        let id = session(server, token).await;
        let common = listen(server, token, &id, None).await;
        assert_eq!(common.status(), 200);
        let arguments = json!({ "prompt": "c", "target": "stuck" });
        let message = rpc(7, "tools/call", json!({ "name": "delegate", "arguments": arguments }));
        let call = in_session(server, token, &id, message).await;
        assert_eq!(call.status(), 200);
        let subscription = subscribe(server, token).await;
        assert_eq!(subscription.status(), 200, "{:?}", subscription.text().await);
        let [changes, hints] = ["/events", "/events/stream"].map(|path| {
            server
                .request(Method::GET, path)
                .token(Some(token))
                .header("accept", "text/event-stream")
        });
        let (mut changes, mut hints) = (changes.open().await, hints.open().await);
        assert_eq!(changes.status(), 200);
        assert_eq!(hints.status(), 200);
        hears(&mut changes, ":").await;
        hears(&mut hints, ":").await;
        Self { lines, common, call, subscription, changes, hints }
    }

    async fn end(self) {
        ends("a reply as lines", self.lines).await;
        ends("a session's own stream", self.common).await;
        ends("the stream of a session's call", self.call).await;
        ends("a subscription", self.subscription).await;
        ends("the feed of changes", self.changes).await;
        ends("the feed as hints", self.hints).await;
    }
}

fn roster(fake: &Fake) -> String {
    backend("quick", fake, "ok") + &backend("stuck", fake, "hang")
}

#[tokio::test]
async fn a_revoked_token_ends_what_is_open_under_it_and_nothing_else() {
    let fake = Fake::start().await;
    for (server, _database) in on_both(|| Setup::new(&roster(&fake))).await {
        let [one, other] = ["one", "other"].map(|name| json!({ "name": name, "scope": "write" }));
        let (one, other) = (server.mint(one).await, server.mint(other).await);
        let open = Open::all(&server, &one).await;
        let (path, call) = ("/delegate", json!({ "prompt": "d", "target": "stuck" }));
        let waits = ask(&server, &one, path, call);
        let mut waits = std::pin::pin!(waits);
        until("three calls hang", async || {
            let _ = futures::poll!(&mut waits);
            fake.stats_of("hang").open == 3
        })
        .await;
        let id = session(&server, &other).await;
        let mut stays = listen(&server, &other, &id, None).await;
        server.post("/token/revoke", json!({ "name": "one" })).await.result();
        open.end().await;
        let (status, refused) = timeout(PATIENCE, waits).await.expect("an answer");
        assert_eq!((status, &refused["code"]), (401, &json!("unauthenticated")));
        until("no call goes on", async || fake.stats_of("hang").open == 0).await;
        assert_eq!(ask(&server, &one, "/ts/categories", json!({})).await.0, 401);
        server.app.listing_changed();
        hears(&mut stays, "notifications/tools/list_changed").await;
    }
}

#[tokio::test]
async fn a_token_ends_by_its_time() {
    let fake = Fake::start().await;
    let server = Server::start(&roster(&fake)).await;
    let brief = json!({ "name": "brief", "scope": "write", "ttl_s": 3 });
    let brief = server.mint(brief).await;
    Open::all(&server, &brief).await.end().await;
    until("no call goes on", async || fake.stats_of("hang").open == 0).await;
    assert_eq!(ask(&server, &brief, "/ts/categories", json!({})).await.0, 401);
    assert_eq!(server.post("/token/list", json!({})).await.result()[0]["state"], "expired");
}

/// Two replicas: what one of them does to a token holds on the other.
#[tokio::test]
async fn another_replica_takes_a_new_token_at_once_and_ends_a_revoked_one() {
    let Some(database) = fake::Database::create().await else { return };
    let fake = Fake::start().await;
    let replica = || Setup::new(&roster(&fake)).env("ADJUTANT_DATABASE_URL", &database.url());
    let (first, second) = (replica().start().await, replica().start().await);
    for nth in 0..3 {
        let name = format!("t{nth}");
        let token = first.mint(json!({ "name": name, "scope": "write" })).await;
        assert_eq!(ask(&second, &token, "/ts/categories", json!({})).await.0, 200);
        let open = Open::all(&second, &token).await;
        first.post("/token/revoke", json!({ "name": name })).await.result();
        open.end().await;
        assert_eq!(ask(&second, &token, "/ts/categories", json!({})).await.0, 401);
    }
}

/// While the store cannot be read nobody can tell whether an unknown token stands: it is not let in,
/// and those that are known go on for a while.
#[tokio::test]
async fn a_store_that_is_gone_lets_nobody_in_that_is_not_known() {
    let Some(database) = fake::Database::create().await else { return };
    let fake = Fake::start().await;
    let setup = Setup::new(&local(&fake, "ok")).env("ADJUTANT_DATABASE_URL", &database.url());
    let server = setup.start().await;
    let known = server.mint(json!({ "name": "known", "scope": "delegate" })).await;
    drop(database);
    let prompt = json!({ "prompt": "hi" });
    let unknown = "adj_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let (status, refused) = ask(&server, unknown, "/delegate/local", prompt.clone()).await;
    assert_eq!((status, &refused["code"]), (503, &json!("unavailable")), "{refused}");
    assert_eq!(ask(&server, &known, "/delegate/local", prompt.clone()).await.0, 200);
    assert_eq!(server.post("/delegate/local", prompt).await.status, 200);
}
