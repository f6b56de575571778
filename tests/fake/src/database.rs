//! PostgreSQL databases of tests: each test makes its own, and it goes with the value.

use std::{
    process,
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::runtime;

/// Where the databases are made unless `ADJUTANT_TEST_POSTGRES` says otherwise.
const SERVER: &str = "postgres://postgres@127.0.0.1:5432";

/// A database of one test.
#[derive(Debug)]
pub struct Database {
    server: String,
    name: String,
}

impl Database {
    /// Makes an empty one. Without a server it is `None` and says that the test is skipped, unless
    /// `CI` is `true`: then it panics, so that nothing is skipped unseen.
    ///
    /// # Panics
    /// See above; also when the server is there and makes none.
    #[expect(clippy::panic, clippy::expect_used, reason = "for tests alone")]
    pub async fn create() -> Option<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let server = variable("ADJUTANT_TEST_POSTGRES").unwrap_or_else(|| SERVER.to_owned());
        let mut conn = match PgConnection::connect(&format!("{server}/postgres")).await {
            Ok(conn) => conn,
            Err(error) if variable("CI").as_deref() == Some("true") => {
                panic!("no PostgreSQL at {server}: {error}")
            }
            Err(error) => {
                skipped(&format!("no PostgreSQL at {server}: {error}"));
                return None;
            }
        };
        let nth = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("adjutant_test_{}_{nth}", process::id());
        for text in [
            // What an earlier process of this number may have left.
            format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
            format!("CREATE DATABASE {name}"),
        ] {
            sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut conn).await.expect("a database");
        }
        Some(Self { server, name })
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("{}/{}", self.server, self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // A thread of its own: the test's runtime may be ending.
        let drop = thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build();
            runtime.map(|runtime| {
                runtime.block_on(async {
                    let mut conn = PgConnection::connect(&format!("{server}/postgres")).await?;
                    let text = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                    sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut conn).await
                })
            })
        });
        // A database that stays is removed by the next process of this number.
        let _ = drop.join();
    }
}

#[expect(clippy::disallowed_methods, reason = "for tests alone")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}
