//! PostgreSQL: everything of ours is in the schema `adjutant` of the database that the URL names, so
//! that it may be shared with others.

use std::{str::FromStr as _, time::Duration};

use secrecy::{ExposeSecret as _, SecretString};
use sqlx::{
    ConnectOptions as _, Connection as _, PgPool,
    migrate::Migrate as _,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::time::timeout;

use super::{Engine, OpenError, check::Found, feed::MOST, migrate};

/// How long a call waits for a connection, and a first one to be made.
pub(super) const ACQUIRE: Duration = Duration::from_secs(10);

/// A connection that lay idle longer than this is tried before it is used.
const FRESH: Duration = Duration::from_secs(1);

/// What each connection is set to: every wait has a bound.
pub(super) const OPTIONS: [(&str, &str); 4] = [
    ("search_path", "adjutant"),
    ("statement_timeout", "30s"),
    ("lock_timeout", "10s"),
    ("idle_in_transaction_session_timeout", "60s"),
];

/// How a database is connected to, and what it is called, without its password.
fn options(url: &SecretString) -> Result<(PgConnectOptions, String), OpenError> {
    // What the driver says of a URL may quote it.
    let options = PgConnectOptions::from_str(url.expose_secret()).map_err(|_| {
        OpenError::failed(
            "the database",
            &"its URL is not one: write `postgres://user:password@host:5432/name`",
        )
    })?;
    let database = options.get_database().unwrap_or(options.get_username());
    let place = format!("the database `{database}` at `{}`", options.get_host());
    Ok((options.application_name("adjutant").options(OPTIONS), place))
}

/// A database's connection and schema. Nothing is written.
pub(super) async fn look(url: &SecretString) -> Result<Found, OpenError> {
    let (options, place) = options(url)?;
    let failed = |error: sqlx::Error| OpenError::failed(&place, &error);
    let Ok(conn) = timeout(ACQUIRE, options.connect()).await else {
        let words = format!("no answer within {} s", ACQUIRE.as_secs());
        return Err(OpenError::failed(&place, &words));
    };
    let mut conn = conn.map_err(failed)?;
    let (is_there, is_ours): (bool, bool) =
        sqlx::query_as(SCHEMA).fetch_one(&mut conn).await.map_err(failed)?;
    if is_there && !is_ours {
        return Err(foreign(place));
    }
    let step = if is_ours {
        let steps = migrate::postgres();
        let taken = conn.list_applied_migrations(&steps.table_name).await;
        let taken = taken.map_err(|error| migrate::explain(error, &place))?;
        Some(migrate::judge(&taken, &steps, &place)?)
    } else {
        None
    };
    conn.close().await.map_err(failed)?;
    Ok(Found { place, step, problems: Vec::new() })
}

/// Whether there is a schema `adjutant`, and whether it is ours.
const SCHEMA: &str = "SELECT to_regnamespace('adjutant') IS NOT NULL, to_regclass('adjutant.adjutant_migrations') IS NOT NULL";

fn foreign(place: String) -> OpenError {
    OpenError::Foreign { place, why: "it has a schema `adjutant` of another program".to_owned() }
}

/// Connects, and brings the schema up to date: one transaction a step, one replica at a time.
pub(super) async fn open(url: &SecretString, connections: u32) -> Result<Engine, OpenError> {
    let (options, place) = options(url)?;
    let failed = |error: sqlx::Error| OpenError::failed(&place, &error);
    let pool = PgPoolOptions::new()
        .max_connections(connections.max(2))
        .acquire_timeout(ACQUIRE)
        .test_before_acquire(false)
        .before_acquire(|conn, about| {
            Box::pin(async move {
                if about.idle_for > FRESH {
                    conn.ping().await?;
                }
                Ok(true)
            })
        })
        .connect_with(options)
        .await
        .map_err(failed)?;
    let (is_there, is_ours): (bool, bool) =
        sqlx::query_as(SCHEMA).fetch_one(&pool).await.map_err(failed)?;
    if is_there && !is_ours {
        return Err(foreign(place));
    }
    let mut steps = migrate::postgres();
    steps.create_schema("adjutant");
    let mut conn = pool.acquire().await.map_err(failed)?;
    steps
        .run_direct(None, &mut *conn, false)
        .await
        .map_err(|error| migrate::explain(error, &place))?;
    drop(conn);
    let base = base(&pool).await.map_err(failed)?;
    Ok(Engine::Postgres { pool, base })
}

/// What is added to a transaction's id. A database that was restored into another server counts its
/// transactions anew: then the base is raised, so that `seq` never goes back.
async fn base(pool: &PgPool) -> Result<i64, sqlx::Error> {
    let mut tx = pool.begin().await?;
    let (base,): (i64,) =
        sqlx::query_as("SELECT value FROM meta WHERE name = 'events_base' FOR UPDATE")
            .fetch_one(&mut *tx)
            .await?;
    let (lag,): (i64,) = sqlx::query_as(
        "SELECT coalesce((SELECT max(seq) FROM events), 0) - ($1 + (pg_current_xact_id()::text::bigint << 12))",
    )
    .bind(base)
    .fetch_one(&mut *tx)
    .await?;
    let base = if lag < 0 { base } else { base + (lag / MOST + 1) * MOST };
    sqlx::query("UPDATE meta SET value = $1 WHERE name = 'events_base'")
        .bind(base)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(base)
}
