//! Those who write while the server is killed, and what they were told.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{task::JoinSet, time::sleep};

use super::Line;

/// A write that was acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Write {
    /// The ledger of this task has at least this revision.
    Ledger(String, i64),
    /// The message of this id is there, for this locus under this key.
    Message(String, String, String),
    /// The item of this id is there, under this key.
    Item(String, String),
    /// The item of this id was claimed with this token.
    Claim(String, i64),
    /// The item of this id is done.
    Done(String),
}

/// What all of them were told.
#[derive(Default)]
pub(super) struct Book {
    /// In order.
    pub(super) writes: Mutex<Vec<Write>>,
    /// How many were refused, after a part of them had been written.
    pub(super) refused: AtomicUsize,
    done: AtomicBool,
}

impl Book {
    fn note(&self, write: Write) {
        self.writes.lock().unwrap().push(write);
    }

    fn goes_on(&self) -> bool {
        !self.done.load(Ordering::Relaxed)
    }

    /// Lets them finish what they are at.
    pub(super) fn close(&self) {
        self.done.store(true, Ordering::Relaxed);
    }
}

/// The locus of all ledgers and items.
pub(super) const LOCUS: &str = "chaos";

/// Sets them to work: some of every kind, and three whose every write fails half way, so that a
/// batch that is committed has failed ones in it.
pub(super) fn start(line: &Line, book: &Arc<Book>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for nth in 0..3 {
        tasks.spawn(ledger(line.clone(), book.clone(), nth));
        tasks.spawn(messages(line.clone(), book.clone(), nth));
        tasks.spawn(items(line.clone(), book.clone(), nth));
        tasks.spawn(failing(line.clone(), book.clone(), nth));
    }
    tasks.spawn(batches(line.clone(), book.clone()));
    tasks
}

/// The pause after a call without an answer.
async fn breathe() {
    sleep(Duration::from_millis(10)).await;
}

/// The same until it is answered; `None` when it is time to stop.
async fn insist(line: &Line, book: &Book, path: &str, body: &Value) -> Option<Value> {
    while book.goes_on() {
        match line.call(path, body).await {
            Some(Ok(reply)) => return Some(reply),
            Some(Err(refusal)) => panic!("{path} {body}: {refusal:?}"),
            None => breathe().await,
        }
    }
    None
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// What a revision of a ledger says.
pub(super) fn document(rev: i64) -> String {
    format!("## Revision\n{rev}\n{}", "x".repeat(usize::try_from(rev % 7).unwrap() * 500))
}

/// Each revision on top of the one before.
async fn ledger(line: Line, book: Arc<Book>, nth: usize) {
    let (task, mut rev, mut is_unsure) = (format!("t{nth}"), 0, false);
    while book.goes_on() {
        let body =
            json!({ "locus": LOCUS, "task": task, "doc": document(rev + 1), "expected_rev": rev });
        match line.call("/ledger/put", &body).await {
            Some(Ok(reply)) => assert_eq!(reply["rev"], rev + 1, "{reply}"),
            // Nobody else writes it: the write whose answer was lost stands.
            Some(Err((409, stale))) if is_unsure => assert_eq!(stale["rev"], rev + 1, "{stale}"),
            Some(Err(refusal)) => panic!("rev {rev}: {refusal:?}"),
            None => {
                is_unsure = true;
                breathe().await;
                continue;
            }
        }
        (rev, is_unsure) = (rev + 1, false);
        book.note(Write::Ledger(task.clone(), rev));
    }
}

/// Each message under its key until it is accepted.
async fn messages(line: Line, book: Arc<Book>, nth: usize) {
    for message in 0.. {
        let (to, key) = (format!("inbox-{nth}"), format!("m{nth}-{message}"));
        let body = json!({ "to": to, "from": LOCUS, "ref": key, "body": { "text": key } });
        let Some(sent) = insist(&line, &book, "/comms/send", &body).await else { return };
        book.note(Write::Message(text(&sent["message_id"]), to, key));
    }
}

/// Each item added under its key, claimed, and every other one finished.
async fn items(line: Line, book: Arc<Book>, nth: usize) {
    let by = format!("c{nth}");
    for item in 0.. {
        let key = format!("i{nth}-{item}");
        let body = json!({ "locus": LOCUS, "text": key, "ref": key, "by": by });
        let Some(added) = insist(&line, &book, "/todo/add", &body).await else { return };
        let id = text(&added["id"]);
        book.note(Write::Item(id.clone(), key));
        let body = json!({ "id": id, "by": by, "lease_s": 3_600 });
        let Some(claim) = insist(&line, &book, "/todo/claim", &body).await else { return };
        let Some(token) = claim["token"].as_i64() else {
            // The claim whose answer was lost stands, and its token is nobody's.
            assert_eq!(claim["claimed_by"], by, "{claim}");
            continue;
        };
        book.note(Write::Claim(id.clone(), token));
        let body = json!({ "id": id, "by": by, "token": token });
        if item % 2 == 0 && matches!(line.call("/todo/done", &body).await, Some(Ok(_))) {
            book.note(Write::Done(id));
        }
    }
}

/// Several operations in one call, of which one fails.
async fn batches(line: Line, book: Arc<Book>) {
    for batch in 0.. {
        let key = |nth: usize| format!("b{batch}-{nth}");
        let ops: Vec<Value> = (0..4)
            .map(|nth| match nth {
                2 => json!({ "op": "done", "id": "t999999999" }),
                _ => json!({ "op": "add", "text": key(nth), "ref": key(nth) }),
            })
            .collect();
        let body = json!({ "ops": ops, "locus": LOCUS });
        let Some(reply) = insist(&line, &book, "/todo/batch", &body).await else { return };
        for (nth, done) in reply["results"].as_array().unwrap().iter().enumerate() {
            // The server may be about to end in the middle of them.
            if done["ok"] == true {
                book.note(Write::Item(text(&done["id"]), key(nth)));
            }
        }
        assert_eq!(reply["results"][2]["ok"], false, "{reply}");
    }
}

/// The locus whose key is taken.
const TAKEN: &str = "taken";

/// What the names of loci begin with that never get a message.
pub(super) const GHOST: &str = "ghost-";

/// Writes to two, of whom the second refuses: the message to the first is written by then.
async fn failing(line: Line, book: Arc<Book>, nth: usize) {
    let body = json!({ "to": TAKEN, "from": LOCUS, "ref": "taken", "body": { "text": "first" } });
    if insist(&line, &book, "/comms/send", &body).await.is_none() {
        return;
    }
    for message in 0.. {
        if !book.goes_on() {
            return;
        }
        let to = [format!("{GHOST}{nth}-{message}"), TAKEN.to_owned()];
        let body = json!({ "to": to, "from": LOCUS, "ref": "taken", "body": { "text": "other" } });
        match line.call("/comms/send", &body).await {
            Some(Err((409, _))) => drop(book.refused.fetch_add(1, Ordering::Relaxed)),
            Some(other) => panic!("{other:?}"),
            None => breathe().await,
        }
    }
}
