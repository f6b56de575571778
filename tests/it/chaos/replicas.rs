//! Two servers over one PostgreSQL database: one winner across both, and one of them killed.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::sleep};

use super::{Line, size};
use crate::harness::{Process, Server, Setup, until};

/// How many rounds; `ADJUTANT_RACES` at compile time says otherwise (10,000 before a release).
const ROUNDS: usize = size(option_env!("ADJUTANT_RACES"), 300);

/// How many ask at once in a round, half of them each server.
const CONTENDERS: usize = 8;

/// How many items are raced for at once.
const LANES: usize = 4;

/// Each round is a claim by all, of whom one wins with a token above every earlier one, and a
/// release.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t3_of_claims_across_two_servers_exactly_one_wins_with_a_rising_token() {
    let Some(database) = fake::Database::create().await else { return };
    let setup = || Setup::new("").env("ADJUTANT_DATABASE_URL", &database.url());
    let servers = Arc::new([setup().start().await, setup().start().await]);
    let (started, mut lanes) = (Instant::now(), JoinSet::new());
    for lane in 0..LANES {
        let servers = servers.clone();
        lanes.spawn(async move { races(&servers, lane, ROUNDS.div_ceil(LANES)).await });
    }
    let wins: [usize; 2] = lanes
        .join_all()
        .await
        .iter()
        .fold([0, 0], |all, lane| [all[0] + lane[0], all[1] + lane[1]]);
    let rounds: usize = wins.iter().sum();
    println!(
        "T3: {rounds} races of {CONTENDERS} across two servers, 1 winner each ({} and {}), tokens rise; {} claims/s",
        wins[0],
        wins[1],
        (rounds * CONTENDERS) as u128 * 1_000 / started.elapsed().as_millis().max(1)
    );
}

/// The races for one item: how many were won through each server.
async fn races(servers: &Arc<[Server; 2]>, lane: usize, rounds: usize) -> [usize; 2] {
    let add = json!({ "locus": "races", "text": format!("lane {lane}") });
    let item = servers[0].post("/todo/add", add).await.result()["id"].take();
    let (mut newest, mut wins) = (0, [0, 0]);
    for round in 0..rounds {
        let mut tasks = JoinSet::new();
        for contender in 0..CONTENDERS {
            let (servers, item) = (servers.clone(), item.clone());
            tasks.spawn(async move {
                let claim = json!({ "id": item, "by": format!("c{contender}") });
                (contender, servers[contender % 2].post("/todo/claim", claim).await.result())
            });
        }
        let claims = tasks.join_all().await;
        let winners: Vec<_> = claims.iter().filter(|(_, claim)| claim["won"] == true).collect();
        let [(contender, won)] = &winners[..] else { panic!("round {round}: {claims:?}") };
        let token = won["token"].as_i64().unwrap();
        assert!(token > newest, "round {round}: {token} after {newest}");
        newest = token;
        wins[contender % 2] += 1;
        // Through the other server, which never granted it.
        let back = json!({ "id": item, "by": format!("c{contender}"), "token": token });
        servers[(contender + 1) % 2].post("/todo/release", back).await.result();
    }
    wins
}

/// How many items are held through the server that is killed.
const HELD: usize = 20;

/// The term of their leases, in seconds; they are renewed until the kill.
const TERM: i64 = 5;

/// How many writes are acknowledged before it is killed, at least.
const ENOUGH: usize = 300;

/// A write that was acknowledged, and what was written.
#[derive(Debug, Clone)]
enum Write {
    /// A ledger by its task.
    Ledger(String, String),
    /// An item by its id.
    Item(String, String),
}

/// One of two servers is killed while it writes and while items are held through it: the other has
/// all that was acknowledged, and gives the items to others once their terms are over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_server_acknowledged_stays_and_its_leases_are_taken_over() {
    let Some(database) = fake::Database::create().await else { return };
    let setup = Setup::new("")
        .settings("[lease]\nmin = \"1s\"")
        .env("ADJUTANT_DATABASE_URL", &database.url());
    let (one, other) = (Process::serve(&setup).await, Process::serve(&setup).await);
    assert_ne!(one.home.path(), other.home.path());
    let ((_url, line), (_other_url, heir)) = (Line::new(&one), Line::new(&other));
    let done = async |line: &Line, path: &str, body: Value| match line.call(path, &body).await {
        Some(Ok(reply)) => reply,
        otherwise => panic!("{path} {body}: {otherwise:?}"),
    };

    let (writes, count) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
    let mut writers = JoinSet::new();
    for nth in 0..6 {
        writers.spawn(write(line.clone(), nth, writes.clone(), count.clone()));
    }
    let mut held = Vec::new();
    for nth in 0..HELD {
        let body = json!({ "locus": "held", "text": format!("held {nth}") });
        let id = done(&line, "/todo/add", body).await["id"].take();
        let body = json!({ "id": id, "by": "holder", "lease_s": TERM });
        let token = done(&line, "/todo/claim", body).await["token"].as_i64().unwrap();
        writers.spawn(hold(line.clone(), id.clone(), token));
        held.push((id, token));
    }
    until("enough was acknowledged", async || count.load(Ordering::Relaxed) >= ENOUGH).await;
    one.signal(Signal::KILL);
    one.end();
    let killed = Instant::now();
    while let Some(ended) = writers.join_next().await {
        ended.unwrap();
    }

    let mut waits = 0;
    for (id, token) in &held {
        let mut won = 0;
        until("the item is given to another", async || {
            let body = json!({ "id": id, "by": "heir", "lease_s": 600 });
            let claim = done(&heir, "/todo/claim", body).await;
            won = claim["token"].as_i64().unwrap_or_default();
            waits += usize::from(won == 0);
            won > 0
        })
        .await;
        assert_eq!(won, token + 1, "granted once after the one that died");
        // Who held it may be alive yet: what it writes now is refused.
        let late = json!({ "id": id, "by": "holder", "token": token });
        let refused = heir.call("/todo/done", &late).await;
        assert!(matches!(refused, Some(Err((409, _)))), "{refused:?}");
        done(&heir, "/todo/done", json!({ "id": id, "by": "heir", "token": won })).await;
    }
    let writes = writes.lock().unwrap().clone();
    for acknowledged in &writes {
        match acknowledged {
            Write::Ledger(task, doc) => {
                let body = json!({ "locus": "kept", "task": task });
                let there = done(&heir, "/ledger/get", body).await;
                assert_eq!(there["doc"], *doc, "{acknowledged:?}");
            }
            Write::Item(id, text) => {
                let body = json!({ "id": id, "note": "it is there" });
                let there = done(&heir, "/todo/update", body).await;
                assert_eq!(there["text"], *text, "{acknowledged:?}");
            }
        }
    }
    println!(
        "one of two servers killed: {} writes acknowledged and 0 lost, {HELD} leases taken over after {waits} refusals, in {:.1} s",
        writes.len(),
        killed.elapsed().as_secs_f64()
    );
}

/// Renews a lease until the server is gone.
async fn hold(line: Line, id: Value, token: i64) {
    let body = json!({ "id": id, "by": "holder", "token": token, "lease_s": TERM });
    // On a machine that stands still for a term it is lost before: then it is free already.
    while let Some(Ok(_)) = line.call("/todo/renew", &body).await {
        sleep(Duration::from_secs(1)).await;
    }
}

/// Writes until the server is gone, and notes what was acknowledged.
async fn write(line: Line, nth: usize, writes: Arc<Mutex<Vec<Write>>>, count: Arc<AtomicUsize>) {
    for write in 0.. {
        let text = format!("{nth}-{write}");
        let (path, body) = if nth.is_multiple_of(2) {
            (
                "/ledger/put",
                json!({ "locus": "kept", "task": text, "doc": text, "expected_rev": 0 }),
            )
        } else {
            ("/todo/add", json!({ "locus": "kept", "text": text }))
        };
        let reply = line.call(path, &body).await;
        let reply = reply.map(|reply| {
            reply.map(|reply| match reply["id"].as_str() {
                Some(id) => Write::Item(id.to_owned(), text),
                None => Write::Ledger(text.clone(), text),
            })
        });
        match reply {
            Some(Ok(acknowledged)) => writes.lock().unwrap().push(acknowledged),
            Some(Err(refusal)) => panic!("{refusal:?}"),
            None => return,
        }
        count.fetch_add(1, Ordering::Relaxed);
        if count.load(Ordering::Relaxed) > 10 * ENOUGH {
            // The holders are slower than this on a loaded machine: enough is there.
            sleep(Duration::from_millis(20)).await;
        }
    }
}
