//! What `tools/list` shows to whom.

use serde_json::{Value, json};

use super::harness::{Server, json_of, request};

fn names(answer: &Value) -> Vec<&str> {
    answer["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn s41_the_list_is_the_callers_and_in_order() {
    let server = Server::start().await;
    let list = |who| server.plain(who, "tools/list", json!({}));
    let reader = list("reader").await;
    assert_eq!(names(&reader), ["sample_bare", "sample_break", "sample_echo", "sample_fail"]);
    let worker = list("worker").await;
    assert!(names(&worker).contains(&"sample_wait"));
    assert!(!names(&worker).contains(&"sample_purge"));
    assert!(names(&list("operator").await).contains(&"sample_purge"));
    assert_eq!(list("reader").await, reader);
}

#[tokio::test]
async fn flat_mode_shows_all_that_is_allowed() {
    let server = Server::start().await;
    let message = request(1, "tools/list", json!({})).to_string();
    let by_header = server.post("reader").header("X-Tool-Mode", "flat").body(message.clone());
    let by_header = json_of(by_header.send().await.unwrap()).await;
    let flat = ["sample_bare", "sample_break", "sample_count", "sample_echo", "sample_fail"];
    assert_eq!(names(&by_header), flat);
    let mut other = Server::start().await;
    other.url.push_str("?mode=flat");
    let by_query = other.plain("reader", "tools/list", json!({})).await;
    assert_eq!(names(&by_query), flat);
    let session = other.session("reader").await;
    let answer = session.post(&request(5, "tools/list", json!({}))).send().await.unwrap();
    assert_eq!(names(&super::harness::Events::new(answer).answer().await), flat);
}

#[tokio::test]
async fn a_tool_that_is_not_allowed_answers_like_one_that_is_not_there() {
    let server = Server::start().await;
    let call =
        |name: &str| server.plain("reader", "tools/call", json!({"name": name, "arguments": {}}));
    let (hidden, absent) = (call("sample_purge").await, call("sample_nope").await);
    assert_eq!(hidden["error"]["code"], -32_602);
    let words = hidden["error"]["message"].as_str().unwrap().replace("sample_purge", "sample_nope");
    assert_eq!(absent["error"]["message"], words);
    assert_eq!(absent["error"]["code"], -32_602);
}

#[tokio::test]
async fn every_schema_is_plain_and_every_hint_is_stated() {
    let server = Server::start().await;
    let mut flat = Server::start().await;
    flat.url.push_str("?mode=flat");
    let answer = flat.plain("operator", "tools/list", json!({})).await;
    for tool in answer["result"]["tools"].as_array().unwrap() {
        let text = tool.to_string();
        for unwanted in ["$ref", "$schema", "uint", "_meta", "\"format\""] {
            assert!(!text.contains(unwanted), "{unwanted} in {text}");
        }
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{text}");
        }
        assert!(tool["inputSchema"]["properties"].is_object(), "{text}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{hint} of {text}");
        }
        assert!(!tool["title"].as_str().unwrap().is_empty());
        assert!(!tool["description"].as_str().unwrap().is_empty());
    }
    let session = server.session("operator").await;
    let listed = session.post(&request(5, "tools/list", json!({}))).send().await.unwrap();
    let listed = super::harness::Events::new(listed).answer().await;
    let purge =
        listed["result"]["tools"].as_array().unwrap().iter().find(|t| t["name"] == "sample_purge");
    assert_eq!(purge.unwrap()["annotations"]["destructiveHint"], true);
}

#[tokio::test]
async fn a_list_is_private_and_short_lived_for_the_newer_protocol() {
    let server = Server::start().await;
    let answer =
        json_of(server.modern("reader", "tools/list", json!({})).send().await.unwrap()).await;
    assert_eq!(answer["result"]["cacheScope"], "private");
    assert_eq!(answer["result"]["ttlMs"], 5_000);
    assert_eq!(answer["result"]["resultType"], "complete");
    let older = server.plain("reader", "tools/list", json!({})).await;
    assert_eq!(older["result"].as_object().unwrap().len(), 1, "{older}");
}
