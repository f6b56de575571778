//! `adjutant backup`, `restore` and `migrate`, and what `doctor` says of the records.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{FileExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use adjutant::{
    clock::Clock,
    store::{
        Place, Store, check,
        locus::{Filter, list},
    },
};
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, Connection as _, sqlite::SqliteConnectOptions};

use super::{Cli, Ended};
use crate::harness::{Server, Setup};

/// The binary on the data directory of a home.
fn on(data: &Path, arguments: &[&str]) -> Cli {
    Cli::new(arguments).env("ADJUTANT_DATA_DIR", data)
}

/// The names of all loci in the records at that place.
async fn names(dir: &Path) -> BTreeSet<String> {
    let store = Store::open(&Place::Dir(dir.to_owned()), Clock::system()).await.unwrap();
    let all = Filter { kind: None, status: None, loci: None, after: None, most: 1_000_000 };
    let rows = list(&mut store.read().await.unwrap(), all).await.unwrap();
    rows.into_iter().map(|row| row.locus.to_string()).collect()
}

/// A data directory with so many loci in it, and no server.
async fn filled(count: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&Place::Dir(dir.path().to_owned()), Clock::system()).await.unwrap();
    for nth in 0..count {
        use adjutant::store::locus::{Kind, Registration, register};
        let pointer = json!({ "text": "x".repeat(2_000) }).as_object().cloned();
        let name = format!("l-{nth}").parse().unwrap();
        let new = Registration { pointer, ..Registration::new(name, Kind::Vm) };
        register(&store, &new).await.unwrap();
    }
    drop(store);
    // All of it is in the file itself, and nothing in the log beside it.
    let options = SqliteConnectOptions::new().filename(dir.path().join("adjutant.db"));
    let mut conn = options.connect().await.unwrap();
    sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    dir
}

/// Writes nonsense over a file from there on: behind the steps of the schema, all tables begin there.
fn damage_from(path: &Path, start: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let length = file.metadata().unwrap().len() - start;
    file.write_all_at(&vec![0x5a; usize::try_from(length).unwrap()], start).unwrap();
}

/// Writes nonsense over the middle of a file.
fn damage(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let middle = file.metadata().unwrap().len() / 2 / 4096 * 4096;
    file.write_all_at(&[0x5a; 3 * 4096], middle).unwrap();
}

/// What `doctor` says of the records.
fn of_records(report: &Value) -> (String, String) {
    let found = report["checks"].as_array().unwrap().iter();
    let found = found.clone().find(|finding| finding["check"] == "records").expect("the check");
    let text = |name: &str| found[name].as_str().unwrap().to_owned();
    (text("result"), text("words"))
}

/// Everything that was acknowledged before a copy was begun is in it, and every copy is sound.
#[tokio::test(flavor = "multi_thread")]
async fn t20_a_copy_that_is_made_while_records_are_written_lacks_nothing_acknowledged() {
    let rounds = std::env::vars().find(|(name, _)| name == "ADJUTANT_ROUNDS");
    let rounds: u32 = rounds.map_or(10, |(_, rounds)| rounds.parse().unwrap());
    let server = Arc::new(Server::start("").await);
    let (acked, done) = (Arc::new(Mutex::new(BTreeSet::new())), Arc::new(AtomicBool::new(false)));
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..4 {
        let (server, acked, done) = (server.clone(), acked.clone(), done.clone());
        writers.spawn(async move {
            for nth in 0.. {
                let name = format!("w{writer}-{nth}");
                let body = json!({ "locus": name, "pointer": { "text": "x".repeat(600) } });
                server.post("/loci/register", body).await.result();
                acked.lock().unwrap().insert(name);
                if done.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
    }
    let home = tempfile::tempdir().unwrap();
    for round in 0..rounds {
        let dir = home.path().join(round.to_string());
        fs::create_dir(&dir).unwrap();
        let copy = dir.join("adjutant.db");
        let before = acked.lock().unwrap().clone();
        let made = on(&server.path("data"), &["backup", "--json", copy.to_str().unwrap()]);
        let made = made.end().await.json();
        let found = check::check(&Place::Dir(dir.clone())).await.unwrap();
        assert_eq!(found.problems, [""; 0], "round {round}");
        assert!(made["seq"].as_u64().unwrap() >= before.len() as u64, "{made}");
        let has = names(&dir).await;
        let lost: Vec<_> = before.difference(&has).collect();
        assert!(lost.is_empty(), "round {round}: {lost:?}");
        fs::remove_dir_all(&dir).unwrap();
    }
    done.store(true, Ordering::Relaxed);
    while let Some(ended) = writers.join_next().await {
        ended.unwrap();
    }
    let count = acked.lock().unwrap().len();
    println!("T20: {rounds} copies while {count} records were written: all sound, nothing lost");
}

#[tokio::test]
async fn a_copy_is_its_owners_alone_and_replaces_nothing() {
    let data = filled(20).await;
    let home = tempfile::tempdir().unwrap();
    let copy = home.path().join("copy.db");
    let arguments = ["backup", copy.to_str().unwrap()];
    let ended = on(data.path(), &arguments).end().await;
    assert!(ended.code == Some(0) && ended.out.contains("sound"), "{ended:?}");
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    let before = fs::read(&copy).unwrap();
    on(data.path(), &arguments).end().await.failed(2, "is there already");
    assert_eq!(fs::read(&copy).unwrap(), before);
    let nowhere = home.path().join("no/such/copy.db");
    on(data.path(), &["backup", nowhere.to_str().unwrap()])
        .end()
        .await
        .failed(1, "cannot be written");
    on(&home.path().join("none"), &["backup", "never.db"]).end().await.failed(2, "no file");
    damage_from(&data.path().join("adjutant.db"), 32 * 4096);
    let other = home.path().join("other.db");
    let ended = on(data.path(), &["backup", other.to_str().unwrap()]).end().await;
    assert!(matches!(ended.code, Some(1 | 10)), "{ended:?}");
    // Nothing is left of what failed.
    let left: Vec<PathBuf> = super::files(home.path());
    assert_eq!(left, [copy]);
}

#[tokio::test]
async fn a_copy_takes_the_place_of_the_records_which_are_kept() {
    let server = Server::start("").await;
    let post = async |server: &Server, name: &str| {
        server.post("/loci/register", json!({ "locus": name })).await.result()
    };
    post(&server, "before").await;
    let data = server.path("data");
    let copy = server.path("copy.db");
    let run = |arguments: &[&str]| on(&data, arguments);
    run(&["backup", copy.to_str().unwrap()]).end().await.went_well();
    post(&server, "after").await;
    let refused = run(&["restore", copy.to_str().unwrap()]).end().await;
    refused.failed(4, "restoring needs the data directory to itself");
    run(&["migrate"]).end().await.failed(4, "migrating needs the data directory to itself");
    // Nothing happened to the server meanwhile.
    post(&server, "later").await;

    let stopped = tempfile::tempdir().unwrap();
    for file in super::files(&data) {
        let name = file.file_name().unwrap();
        fs::copy(&file, stopped.path().join(name)).unwrap();
    }
    let data = stopped.path();
    let done = on(data, &["restore", "--json", copy.to_str().unwrap()]).end().await.json();
    let now = names(data).await;
    assert!(now.contains("before") && !now.contains("after"), "{now:?}");
    let kept = PathBuf::from(done["kept"].as_str().unwrap());
    let old = tempfile::tempdir().unwrap();
    fs::copy(&kept, old.path().join("adjutant.db")).unwrap();
    let was = names(old.path()).await;
    assert!(["before", "after", "later"].iter().all(|name| was.contains(*name)), "{was:?}");
    assert!(copy.exists());
    // Into a place where there is nothing yet.
    let fresh = stopped.path().join("fresh");
    let done = on(&fresh, &["restore", "--json", copy.to_str().unwrap()]).end().await.json();
    assert_eq!(done["kept"], Value::Null);
    assert!(names(&fresh).await.contains("before"));
}

#[tokio::test]
async fn what_is_no_sound_copy_is_refused_and_nothing_is_touched() {
    let data = filled(20).await;
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let copy = at("copy.db");
    on(data.path(), &["backup", copy.to_str().unwrap()]).end().await.went_well();
    fs::copy(&copy, at("damaged.db")).unwrap();
    damage(&at("damaged.db"));
    fs::write(
        at("text.db"),
        "no database, and long enough to be looked at as one: 0123456789".repeat(99),
    )
    .unwrap();
    fs::write(at("empty.db"), "").unwrap();
    let names_before = names(data.path()).await;
    for (name, codes, says) in [
        ("damaged.db", [1, 10], "damaged"),
        ("text.db", [1, 2], "text.db"),
        ("empty.db", [2, 2], "no database of this program"),
        ("none.db", [2, 2], "no file"),
    ] {
        let ended = on(data.path(), &["restore", at(name).to_str().unwrap()]).end().await;
        assert!(ended.code.is_some_and(|code| codes.contains(&code)), "{name}: {ended:?}");
        assert!(ended.err.contains(says) || ended.err.contains("malformed"), "{name}: {ended:?}");
    }
    assert_eq!(names(data.path()).await, names_before);
    let left = super::files(data.path());
    assert!(!left.iter().any(|file| file.to_string_lossy().contains("before-restore")), "{left:?}");
}

/// S18: what stock SQLite calls malformed is found, and the exit code says so; no hint of ours
/// names a verb that takes anything away (S6).
#[tokio::test]
async fn s18_damage_is_found_by_doctor_and_the_exit_code_tells() {
    let data = filled(300).await;
    let doctor = |data: &Path| on(data, &["doctor", "--json"]);
    let sound = doctor(data.path()).end().await.json();
    let (result, words) = of_records(&sound);
    assert!(result == "ok" && words.contains("sound"), "{words}");
    damage(&data.path().join("adjutant.db"));
    let ended = doctor(data.path()).end().await;
    assert_eq!(ended.code, Some(10), "{ended:?}");
    let (result, words) = of_records(&ended.document());
    assert_eq!(result, "wrong", "{words}");
    for verb in ["delete", "drop", "init", "force", "reset", "purge", "restore", "remove"] {
        assert!(!words.contains(verb), "{verb}: {words}");
    }
}

#[tokio::test]
async fn s18_a_running_server_is_no_hindrance_to_the_look() {
    let server = Server::start("").await;
    server.post("/loci/register", json!({ "locus": "a" })).await.result();
    let report = on(&server.path("data"), &["doctor", "--json"]).end().await;
    let (result, words) = of_records(&report.document());
    assert!(result == "ok" && words.contains("sound"), "{words}");
    server.post("/loci/register", json!({ "locus": "b" })).await.result();
}

#[tokio::test]
async fn in_postgresql_its_own_programs_are_named() {
    let Some(database) = fake::Database::create().await else { return };
    let run = |arguments: &[&str]| Cli::new(arguments).env("ADJUTANT_DATABASE_URL", database.url());
    let odd = "it's `id` $(id).db";
    let word = r"'it'\''s `id` $(id).db'";
    for (arguments, line) in [
        (["backup", "copy.db"], "\npg_dump --format=custom --schema=adjutant --file='copy.db' \"$ADJUTANT_DATABASE_URL\"\n".to_owned()),
        (["restore", "copy.db"], "\npg_restore --dbname=\"$ADJUTANT_DATABASE_URL\" 'copy.db'\n".to_owned()),
        (["backup", odd], format!("--file={word} \"$")),
        (["restore", odd], format!("\" {word}\n")),
    ] {
        run(&arguments).end().await.failed(2, &line);
    }
    let words = |ended: Ended| of_records(&ended.document());
    let (result, none) = words(run(&["doctor", "--json"]).end().await);
    assert!(result == "ok" && none.contains("none yet"), "{none}");
    let made = run(&["migrate", "--json"]).end().await.json();
    assert_eq!((&made["before"], made["schema"].as_i64().unwrap() > 0), (&Value::Null, true));
    let (result, sound) = words(run(&["doctor", "--json"]).end().await);
    assert!(result == "ok" && sound.contains("schema at step"), "{sound}");
    let gone = Cli::new(&["doctor", "--json"]);
    let gone = gone.env("ADJUTANT_DATABASE_URL", "postgres://me:hunter2@127.0.0.1:1/x").end().await;
    assert!(gone.code == Some(10) && !gone.out.contains("hunter2"), "{gone:?}");
}

#[tokio::test]
async fn a_schema_is_brought_up_to_date_without_a_server() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let first = on(&data, &["migrate"]).end().await;
    assert!(first.code == Some(0) && first.out.contains("is new"), "{first:?}");
    let again = on(&data, &["migrate", "--json"]).end().await.json();
    assert_eq!(again["before"], again["schema"]);
    // A server starts on it.
    let setup = Setup::default().env("ADJUTANT_DATA_DIR", data.to_str().unwrap());
    setup.start().await.stop().await;
}

impl Ended {
    /// That it went well.
    fn went_well(self) {
        assert_eq!(self.code, Some(0), "{self:?}");
    }
}
