//! The frames of a stream (<https://html.spec.whatwg.org/multipage/server-sent-events.html>).

use axum::body::Bytes;
use serde_json::json;

use crate::store::feed::{Event, Form, Kind, Lost, Wanted};

/// How long a client should wait before it comes back, in milliseconds.
const RETRY: u32 = 2_000;

/// The first frame: what the stream is, and where it begins.
pub(super) fn first(cursor: i64, wanted: &Wanted) -> Bytes {
    let about = json!({ "locus": wanted.loci().collect::<Vec<_>>() });
    format!("retry: {RETRY}\nid: {cursor}\n: connected {about}\n\n").into()
}

/// An event, made once for all its readers.
pub(super) fn change(event: &Event, form: Form) -> Bytes {
    event.bytes(form, |event| {
        let seq = event.seq;
        let data = match form {
            Form::Own => json!(event),
            Form::Earlier => earlier(event),
        };
        format!("id: {seq}\nevent: change\ndata: {data}\n\n").into()
    })
}

/// That a cursor is lost, and where the stream goes on.
pub(super) fn lost(after: i64, lost: Lost) -> Bytes {
    let (name, data) = match lost {
        Lost::Pruned { oldest, .. } => {
            ("cursor_expired", json!({ "after": after, "oldest": oldest }))
        }
        Lost::Ahead(newest) => ("cursor_ahead", json!({ "after": after, "newest": newest })),
    };
    let next = lost.next();
    format!("id: {next}\nevent: {name}\ndata: {data}\n\n").into()
}

/// That the stream lives. With a cursor: nothing that this reader wants lies before it, so that it
/// need not come back from farther behind. No event is seen for it.
pub(super) fn keep_alive(cursor: Option<i64>) -> Bytes {
    match cursor {
        None => Bytes::from_static(b": keepalive\n\n"),
        Some(cursor) => format!(": keepalive\nid: {cursor}\n\n").into(),
    }
}

/// An event as the earlier server told it.
fn earlier(event: &Event) -> serde_json::Value {
    let Event { ts, kind, locus, id, op, .. } = event;
    let known = Kind::named(kind);
    let table = known.map_or(kind.as_str(), |kind| kind.table);
    // What is in the locus bears its own name there.
    let id = id.strip_prefix(locus.as_str()).and_then(|rest| rest.strip_prefix('/')).unwrap_or(id);
    let id = match known {
        Some(kind) if kind.numbered => id.trim_start_matches(|letter: char| letter.is_alphabetic()),
        _ => id,
    };
    json!({ "table": table, "op": op, "locus": locus, "id": id, "ts": ts.div_euclid(1_000_000) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(frame: &Bytes) -> &str {
        str::from_utf8(frame).unwrap()
    }

    #[test]
    fn a_stream_that_is_quiet_moves_its_cursor_without_an_event() {
        assert_eq!(text(&keep_alive(None)), ": keepalive\n\n");
        // A block without data is no event; its id counts all the same.
        assert_eq!(text(&keep_alive(Some(7))), ": keepalive\nid: 7\n\n");
    }

    #[test]
    fn the_first_frame_says_where_it_begins_and_a_lost_cursor_where_it_goes_on() {
        let wanted = Wanted::parse(["alpha,beta"], []).unwrap();
        let begun = "retry: 2000\nid: 3\n: connected {\"locus\":[\"alpha\",\"beta\"]}\n\n";
        assert_eq!(text(&first(3, &wanted)), begun);
        let expired = "id: 9\nevent: cursor_expired\ndata: {\"after\":3,\"oldest\":10}\n\n";
        assert_eq!(text(&lost(3, Lost::Pruned { next: 9, oldest: 10 })), expired);
    }
}
