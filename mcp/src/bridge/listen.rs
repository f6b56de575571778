//! The stream of what a session's server says unasked, such as that the list of tools changed.

use std::{pin::pin, sync::Arc, time::Duration};

use futures::StreamExt as _;
use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{
    link::{Followed, Link, Way},
    net, relay,
};

/// How long to wait before a broken stream is opened again.
const PAUSE: Duration = Duration::from_secs(1);

/// Keeps the stream of whatever session there is open, and passes on what comes. It opens no
/// session and starts no server: an idle client must not keep one up.
pub(super) async fn run(link: Arc<Link>, out: mpsc::Sender<Value>) {
    let mut sessions = link.sessions();
    let mut known = 0;
    loop {
        let number = *sessions.borrow_and_update();
        if let Some(way) = link.present().await.filter(|way| way.number() == number && number > 0) {
            if known > 0 && known != number {
                // What changed while there was no server, nobody knows.
                for changed in changed(&link.followed().await) {
                    if out.send(changed).await.is_err() {
                        return;
                    }
                }
            }
            known = number;
            tokio::select! {
                ended = session(&way, &out) => if ended == Ended::Gone {
                    link.lost(&way).await;
                },
                _ = sessions.changed() => continue,
            }
        }
        if sessions.changed().await.is_err() {
            return;
        }
    }
}

/// That anything which the client follows may have changed.
fn changed(followed: &Followed) -> Vec<Value> {
    let of = |method: &str| json!({ "jsonrpc": "2.0", "method": method });
    let mut notices = vec![of("notifications/tools/list_changed")];
    if followed.list {
        notices.push(of("notifications/resources/list_changed"));
    }
    notices.extend(followed.uris.iter().map(|uri| {
        let mut notice = of("notifications/resources/updated");
        notice["params"] = json!({ "uri": uri });
        notice
    }));
    notices
}

#[derive(PartialEq, Eq)]
enum Ended {
    /// The session is no more.
    Gone,
    /// The server offers no such stream.
    NotOffered,
}

async fn session(way: &Way, out: &mpsc::Sender<Value>) -> Ended {
    let mut last: Option<String> = None;
    loop {
        let mut request = way.request(Method::GET).header(header::ACCEPT, "text/event-stream");
        if let Some(last) = &last {
            request = request.header("Last-Event-ID", last);
        }
        match way.send(request).await {
            Ok(response) if relay::is_events(&response) => {
                let mut events = pin!(relay::events(response));
                while let Some(Ok(event)) = events.next().await {
                    last = event.id.or(last);
                    if let Some(message) = event.message
                        && out.send(message).await.is_err()
                    {
                        return Ended::NotOffered;
                    }
                }
            }
            Ok(response) if response.status() == StatusCode::NOT_FOUND => return Ended::Gone,
            Ok(response) if response.status() == StatusCode::METHOD_NOT_ALLOWED => {
                return Ended::NotOffered;
            }
            // Whoever listens there next, this server is gone.
            Err(fault) if fault.kind == Some(net::UNREACHABLE) => return Ended::Gone,
            Ok(_) | Err(_) => {}
        }
        tokio::time::sleep(PAUSE).await;
    }
}
