//! Exchanges recorded.

use mcp::Rights;

use super::{
    Content, KIND, Row, Tripwire,
    list::reached,
    row::{Columns, wholes},
    tripwire,
};
use crate::store::{
    Committed, Error, Store, Tx,
    feed::Op,
    names::{ExchangeId, Locus},
};

/// What recorders and rolls of a locus hold on PostgreSQL, with its name behind it.
const ROLLED: &str = "exchanges to roll up of ";

/// An exchange to be recorded.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Whose it is.
    pub locus: Locus,
    /// What it holds.
    pub content: Content,
}

/// What recording came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It is new.
    New,
    /// It was merged into what was there.
    Merged,
    /// All of it was there already.
    Same,
}

/// An exchange that was recorded.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// Its id.
    pub id: ExchangeId,
    /// Whose it is: where the turn was there under another locus, that one.
    pub locus: String,
    /// What it holds now.
    pub content: Content,
    /// What recording came to.
    pub way: Way,
    /// How many NUL characters were left out, which no record can hold.
    pub nuls: usize,
    /// Whether it gives reason to look again at what its locus is at.
    pub tripwire: Tripwire,
}

/// Records an exchange. A turn that is there already, under its locus or, of the same session, under
/// another one that the writer reaches, takes in what is new.
///
/// # Errors
/// [`Error::Invalid`], [`Error::TooLarge`]; those of the store.
pub async fn record(
    store: &Store,
    draft: Draft,
    rights: &Rights,
) -> Result<(Recorded, Committed), Error> {
    let Draft { locus, content } = draft;
    let (content, nuls) = content.checked()?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            hold(&mut tx, &locus, [&*content.session_id]).await?;
            let written = put(&mut tx, locus.as_str(), content.clone(), rights).await?;
            let signal = tripwire::signal(&written.content);
            let tripwire = tripwire::judge(&mut tx, &written.locus, signal).await?;
            // Also for what was there: on the disk before it is said.
            let committed = tx.commit().await?;
            let Written { id, locus, content, way } = written;
            Ok((Recorded { id, locus, content, way, nuls, tripwire }, committed))
        })
        .await
}

/// Lets nobody else record turns of these sessions until the transaction ends, nor roll the locus
/// up.
pub(super) async fn hold<'s>(
    tx: &mut Tx,
    locus: &Locus,
    sessions: impl IntoIterator<Item = &'s str>,
) -> Result<(), Error> {
    // In one order everywhere, so that no two wait for each other.
    let sessions: std::collections::BTreeSet<_> = sessions.into_iter().collect();
    for session in sessions.into_iter().filter(|session| !session.is_empty()) {
        tx.hold("exchanges of ", session).await?;
    }
    tx.hold_with(ROLLED, locus.as_str()).await
}

/// Waits until nobody records at a locus, and lets nobody begin until the transaction ends. The time
/// of what is recorded behind it is then later than of all that is there.
///
/// # Errors
/// Those of the store.
pub(in crate::store) async fn quiet(tx: &mut Tx, locus: &Locus) -> Result<(), Error> {
    tx.hold(ROLLED, locus.as_str()).await
}

/// An exchange that was written.
pub(super) struct Written {
    pub(super) id: ExchangeId,
    pub(super) locus: String,
    pub(super) content: Content,
    pub(super) way: Way,
}

/// Writes an exchange within a transaction that holds its session.
pub(super) async fn put(
    tx: &mut Tx,
    locus: &str,
    mut content: Content,
    rights: &Rights,
) -> Result<Written, Error> {
    // Taken behind the locks: whoever waited for one is later than who had it. Nothing is recorded
    // before it was: a clock that is ahead would hide from the next roll what others say meanwhile.
    let now = tx.now();
    if content.ts == 0 {
        content.ts = now;
    }
    content.ts = content.ts.min(now);
    content.primed = content.primed.min(now);
    let Some(there) = find(tx, locus, &content, rights).await? else {
        let number = insert(tx, locus, &content).await?;
        let id = ExchangeId::new(number);
        tx.event(KIND, locus, &id.to_string(), Op::Insert).await?;
        return Ok(Written { id, locus: locus.to_owned(), content, way: Way::New });
    };
    let (id, locus) = (there.id(), there.locus.clone());
    let before = there.into_content();
    let content = before.clone().merged(content);
    if content == before {
        return Ok(Written { id, locus, content, way: Way::Same });
    }
    update(tx, id, &content).await?;
    tx.event(KIND, &locus, &id.to_string(), Op::Update).await?;
    Ok(Written { id, locus, content, way: Way::Merged })
}

/// The row of a turn, held until the transaction ends: of its locus, else of its session.
async fn find(
    tx: &mut Tx,
    locus: &str,
    content: &Content,
    rights: &Rights,
) -> Result<Option<Row>, Error> {
    const OF_LOCUS: &str = wholes!("WHERE locus = $1 AND turn = $2 AND turn <> ''");
    const OF_LOCUS_HELD: &str = wholes!("WHERE locus = $1 AND turn = $2 AND turn <> '' FOR UPDATE");
    const OF_SESSION: &str = wholes!(
        "WHERE session_id = $1 AND session_id <> '' AND turn = $2 AND turn <> '' AND ($3 IS NULL OR locus IN (SELECT value FROM json_each($3))) ORDER BY id LIMIT 1"
    );
    const OF_SESSION_HELD: &str = wholes!(
        "WHERE session_id = $1 AND session_id <> '' AND turn = $2 AND turn <> '' AND ($3 IS NULL OR locus IN (SELECT jsonb_array_elements_text($3::jsonb))) ORDER BY id LIMIT 1 FOR UPDATE"
    );
    if content.turn.is_empty() {
        return Ok(None);
    }
    let text = tx.pick(OF_LOCUS, OF_LOCUS_HELD);
    let mut found = tx.sql(text).bind(locus).bind(&*content.turn).opt().await?;
    if found.is_none() && !content.session_id.is_empty() {
        let text = tx.pick(OF_SESSION, OF_SESSION_HELD);
        let statement = tx.sql(text).bind(&*content.session_id).bind(&*content.turn);
        found = statement.bind(reached(rights)).opt().await?;
    }
    found.as_ref().map(Row::read).transpose()
}

async fn insert(tx: &mut Tx, locus: &str, content: &Content) -> Result<i64, Error> {
    const TEXT: &str = "INSERT INTO exchanges (turn, session_id, ts, origin, source, model, primed, updated, tokens, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, cost_usd, duration_s, cache_ttl_s, cache_expires_at, prompt_chars, response_chars, clipped, prompt_head, response_head, pointers_head, pointers, prompt, response, recorded, locus) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $8, $27) ON CONFLICT (locus, turn) WHERE turn <> '' DO NOTHING RETURNING id";
    let now = tx.now();
    let made = bind(tx.sql(TEXT), content, now).bind(locus).opt().await?;
    // Somebody recorded the turn between the look and this.
    made.ok_or(Error::Retry)?.get(0)
}

/// Writes what a row holds now.
pub(super) async fn update(tx: &mut Tx, id: ExchangeId, content: &Content) -> Result<(), Error> {
    const TEXT: &str = "UPDATE exchanges SET turn = $1, session_id = $2, ts = $3, origin = $4, source = $5, model = $6, primed = $7, updated = $8, tokens = $9, input_tokens = $10, output_tokens = $11, cache_read_tokens = $12, cache_creation_tokens = $13, cost_usd = $14, duration_s = $15, cache_ttl_s = $16, cache_expires_at = $17, prompt_chars = $18, response_chars = $19, clipped = $20, prompt_head = $21, response_head = $22, pointers_head = $23, pointers = $24, prompt = $25, response = $26 WHERE id = $27";
    let now = tx.now();
    let changed = bind(tx.sql(TEXT), content, now).bind(id.number()).run().await?;
    // Gone between the look and this.
    if changed == 1 { Ok(()) } else { Err(Error::Retry) }
}

/// Binds what a row holds, in the order of both statements.
fn bind<'c>(
    statement: crate::store::Stmt<'c>,
    content: &Content,
    now: i64,
) -> crate::store::Stmt<'c> {
    let columns = Columns::of(content);
    let tokens = &content.tokens;
    statement
        .bind(&*content.turn)
        .bind(&*content.session_id)
        .bind(content.ts)
        .bind(columns.origin)
        .bind(&*content.source)
        .bind(&*content.model)
        .bind(content.primed)
        .bind(now)
        .bind(tokens.total)
        .bind(tokens.input)
        .bind(tokens.output)
        .bind(tokens.cache_read)
        .bind(tokens.cache_creation)
        .bind(tokens.cost_usd)
        .bind(tokens.duration_s)
        .bind(tokens.cache_ttl_s)
        .bind(tokens.cache_expires_at)
        .bind(columns.prompt_chars)
        .bind(columns.response_chars)
        .bind(columns.clipped)
        .bind(columns.prompt_head)
        .bind(columns.response_head)
        .bind(columns.pointers_head)
        .bind(columns.pointers)
        .bind(&*content.prompt)
        .bind(&*content.response)
}
