//! Reading from a cursor on, and pruning.

use super::{Error, Event, Lost, PAGE, Page};
use crate::store::{Conn, Engine, Store};

/// How many rows go in one transaction when the oldest are pruned: writers wait for so many at most.
const AT_ONCE: i64 = 2_000;

/// The ends of the feed.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct Ends {
    /// The newest row up to which none can come any more.
    pub(in crate::store) seen: i64,
    /// The newest row that is committed.
    pub(in crate::store) last: i64,
    /// The newest row that was pruned.
    pub(in crate::store) pruned: i64,
}

impl Store {
    /// The rows after a cursor that are wanted, at most `most` of them. With fewer, all up to the
    /// newest were looked at.
    ///
    /// # Errors
    /// The outer one is of the store; the inner one says that the cursor is lost.
    pub async fn events(
        &self,
        after: i64,
        most: usize,
        wanted: impl Fn(&Event) -> bool,
    ) -> Result<Result<Page, Lost>, Error> {
        let mut page = Page { events: Vec::new(), next: after };
        loop {
            let rest = most - page.events.len();
            if let Some(recent) = self.feed().recent(page.next, rest, &wanted) {
                page.events.extend(recent.events);
                page.next = recent.next;
                return Ok(Ok(page));
            }
            let newest = self.feed().newest();
            let mut conn = self.read().await?;
            if after > newest {
                // Of another database; or another replica, or a write's reply, was faster than this
                // process's follower.
                let is_ahead = after > last(&mut conn).await?;
                return Ok(if is_ahead { Err(Lost::Ahead(newest)) } else { Ok(page) });
            }
            let rows = self.rows(&mut conn, page.next).await?;
            // Looked at behind the rows: what is pruned between would be missed.
            let pruned = pruned(&mut conn).await?;
            if page.next < pruned {
                return Ok(if page.events.is_empty() {
                    Err(Lost::Pruned { next: pruned, oldest: oldest(&mut conn, pruned).await? })
                } else {
                    Ok(page)
                });
            }
            drop(conn);
            let began = page.next;
            // No cursor is given out that is ahead of what this process knows as the newest.
            for row in rows.into_iter().take_while(|row| row.seq <= newest) {
                if page.events.len() == most {
                    return Ok(Ok(page));
                }
                page.next = row.seq;
                if wanted(&row) {
                    page.events.push(row.into());
                }
            }
            if page.next == began {
                page.next = newest;
            }
        }
    }

    /// A page of the rows after a cursor, up to where none can come any more.
    pub(super) async fn rows(&self, conn: &mut Conn, after: i64) -> Result<Vec<Event>, Error> {
        let text = conn.pick(
            "SELECT seq, ts, kind, locus, id, op FROM events WHERE seq > $1 AND $2 = 0 ORDER BY seq LIMIT $3",
            "SELECT seq, ts, kind, locus, id, op FROM events WHERE seq > $1 AND seq < $2 + (pg_snapshot_xmin(pg_current_snapshot())::text::bigint << 12) ORDER BY seq LIMIT $3",
        );
        let rows = conn.sql(text).bind(after).bind(self.base()).bind(PAGE).all().await?;
        rows.iter()
            .map(|row| {
                let (seq, ts) = (row.get(0)?, row.get(1)?);
                Ok(Event::new(seq, ts, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
            })
            .collect()
    }

    /// Where the feed begins and ends at this moment, whatever the follower knows.
    pub(in crate::store) async fn ends(&self, conn: &mut Conn) -> Result<Ends, Error> {
        let seen = newest(conn, self.base()).await?;
        Ok(Ends { seen, last: last(conn).await?, pruned: pruned(conn).await? })
    }

    /// How long readers have been kept from the oldest change that is committed and cannot be seen
    /// yet, since a transaction that began before it is still open; zero when all can be seen.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn events_held_back(&self) -> Result<std::time::Duration, Error> {
        let mut conn = self.read().await?;
        let seen = newest(&mut conn, self.base()).await?.max(self.feed().newest());
        let text = "SELECT ts FROM events WHERE seq > $1 ORDER BY seq LIMIT 1";
        let row = conn.sql(text).bind(seen).opt().await?;
        let oldest = row.map(|row| row.get::<i64>(0)).transpose()?;
        let micros = oldest.map_or(0, |at| self.now().saturating_sub(at));
        Ok(std::time::Duration::from_micros(u64::try_from(micros).unwrap_or(0)))
    }

    pub(super) fn base(&self) -> i64 {
        match &self.0.engine {
            Engine::Postgres { base, .. } => *base,
            Engine::Sqlite { .. } => 0,
        }
    }

    /// The newest row that was pruned; 0 before any was. A cursor below it is lost.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn pruned_events(&self) -> Result<i64, Error> {
        pruned(&mut self.read().await?).await
    }

    /// Removes the oldest rows, so that `keep` stay: a few thousand in a transaction, so that no
    /// writer waits for long. How many went.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; what was removed before it stays so.
    pub async fn prune_events(&self, keep: u32) -> Result<u64, Error> {
        let mut gone = 0;
        loop {
            let mut conn = self.read().await?;
            let text = "SELECT max(seq) FROM (SELECT seq FROM events WHERE seq <= (SELECT seq FROM events ORDER BY seq DESC LIMIT 1 OFFSET $1) ORDER BY seq LIMIT $2) AS oldest";
            let last = conn.sql(text).bind(i64::from(keep)).bind(AT_ONCE).one().await?;
            drop(conn);
            let Some(last) = last.get::<Option<i64>>(0)? else { return Ok(gone) };
            gone += self.prune_to(last).await?;
        }
    }

    async fn prune_to(&self, last: i64) -> Result<u64, Error> {
        let mut tx = self.begin().await?;
        // First, so that two replicas wait for each other here and not among the rows.
        tx.sql("UPDATE meta SET value = $1 WHERE name = 'events_pruned' AND value < $1")
            .bind(last)
            .run()
            .await?;
        let gone = tx.sql("DELETE FROM events WHERE seq <= $1").bind(last).long().run().await?;
        tx.commit().await?;
        Ok(gone)
    }
}

/// The newest row that can be seen.
pub(super) async fn newest(conn: &mut Conn, base: i64) -> Result<i64, Error> {
    let text = conn.pick(
        "SELECT coalesce(max(seq), 0) FROM events WHERE $1 = 0",
        "SELECT coalesce(max(seq), 0) FROM events WHERE seq < $1 + (pg_snapshot_xmin(pg_current_snapshot())::text::bigint << 12)",
    );
    conn.sql(text).bind(base).one().await?.get(0)
}

/// The newest row that is committed, whether it can be seen yet or not.
async fn last(conn: &mut Conn) -> Result<i64, Error> {
    let last: i64 = conn.sql("SELECT coalesce(max(seq), 0) FROM events").one().await?.get(0)?;
    Ok(last.max(pruned(conn).await?))
}

/// The oldest row behind those that were pruned; the next number where there is none.
async fn oldest(conn: &mut Conn, pruned: i64) -> Result<i64, Error> {
    let text = "SELECT coalesce(min(seq), $2) FROM events WHERE seq > $1";
    conn.sql(text).bind(pruned).bind(pruned.saturating_add(1)).one().await?.get(0)
}

/// The newest row that was pruned.
pub(super) async fn pruned(conn: &mut Conn) -> Result<i64, Error> {
    conn.sql("SELECT value FROM meta WHERE name = 'events_pruned'").one().await?.get(0)
}
