//! The server: one thread with its own runtime, so that a test's clock or a blocked test does not
//! change how the fake behaves.

use std::{io, pin::pin, sync::Arc, time::Instant};

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Notify, oneshot},
    task::JoinSet,
    time::sleep,
};

use crate::{
    Step,
    alarm::Alarm,
    answer,
    behaviour::{self, Ask, Plan},
    body::Body,
    raw,
    state::{InFlight, Logged, State},
};

/// Serves until `stop` fires or its sender is gone.
pub(crate) async fn serve(listener: TcpListener, state: Arc<State>, stop: oneshot::Receiver<()>) {
    let mut stop = pin!(stop);
    // Without its thread there is no fake: whoever waits for it sees its port close.
    let Ok(alarm) = Alarm::new().map(Arc::new) else { return };
    let mut connections = JoinSet::new();
    let mut number = 0;
    loop {
        tokio::select! {
            _ = &mut stop => return,
            accepted = listener.accept() => {
                // A client that is gone already is no reason to stop.
                let Ok((stream, _)) = accepted else { continue };
                let (state, alarm) = (Arc::clone(&state), Arc::clone(&alarm));
                connections.spawn(connection(stream, state, alarm, number));
                number += 1;
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, state: Arc<State>, alarm: Arc<Alarm>, number: u64) {
    let _ = stream.set_nodelay(true);
    let close = Arc::new(Notify::new());
    let service = service_fn(|request| handle(request, &state, &alarm, &close, number));
    let mut serving = pin!(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = serving.as_mut() => return,
        () = close.notified() => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}

async fn handle(
    request: Request<Incoming>,
    state: &Arc<State>,
    alarm: &Alarm,
    close: &Arc<Notify>,
    connection: u64,
) -> io::Result<Response<Body>> {
    if request.method() == Method::GET {
        let reply = if request.uri().path() == "/stats" {
            let taken = state.take_stats();
            json!({"peak": taken.peak, "count": taken.count, "open": taken.open, "over": taken.over})
        } else {
            state.models()
        };
        return respond(Plan::json(StatusCode::OK, reply.to_string().into()), None, close);
    }
    let mut in_flight = InFlight::new(state);
    let (head, body) = request.into_parts();
    let bytes = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    in_flight.of_model(model);
    if state.records() {
        state.remember(Logged {
            at: std::time::Instant::now(),
            line: format!("{} {}", head.method, head.uri.path()),
            headers: head.headers.clone(),
            body: body.clone(),
            connection,
        });
    }
    let latency = state.latency();
    if !latency.is_zero() {
        alarm.until(Instant::now() + latency).await;
    }
    if in_flight.over {
        let refusal = Plan::json(
            StatusCode::TOO_MANY_REQUESTS,
            answer::error("more requests at once than the cap allows"),
        );
        return respond(refusal, Some(in_flight), close);
    }
    let plan = match state.step(model) {
        Step::Like(name) => {
            let prompt = prompt(&body);
            let ask = Ask {
                model,
                stream: body.get("stream").and_then(Value::as_bool).unwrap_or(false),
                prompt: &prompt,
                authorization: head
                    .headers
                    .get(header::AUTHORIZATION)
                    .and_then(|value| value.to_str().ok())
                    .unwrap_or_default(),
                turn: if name.starts_with("flaky-") { state.flaky(model) } else { 0 },
            };
            behaviour::plan(&name, &ask)
        }
        Step::Reply { status, content_type, chunks, gap, cut } => {
            raw::plan(status, &content_type, chunks, gap, cut)
        }
    };
    if !plan.delay.is_zero() {
        sleep(plan.delay).await;
    }
    respond(plan, Some(in_flight), close)
}

/// The text of the last message; the text parts joined where the content is a list.
fn prompt(body: &Value) -> String {
    let last = body.get("messages").and_then(Value::as_array).and_then(|all| all.last());
    match last.and_then(|message| message.get("content")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()
        }
        _ => String::new(),
    }
}

fn respond(
    plan: Plan,
    in_flight: Option<InFlight>,
    close: &Arc<Notify>,
) -> io::Result<Response<Body>> {
    if plan.close {
        return Err(io::Error::other("the fake closes without a byte"));
    }
    let mut response = Response::builder().status(plan.status);
    for (name, value) in plan.headers {
        response = response.header(name, value);
    }
    response.body(Body::new(plan.pieces, in_flight, close)).map_err(io::Error::other)
}
