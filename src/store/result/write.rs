//! Keeping replies, and letting them go.

use std::time::Duration;

use super::{BATCH, Bounds, Extent, Form, Kept, New, PART, ROW, UNFINISHED};
use crate::{
    ids,
    store::{Error, Store, Tx},
};

/// Keeps a reply whole. When this is `Ok`, it is on the disk.
///
/// # Errors
/// [`Error::TooLarge`] for one that is larger than all that a token may have; those of a write.
pub async fn keep(store: &Store, new: &New<'_>, bounds: &Bounds) -> Result<Kept, Error> {
    let handle = ids::handle().map_err(|error| Error::Internal(error.to_string()))?;
    let (json, text) = (extent(new.json), new.text.map(extent));
    let room = count(json.bytes).saturating_add(text.map_or(0, |text| count(text.bytes))) + ROW;
    let most = i64::try_from(bounds.per_token.min(bounds.in_all)).unwrap_or(i64::MAX);
    if room > most {
        return Err(Error::TooLarge(format!(
            "it has {} bytes, and {most} are the most that one token may keep",
            room - ROW
        )));
    }
    let mut kept = Kept {
        handle,
        tool: new.tool.to_owned(),
        is_error: new.is_error,
        created: 0,
        expires: 0,
        json,
        text,
    };
    let parts: Vec<(Form, i64, &[u8])> = [(Form::Json, Some(new.json)), (Form::Text, new.text)]
        .into_iter()
        .filter_map(|(form, text)| Some((form, text?)))
        .flat_map(|(form, text)| {
            (0..).zip(text.as_bytes().chunks(PART)).map(move |(nth, body)| (form, nth, body))
        })
        .collect();
    let (first, rest) = parts.split_at(parts.len().min(BATCH));
    let (created, expires) = store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.now();
            let stays = if rest.is_empty() { bounds.keep } else { UNFINISHED };
            let expires = now.saturating_add(micros(stays));
            make_room(&mut tx, new.token, room, bounds).await?;
            insert(&mut tx, &kept, new.token, expires, rest.is_empty(), room).await?;
            write(&mut tx, &kept, first).await?;
            tx.commit().await?;
            Ok((now, expires))
        })
        .await?;
    (kept.created, kept.expires) = (created, expires);
    for parts in rest.chunks(BATCH) {
        store
            .again(async || {
                let mut tx = store.begin().await?;
                let now = tx.now();
                // Held, so that it does not go while more of it comes.
                let held = tx
                    .sql("UPDATE results SET complete = FALSE WHERE handle = $1 AND expires > $2")
                    .bind(kept.handle.as_str())
                    .bind(now)
                    .run()
                    .await?;
                if held == 0 {
                    return Err(crowded_out());
                }
                write(&mut tx, &kept, parts).await?;
                tx.commit().await
            })
            .await?;
    }
    if !rest.is_empty() {
        kept.expires = finish(store, &kept, bounds.keep).await?;
    }
    Ok(kept)
}

/// Makes a reply that was written in several transactions readable.
async fn finish(store: &Store, kept: &Kept, keep: Duration) -> Result<i64, Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.now();
            let expires = now.saturating_add(micros(keep));
            let done = tx
                .sql("UPDATE results SET complete = TRUE, expires = $2 WHERE handle = $1 AND expires > $3")
                .bind(kept.handle.as_str())
                .bind(expires)
                .bind(now)
                .run()
                .await?;
            if done == 0 {
                return Err(crowded_out());
            }
            tx.commit().await?;
            Ok(expires)
        })
        .await
}

fn crowded_out() -> Error {
    Error::Conflict("newer ones took its room before it was written".to_owned())
}

/// The oldest expire until there is room, those of the token first where it has too much. Their
/// bytes are removed by [`prune`].
async fn make_room(tx: &mut Tx, token: &str, room: i64, bounds: &Bounds) -> Result<(), Error> {
    // Two at once could each take the last room.
    tx.hold("room for replies", "").await?;
    let (now, most) = (tx.now(), |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX));
    tx.sql("UPDATE results SET expires = $2 WHERE handle IN (SELECT handle FROM (SELECT handle, sum(room) OVER (ORDER BY created DESC, handle) AS newer FROM results WHERE token = $1 AND expires > $2) AS own WHERE newer > $3)")
        .bind(token)
        .bind(now)
        .bind(most(bounds.per_token) - room)
        .run()
        .await?;
    tx.sql("UPDATE results SET expires = $1 WHERE handle IN (SELECT handle FROM (SELECT handle, sum(room) OVER (ORDER BY created DESC, handle) AS newer FROM results WHERE expires > $1) AS every WHERE newer > $2)")
        .bind(now)
        .bind(most(bounds.in_all) - room)
        .run()
        .await?;
    Ok(())
}

async fn insert(
    tx: &mut Tx,
    kept: &Kept,
    token: &str,
    expires: i64,
    complete: bool,
    room: i64,
) -> Result<(), Error> {
    let now = tx.now();
    tx.sql("INSERT INTO results (handle, token, tool, is_error, created, expires, complete, room, json_bytes, json_lines, text_bytes, text_lines) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)")
        .bind(kept.handle.as_str())
        .bind(token)
        .bind(kept.tool.as_str())
        .bind(kept.is_error)
        .bind(now)
        .bind(expires)
        .bind(complete)
        .bind(room)
        .bind(count(kept.json.bytes))
        .bind(count(kept.json.lines))
        .bind(kept.text.map(|text| count(text.bytes)))
        .bind(kept.text.map(|text| count(text.lines)))
        .run()
        .await?;
    Ok(())
}

async fn write(tx: &mut Tx, kept: &Kept, parts: &[(Form, i64, &[u8])]) -> Result<(), Error> {
    for (form, nth, body) in parts {
        tx.sql("INSERT INTO result_parts (handle, kind, nth, body) VALUES ($1, $2, $3, $4)")
            .bind(kept.handle.as_str())
            .bind(form.name())
            .bind(*nth)
            .bind(*body)
            .run()
            .await?;
    }
    Ok(())
}

/// Removes what has expired, a few parts at a time. How many replies went.
///
/// # Errors
/// Those of a write.
pub async fn prune(store: &Store) -> Result<usize, Error> {
    let mut gone = 0;
    loop {
        let mut conn = store.read().await?;
        let expired = conn
            .sql("SELECT handle FROM results WHERE expires <= $1 ORDER BY expires LIMIT 100")
            .bind(store.now())
            .all()
            .await?;
        drop(conn);
        if expired.is_empty() {
            return Ok(gone);
        }
        for row in &expired {
            let handle: String = row.get(0)?;
            while !remove(store, &handle).await? {}
            gone += 1;
        }
    }
}

/// Removes some parts of a reply, or the rest of it: then it is gone.
async fn remove(store: &Store, handle: &str) -> Result<bool, Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let parts = tx
                .sql("DELETE FROM result_parts WHERE handle = $1 AND (kind, nth) IN (SELECT kind, nth FROM result_parts WHERE handle = $1 LIMIT $2)")
                .bind(handle)
                .bind(i64::try_from(BATCH).unwrap_or(i64::MAX))
                .run()
                .await?;
            let is_rest = usize::try_from(parts).is_ok_and(|parts| parts < BATCH);
            if is_rest {
                tx.sql("DELETE FROM results WHERE handle = $1").bind(handle).run().await?;
            }
            tx.commit().await?;
            Ok(is_rest)
        })
        .await
}

fn extent(text: &str) -> Extent {
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
    Extent { bytes: text.len(), lines }
}

fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}
