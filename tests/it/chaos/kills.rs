//! T1: the server is killed at random moments of mixed writes.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use rustix::process::Signal;
use tokio::time::sleep;

use super::{
    Line,
    records::Records,
    size,
    writers::{self, Book},
};
use crate::harness::{Process, Setup};

/// How often; `ADJUTANT_KILLS` at compile time says otherwise (1,000 before a release).
const KILLS: usize = size(option_env!("ADJUTANT_KILLS"), 50);

/// S22 too: the files of stock SQLite are sound after each kill.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t1_s22_no_kill_loses_what_was_acknowledged_or_leaves_a_half() {
    let started = Instant::now();
    let (home, env) = Setup::new("").prepare();
    let (home, data) = (Arc::new(home), "data");
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let mut process = Process::spawn(&serve, &env, &home);
    let mut instance = String::new();
    process.ready(&mut instance).await;
    let (url, line) = Line::new(&process);
    let book = Arc::new(Book::default());
    let mut tasks = writers::start(&line, &book);

    let (mut checked, mut times) = (0, Vec::new());
    for _ in 0..KILLS {
        sleep(Duration::from_millis(fastrand::u64(1..250))).await;
        process.signal(Signal::KILL);
        process.end();
        let begun = Instant::now();
        process = Process::spawn(&serve, &env, &home);
        process.ready(&mut instance).await;
        times.push(begun.elapsed());
        // Nobody writes: nobody knows yet where it is.
        let new = book.writes.lock().unwrap()[checked..].to_vec();
        let mut records = Records::open(&home.path().join(data)).await;
        records.have(&new).await;
        records.are_whole().await;
        checked += new.len();
        url.send_replace(process.endpoint().url);
    }
    book.close();
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    process.signal(Signal::KILL);
    process.end();

    let doctor = Process::spawn(&["doctor", "--json"], &env, &home).end();
    assert!(doctor.out.contains("sound, schema at step"), "{doctor:?}");
    let writes = book.writes.lock().unwrap().clone();
    let mut records = Records::open(&home.path().join(data)).await;
    records.have(&writes).await;
    records.are_whole().await;
    let (written, refused) = (writes.len(), book.refused.load(Ordering::Relaxed));
    assert!(written > KILLS && refused > KILLS, "{written} written, {refused} refused");
    times.sort();
    println!(
        "T1: {KILLS} kills, {written} writes acknowledged and 0 lost, {refused} failed half way and left nothing, {} rows sound each time; ready after {:?} in the middle and {:?} at most; {:.1} s",
        records.rows().await,
        times[KILLS / 2],
        times[KILLS - 1],
        started.elapsed().as_secs_f64()
    );
}
