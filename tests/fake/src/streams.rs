//! The behaviours that differ in how the answer is streamed.

use std::time::Duration;

use bytes::Bytes;
use http::header;
use serde_json::{Map, Value, json};

use crate::{
    answer::{self, Events},
    behaviour::{Ask, Plan, stream, stream_of, text, thoughts, whole},
    body::Piece,
};

/// Between two reasoning deltas.
const REASONING_GAP: Duration = Duration::from_millis(5);

/// Bytes of tool-call arguments in one delta.
const ARGUMENTS: usize = 1024;

pub(crate) fn plan(kind: &str, n: u64, echo: &str, ask: &Ask<'_>) -> Plan {
    let events = || Events::new(ask.model).role();
    match kind {
        "thinkstream" if ask.stream => {
            let mut events = events();
            for _ in 0..20 {
                events = events.delta(&json!({"reasoning_content": "hidden thoughts "}));
            }
            stream(events.end("length"))
        }
        "think" | "thinkstream" => whole(ask, Some(""), "length", thoughts()),
        "reason" => reason(ask, n, echo),
        "tool" => whole(ask, None, "tool_calls", one_tool_call("{}")),
        "toolhuge" => tool_huge(ask, n),
        "cut" => cut(ask, &echo.repeat(20), usize::MAX),
        "cutearly" => cut(ask, echo, 0),
        "drip" => drip(ask, echo, Duration::from_millis(n)),
        "split" => split(ask),
        "crlf" if ask.stream => stream(Events::new(ask.model).crlf().role().text(echo).end("stop")),
        "nodone" if ask.stream => stream(events().text(echo).finish("stop").usage()),
        "nousage" if ask.stream => stream(events().text(echo).finish("stop").done()),
        "nousage" => {
            let body = answer::completion(ask.model, Some(echo), "stop", false, Map::new());
            Plan::json(http::StatusCode::OK, body)
        }
        "errstream" if ask.stream => stream(events().text(echo).error("backend fell over")),
        "errfirst" if ask.stream => stream(Events::new(ask.model).error("backend fell over")),
        "reset" => {
            let mut plan = text(ask, echo);
            if ask.stream {
                plan.pieces.push_front(Piece::LastOnConnection);
            } else {
                plan.headers.push((header::CONNECTION, http::HeaderValue::from_static("close")));
            }
            plan
        }
        "echokeyok" => {
            let said = format!("your key is {}", ask.authorization);
            if ask.stream {
                stream(events().delta(&json!({"reasoning_content": said})).text(&said).end("stop"))
            } else {
                let mut more = Map::new();
                more.insert("reasoning_content".into(), said.as_str().into());
                whole(ask, Some(&said), "stop", more)
            }
        }
        _ => text(ask, echo),
    }
}

fn reason(ask: &Ask<'_>, n: u64, echo: &str) -> Plan {
    if !ask.stream {
        let thoughts = (0..n).fold(String::new(), |all, i| all + &format!("thought {i}. "));
        let mut more = Map::new();
        more.insert("reasoning_content".into(), thoughts.into());
        return whole(ask, Some(echo), "stop", more);
    }
    let mut events = Events::new(ask.model).role();
    for i in 0..n {
        events = events.delta(&json!({"reasoning_content": format!("thought {i}. ")}));
    }
    let each = events.text(echo).end("stop").each();
    stream_of(each.into_iter().flat_map(|event| [Piece::Data(event), Piece::Wait(REASONING_GAP)]))
}

fn one_tool_call(arguments: &str) -> Map<String, Value> {
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}});
    let mut more = Map::new();
    more.insert("tool_calls".into(), json!([call]));
    more
}

fn tool_huge(ask: &Ask<'_>, n: u64) -> Plan {
    let arguments = "a".repeat(usize::try_from(n).unwrap_or(0));
    if !ask.stream {
        return whole(ask, None, "tool_calls", one_tool_call(&arguments));
    }
    let first = json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}});
    let mut events = Events::new(ask.model).role().delta(&json!({"tool_calls": [first]}));
    for at in (0..arguments.len()).step_by(ARGUMENTS) {
        let piece = &arguments[at..arguments.len().min(at + ARGUMENTS)];
        let call = json!({"index": 0, "function": {"arguments": piece}});
        events = events.delta(&json!({"tool_calls": [call]}));
    }
    stream(events.end("tool_calls"))
}

/// Half of the answer, or at most so many bytes of it, under a head that promises all of it.
fn cut(ask: &Ask<'_>, said: &str, most: usize) -> Plan {
    let mut plan = text(ask, said);
    let whole: Vec<u8> = data(&plan).concat();
    plan.headers.push((header::CONTENT_LENGTH, whole.len().into()));
    let sent = Bytes::copy_from_slice(&whole[..most.min(whole.len() / 2)]);
    plan.pieces = [Piece::Data(sent), Piece::Wait(Duration::from_millis(1)), Piece::Break].into();
    plan
}

fn drip(ask: &Ask<'_>, echo: &str, gap: Duration) -> Plan {
    let mut plan = text(ask, echo);
    if ask.stream {
        let bytes = data(&plan).concat();
        plan.pieces = (0..bytes.len())
            .flat_map(|at| [Piece::Data(Bytes::copy_from_slice(&bytes[at..=at])), Piece::Wait(gap)])
            .collect();
    }
    plan
}

fn split(ask: &Ask<'_>) -> Plan {
    let mut plan = text(ask, &"naïve 日本語 🙂🙃 עברית ".repeat(20));
    if ask.stream {
        let bytes = data(&plan).concat();
        plan.pieces =
            bytes.chunks(7).map(|chunk| Piece::Data(Bytes::copy_from_slice(chunk))).collect();
    }
    plan
}

fn data(plan: &Plan) -> Vec<Bytes> {
    plan.pieces
        .iter()
        .filter_map(|piece| if let Piece::Data(bytes) = piece { Some(bytes.clone()) } else { None })
        .collect()
}
