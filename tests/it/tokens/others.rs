//! Two callers on one server: nothing of the one is the other's.

use fake::Fake;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    BOTH, OLD, ask,
    ends::{in_session, listen, session},
    rpc,
};
use crate::harness::{Server, backend, local};

/// The first answer in a stream of events.
async fn answer(response: reqwest::Response) -> Value {
    let text = response.text().await.unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut messages = data.filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok());
    messages.find(|message| message.get("id").is_some()).unwrap_or_else(|| panic!("{text}"))
}

/// S27: two clients with the same ids of requests at once, in sessions and without.
#[tokio::test(flavor = "multi_thread")]
async fn s27_two_clients_get_their_own_answers() {
    let fake = Fake::start().await;
    let server = Server::start(&(local(&fake, "slow-20") + &backend("b", &fake, "slow-5"))).await;
    let mut tokens = Vec::new();
    for name in ["one", "two"] {
        tokens.push(server.mint(json!({ "name": name, "scope": "delegate" })).await);
    }
    let ids = [session(&server, &tokens[0]).await, session(&server, &tokens[1]).await];
    let calls = (0..40_u64).map(|nth| {
        let (server, who) = (&server, usize::try_from(nth % 2).unwrap());
        let (token, id) = (&tokens[who], &ids[who]);
        async move {
            let prompt = format!("{who}-{nth}");
            let arguments =
                json!({ "prompt": prompt, "target": if nth % 3 == 0 { "b" } else { "local" } });
            let text = if nth % 4 < 2 {
                // Both clients use each id.
                let call = json!({ "name": "delegate", "arguments": arguments });
                let message = rpc(nth / 2, "tools/call", call);
                let answer = answer(in_session(server, token, id, message).await).await;
                assert_eq!(answer["id"], nth / 2);
                answer["result"]["structuredContent"]["text"].clone()
            } else {
                ask(server, token, "/delegate", arguments).await.1["result"]["text"].clone()
            };
            assert_eq!(text, format!("echo:{prompt}"));
        }
    });
    futures::future::join_all(calls).await;
}

/// S27, S29: the id of a session is no authority: not for a weaker token, not for a stronger one,
/// not to go on from an event.
#[tokio::test]
async fn s29_a_session_is_its_own_tokens_alone() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let strong = server.mint(json!({ "name": "strong", "scope": "destroy" })).await;
    let weak = server.mint(json!({ "name": "weak", "scope": "read" })).await;
    let same = server.mint(json!({ "name": "same", "scope": "destroy" })).await;
    let narrow = server.mint(json!({ "name": "narrow", "scope": "destroy", "loci": ["a"] })).await;
    let id = session(&server, &strong).await;
    let call = json!({ "name": "delegate_local", "arguments": { "prompt": "a secret" } });
    let told = in_session(&server, &strong, &id, rpc(1, "tools/call", call.clone())).await;
    let told = told.text().await.unwrap();
    assert!(told.contains("echo:a secret"));
    let last = told.lines().find_map(|line| line.strip_prefix("id:")).unwrap().trim().to_owned();
    let operator = server.token.clone();
    for other in [&weak, &same, &narrow, &operator] {
        for last in [None, Some(last.as_str()), Some("0"), Some("0/0")] {
            let refused = listen(&server, other, &id, last).await;
            assert_eq!(refused.status(), 404);
            assert!(!refused.text().await.unwrap().contains("secret"));
        }
        let refused = in_session(&server, other, &id, rpc(2, "tools/call", call.clone())).await;
        assert_eq!(refused.status(), 404);
        let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
        assert_eq!(in_session(&server, other, &id, notice).await.status(), 404);
        let request = server.request(Method::DELETE, "/mcp").token(Some(other));
        let request = request.header("accept", BOTH).header("mcp-protocol-version", OLD);
        assert_eq!(request.header("mcp-session-id", &id).send().await.status, 404);
    }
    let again = answer(in_session(&server, &strong, &id, rpc(3, "tools/call", call)).await).await;
    assert_eq!(again["result"]["structuredContent"]["text"], "echo:a secret");
}
