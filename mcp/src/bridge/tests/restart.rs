//! The server goes and another comes.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::harness::{Client, Told, modern};
use crate::face::tests::harness::{Server, call, request};

#[tokio::test]
async fn s28_a_restart_between_two_calls_goes_unnoticed() {
    let told = Told::default();
    let first = Server::start().await;
    told.at(Some(&first));
    let mut old = Client::in_session(&told).await;
    let mut new = Client::new(&told);
    let echo = json!({"name": "sample_echo", "arguments": {"text": "hi"}});
    assert_eq!(old.ask(request(1, "tools/call", echo.clone())).await["result"]["isError"], false);
    assert_eq!(new.ask(modern(1, "tools/call", echo.clone())).await["result"]["isError"], false);
    end(first).await;
    let second = Server::start().await;
    told.at(Some(&second));
    assert_eq!(old.ask(request(2, "tools/call", echo.clone())).await["result"]["isError"], false);
    assert_eq!(new.ask(modern(2, "tools/call", echo)).await["result"]["isError"], false);
    assert_eq!(second.face.sessions(), 1);
    // The new session is listened to.
    second.revision.send_replace(1);
    old.told("notifications/tools/list_changed").await;
}

#[tokio::test]
async fn s28_a_session_that_the_server_forgot_is_begun_again() {
    let told = Told::default();
    let server = Server::start().await;
    told.at(Some(&server));
    let mut client = Client::in_session(&told).await;
    for id in 1..4 {
        let answer = client.ask(call(id, "sample_echo", json!({"text": "hi"}))).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        server.face.forget();
    }
}

#[tokio::test]
async fn a_call_that_may_have_been_done_is_not_done_twice() {
    let told = Told::default();
    let server = Server::start().await;
    told.at(Some(&server));
    let mut client = Client::new(&told);
    let params = json!({"name": "sample_wait", "arguments": {}});
    client.send(&modern(1, "tools/call", params)).await;
    server.world.sees(1, 0).await;
    server.cut();
    may_have_been_done(&client.answer(&json!(1)).await);
    server.world.sees(0, 1).await;
}

#[tokio::test]
async fn a_call_of_a_session_outlives_its_connection_but_not_the_server() {
    let told = Told::default();
    let server = Server::start().await;
    told.at(Some(&server));
    let mut client = Client::in_session(&told).await;
    client.send(&call(1, "sample_wait", json!({}))).await;
    let steps = json!({"steps": 10, "pause_ms": 150});
    client.send(&call(2, "sample_steps", steps)).await;
    server.world.sees(1, 0).await;
    server.cut();
    assert_eq!(client.answer(&json!(2)).await["result"]["structuredContent"]["text"], "done");
    server.world.sees(1, 0).await;
    drop(server);
    may_have_been_done(&client.answer(&json!(1)).await);
}

fn may_have_been_done(answer: &Value) {
    let words = answer["error"]["message"].as_str().unwrap();
    assert!(words.contains("may have been done"), "{words}");
    assert_eq!(answer["error"]["data"]["code"], "unavailable");
}

/// Ends a server, and waits until nobody doubts it.
async fn end(server: Server) {
    let address = server.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    drop(server);
    while TcpStream::connect(&address).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
}

#[tokio::test]
async fn without_a_server_every_request_says_why_until_there_is_one() {
    let told = Told::default();
    let mut client = Client::new(&told);
    for message in [request(1, "tools/list", json!({})), modern(2, "server/discover", json!({}))] {
        let answer = client.ask(message).await;
        assert_eq!(answer["error"]["message"], "no server today");
    }
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = client.ask(request(3, "initialize", params)).await;
    assert_eq!(answer["error"]["message"], "no server today");
    let server = Server::start().await;
    told.at(Some(&server));
    client.initialize().await;
    assert_eq!(server.face.sessions(), 1);
}

#[tokio::test]
async fn a_subscription_outlives_the_server() {
    let told = Told::default();
    let first = Server::start().await;
    told.at(Some(&first));
    let mut client = Client::new(&told);
    let listen = json!({"notifications": {"toolsListChanged": true}});
    client.send(&modern(1, "subscriptions/listen", listen)).await;
    client.told("notifications/subscriptions/acknowledged").await;
    end(first).await;
    let second = Server::start().await;
    told.at(Some(&second));
    // Some request finds the new server.
    let answer = client.ask(modern(2, "tools/list", json!({}))).await;
    assert!(answer["result"]["tools"].is_array());
    let changed = client.told("notifications/tools/list_changed").await;
    assert_eq!(changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    second.revision.send_replace(7);
    client.told("notifications/tools/list_changed").await;
}

/// What a client follows is followed anew on the next server, and may have changed meanwhile.
#[tokio::test]
async fn what_is_followed_outlives_the_server() {
    let told = Told::default();
    let first = Server::start().await;
    told.at(Some(&first));
    let mut old = Client::in_session(&told).await;
    let mut new = Client::new(&told);
    let uri = "note://open/a";
    let subscribed = old.ask(request(1, "resources/subscribe", json!({"uri": uri}))).await;
    assert_eq!(subscribed["result"], json!({}), "{subscribed}");
    old.ask(request(2, "resources/list", json!({}))).await;
    let listen = json!({"notifications": {"resourcesListChanged": true, "resourceSubscriptions": [uri, "x://y"]}});
    new.send(&modern(1, "subscriptions/listen", listen)).await;
    new.told("notifications/subscriptions/acknowledged").await;
    end(first).await;
    let second = Server::start().await;
    told.at(Some(&second));
    old.send(&request(3, "tools/list", json!({}))).await;
    new.send(&modern(2, "tools/list", json!({}))).await;
    for client in [&mut old, &mut new] {
        client.told("notifications/resources/list_changed").await;
        let updated = client.told("notifications/resources/updated").await;
        assert_eq!(updated["params"]["uri"], uri);
    }
    while second.world.notes.readers() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    second.world.notes.write(uri, "again");
    for client in [&mut old, &mut new] {
        let updated = client.told("notifications/resources/updated").await;
        assert_eq!(updated["params"]["uri"], uri);
    }
}
