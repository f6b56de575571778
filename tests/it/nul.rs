//! A NUL character in every text argument of every tool, through the door, on both engines: what
//! PostgreSQL cannot hold is refused alike where it could, and never a defect.

use adjutant::tools::catalogue;
use mcp::Scope;
use serde_json::{Map, Value, json};

use crate::harness::{Server, Setup, local, on_both};

/// Whether a schema takes a text, also as one of several types.
fn takes(schema: &Value, kind: &str) -> bool {
    let any = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    if let Some(any) = any {
        return any.iter().any(|schema| takes(schema, kind));
    }
    match schema.get("type") {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(many)) => many.iter().any(|one| one == kind),
        _ => schema.get("enum").is_some_and(|_| kind == "string"),
    }
}

/// Something that an argument of that name may be.
fn usual(name: &str, schema: &Value) -> Value {
    let known = match name {
        "locus" | "from" => "alpha",
        "to" | "to_locus" => "beta",
        "id" | "ids" => "t1",
        "handoff_id" => "h1",
        "message_id" => "0123456789abcdef0123456789abcdef",
        "session_id" => "0b7e2a4c-5d1f-4e6a-9c3b-8f2d7a1e4b60",
        "scope" => "read",
        "kind" => "vm",
        "seat" => "codex",
        "name" => "ci",
        _ => "x",
    };
    let first = schema.get("enum").and_then(|values| values.get(0));
    match first {
        Some(first) => first.clone(),
        None if takes(schema, "string") => json!(known),
        None if takes(schema, "integer") || takes(schema, "number") => json!(1),
        None if takes(schema, "boolean") => json!(true),
        None if takes(schema, "array") => json!([]),
        None => json!({}),
    }
}

/// Arguments that may have one: JSON in which it is kept as it is, and lines that are counted as
/// passed over or are blank but for it; and what `seat_rollover` does not look at where its action is
/// the usual one.
const MAY: [&str; 5] = [
    "exchange_record.pointers",
    "exchange_ingest_transcript.body",
    "seat_rollover.handoff_id",
    "seat_rollover.successor",
    "seat_rollover.tmux",
];

/// Calls every tool with a NUL in one argument after another; what each answered.
async fn answers(server: &Server) -> Vec<(String, u16)> {
    let (mut answers, mut wrong) = (Vec::new(), Vec::new());
    for entry in catalogue().entries() {
        let none = Map::new();
        let members = entry.input.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = entry.input.get("required").and_then(Value::as_array);
        let mut usually: Map<String, Value> = required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(|name| (name.to_owned(), usual(name, &members[name])))
            .collect();
        if members.contains_key("timeout_s") {
            usually.insert("timeout_s".to_owned(), json!(0));
        }
        for name in
            members.iter().filter(|(_, schema)| takes(schema, "string")).map(|(name, _)| name)
        {
            for text in ["a\0b", "\0"] {
                let mut arguments = usually.clone();
                arguments.insert(name.clone(), json!(text));
                let reply = server.post(entry.spec.path, Value::Object(arguments)).await;
                let what = format!("{}.{name} = {text:?}", entry.spec.name);
                // What a backend says of such a prompt is its own.
                let is_backends = reply.status == 502 && entry.spec.egress;
                if reply.status >= 500 && !is_backends {
                    wrong.push(format!("{what}: {} {}", reply.status, reply.text));
                }
                if reply.status == 200
                    && entry.spec.scope >= Scope::Write
                    && !MAY.iter().any(|may| what.starts_with(may))
                    && !reply.text.contains("NUL")
                {
                    wrong.push(format!("{what} was taken: {}", reply.text));
                }
                answers.push((what, reply.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    answers
}

#[tokio::test]
async fn a_nul_in_any_text_of_any_tool_is_the_callers_to_mend_and_alike_on_both_engines() {
    let fake = fake::Fake::start().await;
    let mut first: Option<Vec<(String, u16)>> = None;
    for (server, _database) in on_both(|| Setup::new(&local(&fake, "ok"))).await {
        let all = answers(&server).await;
        assert!(all.len() > 400, "{}", all.len());
        if let Some(first) = &first {
            let differ: Vec<_> =
                first.iter().zip(&all).filter(|(one, other)| one != other).collect();
            assert!(differ.is_empty() && first.len() == all.len(), "{differ:?}");
        }
        first = Some(all);
    }
}

/// Ids and cursors are looked for as they come: these are none, and say so.
#[tokio::test]
async fn ids_and_cursors_with_a_nul_are_none() {
    for (server, _database) in on_both(Setup::default).await {
        for (path, arguments) in [
            ("/comms/ack", json!({ "message_id": "\0" })),
            ("/comms/reply", json!({ "message_id": "\0", "body": { "text": "x" } })),
            ("/comms/poll", json!({ "locus": "a", "thread": "\0" })),
            ("/token/list", json!({ "after": "\0" })),
            ("/token/revoke", json!({ "name": "\0" })),
            ("/board/list", json!({ "locus": "a", "after": "\0" })),
        ] {
            let reply = server.post(path, arguments).await;
            assert!(matches!(reply.status, 400 | 404), "{path}: {} {}", reply.status, reply.text);
        }
    }
}
