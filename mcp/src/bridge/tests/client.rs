//! The client of the HTTP routes, against answers of every kind.

use std::convert::Infallible;

use futures::StreamExt as _;
use http::{Request, Response};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use crate::{
    Code,
    bridge::{Client, Endpoint},
};

/// A server whose answers are fixed by path.
async fn server() -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    TaskTracker::new().spawn(async move {
        let connections = TaskTracker::new();
        while let Ok((stream, _)) = listener.accept().await {
            let service = service_fn(|request: Request<Incoming>| async move {
                Ok::<_, Infallible>(answer(&request))
            });
            connections
                .spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    Client::new(Endpoint::new(&url, Some("secret".into())).unwrap()).unwrap()
}

fn answer(request: &Request<Incoming>) -> Response<Full<bytes::Bytes>> {
    let lines = request.headers().get("accept").is_some_and(|kind| kind == "application/x-ndjson");
    let token = request.headers().get("authorization").and_then(|token| token.to_str().ok());
    let (status, body) = match request.uri().path() {
        "/healthz" if token.is_none() => {
            (200, json!({"service": "adjutant", "instance": "i1", "version": "1"}).to_string())
        }
        _ if token != Some("Bearer secret") => {
            let body = json!({"error": "unauthorized", "code": "unauthenticated", "hint": "h"});
            (401, body.to_string())
        }
        "/area/verb" if lines => {
            let row = json!({"index": 0, "status": "error", "error": "no", "code": "upstream"});
            (200, format!("{row}\n{}\n", json!({"counts": {"error": 1}})))
        }
        "/area/cut" => (200, format!("{}\n{{\"ind", json!({"index": 0}))),
        "/area/fault" => {
            let fault = json!({"error": "broke", "code": "upstream", "kind": "incomplete"});
            (200, format!("{}\n{fault}\n", json!({"index": 0})))
        }
        "/area/verb" => (200, json!({"result": [1], "warnings": ["w"]}).to_string()),
        "/delegate" => {
            (429, json!({"error": "full", "code": "saturated", "retry_after": 2}).to_string())
        }
        "/readyz" => (200, json!({"ready": true}).to_string()),
        "/html" => (502, "<html>".to_owned()),
        _ => (200, "<html>".to_owned()),
    };
    Response::builder().status(status).body(Full::new(body.into())).unwrap()
}

#[tokio::test]
async fn replies_and_faults_keep_what_the_server_said() {
    let client = server().await;
    let reply = client.call("area_verb", json!({})).await.unwrap();
    assert_eq!((reply.value, reply.warnings), (json!([1]), vec!["w".to_owned()]));
    let fault = client.call("delegate", json!({})).await.unwrap_err();
    assert_eq!((fault.code, fault.retry_after_seconds()), (Code::Saturated, Some(2)));
    assert_eq!(client.get("/readyz").await.unwrap()["ready"], true);
    assert_eq!(client.healthz().await.unwrap().instance, "i1");
    for tool in ["html", "nonsense"] {
        assert_eq!(client.call(tool, json!({})).await.unwrap_err().code, Code::Upstream);
    }
    let stranger = Client::new(Endpoint::new(client.url(), None).unwrap()).unwrap();
    let fault = stranger.call("area_verb", json!({})).await.unwrap_err();
    assert_eq!((fault.code, &fault.more["hint"]), (Code::Unauthenticated, &json!("h")));
}

#[tokio::test]
async fn streamed_items_come_one_by_one_and_a_broken_stream_is_a_fault() {
    let client = server().await;
    let items: Vec<_> = client.stream("area_verb", json!({})).await.unwrap().collect().await;
    let items: Vec<Value> = items.into_iter().map(Result::unwrap).collect();
    assert_eq!((items.len(), &items[0]["status"]), (2, &json!("error")));
    assert_eq!(items[1]["counts"]["error"], 1);
    for (tool, code) in [("area_cut", Code::Unavailable), ("area_fault", Code::Upstream)] {
        let items: Vec<_> = client.stream(tool, json!({})).await.unwrap().collect().await;
        assert!(items[0].is_ok());
        assert_eq!(items[1].as_ref().unwrap_err().code, code, "{tool}");
        assert_eq!(items.len(), 2);
    }
}

#[tokio::test]
async fn nobody_there_is_told_apart_from_a_broken_call() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let client = Client::new(Endpoint::new(&url, None).unwrap()).unwrap();
    let (call, ()) = tokio::join!(client.call("delegate", json!({})), async {
        drop(listener.accept().await.unwrap());
        drop(listener);
    });
    assert_eq!(call.unwrap_err().kind, Some("broken"));
    let fault = client.call("delegate", json!({})).await.unwrap_err();
    assert_eq!((fault.code, fault.kind), (Code::Unavailable, Some("unreachable")));
    assert!(fault.message.contains("adjutant serve"), "{}", fault.message);
}
