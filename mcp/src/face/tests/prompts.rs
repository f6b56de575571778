//! Recipes as prompts, and how arguments go on.

use serde_json::{Value, json};

use super::{
    harness::{Events, Server, json_of, request},
    shelf::OPEN,
};

fn names(answer: &Value) -> Vec<&str> {
    let prompts = answer["result"]["prompts"].as_array().unwrap();
    prompts.iter().map(|prompt| prompt["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_caller_is_shown_the_recipes_that_it_can_follow() {
    let server = Server::start().await;
    let reader = server.plain("reader", "prompts/list", json!({})).await;
    assert_eq!(names(&reader), ["copy"]);
    assert_eq!(
        reader["result"]["prompts"][0],
        json!({
            "name": "copy", "title": "Copy a note", "description": "Copies a note, and says how.",
            "arguments": [
                {"name": "name", "description": "which note", "required": true},
                {"name": "how", "description": "with which care", "required": false},
            ],
        })
    );
    assert_eq!(
        names(&server.plain("operator", "prompts/list", json!({})).await),
        ["copy", "purge"]
    );
    let get = async |who: &str, params: Value| server.plain(who, "prompts/get", params).await;
    assert_eq!(
        get("operator", json!({"name": "purge"})).await["result"]["messages"],
        json!([{"role": "user", "content": {"type": "text", "text": "purge"}}])
    );
    let (hidden, absent) = (
        get("reader", json!({"name": "purge"})).await,
        get("reader", json!({"name": "nope"})).await,
    );
    assert_eq!(hidden["error"]["code"], -32_602);
    let words = hidden["error"]["message"].as_str().unwrap().replace("purge", "nope");
    assert_eq!(absent["error"]["message"], words);
}

#[tokio::test]
async fn a_recipe_comes_with_its_arguments_and_what_goes_with_it() {
    let server = Server::start().await;
    server.world.notes.put(&format!("{OPEN}a"), "hello");
    let params = json!({"name": "copy", "arguments": {"name": "a", "how": "fast"}});
    let plain = server.plain("reader", "prompts/get", params.clone()).await;
    assert_eq!(plain["result"]["description"], "Copies a note, and says how.");
    let messages = &plain["result"]["messages"];
    assert_eq!(messages[0]["content"], json!({"type": "text", "text": "copy a fast"}));
    assert_eq!(messages[1]["content"]["type"], "resource");
    assert_eq!(messages[1]["content"]["resource"]["uri"], "note://open/a");
    assert_eq!(messages[1]["content"]["resource"]["text"], "hello");
    let modern = server.modern("reader", "prompts/get", params.clone()).send().await.unwrap();
    assert_eq!(json_of(modern).await["result"]["messages"], *messages);
    let session = server.session("reader").await;
    let answer = session.post(&request(1, "prompts/get", params)).send().await.unwrap();
    assert_eq!(Events::new(answer).answer().await["result"]["messages"], *messages);
    for (arguments, code, words) in [
        (json!({}), -32_602, "`name` is missing: which note"),
        (json!({"name": "a", "x": "y"}), -32_602, "takes no argument `x`"),
        (json!({"name": "b"}), -32_002, "no note"),
    ] {
        let params = json!({"name": "copy", "arguments": arguments});
        let error = server.plain("reader", "prompts/get", params).await["error"].take();
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
    }
}

#[tokio::test]
async fn arguments_of_addresses_and_recipes_go_on() {
    let server = Server::start().await;
    for nth in 0..150 {
        server.world.notes.put(&format!("{OPEN}a{nth:03}"), "x");
    }
    server.world.notes.put(&format!("{OPEN}b"), "x");
    let complete = async |who: &str, reference: Value, name: &str, value: &str| {
        let params = json!({
            "ref": reference, "argument": {"name": name, "value": value},
            "context": {"arguments": {"last": "b9"}},
        });
        let old = server.plain(who, "completion/complete", params.clone()).await;
        let new = server.modern(who, "completion/complete", params).send().await.unwrap();
        let new = json_of(new).await;
        assert_eq!(new["result"]["completion"], old["result"]["completion"]);
        old
    };
    let template = json!({"type": "ref/resource", "uri": "note://open/{name}"});
    let recipe = json!({"type": "ref/prompt", "name": "copy"});
    for reference in [&template, &recipe] {
        let b = complete("reader", reference.clone(), "name", "b").await;
        assert_eq!(b["result"]["completion"], json!({"values": ["b", "b9"], "hasMore": false}));
        let a = complete("reader", reference.clone(), "name", "a").await;
        assert_eq!(a["result"]["completion"]["values"].as_array().unwrap().len(), 100);
        assert_eq!(a["result"]["completion"]["hasMore"], true);
    }
    let how = complete("reader", recipe.clone(), "how", "x").await;
    assert_eq!(how["result"]["completion"]["values"], json!([]));
    for (reference, name) in [
        (json!({"type": "ref/resource", "uri": "note://closed/{name}"}), "name"),
        (json!({"type": "ref/prompt", "name": "purge"}), "name"),
        (recipe, "nope"),
    ] {
        let refused = complete("reader", reference, name, "").await;
        assert_eq!(refused["error"]["code"], -32_602, "{refused}");
    }
}
