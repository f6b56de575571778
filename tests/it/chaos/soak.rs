//! T12: nobody is told that the database is locked, whoever else looks at it.

use std::{
    collections::BTreeMap,
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use adjutant::config::Env;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::{JoinSet, spawn_blocking};

use super::{Line, size};
use crate::harness::{Process, Setup};

/// For how many seconds; `ADJUTANT_SOAK` at compile time says otherwise (1,800 before a release).
const SECONDS: usize = size(option_env!("ADJUTANT_SOAK"), 30);

/// How many call at once.
const CALLERS: usize = 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t12_no_caller_is_told_of_a_lock_while_others_read_the_file() {
    let (home, env) = Setup::new("").prepare();
    let home = Arc::new(home);
    let mut process = Process::spawn(&["serve", "--listen", "127.0.0.1:0"], &env, &home);
    process.ready(&mut String::new()).await;
    let (_url, line) = Line::new(&process);
    let done = Arc::new(AtomicBool::new(false));
    let answers = Arc::new(Mutex::new(BTreeMap::new()));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        callers.spawn(call(line.clone(), caller, done.clone(), answers.clone()));
    }
    let others = {
        let (home, env) = (home.clone(), env.clone());
        spawn_blocking(move || others(&env, &home))
    };
    let looks = others.await.unwrap();
    done.store(true, Ordering::Relaxed);
    while let Some(ended) = callers.join_next().await {
        ended.unwrap();
    }
    assert!(!process.has_ended());
    let answers = answers.lock().unwrap();
    let count: usize = answers.values().sum();
    println!(
        "T12: {count} answers in {SECONDS} s beside {looks} runs each of `doctor` and `backup`: 0 of a lock, 0 failures; by status {answers:?}"
    );
}

/// Looks into the records and copies them, again and again: how often.
fn others(env: &Env, home: &Arc<TempDir>) -> usize {
    let (started, mut looks) = (Instant::now(), 0);
    while started.elapsed() < Duration::from_secs(SECONDS as u64) {
        let doctor = Process::spawn(&["doctor", "--json"], env, home).end();
        assert!(doctor.out.contains("sound, schema at step"), "{doctor:?}");
        let copy = home.path().join("copy.db");
        let backup = Process::spawn(&["backup", copy.to_str().unwrap()], env, home).end();
        assert_eq!(backup.code, Some(0), "{backup:?}");
        fs::remove_file(&copy).unwrap();
        looks += 1;
    }
    looks
}

/// Any tool that reads or writes the records.
fn any(caller: usize, nth: usize) -> (&'static str, Value) {
    let (me, item) = (format!("soak-{caller}"), nth / 12 + 1);
    match nth % 12 {
        0 => {
            ("/ledger/put", json!({ "locus": me, "task": "t", "doc": format!("## Goal\n{nth}\n") }))
        }
        1 => (
            "/ledger/patch",
            json!({ "locus": me, "task": "t", "section": "Goal", "action": "append", "text": "x" }),
        ),
        2 => ("/ledger/get", json!({ "locus": me, "task": "t" })),
        3 => ("/todo/add", json!({ "locus": me, "text": format!("item {nth}") })),
        4 => ("/todo/claim", json!({ "id": item, "by": me })),
        5 => ("/todo/list", json!({ "locus": me, "limit": 50 })),
        6 => ("/comms/send", json!({ "to": "soak-0", "from": me, "body": { "text": "x" } })),
        7 => ("/comms/poll", json!({ "locus": me, "limit": 20 })),
        8 => ("/board/put", json!({ "locus": me, "item_id": "one", "text": format!("{nth}") })),
        9 => ("/events/wait", json!({ "timeout_s": 1 })),
        10 => ("/loci/register", json!({ "locus": me, "goal": format!("{nth}") })),
        _ => ("/seat/report", json!({ "locus": me, "seat": "codex", "alive": true, "pid": nth })),
    }
}

/// Calls one tool after the other; counts the answers by status.
async fn call(
    line: Line,
    caller: usize,
    done: Arc<AtomicBool>,
    answers: Arc<Mutex<BTreeMap<u16, usize>>>,
) {
    for nth in 0.. {
        if done.load(Ordering::Relaxed) {
            return;
        }
        let (path, body) = any(caller, nth);
        let (status, answer) = line.ask(path, &body).await.expect("an answer");
        let words = answer.to_string();
        assert!(status < 500 && !words.contains("locked"), "{path} {body}: {status} {words}");
        // An item that is not there yet.
        assert!(matches!(status, 200 | 404), "{path} {body}: {status} {words}");
        *answers.lock().unwrap().entry(status).or_insert(0) += 1;
    }
}
