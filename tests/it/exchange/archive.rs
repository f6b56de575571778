//! Files that are kept, and parts of them.

use serde_json::{Value, json};

use super::{post, refused, shape};
use crate::harness::{Server, Setup, on_both};

const PUT: &str = "/exchange/archive";
const GET: &str = "/exchange/archive_get";

const ROW: &str = "locus source backend session_id sha256 size version updated lines";

async fn get(server: &Server, more: Value) -> Value {
    let mut body = json!({ "locus": "alpha", "source": "f" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    post(server, GET, body).await
}

#[tokio::test]
async fn a_refused_version_says_what_is_kept_and_a_file_comes_back_whole_or_in_part() {
    for (server, _database) in on_both(|| Setup::new("")).await {
        // "one\ntwo é\nthree"
        let data = "b25lCnR3byDDqQp0aHJlZQ==";
        let file = json!({ "locus": "alpha", "source": "f", "data": data, "version": 1_795_996_800_000_000_007_i64, "session_id": "s9" });
        let kept = post(&server, PUT, file.clone()).await;
        shape(&kept, "locus source stored sha256 size version updated changed committed_at");
        assert_eq!((&kept["stored"], &kept["size"]), (&json!(true), &json!(16)));
        assert_eq!(kept["sha256"].as_str().unwrap().len(), 64);
        let mut older = file.clone();
        older["version"] = json!(3);
        older["data"] = json!("eA==");
        let refused = post(&server, PUT, older).await;
        assert_eq!((&refused["stored"], &refused["changed"]), (&json!(false), &json!(false)));
        for name in ["sha256", "size", "version", "updated"] {
            assert_eq!(refused[name], kept[name], "{name}");
        }
        assert!(refused["reason"].as_str().unwrap().contains("yours is 3"), "{refused}");
        assert_eq!(post(&server, PUT, file).await["changed"], false);

        let whole = get(&server, json!({})).await;
        shape(&whole, &format!("{ROW} data"));
        assert_eq!((&whole["data"], &whole["lines"]), (&json!(data), &json!(3)));
        assert_eq!(whole["version"], 1_795_996_800_000_000_007_i64);
        assert_eq!(whole["backend"], "mct");
        let part = get(&server, json!({ "offset": 4, "limit": 5 })).await;
        shape(&part, &format!("{ROW} text offset next_offset"));
        // A character is not split.
        assert_eq!((&part["text"], &part["next_offset"]), (&json!("two "), &json!(8)));
        let rest = get(&server, json!({ "offset": "8" })).await;
        assert_eq!((&rest["text"], rest.get("next_offset")), (&json!("é\nthree"), None));
        let within = get(&server, json!({ "offset": 9, "limit": 1 })).await;
        assert_eq!((&within["data"], within.get("text")), (&json!("qQ=="), None));
        let lines = get(&server, json!({ "lines": "2-2" })).await;
        shape(&lines, &format!("{ROW} text offset next_offset first_line next_line"));
        assert_eq!((&lines["text"], &lines["next_line"]), (&json!("two é\n"), &json!(3)));
        let last = get(&server, json!({ "lines": "2-" })).await;
        assert_eq!((&last["text"], last.get("next_line")), (&json!("two é\nthree"), None));

        let listed = post(&server, "/exchange/archive_list", json!({ "locus": "alpha" })).await;
        shape(&listed[0], ROW);
        for source in ["a", "g"] {
            let file = json!({ "locus": "alpha", "source": source, "data": "", "backend": "mcp" });
            post(&server, PUT, file).await;
        }
        let names = async |more: Value| {
            let mut body = json!({ "locus": "alpha" });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let rows = post(&server, "/exchange/archive_list", body).await;
            let rows = rows.get("items").unwrap_or(&rows).as_array().unwrap().clone();
            rows.iter().map(|row| row["source"].as_str().unwrap()).collect::<String>()
        };
        assert_eq!(names(json!({})).await, "afg");
        assert_eq!(names(json!({ "backend": "mcp" })).await, "ag");
        assert_eq!(names(json!({ "offset": 1, "limit": 1 })).await, "f");
        assert_eq!(names(json!({ "page": true, "after": "f" })).await, "g");
    }
}

#[tokio::test]
async fn what_is_wrong_is_refused_and_loses_nothing() {
    let setup = Setup::new("").settings("[exchanges]\narchive_quota = \"10\"");
    let server = setup.start().await;
    let file = |more: Value| {
        let mut body = json!({ "locus": "alpha", "source": "f", "data": "MTIzNDU2Nzg=" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let part = |more: Value| {
        let mut body = json!({ "locus": "alpha", "source": "f" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    post(&server, PUT, file(json!({}))).await;
    for (path, body, status, words) in [
        (PUT, file(json!({ "data": "no base64!" })), 400, "no base64"),
        (PUT, file(json!({ "data": "eA" })), 400, "padding"),
        (PUT, file(json!({ "source": " " })), 400, "`source` is empty"),
        (PUT, file(json!({ "source": "s".repeat(4_097) })), 413, "4097 characters"),
        (PUT, file(json!({ "source": "g" })), 413, "`exchanges.archive_quota`"),
        (PUT, file(json!({ "version": "new" })), 400, "integer"),
        (GET, part(json!({ "source": "none" })), 404, "`exchange_archive_list`"),
        (GET, part(json!({ "lines": "0-3" })), 400, "`40-80`"),
        (GET, part(json!({ "lines": "2" })), 400, "has 1 lines"),
        (GET, part(json!({ "lines": "1", "offset": 0 })), 400, "give one of them"),
        (GET, part(json!({ "offset": 9 })), 400, "has 8 bytes"),
        (GET, part(json!({ "offset": -1 })), 400, "`offset` is below 0"),
    ] {
        refused(&server, path, body, status, words).await;
    }
    assert_eq!(post(&server, GET, part(json!({}))).await["data"], "MTIzNDU2Nzg=");
    let listed = post(&server, "/exchange/archive_list", json!({ "locus": "alpha" })).await;
    assert_eq!(listed.as_array().unwrap().len(), 1);
}

/// A file of many megabytes, its parts, and what a model reads of one.
#[tokio::test]
async fn a_large_file_is_read_in_parts() {
    let server = Server::start("").await;
    let line = "xxxxxxxxxxxxxxx\n";
    // 12 MiB of lines, as base64 by hand: 48 bytes are 64 digits.
    let digits = "eHh4eHh4eHh4eHh4eHh4Cnh4eHh4eHh4eHh4eHh4eAp4eHh4eHh4eHh4eHh4eHgK";
    let data = digits.repeat((12 << 20) / 48);
    let file = json!({ "locus": "alpha", "source": "f", "data": data });
    let kept = post(&server, PUT, file).await;
    assert_eq!(kept["size"], 12 << 20);
    let found = get(&server, json!({ "lines": "786430-" })).await;
    assert_eq!((&found["text"], found.get("next_line")), (&json!(line.repeat(3)), None));
    assert_eq!(found["lines"], 786_432);
    let found = get(&server, json!({ "lines": "1-999999" })).await;
    assert_eq!(found["text"].as_str().unwrap().len(), 1 << 20);
    assert_eq!(found["next_line"], 65_537);
    assert!(get(&server, json!({})).await["data"] == data);
    let call = json!({ "name": "exchange_archive_get", "arguments": { "locus": "alpha", "source": "f", "lines": "5" } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    let reply = server.post("/mcp", body).await.json();
    let result = &reply["result"];
    assert_eq!(result["content"][0]["text"], line);
    assert_eq!(result["structuredContent"]["first_line"], 5);
}
