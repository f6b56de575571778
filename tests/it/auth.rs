//! Who is let in: on every route there is, by token, host and origin.

use std::sync::Arc;

use adjutant::{
    auth::Tokens,
    boot,
    config::Settings,
    http::{Life, Web, router},
    tools,
};
use axum::body::Body;
use mcp::{Caller, Scope};
use reqwest::Method;
use roster::Roster;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::harness::{Server, Setup};

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
    for (method, url) in all {
        for token in [None, Some(wrong), Some(""), Some(almost.as_str())] {
            let request = server.request(method.clone(), &url).token(token);
            let reply = request.header("x-forwarded-for", "127.0.0.1").send().await;
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
                let request = server.request(method.clone(), url).header("host", host);
                let request = match origin {
                    Some(origin) => {
                        request.header("origin", origin).header("content-type", "application/json")
                    }
                    None => request,
                };
                let reply = request.send().await;
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

/// The router with one token of each scope, asked without a port.
struct Scopes {
    router: axum::Router,
}

impl Scopes {
    fn new() -> Self {
        let app = boot::app(Settings::default(), Roster::default()).unwrap();
        let mut tokens = Tokens::new();
        for scope in crate::harness::SCOPES {
            let caller = Caller::new(scope.as_str(), scope);
            tokens.add(&Self::token(scope).into(), caller).unwrap();
        }
        let life = Life::default();
        let face = boot::face(&app, &life, &CancellationToken::new());
        let web = Web {
            app,
            catalogue: tools::catalogue().clone(),
            tokens: Arc::new(tokens),
            instance: "0".into(),
            listening: "127.0.0.1:7004".parse().unwrap(),
            life,
        };
        Self { router: router(web, &face) }
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
            .body(Body::empty())
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let bytes = axum::body::to_bytes(response.into_body(), 1 << 24).await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }
}

#[tokio::test]
async fn a_tool_above_the_scope_answers_as_one_that_does_not_exist() {
    let scopes = Scopes::new();
    for scope in crate::harness::SCOPES {
        let (_, listed) = scopes.ask(scope, "GET", "/endpoints").await;
        let (_, document) = scopes.ask(scope, "GET", "/openapi.json").await;
        for entry in tools::catalogue().entries() {
            let path = entry.spec.path;
            let is_listed = listed.as_array().unwrap().iter().any(|route| route["url"] == path);
            let may = scope >= entry.spec.scope;
            assert_eq!(is_listed, may, "{path} for {scope:?}");
            assert_eq!(document["paths"].get(path).is_some(), may, "{path} for {scope:?}");
            for (method, query) in [("POST", ""), ("GET", ""), ("GET", "?help=true"), ("PUT", "")] {
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
