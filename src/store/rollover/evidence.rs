//! What is there of a handoff.

use mcp::Rights;

use crate::store::{
    Conn, Error,
    ledger::{self, HEADINGS},
    names::{Locus, Task},
};

/// What was found of a handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Evidence {
    /// Nothing, or nothing was looked for.
    Nothing,
    /// What the session left under its own id.
    Session {
        /// `session:<id>`.
        id: String,
        /// When, in microseconds of UTC.
        at: i64,
    },
    /// A ledger.
    Ledger {
        /// `locus/task`.
        id: String,
        /// The session that wrote it last.
        writer: String,
        /// When, in microseconds of UTC.
        updated: i64,
        /// The headings that it needs and has nothing under.
        empty: Vec<&'static str>,
    },
}

impl Evidence {
    /// What the successor goes on from.
    pub(super) fn id(&self) -> Option<&String> {
        match self {
            Self::Nothing => None,
            Self::Session { id, .. } | Self::Ledger { id, .. } => Some(id),
        }
    }

    /// Looks for the handoff of a session: in the ledger that is named, or under its own id.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a ledger that is not there, or not for this caller;
    /// [`Error::Invalid`] for what names none; those of the store.
    pub(super) async fn find(
        conn: &mut Conn,
        session: &str,
        handoff_id: &str,
        rights: &Rights,
    ) -> Result<Self, Error> {
        let own = format!("session:{session}");
        if handoff_id.is_empty() || handoff_id == own {
            return of_session(conn, session, own, rights).await;
        }
        let Some((locus, task)) = handoff_id.split_once('/') else {
            return Err(Error::Invalid(
                "`handoff_id` is `locus/task` of a ledger that this session wrote, or left out for what it stored with `seat_session_handoff`"
                    .to_owned(),
            ));
        };
        let (locus, task) = (Locus::parse(locus)?, Task::parse(task)?);
        if !rights.reaches(locus.as_str()) {
            return Err(Error::NotFound(format!(
                "no ledger `{locus}/{task}`: `ledger_list` names those that there are"
            )));
        }
        let found = ledger::get(conn, &locus, Some(&task)).await?;
        let texts = ledger::texts(&found.doc);
        // The empty bullet of the template says nothing.
        let says = |text: &str| text.chars().any(|c| !c.is_whitespace() && !"-*".contains(c));
        let has = |heading: &str| texts.iter().any(|(name, text)| *name == heading && says(text));
        Ok(Self::Ledger {
            id: format!("{locus}/{task}"),
            writer: found.head.session_id,
            updated: found.head.updated,
            empty: HEADINGS.into_iter().filter(|heading| !has(heading)).collect(),
        })
    }
}

async fn of_session(
    conn: &mut Conn,
    session: &str,
    id: String,
    rights: &Rights,
) -> Result<Evidence, Error> {
    let row = conn
        .sql(
            "SELECT locus, handoff_at FROM claude_sessions WHERE session_id = $1 AND handoff <> ''",
        )
        .bind(session)
        .opt()
        .await?;
    let Some(row) = row else { return Ok(Evidence::Nothing) };
    if !rights.reaches(&row.get::<String>(0)?) {
        return Ok(Evidence::Nothing);
    }
    Ok(Evidence::Session { id, at: row.get(1)? })
}
