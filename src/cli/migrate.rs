//! `adjutant migrate`: the schema of the records, brought up to date without a server.

use clap::Args;
use serde_json::json;

use super::{Context, Run, exit::Error, progress::Spinner, restore::alone};
use crate::{
    boot::{Failure, place},
    clock::Clock,
    store::{Place, Store, check},
};

/// Bring the schema of the records up to date without starting a server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant migrate

Every start does the same. In a data directory no server may run meanwhile, the work is done on a copy \
that takes the file's place when it is whole, and what was there is kept beside it. In PostgreSQL each \
step is one transaction.")]
pub(super) struct Migrate {}

impl Run for Migrate {
    async fn run(self, cx: Context) -> Result<(), Error> {
        let loaded = cx.settings(Vec::new())?;
        let place = place(&loaded.settings, &loaded.data_dir);
        let lock = match &place {
            Place::Dir(dir) => Some(alone(dir, "migrating")?),
            Place::Postgres { .. } => None,
        };
        let before = check::probe(&place).await.map_err(Failure::from)?.step;
        let open = async { Store::open(&place, Clock::system()).await.map_err(Failure::from) };
        let store = Spinner::new("migrating the records").during(Box::pin(open)).await?;
        drop(store);
        let after = check::probe(&place).await.map_err(Failure::from)?;
        drop(lock);
        let step = after.step.unwrap_or_default();
        cx.print(&if cx.globals.json {
            format!("{}\n", json!({ "place": after.place, "before": before, "schema": step }))
        } else {
            let was = match before {
                Some(before) if before == step => "was there already".to_owned(),
                Some(before) => format!("was at step {before}"),
                None => "is new".to_owned(),
            };
            format!("{}: schema at step {step}, {was}\n", after.place)
        })
    }
}
