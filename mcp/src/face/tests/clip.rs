//! Large replies on the wire.

use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use serde_json::{Value, json};

use super::harness::Server;
use crate::{
    clip::{Keep, Kept, Policy, Whole},
    face::Clipper,
};

type Seen = Arc<Mutex<Vec<Whole>>>;

/// A server that clips, and what it was given to keep.
async fn server() -> (Server, Seen) {
    let seen = Seen::default();
    let store = seen.clone();
    let keep = Keep::new(move |whole| {
        store.lock().unwrap().push(whole);
        async { Ok(Kept { handle: "h".into(), until: "soon".into() }) }.boxed()
    });
    let clipper = Clipper { policy: Policy::default(), keep };
    (Server::with(|_| (), |present| present.clipper = Some(clipper)).await, seen)
}

async fn call(server: &Server, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    server.plain("operator", "tools/call", params).await["result"].clone()
}

#[tokio::test]
async fn images_and_links_pass_whether_or_not_the_rest_is_clipped() {
    let (server, _) = server().await;
    for (bytes, texts) in [(60, 2), (60_000, 3)] {
        let result = call(&server, "sample_picture", json!({ "bytes": bytes })).await;
        let blocks = result["content"].as_array().unwrap();
        let of =
            |kind: &str| blocks.iter().filter(|block| block["type"] == kind).collect::<Vec<_>>();
        assert_eq!(of("image")[0]["data"].as_str().unwrap().len(), 60_000);
        assert_eq!(of("image")[0]["mimeType"], "image/png");
        assert_eq!(
            (&of("resource_link")[0]["uri"], &of("resource_link")[0]["name"]),
            (&json!("cat://1"), &json!("the cat"))
        );
        assert_eq!(of("text").len(), texts);
        assert_eq!(of("text")[1]["text"], bytes.to_string());
    }
}

/// A catalogue without the tool that reads has nobody to keep for.
#[tokio::test]
async fn nothing_is_kept_that_nobody_could_read() {
    let (server, seen) = server().await;
    let result = call(&server, "sample_echo", json!({ "text": "x", "times": 50_000 })).await;
    assert!(result.to_string().len() <= 16 * 1_024);
    let said = &result["structuredContent"]["_clip"];
    assert!(said["not_kept"].as_str().unwrap().contains("`result_read`"), "{said}");
    assert_eq!(result["structuredContent"]["bytes"], 50_000);
    assert!(seen.lock().unwrap().is_empty());
}
