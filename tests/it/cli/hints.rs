//! What is said of records that cannot be used: nothing that would make it worse.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

use super::Cli;

/// What takes something away.
const VERBS: [&str; 12] = [
    "delete",
    "drop",
    "erase",
    "force",
    "init",
    "overwrite",
    "purge",
    "recreate",
    "remove",
    "reset",
    "rm",
    "wipe",
];

/// The records of a directory, altered by these statements.
async fn altered(text: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    // Made by a process that has ended: nothing of this one writes to the file later.
    let made = Cli::new(&["migrate"]).env("ADJUTANT_DATA_DIR", dir.path()).end().await;
    assert_eq!(made.code, Some(0), "{made:?}");
    let options = SqliteConnectOptions::new().filename(file(dir.path()));
    let mut conn = options.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(text.to_owned())).execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    dir
}

/// A directory where something else is in the place of the records.
fn instead(make: impl FnOnce(&Path)) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    make(&file(dir.path()));
    dir
}

fn file(dir: &Path) -> PathBuf {
    dir.join("adjutant.db")
}

/// What is there, to be compared.
fn state(dir: &Path) -> (String, Vec<u8>) {
    let path = file(dir);
    let kind = format!("{:?}", fs::symlink_metadata(&path).unwrap().file_type());
    (kind, fs::read(&path).unwrap_or_default())
}

/// S6: no hint names a verb that takes anything away, and nothing was touched.
#[tokio::test]
async fn s6_no_hint_names_a_destructive_verb_and_nothing_is_touched() {
    let newer = "INSERT INTO adjutant_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'later', TRUE, x'00', 0)";
    let other = "UPDATE adjutant_migrations SET checksum = x'00' WHERE version = 1";
    let cases = [
        ("newer", altered(newer).await),
        ("other steps", altered(other).await),
        ("foreign", altered("PRAGMA application_id = 7").await),
        ("text", instead(|path| fs::write(path, "no database 0123456789".repeat(99)).unwrap())),
        ("empty", instead(|path| fs::write(path, "").unwrap())),
        ("directory", instead(|path| fs::create_dir(path).unwrap())),
        ("link", instead(|path| symlink("/nowhere/at/all", path).unwrap())),
    ];
    for (case, dir) in cases {
        let before = state(dir.path());
        for arguments in [
            &["serve", "--listen", "127.0.0.1:0"][..],
            &["doctor"],
            &["doctor", "--json"],
            &["backup", "copy.db"],
            &["migrate"],
        ] {
            // Nothing leads to a link without a target: then there are no records yet.
            if case == "link" && matches!(arguments[0], "doctor" | "backup") {
                continue;
            }
            let ended = Cli::new(arguments).env("ADJUTANT_DATA_DIR", dir.path()).end().await;
            assert_ne!(ended.code, Some(0), "{case}, {arguments:?}: {ended:?}");
            let words = format!("{}\n{}", ended.out, ended.err).to_lowercase();
            let verb =
                words.split(|c: char| !c.is_alphanumeric()).find(|word| VERBS.contains(word));
            assert_eq!(verb, None, "{case}, {arguments:?}: {words}");
        }
        assert_eq!(state(dir.path()), before, "{case}");
    }
}
