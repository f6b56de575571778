//! What a session left for whoever goes on with it.

use mcp::Rights;

use crate::store::{Conn, Error};

/// What a session left; all of it is empty when it left nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// The text.
    pub handoff: String,
    /// The session that went on with it.
    pub resumed_by: String,
    /// When, in microseconds of UTC; 0 when none did.
    pub resumed_at: i64,
}

/// What a session left. Of one that is not known, or not the reader's, as much as of one that left
/// nothing.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn left(conn: &mut Conn, session: &str, rights: &Rights) -> Result<Left, Error> {
    // No id of ours has one, and PostgreSQL takes none.
    if session.contains('\0') {
        return Ok(Left::default());
    }
    let row = conn
        .sql("SELECT locus, handoff, resumed_by, resumed_at FROM claude_sessions WHERE session_id = $1")
        .bind(session)
        .opt()
        .await?;
    let Some(row) = row else { return Ok(Left::default()) };
    if !rights.reaches(&row.get::<String>(0)?) {
        return Ok(Left::default());
    }
    Ok(Left { handoff: row.get(1)?, resumed_by: row.get(2)?, resumed_at: row.get(3)? })
}
