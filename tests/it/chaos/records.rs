//! The records, read by another process than the server's.

use std::path::Path;

use adjutant::store::{Place, check};
use sqlx::{ConnectOptions as _, SqliteConnection, sqlite::SqliteConnectOptions};

use super::writers::{GHOST, LOCUS, Write, document};

/// What is never true between two transactions: each counts what is half done.
const HALVES: [(&str, &str); 6] = [
    (
        "ledgers and their texts",
        "SELECT count(*) FROM ledgers l WHERE NOT EXISTS (SELECT 1 FROM ledger_revs r \
         WHERE r.locus = l.locus AND r.task = l.task AND r.rev = l.rev AND r.doc = l.doc) \
         OR EXISTS (SELECT 1 FROM ledger_revs r WHERE r.locus = l.locus AND r.task = l.task AND r.rev > l.rev)",
    ),
    (
        "ledgers and what the feed says of them",
        "SELECT count(*) FROM ledgers l WHERE l.rev <> (SELECT count(*) FROM events e \
         WHERE e.kind = 'ledger' AND e.locus = l.locus AND e.id = l.task)",
    ),
    (
        "messages and what the boards say of them",
        "SELECT abs((SELECT count(*) FROM messages) - (SELECT count(*) FROM todos WHERE source = 'comms.send'))",
    ),
    (
        "messages and what the feed says of them",
        "SELECT abs((SELECT count(*) FROM messages) - (SELECT count(*) FROM events WHERE kind = 'message')) \
         + (SELECT count(*) FROM messages m LEFT JOIN (SELECT id, count(*) AS said FROM events \
         WHERE kind = 'message' GROUP BY id) e ON e.id = m.message_id WHERE e.said IS NOT 1)",
    ),
    (
        "items and what the feed says of them",
        "SELECT count(*) FROM (SELECT CASE type WHEN 'request' THEN 'r' ELSE 't' END || id AS name, \
         1 + attempts + (status = 'done') AS wanted FROM todos) t \
         LEFT JOIN (SELECT id, count(*) AS said FROM events WHERE kind = 'todo' GROUP BY id) e ON e.id = t.name \
         WHERE t.wanted IS NOT e.said",
    ),
    (
        "what was refused after a part of it was written",
        "SELECT (SELECT count(*) FROM messages WHERE to_locus LIKE $1) + (SELECT count(*) FROM todos WHERE locus LIKE $1) \
         + (SELECT count(*) FROM events WHERE locus LIKE $1)",
    ),
];

/// A reader of the records.
pub(super) struct Records(SqliteConnection);

impl Records {
    /// Opens them to be read, when all of them is sound.
    pub(super) async fn open(data: &Path) -> Self {
        let found = check::check(&Place::Dir(data.to_owned())).await.unwrap();
        assert_eq!(found.problems, [""; 0]);
        let file = SqliteConnectOptions::new().filename(data.join("adjutant.db")).read_only(true);
        Self(file.connect().await.unwrap())
    }

    async fn count(&mut self, text: &'static str, values: &[&str]) -> i64 {
        let mut query = sqlx::query_scalar::<_, i64>(text);
        for value in values {
            query = query.bind(*value);
        }
        query.fetch_one(&mut self.0).await.unwrap()
    }

    /// Whether an acknowledged write is there.
    async fn has(&mut self, write: &Write) -> bool {
        // The number of an item follows the letter of its type.
        let number = |id: &str| id[1..].to_owned();
        let count = match write {
            Write::Ledger(task, rev) => {
                let text = "SELECT count(*) FROM ledgers WHERE locus = $1 AND task = $2 AND (rev > $3 + 0 OR (rev = $3 + 0 AND doc = $4))";
                self.count(text, &[LOCUS, task, &rev.to_string(), &document(*rev)]).await
            }
            Write::Message(id, to, key) => {
                let text = "SELECT count(*) FROM messages WHERE message_id = $1 AND to_locus = $2 AND ref = $3";
                self.count(text, &[id, to, key]).await
            }
            Write::Item(id, key) => {
                let text =
                    "SELECT count(*) FROM todos WHERE id = $1 + 0 AND locus = $2 AND ref = $3";
                self.count(text, &[&number(id), LOCUS, key]).await
            }
            Write::Claim(id, token) => {
                let text = "SELECT count(*) FROM todos WHERE id = $1 + 0 AND fence = $2 + 0";
                self.count(text, &[&number(id), &token.to_string()]).await
            }
            Write::Done(id) => {
                let text = "SELECT count(*) FROM todos WHERE id = $1 + 0 AND status = 'done'";
                self.count(text, &[&number(id)]).await
            }
        };
        count == 1
    }

    /// That every one of these is there.
    pub(super) async fn have(&mut self, writes: &[Write]) {
        for write in writes {
            assert!(self.has(write).await, "acknowledged and lost: {write:?}");
        }
    }

    /// That nothing is half done.
    pub(super) async fn are_whole(&mut self) {
        let ghosts = format!("{GHOST}%");
        for (what, text) in HALVES {
            let values: &[&str] = if text.contains("$1") { &[&ghosts] } else { &[] };
            assert_eq!(self.count(text, values).await, 0, "half done: {what}");
        }
    }

    /// How many rows there are.
    pub(super) async fn rows(&mut self) -> i64 {
        let text = "SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM ledger_revs) \
                    + (SELECT count(*) FROM messages) + (SELECT count(*) FROM todos)";
        self.count(text, &[]).await
    }
}
