//! Ledgers and documents by address, recipes and completion over `/mcp`, in both of its generations.

use std::collections::BTreeSet;

use adjutant::{library::RECIPES, tools::catalogue};
use mcp::{Caller, Scope};
use serde_json::{Map, Value, json};

use crate::harness::{PATIENCE, Reply, Server, Setup, on_both};

const NEW: &str = "2026-07-28";
const OLD: &str = "2025-11-25";
const BOTH: &str = "application/json, text/event-stream";

async fn servers() -> Vec<(Server, Option<fake::Database>)> {
    on_both(|| Setup::new("")).await
}

async fn put(server: &Server, locus: &str, task: &str, doc: &str) {
    let body = json!({ "locus": locus, "task": task, "doc": doc });
    server.post("/ledger/put", body).await.result();
}

#[expect(clippy::needless_pass_by_value, reason = "what is sent is written where it is sent")]
fn message(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// A request without a session, as JSON: the whole answer.
async fn plain(server: &Server, token: Option<&str>, method: &str, params: Value) -> Value {
    let request = server.request(reqwest::Method::POST, "/mcp");
    let request = match token {
        Some(token) => request.token(Some(token)),
        None => request,
    };
    request.json(message(method, params)).send().await.json()
}

fn modern(server: &Server, method: &str, mut params: Value) -> crate::harness::Request {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let name = if method == "resources/read" { &params["uri"] } else { &params["name"] };
    let name = name.as_str().map(str::to_owned);
    let request = server
        .request(reqwest::Method::POST, "/mcp")
        .header("accept", BOTH)
        .header("mcp-protocol-version", NEW)
        .header("mcp-method", method);
    let request = match &name {
        Some(name) => request.header("mcp-name", name),
        None => request,
    };
    request.json(message(method, params))
}

/// The last message of an answer, whichever form it has.
fn last(reply: &Reply) -> Value {
    let mut data = reply.text.lines().filter_map(|line| line.strip_prefix("data:"));
    let last = data.rfind(|data| !data.trim().is_empty()).unwrap_or(&reply.text);
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {}", reply.text))
}

/// The same request in both generations, which are answered alike.
async fn both(server: &Server, method: &str, params: Value) -> Value {
    let old = plain(server, None, method, params.clone()).await;
    let mut new = last(&modern(server, method, params).send().await);
    if let Some(result) = new["result"].as_object_mut() {
        for member in ["resultType", "ttlMs", "cacheScope", "_meta"] {
            result.remove(member);
        }
        assert_eq!(new["result"], old["result"], "{method}");
    }
    old
}

fn uris(answer: &Value) -> Vec<&str> {
    let resources = answer["result"]["resources"].as_array().unwrap_or_else(|| panic!("{answer}"));
    resources.iter().map(|resource| resource["uri"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn ledgers_are_listed_and_read_by_address() {
    for (server, _database) in servers().await {
        put(&server, "alpha", "cart", "one").await;
        put(&server, "alpha", "cart", "two").await;
        put(&server, "b@c", "x.y", "other").await;
        let list = both(&server, "resources/list", json!({})).await;
        assert_eq!(
            uris(&list)[..2],
            ["adjutant://ledger/b%40c/x.y", "adjutant://ledger/alpha/cart"]
        );
        let cart = &list["result"]["resources"][1];
        assert_eq!(
            (&cart["name"], &cart["mimeType"]),
            (&json!("alpha/cart"), &json!("text/markdown"))
        );
        assert_eq!(cart["description"], "Ledger, active, revision 2");
        assert!(cart["annotations"]["lastModified"].as_str().unwrap().ends_with('Z'));
        let read = async |uri: &str| both(&server, "resources/read", json!({ "uri": uri })).await;
        let text = read("adjutant://ledger/alpha/cart").await;
        let contents = &text["result"]["contents"][0];
        assert_eq!(
            (&contents["text"], &contents["mimeType"]),
            (&json!("two"), &json!("text/markdown"))
        );
        assert_eq!(contents["_meta"]["adjutant/rev"], 2);
        assert_eq!(contents["_meta"]["adjutant/status"], "active");
        let first = read("adjutant://ledger/Alpha/cart?rev=1").await;
        let contents = &first["result"]["contents"][0];
        assert_eq!(
            (&contents["text"], &contents["uri"]),
            (&json!("one"), &json!("adjutant://ledger/alpha/cart?rev=1"))
        );
        let at = read("adjutant://ledger/b%40c/x.y").await;
        assert_eq!(at["result"]["contents"][0]["text"], "other");
        for (uri, says) in [
            ("adjutant://ledger/alpha/none", "no ledger `alpha/none`"),
            ("adjutant://ledger/alpha/cart?rev=9", "1 to 2 are"),
            ("adjutant://ledger/alpha", "names no task"),
            ("adjutant://other/x", "begin with `adjutant://ledger/`"),
        ] {
            let missing = read(uri).await;
            assert_eq!(missing["error"]["code"], -32_002, "{missing}");
            assert!(missing["error"]["message"].as_str().unwrap().contains(says), "{missing}");
            let new = last(&modern(&server, "resources/read", json!({ "uri": uri })).send().await);
            assert_eq!(new["error"]["code"], -32_602, "{new}");
        }
        let templates = both(&server, "resources/templates/list", json!({})).await;
        let templates = templates["result"]["resourceTemplates"].as_array().unwrap();
        let forms: Vec<&str> =
            templates.iter().map(|template| template["uriTemplate"].as_str().unwrap()).collect();
        assert!(forms.contains(&"adjutant://ledger/{locus}/{task}"), "{forms:?}");
    }
}

#[tokio::test]
async fn documents_are_listed_read_and_completed_by_address() {
    for (server, _database) in servers().await {
        let add = json!({
            "path": "instructions/alpha/deploy", "title": "How we deploy", "text": "Push the tag.",
            "created_by": "em", "locus": "alpha",
        });
        server.post("/instructions/add", add).await.result();
        let documents = async |token: Option<&str>| {
            let list = plain(&server, token, "resources/list", json!({})).await;
            let list = uris(&list).into_iter().filter(|uri| uri.contains("/document/"));
            list.map(str::to_owned).collect::<Vec<_>>()
        };
        let ours = "adjutant://document/tools/toolserver";
        let theirs = "adjutant://document/instructions/alpha/deploy";
        let all = documents(None).await;
        assert!(
            all.iter().any(|uri| uri == ours) && all.iter().any(|uri| uri == theirs),
            "{all:?}"
        );
        let read = async |uri: &str| {
            both(&server, "resources/read", json!({ "uri": uri })).await["result"]["contents"][0]
                .clone()
        };
        let own = read(ours).await;
        assert_eq!(own["_meta"], json!({ "adjutant/source": "built-in" }));
        let by_tool = server.post("/instructions/read", json!({})).await.result();
        assert_eq!(own["text"], by_tool["text"]);
        let contributed = read("adjutant://document/instructions%2Falpha%2FDeploy").await;
        assert_eq!(
            (&contributed["uri"], &contributed["_meta"]["adjutant/by"]),
            (&json!(theirs), &json!("em"))
        );
        let text = contributed["text"].as_str().unwrap();
        assert!(text.starts_with("> Contributed for the locus `alpha` by \"em\""), "{text}");
        assert!(text.ends_with("\n\nPush the tag."), "{text}");
        for uri in [
            "adjutant://document/",
            "adjutant://document/instructions/..%2Fx",
            "adjutant://document/instructions/none",
        ] {
            let missing = both(&server, "resources/read", json!({ "uri": uri })).await;
            assert_eq!(missing["error"]["code"], -32_002, "{missing}");
        }
        // One of another locus is told in the words of one that is not there.
        let token = server.mint(json!({ "name": "b", "scope": "read", "loci": ["beta"] })).await;
        let left = documents(Some(&token)).await;
        assert!(
            left.iter().any(|uri| uri == ours) && !left.iter().any(|uri| uri == theirs),
            "{left:?}"
        );
        let hidden = plain(&server, Some(&token), "resources/read", json!({ "uri": theirs })).await;
        assert_eq!(hidden["error"]["code"], -32_002, "{hidden}");
        let complete = async |token: Option<&str>, name: &str| {
            let params = json!({
                "ref": { "type": "ref/resource", "uri": "adjutant://document/{+path}" },
                "argument": { "name": name, "value": "instructions/AL" },
            });
            let answer = plain(&server, token, "completion/complete", params).await;
            answer["result"]["completion"]["values"].clone()
        };
        assert_eq!(complete(None, "path").await, json!(["instructions/alpha/deploy"]));
        assert_eq!(complete(Some(&token), "path").await, json!([]));
        assert_eq!(complete(None, "locus").await, json!([]), "it has no such argument");
    }
}

#[tokio::test]
async fn a_document_of_nobody_in_particular_is_told_to_every_listener() {
    for (server, _database) in servers().await {
        let token = server.mint(json!({ "name": "b", "scope": "read", "loci": ["beta"] })).await;
        let all = "adjutant://document/instructions/all";
        let alphas = "adjutant://document/instructions/alphas";
        let wanted = json!({ "notifications": {
            "resourcesListChanged": true, "resourceSubscriptions": [all, alphas],
        } });
        let listen = modern(&server, "subscriptions/listen", wanted).token(Some(&token));
        let mut stream = Stream(listen.open().await, String::new());
        stream.told("notifications/subscriptions/acknowledged").await;
        for (path, locus) in [("instructions/alphas", Some("alpha")), ("instructions/all", None)] {
            let add = json!({ "path": path, "title": "t", "text": "x", "locus": locus });
            server.post("/instructions/add", add).await.result();
        }
        let notice = stream.told("notifications/resources/updated").await;
        assert_eq!(notice["params"]["uri"], all, "the other one is out of reach");
    }
}

#[tokio::test]
async fn a_long_list_goes_on_by_cursors() {
    let server = Server::start("").await;
    for nth in 0..230 {
        put(&server, "alpha", &format!("t{nth}"), "x").await;
    }
    let (mut all, mut pages, mut params) = (BTreeSet::new(), 0, json!({}));
    loop {
        let page = plain(&server, None, "resources/list", params).await;
        assert!(uris(&page).len() <= 100);
        all.extend(
            uris(&page).into_iter().map(str::to_owned).filter(|uri| uri.contains("/ledger/")),
        );
        pages += 1;
        let Some(next) = page["result"]["nextCursor"].as_str() else { break };
        params = json!({ "cursor": next });
    }
    assert_eq!(all.len(), 230);
    assert!(pages >= 3);
    let wrong = plain(&server, None, "resources/list", json!({ "cursor": "x" })).await;
    assert_eq!(wrong["error"]["code"], -32_602);
}

#[tokio::test]
async fn rights_count_at_the_moment_of_reading() {
    for (server, _database) in servers().await {
        for locus in ["alpha", "beta", "gamma"] {
            put(&server, locus, "cart", "text").await;
        }
        let mint = json!({ "name": "ab", "scope": "read", "loci": ["alpha", "beta"] });
        let token = server.mint(mint).await;
        let ask =
            async |method: &str, params: Value| plain(&server, Some(&token), method, params).await;
        let list = ask("resources/list", json!({})).await;
        let ledgers: Vec<&str> =
            uris(&list).into_iter().filter(|uri| uri.contains("/ledger/")).collect();
        assert_eq!(ledgers, ["adjutant://ledger/beta/cart", "adjutant://ledger/alpha/cart"]);
        let refused = ask("resources/read", json!({ "uri": "adjutant://ledger/gamma/cart" })).await;
        assert_eq!(refused["error"]["data"]["code"], "forbidden", "{refused}");
        let reference = json!({"type": "ref/resource", "uri": "adjutant://ledger/{locus}/{task}"});
        let complete = async |name: &str, value: &str, locus: &str| {
            let params = json!({
                "ref": reference, "argument": { "name": name, "value": value },
                "context": { "arguments": { "locus": locus } },
            });
            ask("completion/complete", params).await["result"]["completion"]["values"].clone()
        };
        assert_eq!(complete("locus", "", "").await, json!(["alpha", "beta"]));
        assert_eq!(complete("task", "", "alpha").await, json!(["cart"]));
        assert_eq!(complete("task", "", "gamma").await, json!([]));
        // A token that may not call the tool has none of the shelf.
        let roster = "[profiles.bare]\nallowed = [\"ts_list\"]\n";
        let other = Setup::new("").settings(roster).start().await;
        put(&other, "alpha", "cart", "text").await;
        let token = other.mint(json!({ "name": "b", "scope": "read", "profile": "bare" })).await;
        let list = plain(&other, Some(&token), "resources/list", json!({})).await;
        assert!(uris(&list).is_empty());
        let read = json!({ "uri": "adjutant://ledger/alpha/cart" });
        let read = plain(&other, Some(&token), "resources/read", read).await;
        assert_eq!(read["error"]["code"], -32_002, "{read}");
        let prompts = plain(&other, Some(&token), "prompts/list", json!({})).await;
        assert_eq!(prompts["result"]["prompts"], json!([]));
    }
}

#[tokio::test]
async fn loci_tasks_and_revisions_are_completed() {
    for (server, _database) in servers().await {
        for locus in ["web-1", "web-2", "db"] {
            for task in ["fix-login", "fix-cart", "ship"] {
                put(&server, locus, task, "one").await;
            }
        }
        put(&server, "db", "ship", "two").await;
        let ledger = "adjutant://ledger/{locus}/{task}";
        for reference in [
            json!({ "type": "ref/resource", "uri": ledger }),
            json!({ "type": "ref/prompt", "name": "take_over" }),
        ] {
            let complete = async |name: &str, value: &str, locus: &str| {
                let params = json!({
                    "ref": reference, "argument": { "name": name, "value": value },
                    "context": { "arguments": { "locus": locus } },
                });
                both(&server, "completion/complete", params).await["result"]["completion"].clone()
            };
            let values = async |name: &str, value: &str, locus: &str| {
                complete(name, value, locus).await["values"].clone()
            };
            assert_eq!(values("locus", "", "").await, json!(["db", "web-1", "web-2"]));
            assert_eq!(values("locus", "WE", "").await, json!(["web-1", "web-2"]));
            assert_eq!(values("locus", "x", "").await, json!([]));
            assert_eq!(values("task", "fix", "db").await, json!(["fix-cart", "fix-login"]));
            assert_eq!(values("task", "", "none").await, json!([]));
            assert_eq!(values("task", "", "").await, json!([]));
            assert_eq!(complete("locus", "", "").await["hasMore"], false);
        }
        let params = json!({
            "ref": { "type": "ref/resource", "uri": "adjutant://ledger/{locus}/{task}?rev={rev}" },
            "argument": { "name": "rev", "value": "" },
            "context": { "arguments": { "locus": "db", "task": "ship" } },
        });
        let revs = both(&server, "completion/complete", params).await;
        assert_eq!(revs["result"]["completion"]["values"], json!(["2", "1"]));
        for nth in 0..120 {
            put(&server, &format!("many-{nth:03}"), "t", "x").await;
        }
        let params = json!({
            "ref": { "type": "ref/resource", "uri": ledger },
            "argument": { "name": "locus", "value": "many" },
        });
        let many = both(&server, "completion/complete", params).await;
        assert_eq!(many["result"]["completion"]["values"].as_array().unwrap().len(), 100);
        assert_eq!(many["result"]["completion"]["hasMore"], true);
    }
}

/// An event stream as it comes.
struct Stream(reqwest::Response, String);

impl Stream {
    async fn next(&mut self) -> Value {
        loop {
            while let Some((event, rest)) = self.1.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data:"));
                let data = data.map(|data| data.trim().to_owned()).filter(|data| !data.is_empty());
                self.1 = String::from(rest);
                if let Some(data) = data {
                    return serde_json::from_str(&data).unwrap();
                }
            }
            let chunk = tokio::time::timeout(PATIENCE, self.0.chunk());
            let chunk = chunk.await.expect("an event").unwrap().expect("an event before the end");
            self.1.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next notice of that method.
    async fn told(&mut self, method: &str) -> Value {
        loop {
            let message = self.next().await;
            if message["method"] == method {
                return message;
            }
        }
    }
}

#[tokio::test]
async fn changes_are_told_in_both_generations() {
    for (server, _database) in servers().await {
        put(&server, "alpha", "cart", "one").await;
        let uri = "adjutant://ledger/alpha/cart";
        let hidden = "adjutant://ledger/beta/cart";
        let token = server.mint(json!({ "name": "a", "scope": "write", "loci": ["alpha"] })).await;
        let post = |body: Value| {
            let request = server.request(reqwest::Method::POST, "/mcp").token(Some(&token));
            request.header("accept", BOTH).json(body)
        };
        let initialize = json!({
            "protocolVersion": OLD, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
        });
        let begun = post(message("initialize", initialize)).send().await;
        let session = begun.header("mcp-session-id").to_owned();
        let in_session = |body: Value| post(body).header("mcp-session-id", &session);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        in_session(initialized).send().await;
        let get = server.request(reqwest::Method::GET, "/mcp").token(Some(&token));
        let get = get.header("accept", "text/event-stream").header("mcp-session-id", &session);
        let mut old = Stream(get.open().await, String::new());
        for (uri, method) in [(uri, "resources/subscribe"), (hidden, "resources/subscribe")] {
            let answer = in_session(message(method, json!({ "uri": uri }))).send().await;
            assert_eq!(last(&answer)["result"], json!({}), "{}", answer.text);
        }
        in_session(message("resources/list", json!({}))).send().await;
        let wanted = json!({ "notifications": {
            "resourcesListChanged": true, "resourceSubscriptions": [uri, hidden],
        } });
        let listen = modern(&server, "subscriptions/listen", wanted).token(Some(&token));
        let mut new = Stream(listen.open().await, String::new());
        new.told("notifications/subscriptions/acknowledged").await;

        // What is out of reach is told to nobody: the first notice is of what follows it.
        put(&server, "beta", "cart", "not theirs").await;
        put(&server, "alpha", "cart", "two").await;
        for stream in [&mut old, &mut new] {
            let notice = stream.next().await;
            assert_eq!(notice["method"], "notifications/resources/updated", "{notice}");
            assert_eq!(notice["params"]["uri"], uri);
        }
        put(&server, "alpha", "new", "one").await;
        for stream in [&mut old, &mut new] {
            stream.told("notifications/resources/list_changed").await;
        }
        let answer =
            in_session(message("resources/unsubscribe", json!({ "uri": uri }))).send().await;
        assert_eq!(last(&answer)["result"], json!({}));
        put(&server, "alpha", "cart", "the last").await;
        new.told("notifications/resources/updated").await;
        put(&server, "alpha", "newer", "one").await;
        // The unsubscribed one hears of the list alone: whatever else waited came before it.
        let notice = old.told("notifications/resources/list_changed").await;
        assert_eq!(notice["params"].get("uri"), None);
    }
}

#[tokio::test]
async fn recipes_are_listed_and_filled_in() {
    let server = Server::start("").await;
    put(&server, "alpha", "cart", "# The cart\n").await;
    let list = both(&server, "prompts/list", json!({})).await;
    let prompts = list["result"]["prompts"].as_array().unwrap();
    let names: Vec<&str> = prompts.iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["split_work", "fan_out", "verify", "summarise", "ask_b", "take_over"]);
    let get = async |params: Value| both(&server, "prompts/get", params).await;
    let split = json!({ "name": "split_work", "arguments": { "goal": "ship ``` the cart" } });
    let split = get(split).await;
    let text = split["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("````text\nship ``` the cart\n````"), "{text}");
    let over = json!({ "name": "take_over", "arguments": { "locus": "Alpha", "task": "cart" } });
    let over = get(over).await;
    let attached = &over["result"]["messages"][1]["content"]["resource"];
    assert_eq!(
        (&attached["uri"], &attached["text"]),
        (&json!("adjutant://ledger/alpha/cart"), &json!("# The cart\n"))
    );
    assert_eq!(attached["_meta"]["adjutant/rev"], 1);
    let missing = get(json!({ "name": "take_over", "arguments": { "locus": "alpha" } })).await;
    assert!(
        missing["error"]["message"].as_str().unwrap().contains("`task` is missing"),
        "{missing}"
    );
    let reader = server.mint(json!({ "name": "r", "scope": "read" })).await;
    let prompts = plain(&server, Some(&reader), "prompts/list", json!({})).await;
    assert_eq!(prompts["result"]["prompts"], json!([]), "nobody is shown what they cannot follow");
}

/// Every word in code type of a recipe is a tool, or a word of the schemas of its tools.
#[test]
fn recipes_name_what_exists() {
    let caller = Caller::new("t", Scope::Operator);
    for recipe in RECIPES {
        let schemas: String = recipe
            .uses
            .iter()
            .map(|tool| {
                let entry = catalogue().get(tool, &caller).unwrap_or_else(|_| panic!("no {tool}"));
                format!("{} {}", json!(entry.input), json!(entry.output))
            })
            .collect::<Vec<_>>()
            .concat();
        let arguments: Map<String, Value> =
            recipe.arguments.iter().map(|one| (one.name.to_owned(), json!("x"))).collect();
        let text = (recipe.text)(&recipe.given(&arguments).unwrap());
        for word in text.split('`').skip(1).step_by(2) {
            let is_plain =
                word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            // Members of what every tool's failure and this face show.
            if !is_plain || ["_meta", "retry_after"].contains(&word) {
                continue;
            }
            let is_tool = recipe.uses.contains(&word);
            let is_word =
                schemas.contains(&format!("\"{word}\"")) || schemas.contains(&format!("`{word}`"));
            assert!(is_tool || is_word, "`{}` names `{word}`", recipe.name);
        }
    }
}
