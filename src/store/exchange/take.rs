//! Turns of a transcript taken in: many at once, each as if it had been recorded alone.

use std::collections::BTreeMap;

use mcp::Rights;
use serde_json::json;

use super::{
    Content, Way,
    list::reached,
    tripwire,
    write::{hold, put},
};
use crate::store::{Committed, Conn, Error, Store, names::Locus};

/// What taking turns in came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// What became of each turn, in their order.
    pub ways: Vec<Way>,
    /// That it stands.
    pub committed: Committed,
}

/// Takes turns in, in one transaction: at most a few hundred. One that breaks a rule of records
/// refuses them all.
///
/// # Errors
/// Those of [`super::record`].
pub async fn take(
    store: &Store,
    locus: &Locus,
    contents: &[Content],
    rights: &Rights,
) -> Result<Taken, Error> {
    let contents = contents.iter().map(|content| Ok(content.clone().checked()?.0));
    let contents: Vec<Content> = contents.collect::<Result<_, Error>>()?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            hold(&mut tx, locus, contents.iter().map(|content| &*content.session_id)).await?;
            let (mut ways, mut signals) = (Vec::new(), BTreeMap::<String, f64>::new());
            for content in &contents {
                let written = put(&mut tx, locus.as_str(), content.clone(), rights).await?;
                if written.way != Way::Same {
                    let signal = signals.entry(written.locus).or_default();
                    *signal = signal.max(tripwire::signal(&written.content));
                }
                ways.push(written.way);
            }
            for (locus, signal) in signals {
                tripwire::judge(&mut tx, &locus, signal).await?;
            }
            let committed = tx.commit().await?;
            Ok(Taken { ways, committed })
        })
        .await
}

/// How far the transcripts of sessions were taken in, in microseconds of UTC: the newest turn of
/// each that is there, under whatever locus that the reader reaches. Sessions of which none is
/// there are left out.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn floors(
    conn: &mut Conn,
    sessions: &[&str],
    rights: &Rights,
) -> Result<BTreeMap<String, i64>, Error> {
    let text = conn.pick(
        "SELECT session_id, max(primed) FROM exchanges WHERE session_id IN (SELECT value FROM json_each($1)) AND primed > 0 AND ($2 IS NULL OR locus IN (SELECT value FROM json_each($2))) GROUP BY session_id",
        "SELECT session_id, max(primed) FROM exchanges WHERE session_id IN (SELECT jsonb_array_elements_text($1::jsonb)) AND primed > 0 AND ($2 IS NULL OR locus IN (SELECT jsonb_array_elements_text($2::jsonb))) GROUP BY session_id",
    );
    let statement = conn.sql(text).bind(json!(sessions).to_string()).bind(reached(rights));
    let rows = statement.all().await?;
    rows.iter().map(|row| Ok((row.get(0)?, row.get(1)?))).collect()
}
