//! Tokens: who was given one, what it may do, and whether it still stands. A secret is never here,
//! its SHA-256 is.
//!
//! A token is made, and perhaps revoked; it ends by that or by its time. What it may do never
//! changes. Its name stays taken for [`KEPT`] after its end, so that what records say of it stays
//! true; then the row goes.

#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, time::Duration};

use mcp::Scope;

use super::{
    Committed, Conn, Error, Row, Store, Tx,
    feed::Op,
    names::{Locus, TokenName},
};

/// What its rows are called in the feed. Their `id` is the row's number, not the token's name: the
/// feed has other readers than the operator.
pub const KIND: &str = "token";

/// The most tokens, those that have ended included.
pub const MOST: i64 = 10_000;

/// How long the row of a token stays after its end.
pub const KEPT: Duration = Duration::from_hours(90 * 24);

/// How many rows one transaction changes.
const BATCH: usize = 500;

/// A token that is to be made.
#[derive(Debug, Clone)]
pub struct New {
    /// Its name, which no other has or had lately.
    pub name: TokenName,
    /// The SHA-256 of its secret.
    pub hash: [u8; 32],
    /// What it may do.
    pub scope: Scope,
    /// The profile of the settings that says which tools it has.
    pub profile: Option<String>,
    /// The loci whose records it reaches; `None`: all.
    pub loci: Option<BTreeSet<Locus>>,
    /// How long it stands; `None`: until it is revoked.
    pub stands: Option<Duration>,
    /// What it may spend in a day of UTC, in millionths of a US dollar; `None`: no bound.
    pub budget: Option<i64>,
    /// The name of the token that it is made with.
    pub creator: String,
}

/// A token as it is kept. Times are microseconds of UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The row's number.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// The profile that says which tools it has.
    pub profile: Option<String>,
    /// The loci whose records it reaches; `None`: all.
    pub loci: Option<BTreeSet<String>>,
    /// What it may spend in a day of UTC, in millionths of a US dollar; `None`: no bound.
    pub budget: Option<i64>,
    /// When it was made.
    pub created: i64,
    /// The name of the token that it was made with.
    pub creator: String,
    /// When it ends by itself.
    pub expires: Option<i64>,
    /// When it was revoked.
    pub revoked: Option<i64>,
    /// When it was last used; about a minute late, as this is written behind.
    pub last_used: Option<i64>,
}

impl Token {
    /// Whether it stands at that time.
    pub fn stands(&self, now: i64) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| expires > now)
    }

    fn of(row: &Row) -> Result<Self, Error> {
        let odd = |what: &str| Error::Internal(format!("a token's {what} cannot be read"));
        let loci = row.get::<Option<String>>(4)?.map(|loci| serde_json::from_str(&loci));
        Ok(Self {
            id: row.get(0)?,
            name: row.get(1)?,
            scope: Scope::of_name(&row.get::<String>(2)?).ok_or_else(|| odd("scope"))?,
            profile: row.get(3)?,
            loci: loci.transpose().map_err(|_| odd("loci"))?,
            budget: row.get(5)?,
            created: row.get(6)?,
            creator: row.get(7)?,
            expires: row.get(8)?,
            revoked: row.get(9)?,
            last_used: row.get(10)?,
        })
    }
}

/// Makes a token.
///
/// # Errors
/// [`Error::Conflict`] when the name is taken, also by a token that has ended lately, or when there
/// are [`MOST`] tokens.
pub async fn mint(store: &Store, new: &New) -> Result<(Token, Committed), Error> {
    let loci = new.loci.as_ref().map(serde_json::to_string).transpose();
    let loci = loci.map_err(|error| Error::Internal(error.to_string()))?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.now();
            let stands = new.stands.map(|time| i64::try_from(time.as_micros()).unwrap_or(i64::MAX));
            let made = tx
                .sql(
                    "INSERT INTO tokens (name, hash, scope, profile, loci, budget, created, creator, expires) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 WHERE (SELECT count(*) FROM tokens) < $10 ON CONFLICT (name) DO NOTHING RETURNING id, name, scope, profile, loci, budget, created, creator, expires, revoked, last_used",
                )
                .bind(new.name.as_str())
                .bind(&new.hash[..])
                .bind(new.scope.as_str())
                .bind(new.profile.as_deref())
                .bind(loci.as_deref())
                .bind(new.budget)
                .bind(now)
                .bind(new.creator.as_str())
                .bind(stands.map(|stands| now.saturating_add(stands)))
                .bind(MOST)
                .opt()
                .await?;
            let Some(made) = made else {
                return Err(not_made(&mut tx, new.name.as_str()).await?);
            };
            let token = Token::of(&made)?;
            let committed = changed(tx, token.id, Op::Insert).await?;
            Ok((token, committed))
        })
        .await
}

/// Why a token could not be made.
async fn not_made(tx: &mut Tx, name: &str) -> Result<Error, Error> {
    let Some(token) = named(tx, name).await? else {
        return Ok(Error::Conflict(format!(
            "there are {MOST} tokens already, those that ended in the last 90 days included: revoke those that are not needed, they make room later"
        )));
    };
    let has = if token.stands(tx.now()) { "stands" } else { "has ended" };
    Ok(Error::Conflict(format!(
        "the name `{name}` belongs to a token that {has}: take another one, a name is free again 90 days after its token ended"
    )))
}

/// Revokes a token: from now on it ends wherever it is presented. One that is revoked already stays
/// as it is, and nothing is committed.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn revoke(store: &Store, name: &str) -> Result<(Token, Option<Committed>), Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.now();
            let revoked = tx
                .sql("UPDATE tokens SET revoked = $1 WHERE name = $2 AND revoked IS NULL RETURNING id, name, scope, profile, loci, budget, created, creator, expires, revoked, last_used")
                .bind(now)
                .bind(name)
                .opt()
                .await?;
            if let Some(row) = revoked {
                let token = Token::of(&row)?;
                let committed = changed(tx, token.id, Op::Update).await?;
                return Ok((token, Some(committed)));
            }
            let token = named(&mut tx, name).await?.ok_or_else(|| {
                let name = crate::untrusted::one_line(name, 80);
                Error::NotFound(format!("there is no token `{name}`: `token_list` names those that there are"))
            })?;
            // What ended it may be of the batch at hand, and is on the disk when this returns.
            tx.commit().await?;
            Ok((token, None))
        })
        .await
}

/// Says the change, and commits it.
async fn changed(mut tx: Tx, id: i64, op: Op) -> Result<Committed, Error> {
    tx.sql("UPDATE token_revision SET value = value + 1").run().await?;
    tx.event(KIND, "", &id.to_string(), op).await?;
    tx.commit().await
}

async fn named(conn: &mut Conn, name: &str) -> Result<Option<Token>, Error> {
    let text = "SELECT id, name, scope, profile, loci, budget, created, creator, expires, revoked, last_used FROM tokens WHERE name = $1";
    conn.sql(text).bind(name).opt().await?.as_ref().map(Token::of).transpose()
}

/// Every token, by name, from behind `after` on; at most `most`.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn list(conn: &mut Conn, after: &str, most: i64) -> Result<Vec<Token>, Error> {
    let text = "SELECT id, name, scope, profile, loci, budget, created, creator, expires, revoked, last_used FROM tokens WHERE name > $1 ORDER BY name LIMIT $2";
    let rows = conn.sql(text).bind(after).bind(most).all().await?;
    rows.iter().map(Token::of).collect()
}

/// Rises with each token that is made or revoked.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn revision(conn: &mut Conn) -> Result<i64, Error> {
    conn.sql("SELECT value FROM token_revision").one().await?.get(0)
}

/// The tokens that stand at that time, each with the hash of its secret.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn standing(conn: &mut Conn, now: i64) -> Result<Vec<(Token, [u8; 32])>, Error> {
    let text = "SELECT id, name, scope, profile, loci, budget, created, creator, expires, revoked, last_used, hash FROM tokens WHERE revoked IS NULL AND (expires IS NULL OR expires > $1) LIMIT $2";
    let rows = conn.sql(text).bind(now).bind(MOST).all().await?;
    let read = |row: &Row| {
        let hash = row.get::<Vec<u8>>(11)?.try_into();
        let hash = hash.map_err(|_| Error::Internal("a token's hash cannot be read".to_owned()))?;
        Ok((Token::of(row)?, hash))
    };
    rows.iter().map(read).collect()
}

/// Notes when tokens were last used, each by its number. No change of a record: the feed is not
/// told.
///
/// # Errors
/// [`Error::Unavailable`]; what was noted before that stands.
pub async fn used(store: &Store, uses: &[(i64, i64)]) -> Result<(), Error> {
    let mut uses = uses.to_vec();
    // In one order everywhere, so that no two replicas wait for each other's rows.
    uses.sort_unstable();
    for uses in uses.chunks(BATCH) {
        store
            .again(async || {
                let mut tx = store.begin().await?;
                for (id, at) in uses {
                    tx.sql("UPDATE tokens SET last_used = $1 WHERE id = $2 AND (last_used IS NULL OR last_used < $1)")
                        .bind(*at)
                        .bind(*id)
                        .run()
                        .await?;
                }
                tx.commit().await
            })
            .await?;
    }
    Ok(())
}

/// Removes tokens that ended more than [`KEPT`] ago. How many went.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn prune(store: &Store) -> Result<usize, Error> {
    let kept = i64::try_from(KEPT.as_micros()).unwrap_or(i64::MAX);
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let before = tx.now().saturating_sub(kept);
            let gone = tx
                .sql("DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE revoked < $1 OR expires < $1 ORDER BY id LIMIT 500) RETURNING id")
                .bind(before)
                .all()
                .await?;
            if gone.is_empty() {
                return Ok(0);
            }
            for row in &gone {
                let id: i64 = row.get(0)?;
                tx.event(KIND, "", &id.to_string(), Op::Delete).await?;
            }
            tx.commit().await?;
            Ok(gone.len())
        })
        .await
}
