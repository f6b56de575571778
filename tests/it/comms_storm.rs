//! T8: many agents write to each other while connections break and the server is killed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::harness::{Process, Setup, client};

/// How many agents, how many messages each sends, and how often the server is killed;
/// `ADJUTANT_STORM` at compile time says otherwise, as `agents,messages,kills` (50,1000,20 before a
/// release).
const SIZE: [usize; 3] = match option_env!("ADJUTANT_STORM") {
    Some(text) => numbers(text.as_bytes()),
    None => [20, 100, 4],
};

/// Three numbers with commas between.
const fn numbers(text: &[u8]) -> [usize; 3] {
    let (mut numbers, mut nth, mut at) = ([0; 3], 0, 0);
    while at < text.len() {
        if text[at] == b',' {
            nth += 1;
        } else {
            numbers[nth] = numbers[nth] * 10 + (text[at] - b'0') as usize;
        }
        at += 1;
    }
    numbers
}

/// The longest that any agent goes on trying.
const END: Duration = Duration::from_mins(15);

/// Where the server is now, and how to talk to it.
#[derive(Clone)]
struct Line {
    url: watch::Receiver<String>,
    token: Arc<str>,
    client: reqwest::Client,
}

impl Line {
    /// A tool's reply; `None` when none came. Given a time, the caller is gone after that.
    async fn call(&self, tool: &str, body: &Value, most: Option<Duration>) -> Option<Value> {
        let url = format!("{}/comms/{tool}", self.url.borrow().as_str());
        let request = self
            .client
            .request(Method::POST, url)
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .body(body.to_string());
        let answer = async {
            let response = request.send().await.ok()?;
            let status = response.status().as_u16();
            let text = response.text().await.ok()?;
            // A server that is going down may say that it cannot write.
            assert!(matches!(status, 200 | 429 | 503), "{status} {text}");
            (status == 200).then(|| serde_json::from_str::<Value>(&text).unwrap()["result"].take())
        };
        match most {
            Some(most) => timeout(most, answer).await.ok()?,
            None => answer.await,
        }
    }

    /// The same until a reply came.
    async fn insist(&self, tool: &str, body: &Value) -> Value {
        loop {
            if let Some(reply) = self.call(tool, body, None).await {
                return reply;
            }
            sleep(Duration::from_millis(20)).await;
        }
    }
}

fn name(agent: usize) -> String {
    format!("agent-{agent}")
}

/// Sends to each other agent in turn, each message under its key until it is accepted. Sometimes the
/// connection is dropped before the answer is there.
async fn send(
    line: Line,
    agent: usize,
    accepted: Arc<AtomicUsize>,
) -> BTreeMap<String, (usize, usize)> {
    let [agents, messages, _] = SIZE;
    let mut sent = BTreeMap::new();
    for nth in 0..messages {
        let to = (agent + 1 + nth % (agents - 1)) % agents;
        let body = json!({
            "to": name(to),
            "from": name(agent),
            "ref": format!("{}-{nth}", name(agent)),
            "body": { "from": agent, "nth": nth },
        });
        let receipt = loop {
            let most = (nth % 7 == 3).then(|| Duration::from_micros(fastrand::u64(0..4_000)));
            if let Some(receipt) = line.call("send", &body, most).await {
                break receipt;
            }
            if let Some(receipt) = line.call("send", &body, None).await {
                break receipt;
            }
            sleep(Duration::from_millis(20)).await;
        };
        let id = receipt["message_id"].as_str().unwrap().to_owned();
        let before = sent.insert(id, (to, nth));
        assert_eq!(before, None, "an id of its own for each message");
        accepted.fetch_add(1, Ordering::Relaxed);
    }
    sent
}

/// Takes messages until all have come; after a call without a reply it reads what it may have taken.
/// In the order in which they came, with how many came twice.
async fn receive(line: Line, agent: usize, wanted: usize) -> (Vec<(String, usize, usize)>, usize) {
    let (mut got, mut seen, mut twice) = (Vec::new(), BTreeSet::new(), 0);
    let mut take = |rows: &mut Vec<Value>| {
        rows.sort_by_key(|row| row["id"].as_i64());
        for row in rows {
            let number = |name: &str| usize::try_from(row["body"][name].as_u64().unwrap()).unwrap();
            let id = row["message_id"].as_str().unwrap().to_owned();
            if seen.insert(id.clone()) {
                got.push((id, number("from"), number("nth")));
            } else {
                twice += 1;
            }
        }
        got.len()
    };
    let drain = json!({ "locus": name(agent), "poller": "storm", "limit": 7 });
    let mut count = 0;
    while count < wanted {
        if let Some(mut reply) = line.call("poll", &drain, None).await {
            let rows = reply["messages"].as_array_mut().unwrap();
            if rows.is_empty() {
                let wait = json!({ "locus": name(agent), "timeout_s": 1 });
                line.call("wait", &wait, None).await;
            }
            count = take(rows);
            continue;
        }
        let (mut rows, mut after) = (Vec::new(), Value::Null);
        loop {
            let read = json!({ "locus": name(agent), "status": "delivered", "limit": 200, "after": after });
            let mut page = line.insist("poll", &read).await;
            rows.append(page["messages"].as_array_mut().unwrap());
            after = page["next"].take();
            if after.is_null() {
                break;
            }
        }
        count = take(&mut rows);
    }
    (got, twice)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t8_what_is_delivered_is_what_was_sent_through_kills_and_broken_connections() {
    println!("{}", storm("SQLite", &Setup::new("")).await);
    if let Some(database) = fake::Database::create().await {
        let setup = Setup::new("").env("ADJUTANT_DATABASE_URL", &database.url());
        println!("{}", storm("PostgreSQL", &setup).await);
    }
}

/// The figure of the target.
async fn storm(engine: &str, setup: &Setup) -> String {
    let [agents, messages, kills] = SIZE;
    let started = Instant::now();
    let (home, env) = setup.prepare();
    let home = Arc::new(home);
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let mut process = Process::spawn(&serve, &env, &home);
    let mut instance = String::new();
    process.ready(&mut instance).await;
    let (url, watched) = watch::channel(process.endpoint().url);
    let line = Line { url: watched, token: process.token().into(), client: client() };

    let accepted = Arc::new(AtomicUsize::new(0));
    let (mut senders, mut receivers) = (JoinSet::new(), JoinSet::new());
    let mut wanted = vec![0; agents];
    for agent in 0..agents {
        for nth in 0..messages {
            wanted[(agent + 1 + nth % (agents - 1)) % agents] += 1;
        }
    }
    for agent in 0..agents {
        senders.spawn(timeout(END, send(line.clone(), agent, accepted.clone())));
        let (line, wanted) = (line.clone(), wanted[agent]);
        receivers.spawn(async move {
            let got = timeout(END, receive(line, agent, wanted)).await.expect("all in time");
            (agent, got)
        });
    }
    for nth in 0..kills {
        let mark = agents * messages * (nth + 1) / (kills + 1);
        let so_many = async {
            while accepted.load(Ordering::Relaxed) < mark {
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(END, so_many).await.expect("so many in time");
        process.signal(Signal::KILL);
        process.end();
        process = Process::spawn(&serve, &env, &home);
        process.ready(&mut instance).await;
        url.send_replace(process.endpoint().url);
    }

    let mut sent = BTreeMap::new();
    while let Some(done) = senders.join_next().await {
        for (id, what) in done.unwrap().expect("all in time") {
            assert_eq!(sent.insert(id, what), None, "no id twice");
        }
    }
    let (mut delivered, mut twice) = (BTreeMap::new(), 0);
    while let Some(done) = receivers.join_next().await {
        let (agent, (got, again)) = done.unwrap();
        twice += again;
        let mut last: BTreeMap<usize, usize> = BTreeMap::new();
        for (id, from, nth) in got {
            let before = last.insert(from, nth);
            assert!(before < Some(nth), "of one sender in order: {before:?} {nth}");
            assert_eq!(delivered.insert(id, (agent, nth)), None, "each to one");
        }
    }
    assert_eq!(delivered, sent);
    assert_eq!(sent.len(), agents * messages);
    // Nothing else is there: a message that came twice had one id.
    for agent in 0..agents {
        let left = json!({ "locus": name(agent), "status": "queued" });
        assert_eq!(line.insist("poll", &left).await["count"], 0);
    }
    format!(
        "T8 {engine}: {agents} agents, {} messages, {kills} kills: {} delivered, {twice} seen twice with the same id, in {:.1} s",
        sent.len(),
        delivered.len(),
        started.elapsed().as_secs_f64()
    )
}
