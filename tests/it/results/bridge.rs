//! The stdio bridge hands on what the server clipped.

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::Command,
    time::timeout,
};

use super::*;
use crate::harness::PATIENCE;

#[tokio::test]
async fn the_bridge_clips_nothing_a_second_time() {
    let doc = document(2_000);
    let server = with_ledger(Setup::default(), &doc).await;
    let home = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_adjutant"))
        .arg("mcp")
        .env_clear()
        .env("HOME", home.path())
        .env("ADJUTANT_URL", &server.url)
        .env("ADJUTANT_TOKEN", &server.token)
        // Of the bridge's own environment nothing counts for a server that is there.
        .env("AC_MCP_RESULT_MAX_BYTES", "2000")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = async |id: u64, method: &str, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        loop {
            let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
            let mut line: Value = serde_json::from_str(&line).unwrap();
            if line["id"] == id {
                return line["result"].take();
            }
        }
    };
    let info = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    ask(0, "initialize", hello).await;
    let direct = call(&server, "ledger_get", ledger()).await;
    let params = json!({ "name": "ledger_get", "arguments": ledger() });
    let mut bridged = ask(1, "tools/call", params).await;
    within(&bridged, Budget::default());
    let handle = handle(&bridged);
    assert_eq!(all_of(&server, &handle, json!({})).await, doc);
    // But for the handle and its time it is the same, byte for byte.
    let mut direct = direct;
    for result in [&mut direct, &mut bridged] {
        let clip = result["structuredContent"]["_clip"].as_object_mut().unwrap();
        clip.shift_remove("handle");
        clip.shift_remove("until");
        result["content"].as_array_mut().unwrap().pop();
    }
    assert_eq!(bridged, direct);
    let params = json!({ "name": "result_read", "arguments": { "handle": handle, "lines": "7" } });
    let read = ask(2, "tools/call", params).await;
    assert_eq!(read["structuredContent"]["text"], doc.split('\n').nth(6).unwrap());
}
