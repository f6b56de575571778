//! Who is let in: on every route there is, by token, host and origin.

use adjutant::{
    auth::SHORTEST,
    boot,
    http::{Life, Web, router},
    tools,
};
use axum::body::Body;
use mcp::{Caller, Scope};
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::harness::{Server, Setup, until};

/// Every route with each method that it takes, from the server's own list.
async fn routes(server: &Server) -> Vec<(Method, String)> {
    let list = server.get("/endpoints").await.json();
    let mut routes = Vec::new();
    for route in list.as_array().unwrap() {
        let url = route["url"].as_str().unwrap().to_owned();
        for method in route["methods"].as_array().unwrap() {
            routes.push((method.as_str().unwrap().parse().unwrap(), url.clone()));
        }
    }
    assert!(routes.len() > 20, "{routes:?}");
    for known in [
        "/healthz",
        "/readyz",
        "/metrics",
        "/mcp",
        "/mcp/",
        "/delegate",
        "/ts/call/",
        "/openapi.json",
    ] {
        assert!(routes.iter().any(|(_, url)| url == known), "{known} is not listed");
    }
    routes
}

/// A token that was revoked, and one that has expired.
async fn ended(server: &Server) -> [String; 2] {
    let revoked = server.mint(json!({ "name": "revoked", "scope": "operator" })).await;
    server.post("/token/revoke", json!({ "name": "revoked" })).await.result();
    let expired = server.mint(json!({ "name": "expired", "scope": "operator", "ttl_s": 1 })).await;
    until("it has expired", async || {
        server.request(Method::GET, "/readyz").token(Some(&expired)).send().await.status == 401
    })
    .await;
    [revoked, expired]
}

fn is_open(url: &str) -> bool {
    matches!(url, "/healthz" | "/healthz/")
}

#[tokio::test]
async fn no_route_but_healthz_answers_without_the_token() {
    let server = Server::start("").await;
    let mut all = routes(&server).await;
    // What does not exist is hidden as well, and so is every other method.
    for path in [
        "/nowhere",
        "/",
        "/mcp/x",
        "/healthz/x",
        "/delegate?help=true",
        "//healthz",
        "/healthz//",
        "/healthz%2f..%2freadyz",
    ] {
        all.push((Method::GET, path.to_owned()));
    }
    for method in [Method::OPTIONS, Method::PUT, Method::DELETE, Method::HEAD] {
        all.push((method, "/delegate".to_owned()));
    }
    let wrong = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let almost = format!("{}x", server.token);
    let [revoked, expired] = ended(&server).await;
    let weak = &server.token[..SHORTEST - 1];
    let tokens = ["", wrong, weak, &almost, &revoked, &expired];
    // Streams are asked for as well: lines of JSON, and events.
    let accepts = ["*/*", "application/x-ndjson", "application/json, text/event-stream"];
    for (method, url) in all {
        let tokens = std::iter::once(None).chain(tokens.map(Some));
        for (token, accept) in tokens.flat_map(|token| accepts.map(|accept| (token, accept))) {
            let request = server.request(method.clone(), &url).token(token);
            let request = request.header("accept", accept).header("x-forwarded-for", "127.0.0.1");
            let reply = request.send().await;
            if is_open(&url) {
                assert_eq!(reply.status, 200, "{method} {url}");
                continue;
            }
            assert_eq!(reply.status, 401, "{method} {url} {token:?}");
            assert_eq!(reply.header("www-authenticate"), "Bearer");
            if method != Method::HEAD {
                let body = reply.json();
                assert_eq!(
                    (&body["error"], &body["code"]),
                    (&json!("unauthorized"), &json!("unauthenticated"))
                );
                assert!(body["hint"].as_str().unwrap().len() > 20, "{body}");
            }
        }
    }
}

#[tokio::test]
async fn either_header_carries_the_token_and_the_operators_wins() {
    let server = Server::start("").await;
    let token = server.token.clone();
    let status = async |headers: &[(&str, &str)]| {
        let bare = server.request(Method::GET, "/delegate/targets").token(None);
        headers
            .iter()
            .fold(bare, |request, (name, value)| request.header(name, value))
            .send()
            .await
            .status
    };
    let bearer = format!("Bearer {token}");
    for good in [format!("bearer {token}"), format!("BEARER {token}"), format!("Bearer  {token} ")]
    {
        assert_eq!(status(&[("authorization", &good)]).await, 200, "{good}");
    }
    assert_eq!(status(&[("x-operator-token", &token)]).await, 200);
    assert_eq!(
        status(&[("x-operator-token", &token), ("authorization", "Bearer wrong")]).await,
        200
    );
    assert_eq!(status(&[("x-operator-token", "wrong"), ("authorization", &bearer)]).await, 401);
    assert_eq!(status(&[("x-operator-token", ""), ("authorization", &bearer)]).await, 401);
    assert_eq!(status(&[("authorization", &bearer), ("authorization", &bearer)]).await, 401);
    assert_eq!(status(&[("authorization", &format!("Basic {token}"))]).await, 401);
    assert_eq!(
        server
            .request(Method::GET, &format!("/readyz?token={token}"))
            .token(None)
            .send()
            .await
            .status,
        401
    );
}

#[tokio::test]
async fn hosts_and_origins_are_checked_on_every_route() {
    let settings = "[server]\nallowed_hosts = [\"adjutant.example\"]\nallowed_origins = [\"https://console.example\"]";
    let server = Setup::new("").settings(settings).start().await;
    let mut all = routes(&server).await;
    all.push((Method::GET, "/nowhere".to_owned()));
    let port = server.address().rsplit(':').next().unwrap().to_owned();
    let hosts = [
        (format!("localhost:{port}"), true),
        ("127.0.0.1".to_owned(), true),
        ("[::1]:9".to_owned(), true),
        ("Adjutant.Example:443".to_owned(), true),
        ("evil.example".to_owned(), false),
        ("127.0.0.1.evil.example".to_owned(), false),
        (format!("evil.example:{port}"), false),
        ("localhost.".to_owned(), false),
    ];
    let origins = [
        (None, true),
        (Some("https://console.example"), true),
        (Some("http://console.example"), false),
        (Some("https://evil.example"), false),
        (Some("null"), false),
        (Some("http://localhost"), false),
    ];
    for (method, url) in &all {
        for (host, host_is_good) in &hosts {
            for (origin, origin_is_good) in &origins {
                // Tools that wait do not; others do not know it.
                let url = format!("{url}?timeout_s=0");
                let request = server.request(method.clone(), &url).header("host", host);
                let request = match *method {
                    Method::POST => request.body(r#"{"timeout_s":0}"#),
                    _ => request,
                };
                let request = match origin {
                    Some(origin) => {
                        request.header("origin", origin).header("content-type", "application/json")
                    }
                    None => request,
                };
                let reply = request.begin().await;
                let good = *host_is_good && *origin_is_good;
                assert_eq!(
                    reply.status != 403,
                    good,
                    "{method} {url} {host} {origin:?}: {}",
                    reply.status
                );
                assert_eq!(reply.header("access-control-allow-origin"), "");
                if !good {
                    assert_eq!(reply.fault().0, "forbidden");
                }
            }
        }
    }
}

/// Arguments that a schema takes, with this locus wherever one is named; `None` where none is.
fn of_locus(entry: &mcp::Entry<adjutant::app::App>, locus: &str) -> Option<Value> {
    let members = entry.input.get("properties")?.as_object()?;
    let is_list = |schema: &Value| schema["type"] == "array" || schema["type"][0] == "array";
    let mut named = false;
    let arguments = members.iter().filter_map(|(name, schema)| {
        let needed = entry.input.get("required").and_then(Value::as_array);
        let needed = needed.is_some_and(|needed| needed.iter().any(|one| one == name));
        let value = if name == "locus" || name == "loci" || name.ends_with("_locus") {
            named = true;
            if is_list(schema) { json!([locus]) } else { json!(locus) }
        } else if !needed {
            return None;
        } else if is_list(schema) {
            json!([])
        } else {
            match schema["type"].as_str() {
                Some("integer" | "number") => json!(1),
                Some("boolean") => json!(false),
                Some("object") => json!({}),
                _ => json!("x"),
            }
        };
        Some((name.clone(), value))
    });
    let arguments: serde_json::Map<String, Value> = arguments.collect();
    named.then_some(Value::Object(arguments))
}

/// Whatever a tool makes of its other arguments: one that names a locus out of reach does not pass,
/// by its route, by name, and over MCP.
#[tokio::test]
async fn no_tool_passes_for_a_locus_out_of_reach() {
    let server = Server::start("").await;
    let token =
        server.mint(json!({ "name": "narrow", "scope": "destroy", "loci": ["mine"] })).await;
    let ask = async |path: &str, body: Value| {
        let request = server.request(Method::POST, path).token(Some(&token)).json(body);
        let reply = request.send().await;
        (reply.status, reply.text)
    };
    for entry in tools::catalogue().entries() {
        let Some(arguments) = of_locus(entry, "others") else { continue };
        let spec = &entry.spec;
        let (status, text) = ask(spec.path, arguments.clone()).await;
        assert!((400..500).contains(&status), "{}: {status} {text}", spec.name);
        let by_name = json!({ "name": spec.name, "arguments": arguments });
        let (status, text) = ask("/ts/call", by_name.clone()).await;
        assert!((400..500).contains(&status), "{}: {status} {text}", spec.name);
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": by_name });
        let answer: Value = serde_json::from_str(&ask("/mcp", message).await.1).unwrap();
        let refused = answer.get("error").is_some() || answer["result"]["isError"] == true;
        assert!(refused, "{}: {answer}", spec.name);
    }
    // The walk itself sees what names a locus.
    let mint = tools::catalogue().entries().iter().find(|e| e.spec.name == "token_mint").unwrap();
    let seen = of_locus(mint, "others").unwrap();
    assert_eq!((&seen["loci"], &seen["name"]), (&json!(["others"]), &json!("x")));
}

/// The router with one token of each scope, asked without a port.
struct Scopes {
    router: axum::Router,
    _dir: TempDir,
}

impl Scopes {
    async fn new() -> Self {
        let (app, dir) = crate::harness::app().await;
        for scope in crate::harness::SCOPES {
            let caller = Caller::new(scope.as_str(), scope);
            app.tokens.add(&Self::token(scope).into(), caller).unwrap();
        }
        let life = Life::default();
        let face = boot::face(&app, &life, &CancellationToken::new());
        let web = Web {
            app,
            catalogue: tools::catalogue().clone(),
            instance: "0".into(),
            listening: "127.0.0.1:7004".parse().unwrap(),
            life,
        };
        Self { router: router(web, &face), _dir: dir }
    }

    fn token(scope: Scope) -> String {
        format!("{:->40}", scope.as_str())
    }

    async fn ask(&self, scope: Scope, method: &str, path: &str) -> (u16, Value) {
        let request = axum::http::Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .header("authorization", format!("Bearer {}", Self::token(scope)))
            // Tools that wait do not; others do not know it.
            .body(Body::from(r#"{"timeout_s":0}"#))
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let bytes = axum::body::to_bytes(response.into_body(), 1 << 24).await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }
}

#[tokio::test]
async fn a_tool_above_the_scope_answers_as_one_that_does_not_exist() {
    let scopes = Scopes::new().await;
    for scope in crate::harness::SCOPES {
        let (_, listed) = scopes.ask(scope, "GET", "/endpoints").await;
        let (_, document) = scopes.ask(scope, "GET", "/openapi.json").await;
        for entry in tools::catalogue().entries() {
            let path = entry.spec.path;
            let is_listed = listed.as_array().unwrap().iter().any(|route| route["url"] == path);
            let may = scope >= entry.spec.scope;
            assert_eq!(is_listed, may, "{path} for {scope:?}");
            assert_eq!(document["paths"].get(path).is_some(), may, "{path} for {scope:?}");
            for (method, query) in
                [("POST", ""), ("GET", "?timeout_s=0"), ("GET", "?help=true"), ("PUT", "")]
            {
                let (status, body) = scopes.ask(scope, method, &format!("{path}{query}")).await;
                if may {
                    assert_ne!(status, 404, "{method} {path}{query} for {scope:?}");
                    continue;
                }
                let (other_status, other) =
                    scopes.ask(scope, method, &format!("/no/such{query}")).await;
                assert_eq!(
                    (status, other_status),
                    (404, 404),
                    "{method} {path}{query} for {scope:?}"
                );
                let same = body["error"].as_str().unwrap().replace(path, "/no/such");
                assert_eq!(
                    (same.as_str(), &body["code"]),
                    (other["error"].as_str().unwrap(), &other["code"])
                );
            }
        }
    }
}
