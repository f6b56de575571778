//! T19: the schema of each release is on record under `tests/fixtures/schemas`, and this program opens
//! every one of them. A release whose schema has new steps adds a file for each engine; none is ever
//! changed.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection, migrate::Migrator,
    postgres::PgConnectOptions, sqlite::SqliteConnection,
};

use super::{
    super::{migrate, sqlite, *},
    MIDNIGHT,
};

/// The steps up to one.
pub(super) fn up_to(mut steps: Migrator, last: i64) -> Migrator {
    steps.migrations.to_mut().retain(|step| step.version <= last);
    steps
}

/// A new file with the schema of a step.
pub(super) async fn build(path: &Path, steps: &Migrator) {
    sqlite::make(path).unwrap();
    sqlite::build(path, "the new file", steps).await.unwrap();
}

/// A change and a fact, in the tables that every schema has.
pub(super) const RECORDS: &str = "INSERT INTO events (ts, kind, locus, id, op) VALUES (1, 'meta', 'alpha', 'kept', 'insert'); \
     INSERT INTO meta (name, value) VALUES ('kept', 7)";

/// That [`RECORDS`] are there; then they are not.
pub(super) async fn take_records(store: &Store) {
    let mut tx = store.begin().await.unwrap();
    for text in [
        "DELETE FROM meta WHERE name = 'kept' AND value = 7",
        "DELETE FROM events WHERE id = 'kept'",
    ] {
        assert_eq!(tx.sql(text).run().await.unwrap(), 1, "{text}");
    }
    tx.commit().await.unwrap();
}

/// The schema of a SQLite file, as statements that make one like it, with the rows that its steps
/// put in.
pub(super) async fn dump(path: &Path) -> String {
    let mut conn = sqlite::plain(path).read_only(true).connect().await.unwrap();
    let conn = &mut conn;
    let mark: i64 =
        sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *conn).await.unwrap();
    let mut lines = vec![format!("PRAGMA application_id = {mark};")];
    // What a virtual table keeps its rows in is made with it.
    lines.extend(texts(conn, "SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY type <> 'table', name").await);
    let tables = texts(conn, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name").await;
    for table in tables {
        let text = format!(
            "SELECT name FROM pragma_table_info('{table}') WHERE name <> 'installed_on' ORDER BY cid"
        );
        let columns = texts(conn, &text).await;
        // How long a step took is no part of it.
        let quoted = |column: &String| match column.as_str() {
            "execution_time" => "'0'".to_owned(),
            column => format!("quote({column})"),
        };
        let values: Vec<String> = columns.iter().map(quoted).collect();
        let (columns, values) = (columns.join(", "), values.join(" || ', ' || "));
        let text = format!(
            "SELECT 'INSERT INTO {table} ({columns}) VALUES (' || {values} || ');' FROM {table} ORDER BY rowid"
        );
        // A table without numbers of its own is in the order of its key.
        let by_key = text.replace(" ORDER BY rowid", "");
        let rows = sqlx::query_scalar(AssertSqlSafe(text)).fetch_all(&mut *conn).await;
        lines.extend(match rows {
            Ok(rows) => rows,
            Err(_) => texts(conn, &by_key).await,
        });
    }
    lines.join("\n") + "\n"
}

async fn texts(conn: &mut SqliteConnection, text: &str) -> Vec<String> {
    sqlx::query_scalar(AssertSqlSafe(text.to_owned())).fetch_all(conn).await.unwrap()
}

/// The schema of a PostgreSQL database in lines that say all that counts, in one order.
async fn describe(url: &str) -> String {
    let mut conn = connect(url).await;
    let mut lines = Vec::new();
    for text in [
        "SELECT concat(table_name, '.', column_name, ' ', data_type, CASE is_nullable WHEN 'NO' THEN ' NOT NULL' END, ' DEFAULT ' || column_default, ' IDENTITY ' || identity_generation) FROM information_schema.columns WHERE table_schema = 'adjutant' ORDER BY table_name COLLATE \"C\", ordinal_position",
        "SELECT concat(conrelid::regclass, ' CONSTRAINT ', conname, ' ', pg_get_constraintdef(oid)) FROM pg_constraint WHERE connamespace = 'adjutant'::regnamespace AND contype IN ('p', 'u', 'f', 'c') ORDER BY conrelid::regclass::text COLLATE \"C\", conname COLLATE \"C\"",
        "SELECT indexdef FROM pg_indexes WHERE schemaname = 'adjutant' ORDER BY indexname COLLATE \"C\"",
        "SELECT concat('step ', version, ' ', description, ' ', encode(checksum, 'hex')) FROM adjutant_migrations ORDER BY version",
    ] {
        let found: Vec<String> = sqlx::query_scalar(text).fetch_all(&mut conn).await.unwrap();
        lines.extend(found);
    }
    lines.join("\n") + "\n"
}

async fn connect(url: &str) -> PgConnection {
    let options: PgConnectOptions = url.parse().unwrap();
    let options = options.options([("search_path", "adjutant")]);
    PgConnection::connect_with(&options).await.unwrap()
}

/// A database with the schema of the steps.
async fn make(url: &str, mut steps: Migrator) {
    steps.create_schema("adjutant");
    steps.run_direct(None, &mut connect(url).await, false).await.unwrap();
}

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schemas")
}

/// The schemas on record of an engine, by their step.
fn recorded(engine: &str) -> BTreeMap<i64, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(home()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let stem = name.strip_prefix(engine).and_then(|rest| rest.strip_prefix('-'));
        if let Some((step, _)) = stem.and_then(|stem| stem.split_once('.')) {
            found.insert(step.parse().unwrap(), fs::read_to_string(home().join(&name)).unwrap());
        }
    }
    found
}

/// That the schema is the one on record; where there is none yet, it is put there and this fails
/// once.
fn on_record(name: &str, schema: &str) {
    let path = home().join(name);
    let Ok(there) = fs::read_to_string(&path) else {
        fs::write(&path, schema).unwrap();
        panic!("{name} was not there and is written: look at it and commit it");
    };
    assert!(
        there == schema,
        "{name} is another schema than this program makes: a step that was released is never edited, add one; before its release, remove the file and run this again\n{schema}"
    );
}

#[tokio::test]
async fn t19_the_schema_of_sqlite_is_the_one_on_record() {
    let dir = tempfile::tempdir().unwrap();
    build(&dir.path().join("new.db"), &migrate::sqlite()).await;
    let schema = dump(&dir.path().join("new.db")).await;
    on_record(&format!("sqlite-{:04}.sql", migrate::newest()), &schema);
}

#[tokio::test]
async fn t19_the_schema_of_postgresql_is_the_one_on_record() {
    let Some(database) = fake::Database::create().await else { return };
    make(&database.url(), migrate::postgres()).await;
    let schema = describe(&database.url()).await;
    on_record(&format!("postgres-{:04}.txt", migrate::newest()), &schema);
}

/// Opens the records of a directory, which are of an older schema or not: afterwards they are as if
/// they had been made by this program, and hold what they held.
pub(super) async fn opens(dir: &Path) {
    let store = Store::open(&Place::Dir(dir.to_owned()), Clock::set_to(MIDNIGHT)).await.unwrap();
    take_records(&store).await;
    drop(store);
    let found = sqlite::look(&file(dir), true).await.unwrap();
    assert_eq!((found.step, found.problems), (Some(migrate::newest()), Vec::new()));
    let other = tempfile::tempdir().unwrap();
    build(&file(other.path()), &migrate::sqlite()).await;
    assert_eq!(dump(&file(dir)).await, dump(&file(other.path())).await);
}

#[tokio::test]
async fn t19_every_schema_of_sqlite_on_record_opens() {
    for (step, schema) in recorded("sqlite") {
        let dir = tempfile::tempdir().unwrap();
        let path = file(dir.path());
        sqlite::make(&path).unwrap();
        let mut conn = sqlite::plain(&path).connect().await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(schema)).execute(&mut conn).await.unwrap();
        sqlx::raw_sql(RECORDS).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        assert_eq!(sqlite::look(&path, true).await.unwrap().step, Some(step));
        opens(dir.path()).await;
    }
}

/// Those that were never released, too: each step can be taken with records there.
#[tokio::test]
async fn t19_every_step_of_sqlite_is_taken_with_records_there() {
    for step in 1..=migrate::newest() {
        let dir = tempfile::tempdir().unwrap();
        let path = file(dir.path());
        build(&path, &up_to(migrate::sqlite(), step)).await;
        let mut conn = sqlite::plain(&path).connect().await.unwrap();
        sqlx::raw_sql(RECORDS).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        opens(dir.path()).await;
    }
}

/// A schema on record is what the steps of this program up to that one make, and the others are
/// taken from there.
#[tokio::test]
async fn t19_every_schema_of_postgresql_on_record_opens() {
    for (step, schema) in recorded("postgres") {
        let Some(database) = fake::Database::create().await else { return };
        make(&database.url(), up_to(migrate::postgres(), step)).await;
        assert_eq!(describe(&database.url()).await, schema, "step {step}");
        opens_there(&database).await;
    }
}

#[tokio::test]
async fn t19_every_step_of_postgresql_is_taken_with_records_there() {
    for step in 1..=migrate::newest() {
        let Some(database) = fake::Database::create().await else { return };
        make(&database.url(), up_to(migrate::postgres(), step)).await;
        opens_there(&database).await;
    }
}

async fn opens_there(database: &fake::Database) {
    let mut conn = connect(&database.url()).await;
    let numbered = RECORDS.replace("(ts,", "(seq, ts,").replace("VALUES (1,", "VALUES (1, 1,");
    sqlx::raw_sql(AssertSqlSafe(numbered)).execute(&mut conn).await.unwrap();
    let place = Place::Postgres { url: database.url().into(), connections: 2 };
    let store = Store::open(&place, Clock::set_to(MIDNIGHT)).await.unwrap();
    take_records(&store).await;
    let other = fake::Database::create().await.unwrap();
    make(&other.url(), migrate::postgres()).await;
    assert_eq!(describe(&database.url()).await, describe(&other.url()).await);
}
