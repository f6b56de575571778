//! `adjutant backup`: the records as one file.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{
    Context, Run,
    exit::{Error, Exit},
    files::{in_shell, shown},
    progress::Spinner,
    stop,
};
use crate::{
    boot::{Failure, place},
    store::{Place, backup},
};

/// Copy the records to a file, while the server runs or not
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant backup ~/backups/adjutant-$(date +%F).db
  adjutant backup --json /mnt/backup/adjutant.db | jq .seq

The copy is one moment of the records, looked over whole and on the disk before this ends; a file that \
is there already is left as it is. `seq` is the newest change in it. Records in PostgreSQL are copied \
by its own `pg_dump`: this then says how.")]
pub(super) struct Backup {
    /// The file to make; it must not be there yet
    file: PathBuf,
}

impl Run for Backup {
    async fn run(self, cx: Context) -> Result<(), Error> {
        let loaded = cx.settings(Vec::new())?;
        let Place::Dir(dir) = place(&loaded.settings, &loaded.data_dir) else {
            return Err(Error::usage(format!(
                "the records are in PostgreSQL: copy them with this line:\npg_dump --format=custom --schema=adjutant --file={} \"$ADJUTANT_DATABASE_URL\"",
                in_shell(&self.file)
            )));
        };
        let look = Spinner::new("copying the records");
        let work = async { Ok(backup::backup(&dir, &self.file).await?) };
        let made = stop::on_interrupt(look.during(Box::pin(work))).await?;
        let shown = shown(&self.file);
        cx.print(&if cx.globals.json {
            let (bytes, seq, step) = (made.bytes, made.seq, made.step);
            format!("{}\n", json!({ "file": self.file.display().to_string(), "bytes": bytes, "seq": seq, "schema": step }))
        } else {
            let size = bytesize::ByteSize(made.bytes);
            format!("{shown}: {size}, sound, with every change up to {}\n", made.seq)
        })
    }
}

impl From<backup::Error> for Error {
    fn from(error: backup::Error) -> Self {
        let error = match error {
            backup::Error::Open(error) => return Failure::from(error).into(),
            other => other,
        };
        let exit = match &error {
            backup::Error::Io { .. } | backup::Error::Open(_) => Exit::Failed,
            backup::Error::Exists(_) | backup::Error::Missing(_) => Exit::Usage,
            backup::Error::Damaged { .. } => Exit::Unhealthy,
        };
        Self::new(exit, error.to_string())
    }
}
