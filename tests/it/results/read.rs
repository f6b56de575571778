//! Reading a kept reply, and who may.

use std::sync::Arc;

use adjutant::tools::catalogue;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp::{Caller, Code, Scope};

use super::*;
use crate::harness::on_both;

#[tokio::test]
async fn a_kept_reply_is_read_in_every_way() {
    let doc = document(2_000);
    for (server, _database) in on_both(Setup::default).await {
        let put = json!({ "locus": "rs", "task": "long", "doc": doc });
        assert_eq!(server.post("/ledger/put", put).await.status, 200);
        let handle = handle(&call(&server, "ledger_get", ledger()).await);
        let rows: Vec<&str> = doc.split('\n').collect();
        let lines = piece(&server, &handle, json!({ "lines": "500-503" })).await;
        assert_eq!(lines["text"], rows[499..503].join("\n"));
        assert_eq!((&lines["of"], &lines["lines"]), (&json!("text"), &json!(2_001)));
        assert!(lines.get("next").is_none(), "{lines}");
        let last = piece(&server, &handle, json!({ "lines": "-2" })).await;
        assert_eq!(
            (last["text"].as_str(), &last["first_line"]),
            (Some(format!("{}\n", rows[1_999]).as_str()), &json!(2_000))
        );
        let part = piece(&server, &handle, json!({ "offset": 10, "limit": 9 })).await;
        assert_eq!(
            (&part["text"], &part["start"], &part["end"]),
            (&json!(&doc[10..19]), &json!(10), &json!(19))
        );
        assert_eq!(part["next"], json!({ "offset": 19 }));
        // An offset within a character is that of the character.
        let within = doc.find('ö').unwrap() + 1;
        let part = piece(&server, &handle, json!({ "offset": within, "limit": 1 })).await;
        assert_eq!((&part["text"], &part["start"]), (&json!("ö"), &json!(within - 1)));
        let found =
            piece(&server, &handle, json!({ "grep": "step 1[0-9]{3}:", "context": 1 })).await;
        assert_eq!((&found["matches"], &found["first_line"]), (&json!(1_000), &json!(1)));
        assert!(found["text"].as_str().unwrap().starts_with("999-- step 999:"), "{found}");
        assert!(found["next"]["lines"].as_str().unwrap().ends_with("-2001"));
        let among =
            piece(&server, &handle, json!({ "grep": "(?i)STEP 1999", "lines": "1990-" })).await;
        assert_eq!(
            (&among["matches"], &among["text"]),
            (&json!(1), &json!(format!("1999:{}\n", rows[1_998])))
        );
        let rev = piece(&server, &handle, json!({ "json_pointer": "/rev" })).await;
        assert_eq!((&rev["text"], &rev["of"]), (&json!("1"), &json!("part")));
        // It outlives its process.
        let server = server.restart().await;
        assert_eq!(all_of(&server, &handle, json!({})).await, doc);
    }
}

#[tokio::test]
async fn mistakes_are_told_with_their_remedy() {
    let server = with_ledger(Setup::default(), &document(2_000)).await;
    let handle = handle(&call(&server, "ledger_get", ledger()).await);
    for (arguments, status, words) in [
        (json!({ "handle": "0".repeat(32) }), 404, "no kept reply `0000"),
        (json!({ "handle": "" }), 404, "no kept reply"),
        (json!({}), 400, "handle"),
        (json!({ "handle": handle, "lines": "x" }), 400, "`12-40`"),
        (json!({ "handle": handle, "lines": "3000-" }), 400, "there are 2001 lines"),
        (json!({ "handle": handle, "lines": "1-2", "offset": 3 }), 400, "do not go with"),
        (json!({ "handle": handle, "grep": "x", "limit": 3 }), 400, "do not go with"),
        (json!({ "handle": handle, "grep": "(" }), 400, "no regular expression"),
        (json!({ "handle": handle, "grep": "x", "context": 21 }), 400, "0 to 20"),
        (json!({ "handle": handle, "context": 2 }), 400, "give `grep`"),
        (json!({ "handle": handle, "limit": 0 }), 400, "at least 1"),
        (json!({ "handle": handle, "offset": 10_000_000 }), 400, "bytes"),
        (json!({ "handle": handle, "json_pointer": "doc" }), 400, "begins with `/`"),
        (json!({ "handle": handle, "json_pointer": "/nowhere" }), 404, "`/doc`"),
    ] {
        let reply = server.post("/result/read", arguments.clone()).await;
        let (_, message) = reply.fault();
        assert!(reply.status == status && message.contains(words), "{arguments}: {message}");
    }
    // What clients send for an argument that is not given.
    let empty =
        json!({ "handle": handle, "lines": "", "grep": "", "json_pointer": null, "context": 0 });
    assert_eq!(server.post("/result/read", empty).await.status, 200);
}

/// Over HTTP a piece is as large as its caller wants.
#[tokio::test]
async fn a_program_reads_larger_pieces() {
    let doc = document(5_000);
    let server = with_ledger(Setup::default(), &doc).await;
    let handle = handle(&call(&server, "ledger_get", ledger()).await);
    let usual = server.get(&format!("/result/read?handle={handle}")).await.result();
    assert_eq!(usual["text"], doc[..usize::try_from(usual["end"].as_u64().unwrap()).unwrap()]);
    assert!((65_500..=65_536).contains(&usual["end"].as_u64().unwrap()));
    let whole = json!({ "handle": handle, "limit": 10_000_000 });
    assert_eq!(server.post("/result/read", whole).await.result()["text"], doc);
    let clipped = server
        .post("/result/read?clip=true", json!({ "handle": handle, "limit": 10_000_000 }))
        .await;
    assert!(clipped.text.len() <= 16_384 && clipped.json().get("_clip").is_none());
}

/// The name under which the earlier server's clients ask for a clipped reply works: whole, by bytes
/// and by lines, for its token alone, and never in the place of a file that was archived under it.
#[tokio::test]
async fn the_name_of_the_earlier_server_reads_a_kept_reply() {
    let server = with_ledger(Setup::default(), &document(2_000)).await;
    let mine = server.mint(json!({ "name": "mine", "scope": "write" })).await;
    let handle = handle(&call_as(&server, &mine, "ledger_get", ledger()).await);
    let source = format!("mcp-result:ledger_get:{handle}");
    let get = async |token: &str, source: &str, part: Value| {
        let mut body = json!({ "locus": "rs", "source": source });
        body.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        let request = server.request(reqwest::Method::POST, "/exchange/archive_get");
        request.token(Some(token)).json(body).send().await
    };
    let whole = get(&mine, &source, json!({})).await.result();
    let bytes = BASE64_STANDARD.decode(whole["data"].as_str().unwrap()).unwrap();
    assert_eq!((&whole["size"], &whole["backend"]), (&json!(bytes.len()), &json!("mcp")));
    assert_eq!(whole["sha256"], adjutant::store::archive::hash(&bytes));
    let reply: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(reply["doc"], document(2_000));
    let mut text = String::new();
    let mut offset = json!(0);
    while !offset.is_null() {
        let part = json!({ "offset": offset, "limit": 10_000 });
        let part = get(&mine, &source, part).await.result();
        text.push_str(part["text"].as_str().unwrap());
        offset = part["next_offset"].clone();
    }
    assert_eq!(text.as_bytes(), bytes);
    let line = get(&mine, &source, json!({ "lines": "2" })).await.result();
    assert_eq!(line["text"].as_str(), text.split_inclusive('\n').nth(1));
    for (token, source) in [(&server.token, &source), (&mine, &format!("{source}0"))] {
        let absent = get(token, source, json!({})).await;
        assert_eq!(absent.status, 404, "{}", absent.text);
        assert!(absent.text.contains("there is no kept reply"), "{}", absent.text);
    }
    let file = json!({ "locus": "rs", "source": source, "data": BASE64_STANDARD.encode("a file") });
    server.post("/exchange/archive", file).await.result();
    let file = get(&mine, &source, json!({})).await.result();
    assert_eq!(file["data"], BASE64_STANDARD.encode("a file"));
}

/// A handle is its token's alone: to any other it is what one is that never was.
#[tokio::test]
async fn another_token_finds_nothing() {
    let server = with_ledger(Setup::default(), &document(2_000)).await;
    let mine = server.mint(json!({ "name": "mine", "scope": "delegate" })).await;
    let other = server.mint(json!({ "name": "other", "scope": "destroy" })).await;
    let handle = handle(&call_as(&server, &mine, "ledger_get", ledger()).await);
    let read = async |token: &str, handle: &str| {
        let arguments = json!({ "handle": handle });
        call_as(&server, token, "result_read", arguments).await
    };
    assert_eq!(read(&mine, &handle).await["isError"], false);
    let never = "f".repeat(32);
    let wanted = texts(&read(&mine, &never).await)[0].replace(&never, &handle);
    for token in [&other, &server.token] {
        let refused = read(token, &handle).await;
        assert_eq!((&refused["isError"], texts(&refused)[0]), (&json!(true), wanted.as_str()));
        let called = json!({ "name": "result_read", "arguments": { "handle": handle } });
        let refused = call_as(&server, token, "ts_call", called).await;
        assert_eq!(texts(&refused)[0], wanted);
    }
    // A new token of an old name has other rights, and the same replies while they stand.
    let fault = server.post("/b/ask", json!({ "question": "what?", "handle": handle })).await;
    assert!(fault.status == 404 || fault.status == 503, "{}", fault.text);
}

/// Rights count when it is read: a tool that the profile has lost takes its replies with it.
#[tokio::test]
async fn a_tool_that_is_no_longer_allowed_takes_its_replies_along() {
    let server = with_ledger(Setup::default(), &document(2_000)).await;
    let handle = handle(&call(&server, "ledger_get", ledger()).await);
    let read = async |allowed: &[&str]| {
        let mut caller = Caller::new("operator", Scope::Operator);
        caller.profile.allowed = Some(allowed.iter().map(|name| (*name).to_owned()).collect());
        let entry = catalogue().get("result_read", &caller).unwrap();
        let cx = mcp::Call::new(server.app.clone(), Arc::new(caller), "t");
        entry.invoke(json!({ "handle": handle }), cx).await
    };
    assert!(read(&["result_read", "ledger_get"]).await.is_ok());
    assert_eq!(read(&["result_read", "ledger_list"]).await.unwrap_err().code, Code::NotFound);
}

/// A question about a kept reply is answered out of it, at the same offsets.
#[tokio::test]
async fn a_question_is_asked_about_a_kept_reply() {
    let fake = Fake::start().await;
    let doc = document(2_000);
    let server = with_ledger(Setup::new(&local(&fake, "m")), &doc).await;
    let handle = handle(&call(&server, "ledger_get", ledger()).await);
    let says = json!({ "answer": "larger", "excerpts": ["step 1234: größer"] }).to_string();
    fake.script(
        "m",
        [fake::Step::json(&json!({
            "model": "m",
            "choices": [{ "message": { "content": says }, "finish_reason": "stop" }],
        }))],
    );
    let question = json!({ "question": "what is step 1234?", "handle": handle, "text": "" });
    let reply = call(&server, "b_ask", question).await["structuredContent"].clone();
    assert_eq!(reply["source"]["label"], format!("result:{handle}"));
    let excerpt = &reply["excerpts"][0];
    assert_eq!(
        (&excerpt["status"], &excerpt["line"]),
        (&json!("verified"), &json!(1_234)),
        "{reply}"
    );
    let at = json!({ "offset": excerpt["start"], "limit": 18 });
    assert_eq!(piece(&server, &handle, at).await["text"], "step 1234: größe");
    let gone = server.post("/b/ask", json!({ "question": "?", "handle": "1".repeat(32) })).await;
    assert_eq!(gone.status, 404, "{}", gone.text);
}
