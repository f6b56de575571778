//! What becomes of the files of prompts: those of prompts that went go too, and so does what was
//! never finished or never submitted.

use std::{io, sync::Arc, time::Duration};

use tokio::task::spawn_blocking;

use crate::{
    files::Shelf,
    store::{Error, Store, prompt},
};

/// How often it is looked.
const LOOK: Duration = Duration::from_hours(1);

/// After how many seconds a directory that belongs to no prompt goes. There is none but where a
/// removal broke off, or older records were put back: then somebody may yet want it.
const STRAY_S: i64 = 30 * 86_400;

/// How many directories are asked for at once.
const BATCH: usize = 500;

/// Looks after the files of prompts until the server ends.
pub(super) async fn look_after(store: Store, shelf: Arc<Shelf>) {
    loop {
        if let Err(why) = tidy(&store, &shelf).await {
            tracing::warn!(%why, "the files of prompts cannot be looked after: it is tried again in an hour");
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Removes the prompts whose time is over, and the directories that belong to none.
async fn tidy(store: &Store, shelf: &Arc<Shelf>) -> Result<(), String> {
    let told = |error: Error| format!("{error:?}");
    for place in prompt::prune(store).await.map_err(told)? {
        on_shelf(shelf, move |shelf| shelf.remove(&place)).await?;
    }
    let before = store.now() / 1_000_000 - STRAY_S;
    let places = on_shelf(shelf, Shelf::places).await?;
    let (left, old): (Vec<_>, Vec<_>) = places
        .into_iter()
        .filter(|place| place.changed < before)
        .partition(crate::files::Place::is_left_over);
    for place in left {
        on_shelf(shelf, move |shelf| shelf.clear(&place.name)).await?;
    }
    let old: Vec<String> = old.into_iter().map(|place| place.name).collect();
    for batch in old.chunks(BATCH) {
        let known = prompt::known(store, batch).await.map_err(told)?;
        for place in batch.iter().filter(|place| !known.contains(place)) {
            tracing::info!(place, "files that belong to no prompt were removed");
            let place = place.clone();
            on_shelf(shelf, move |shelf| shelf.remove(&place)).await?;
        }
    }
    Ok(())
}

async fn on_shelf<T: Send + 'static>(
    shelf: &Arc<Shelf>,
    work: impl FnOnce(&Shelf) -> io::Result<T> + Send + 'static,
) -> Result<T, String> {
    let shelf = shelf.clone();
    let done = spawn_blocking(move || work(&shelf)).await;
    done.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
