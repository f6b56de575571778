//! Texts by their addresses: lists, reading, forms, and notices of changes in both generations.

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{
    harness::{Events, Server, Session, json_of, request},
    shelf::{CLOSED, OPEN},
};
use crate::library::News;

fn uris(answer: &Value) -> Vec<String> {
    let resources = answer["result"]["resources"].as_array().unwrap_or_else(|| panic!("{answer}"));
    resources.iter().map(|resource| resource["uri"].as_str().unwrap().to_owned()).collect()
}

async fn all(server: &Server, who: &str) -> (Vec<String>, usize) {
    let (mut found, mut pages, mut cursor) = (Vec::new(), 0, Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page = server.plain(who, "resources/list", params).await;
        found.extend(uris(&page));
        pages += 1;
        cursor = page["result"]["nextCursor"].clone();
        if cursor.is_null() {
            return (found, pages);
        }
    }
}

#[tokio::test]
async fn what_is_served_is_declared_in_both_generations() {
    let server = Server::start().await;
    let session = server.session("reader").await;
    let discovered = server.modern("reader", "server/discover", json!({})).send().await.unwrap();
    let discovered = json_of(discovered).await;
    for declared in [&session.initialized, &discovered] {
        let capabilities = &declared["result"]["capabilities"];
        assert_eq!(capabilities["resources"], json!({"subscribe": true, "listChanged": true}));
        assert_eq!(
            (&capabilities["prompts"], &capabilities["completions"]),
            (&json!({}), &json!({}))
        );
        assert!(capabilities.get("logging").is_none(), "{capabilities}");
    }
}

#[tokio::test]
async fn lists_go_on_by_cursors_over_all_shelves_that_the_caller_has() {
    let server = Server::start().await;
    for nth in 0..150 {
        server.world.notes.put(&format!("{OPEN}{nth:03}"), "x");
        server.world.notes.put(&format!("{CLOSED}{nth:03}"), "x");
    }
    let (reader, pages) = all(&server, "reader").await;
    assert_eq!((reader.len(), pages), (150, 2));
    assert!(reader.iter().all(|uri| uri.starts_with(OPEN)));
    let (mut operator, pages) = all(&server, "operator").await;
    assert_eq!((operator.len(), pages), (300, 3));
    assert_eq!(operator[..150], reader);
    operator.dedup();
    assert_eq!(operator.len(), 300);
    for cursor in ["", "x", "bnVsbA", "W10"] {
        let answer = server.plain("reader", "resources/list", json!({ "cursor": cursor })).await;
        assert_eq!(answer["error"]["code"], -32_602, "{cursor} {answer}");
        for method in ["tools/list", "prompts/list", "resources/templates/list"] {
            let answer = server.plain("reader", method, json!({ "cursor": cursor })).await;
            assert_eq!(answer["error"]["code"], -32_602, "{method} {cursor} {answer}");
        }
    }
    let one = server.plain("reader", "resources/list", json!({})).await;
    assert_eq!(
        one["result"]["resources"][0],
        json!({
            "uri": "note://open/000", "name": "000", "mimeType": "text/plain",
            "annotations": {"lastModified": "2026-11-30T00:00:00Z"},
        })
    );
    let templates = server.plain("reader", "resources/templates/list", json!({})).await;
    let templates = &templates["result"]["resourceTemplates"];
    assert_eq!(templates.as_array().unwrap().len(), 1);
    assert_eq!(templates[0]["uriTemplate"], "note://open/{name}");
}

#[tokio::test]
async fn a_text_is_read_and_one_that_is_not_there_says_so_in_each_generations_code() {
    let server = Server::start().await;
    server.world.notes.put(&format!("{OPEN}a"), "hello");
    server.world.notes.put(&format!("{CLOSED}a"), "secret");
    let read = async |who: &str, uri: &str| {
        server.plain(who, "resources/read", json!({ "uri": uri })).await
    };
    let text = read("reader", "note://open/a").await;
    assert_eq!(
        text["result"],
        json!({"contents": [{
            "uri": "note://open/a", "mimeType": "text/plain", "text": "hello",
            "_meta": {"adjutant/rev": 5},
        }]})
    );
    let missing = read("reader", "note://open/b").await;
    assert_eq!(missing["error"]["code"], -32_002);
    assert_eq!(missing["error"]["data"], json!({"code": "not_found", "uri": "note://open/b"}));
    let modern = async |uri: &str| {
        let request = server.modern("reader", "resources/read", json!({ "uri": uri }));
        json_of(request.send().await.unwrap()).await
    };
    assert_eq!(modern("note://open/b").await["error"]["code"], -32_602);
    let text = modern("note://open/a").await;
    assert_eq!(
        (&text["result"]["ttlMs"], &text["result"]["cacheScope"]),
        (&json!(0), &json!("private"))
    );
    // A shelf that the caller does not have is not there.
    let (hidden, absent) = (read("reader", "note://closed/a").await, read("reader", "x://y").await);
    let words = hidden["error"]["message"].as_str().unwrap().replace("note://closed/a", "x://y");
    assert_eq!(absent["error"]["message"], words);
    assert!(words.contains("begin with `note://open/`"), "{words}");
    assert_eq!(
        read("operator", "note://closed/a").await["result"]["contents"][0]["text"],
        "secret"
    );
    for method in ["resources/list", "resources/templates/list", "prompts/list"] {
        let list = json_of(server.modern("reader", method, json!({})).send().await.unwrap()).await;
        assert_eq!(list["result"]["ttlMs"], 5_000, "{method}");
        assert_eq!(list["result"]["cacheScope"], "private", "{method}");
    }
}

async fn ask(session: &Session<'_>, id: u64, method: &str, params: Value) -> Value {
    let answer = session.post(&request(id, method, params)).send().await.unwrap();
    Events::new(answer).answer().await
}

#[tokio::test]
async fn a_session_is_told_of_what_it_follows() {
    let server = Server::start().await;
    let (a, b) = (format!("{OPEN}a"), format!("{OPEN}b"));
    server.world.notes.put(&a, "1");
    let session = server.session("reader").await;
    let mut told = Events::new(session.get().send().await.unwrap());
    assert_eq!(
        ask(&session, 1, "resources/subscribe", json!({ "uri": a })).await["result"],
        json!({})
    );
    server.world.notes.write(&b, "not followed");
    server.world.notes.write(&a, "2");
    let notice = told.message().await.unwrap();
    assert_eq!(notice["method"], "notifications/resources/updated");
    assert_eq!(notice["params"]["uri"], json!(a));

    // Who has seen the list hears that there is another one; what is closed is nobody's business.
    ask(&session, 2, "resources/list", json!({})).await;
    ask(&session, 3, "resources/unsubscribe", json!({ "uri": a })).await;
    server.world.notes.write(&format!("{CLOSED}x"), "new");
    server.world.notes.write(&a, "3");
    server.world.notes.write(&format!("{OPEN}c"), "new");
    assert_eq!(told.message().await.unwrap()["method"], "notifications/resources/list_changed");
    ask(&session, 4, "resources/subscribe", json!({ "uri": b })).await;
    // More was missed than is known.
    server.world.notes.tell(News::Lost);
    assert_eq!(told.message().await.unwrap()["params"]["uri"], json!(b));
    assert_eq!(told.message().await.unwrap()["method"], "notifications/resources/list_changed");

    for uri in ["note://open/", "note://closed/x", "x://y", ""] {
        let refused = ask(&session, 5, "resources/subscribe", json!({ "uri": uri })).await;
        assert_eq!(refused["error"]["code"], -32_602, "{uri} {refused}");
    }
    let plain = server.plain("reader", "resources/subscribe", json!({ "uri": a })).await;
    assert_eq!(plain["error"]["code"], -32_600);

    // One task reads for the session, and ends with it.
    assert_eq!(server.world.notes.readers(), 1);
    assert_eq!(session.delete().send().await.unwrap().status(), StatusCode::NO_CONTENT);
    let patience = tokio::time::Instant::now() + std::time::Duration::from_secs(20);
    while server.world.notes.readers() > 0 {
        assert!(tokio::time::Instant::now() < patience, "it goes on without its session");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_session_follows_so_many_addresses_and_no_more() {
    let server = Server::start().await;
    let session = server.session("reader").await;
    for nth in 0..256 {
        let uri = format!("{OPEN}{nth}");
        let answer = ask(&session, nth, "resources/subscribe", json!({ "uri": uri })).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    let more =
        ask(&session, 300, "resources/subscribe", json!({ "uri": "note://open/more" })).await;
    assert!(more["error"]["message"].as_str().unwrap().contains("256"), "{more}");
    let again = ask(&session, 301, "resources/subscribe", json!({ "uri": "note://open/7" })).await;
    assert_eq!(again["result"], json!({}));
}

#[tokio::test]
async fn a_subscription_without_a_session_is_told_of_what_was_accepted() {
    let server = Server::start().await;
    let (a, b) = (format!("{OPEN}a"), format!("{OPEN}b"));
    let listen = async |who: &str, notifications: Value| {
        let params = json!({ "notifications": notifications });
        let answer = server.modern(who, "subscriptions/listen", params).send().await.unwrap();
        let mut events = Events::new(answer);
        let ack = events.message().await.unwrap();
        (events, ack["params"]["notifications"].clone())
    };
    let wanted = json!({
        "resourcesListChanged": true, "promptsListChanged": true,
        "resourceSubscriptions": [a, "x://y", "note://open/", "note://closed/x"],
    });
    let (mut told, accepted) = listen("reader", wanted).await;
    assert_eq!(
        accepted,
        json!({"resourcesListChanged": true, "resourceSubscriptions": [a, "note://closed/x"]})
    );
    // What comes after the acknowledgement is told.
    server.world.notes.write("note://closed/x", "for operators");
    server.world.notes.write(&b, "not followed, but new");
    server.world.notes.put(&a, "1");
    server.world.notes.write(&a, "2");
    let mut notices = vec![told.message().await.unwrap(), told.message().await.unwrap()];
    notices.sort_by_key(|notice| notice["method"].as_str().unwrap().to_owned());
    assert_eq!(notices[0]["method"], "notifications/resources/list_changed");
    assert_eq!(notices[1]["method"], "notifications/resources/updated");
    assert_eq!(notices[1]["params"]["uri"], json!(a));
    for notice in &notices {
        assert_eq!(notice["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    }
    server.draining.cancel();
    let last = loop {
        let message = told.message().await.unwrap();
        if message.get("method").is_none() {
            break message;
        }
    };
    assert_eq!(last["result"]["resultType"], "complete");

    let gone = server.modern("reader", "resources/subscribe", json!({ "uri": a })).send().await;
    let gone = json_of(gone.unwrap()).await;
    assert_eq!(gone["error"]["code"], -32_601);
}
