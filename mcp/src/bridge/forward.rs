//! One request on its way: sent, its answer passed on, and sent anew where it certainly was not
//! done.

use std::{pin::pin, sync::Arc, time::Duration};

use futures::StreamExt as _;
use reqwest::{Method, Response, header};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{
    link::{Link, Way, was_not_taken},
    message::{self, Kind},
    net, relay,
};
use crate::{Code, Fault};

/// How often a broken stream is taken up again, and how long the pause before it is.
const RESUMES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(500);

/// How long a subscription rests before it is begun again.
const REST: Duration = Duration::from_secs(1);

pub(super) struct Forward {
    pub(super) link: Arc<Link>,
    pub(super) out: mpsc::Sender<Value>,
}

/// How one attempt ended.
enum Outcome {
    /// The client has its answer.
    Answered,
    /// The server did not take it: another way may.
    NotTaken(Fault),
    /// It may have been done.
    Unknown(Fault),
}

impl Forward {
    /// Sends a request and passes on its answer, whatever it takes.
    pub(super) async fn request(&self, message: &Value) {
        let Kind::Request { id, method } = message::kind(message) else { return };
        if method == "subscriptions/listen" {
            return self.subscription(message, id).await;
        }
        if method.starts_with("resources/") && message::version(message).is_none() {
            self.link.note(method, message).await;
        }
        let mut fault = None;
        // A server that is found is there: more attempts would only hide what is wrong.
        for _ in 0..3 {
            let way = match self.link.way().await {
                Ok(way) => way,
                Err(error) => {
                    fault = Some(error);
                    break;
                }
            };
            match self.attempt(&way, message, id).await {
                Outcome::Answered => return,
                Outcome::NotTaken(error) => {
                    self.link.lost(&way).await;
                    fault = Some(error);
                }
                Outcome::Unknown(error) => {
                    // Whether the server is gone as well, the next attempt finds out.
                    fault = Some(error);
                    if !message::is_repeatable(method) {
                        break;
                    }
                }
            }
        }
        let fault = fault.unwrap_or_else(|| Fault::internal("no attempt"));
        self.say(message::failed(id, &fault)).await;
    }

    async fn attempt(&self, way: &Way, message: &Value, id: &Value) -> Outcome {
        let response = match way.send(way.post(message)).await {
            Ok(response) => response,
            Err(fault) if fault.kind == Some(net::UNREACHABLE) => return Outcome::NotTaken(fault),
            Err(fault) => return Outcome::Unknown(fault),
        };
        if was_not_taken(way, &response) {
            let words = "the server is stopping, or no longer knows the session";
            return Outcome::NotTaken(Fault::new(Code::Unavailable, words));
        }
        if relay::is_events(&response) {
            return self.stream(way, response, id).await;
        }
        match relay::whole(way, response).await {
            Ok(Some(mut answer)) => {
                if answer.get("id").is_none_or(Value::is_null) {
                    // The server could not tell which request it refused.
                    answer["id"] = id.clone();
                }
                self.say(answer).await;
                Outcome::Answered
            }
            Ok(None) => Outcome::Unknown(ended()),
            Err(fault) if fault.kind == Some(net::BROKEN) => Outcome::Unknown(fault),
            Err(fault) => {
                self.say(message::failed(id, &fault)).await;
                Outcome::Answered
            }
        }
    }

    /// Passes events on until the answer, taking the stream up again when it breaks.
    async fn stream(&self, way: &Way, response: Response, id: &Value) -> Outcome {
        let (mut response, mut last) = (response, None::<String>);
        for resume in 0..=RESUMES {
            let mut events = pin!(relay::events(response));
            let broke = loop {
                match events.next().await {
                    Some(Ok(event)) => {
                        last = event.id.or(last);
                        let Some(message) = event.message else { continue };
                        let is_answer = message::kind(&message) == Kind::Answer;
                        let is_ours = message.get("id") == Some(id);
                        self.say(message).await;
                        if is_answer && is_ours {
                            return Outcome::Answered;
                        }
                    }
                    Some(Err(_)) => break true,
                    None => break false,
                }
            };
            let resumable = way.has_session() && last.is_some() && resume < RESUMES;
            let (Some(last), true) = (&last, resumable) else {
                return Outcome::Unknown(ended());
            };
            tracing::debug!(broke, "taking a stream up again");
            tokio::time::sleep(PAUSE).await;
            let request = way
                .request(Method::GET)
                .header(header::ACCEPT, "text/event-stream")
                .header("Last-Event-ID", last);
            response = match way.send(request).await {
                Ok(response) if relay::is_events(&response) => response,
                _ => return Outcome::Unknown(ended()),
            };
        }
        Outcome::Unknown(ended())
    }

    /// Keeps a subscription of 2026-07-28 open until the client cancels it. It waits for a server
    /// that comes back; it starts none.
    async fn subscription(&self, message: &Value, id: &Value) {
        let mut begun = false;
        loop {
            let way = if begun { self.link.present().await } else { self.link.way().await.ok() };
            let response = match &way {
                Some(way) => way.send(way.post(message)).await,
                None => Err(Fault::new(Code::Unavailable, "no server")),
            };
            match response {
                Ok(response) if relay::is_events(&response) => {
                    let mut events = pin!(relay::events(response));
                    while let Some(Ok(event)) = events.next().await {
                        let Some(message) = event.message else { continue };
                        let is_ack =
                            message["method"] == "notifications/subscriptions/acknowledged";
                        if message::kind(&message) == Kind::Answer {
                            // The server ends it because it stops; the client's goes on.
                            break;
                        }
                        if !is_ack {
                            self.say(message).await;
                        } else if !begun {
                            begun = true;
                            self.say(message).await;
                        } else {
                            // What changed while there was no server, nobody knows.
                            for notice in changed(&message["params"]["notifications"], id) {
                                self.say(notice).await;
                            }
                        }
                    }
                }
                Ok(response) if !begun => {
                    let answer = match &way {
                        Some(way) => relay::whole(way, response).await,
                        None => Ok(None),
                    };
                    let answer = match answer {
                        Ok(answer) => answer.unwrap_or_else(|| message::failed(id, &ended())),
                        Err(fault) => message::failed(id, &fault),
                    };
                    return self.say(answer).await;
                }
                Err(fault) if !begun => return self.say(message::failed(id, &fault)).await,
                Ok(_) | Err(_) => {}
            }
            tokio::time::sleep(REST).await;
        }
    }

    async fn say(&self, message: Value) {
        // Fails only when the client is gone, which ends the bridge.
        let _gone = self.out.send(message).await;
    }
}

fn ended() -> Fault {
    let words = "the server went away during the call: it may have been done";
    Fault::new(Code::Unavailable, words).kind(net::BROKEN)
}

/// That anything which a subscription was accepted for may have changed.
fn changed(accepted: &Value, id: &Value) -> Vec<Value> {
    let of = |method: &str| {
        json!({
            "jsonrpc": "2.0",
            "method": method,
            "params": { "_meta": { "io.modelcontextprotocol/subscriptionId": id } },
        })
    };
    let lists = [
        ("toolsListChanged", "notifications/tools/list_changed"),
        ("promptsListChanged", "notifications/prompts/list_changed"),
        ("resourcesListChanged", "notifications/resources/list_changed"),
    ];
    let lists = lists.into_iter().filter(|(name, _)| accepted[name] == true);
    let mut notices: Vec<Value> = lists.map(|(_, method)| of(method)).collect();
    let uris = accepted["resourceSubscriptions"].as_array().into_iter().flatten();
    notices.extend(uris.map(|uri| {
        let mut notice = of("notifications/resources/updated");
        notice["params"]["uri"] = uri.clone();
        notice
    }));
    notices
}
