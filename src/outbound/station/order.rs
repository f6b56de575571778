//! The order for a seat, as stations take it.

use serde_json::{Value, json};

/// What seat is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Order<'a> {
    /// The number of the handoff: 7 for `h7`.
    pub id: i64,
    /// The kind of seat: `claude` or `keeper`.
    pub seat: &'a str,
    /// The machine, as `user@host[:port]`; empty for the station's own.
    pub ssh: &'a str,
    /// The directory to work in.
    pub dir: &'a str,
    /// The login to work under.
    pub user: &'a str,
    /// What the seat is to do.
    pub brief: &'a str,
    /// The locus that it works for.
    pub locus: &'a str,
    /// The session that it goes on with; `None` for a fresh seat.
    pub resume: Option<Resume<'a>>,
    /// The name that it is to have; empty leaves it to the station.
    pub name: &'a str,
}

/// A session that a seat goes on with.
#[derive(Debug, Clone, Copy)]
pub struct Resume<'a> {
    /// Its id.
    pub session: &'a str,
    /// Whether the seat goes on with a copy of it.
    pub fork: bool,
}

impl Order<'_> {
    /// The document that is sent. What is not asked for is not in it.
    pub(super) fn body(&self) -> Value {
        let Self { id, seat, ssh, dir, user, brief, locus, resume, name } = *self;
        let mut body = json!({
            "id": id, "seat": seat, "ssh": ssh, "dir": dir, "user": user, "brief": brief,
            "locus": locus, "handoff": format!("h{id}"),
        });
        if let Some(Resume { session, fork }) = resume {
            body["resume"] = session.into();
            body["fork"] = fork.into();
        }
        if !name.is_empty() {
            body["name"] = name.into();
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_says_what_is_asked_for_and_no_more() {
        let order = Order {
            id: 7,
            seat: "claude",
            ssh: "ann@alpha:22",
            dir: "/srv/app",
            user: "ann",
            brief: "go on",
            locus: "alpha",
            ..Order::default()
        };
        let fresh = json!({
            "id": 7, "seat": "claude", "ssh": "ann@alpha:22", "dir": "/srv/app", "user": "ann",
            "brief": "go on", "locus": "alpha", "handoff": "h7",
        });
        assert_eq!(order.body(), fresh);
        let resume = Some(Resume { session: "5e55", fork: false });
        let mut resumed = fresh;
        resumed["resume"] = "5e55".into();
        resumed["fork"] = false.into();
        resumed["name"] = "my-seat".into();
        assert_eq!(Order { resume, name: "my-seat", ..order }.body(), resumed);
    }
}
