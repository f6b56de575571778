//! `adjutant restore`: a backup in the place of the records.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::{
    Context, Run,
    exit::Error,
    files::{in_shell, shown},
    progress::Spinner,
};
use crate::{
    boot::{DataDir, Failure, place},
    clock::Clock,
    store::{Place, backup},
};

/// Put a backup in the place of the records, which are kept beside it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant restore ~/backups/adjutant-2026-11-30.db

No server may run on the data directory meanwhile. The backup is looked over whole and brought up to \
date on a copy before anything is touched; it stays as it is, and so do the records that were there, \
under the name that this says. Records in PostgreSQL are brought back by its own `pg_restore`: this then \
says how.")]
pub(super) struct Restore {
    /// The backup
    file: PathBuf,
}

impl Run for Restore {
    async fn run(self, cx: Context) -> Result<(), Error> {
        let loaded = cx.settings(Vec::new())?;
        let Place::Dir(dir) = place(&loaded.settings, &loaded.data_dir) else {
            return Err(Error::usage(format!(
                "the records are in PostgreSQL: with the servers stopped and the URL of a new, empty database, bring them back with this line:\npg_restore --dbname=\"$ADJUTANT_DATABASE_URL\" {}",
                in_shell(&self.file)
            )));
        };
        let lock = alone(&dir, "restoring")?;
        let work = async {
            Ok::<_, Error>(backup::restore(&dir, &self.file, Clock::system().now()).await?)
        };
        // Not to be interrupted: what is left half way is for the next start to clear away.
        let done = Spinner::new("restoring the records").during(Box::pin(work)).await?;
        drop(lock);
        cx.print(&if cx.globals.json {
            let kept = done.kept.as_ref().map(|kept| kept.display().to_string());
            format!("{}\n", json!({ "seq": done.seq, "kept": kept }))
        } else {
            let kept = done.kept.as_deref().map(shown);
            let kept = kept.map(|kept| format!("; what was there is kept as {kept}"));
            format!("restored, with every change up to {}{}\n", done.seq, kept.unwrap_or_default())
        })
    }
}

/// The data directory, to itself.
///
/// # Errors
/// When a server runs on it, or it cannot be used; `what` is what needs it.
pub(super) fn alone(dir: &Path, what: &str) -> Result<DataDir, Error> {
    DataDir::open(dir).map_err(|failure| {
        let is_taken = matches!(failure, Failure::SecondInstance { .. });
        let mut error = Error::from(failure);
        if is_taken {
            error.message =
                format!("{what} needs the data directory to itself, and {}", error.message);
        }
        error
    })
}
