//! The locus of a machine: its name is made, so it must not come to stand for another machine.

use serde_json::json;

use super::{Endpoint, Kind, Record, Registration, get, insert};
use crate::store::{Error, Store, Tx, names::Keeper};

/// As [`machine_in`], in a transaction of its own.
///
/// # Errors
/// As [`machine_in`].
pub async fn machine(store: &Store, place: &Endpoint, goal: &str) -> Result<Record, Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let record = machine_in(&mut tx, place, goal).await?;
            tx.commit().await?;
            Ok(record)
        })
        .await
}

/// The locus that stands for a login on a machine, put there where there is none: `<host>-<login>`
/// as a slug. Two places whose slugs are one stay two loci: where the name is taken by anything
/// else, the second has a name with a hash of the place in it. An archived one stays archived.
///
/// # Errors
/// [`Error::Conflict`] when that name is taken by something else too; those of a write.
pub async fn machine_in(tx: &mut Tx, place: &Endpoint, goal: &str) -> Result<Record, Error> {
    let Endpoint { user, host, .. } = place;
    let apart = Keeper::slug_apart(&place.to_string());
    let wished = Keeper::slug(&format!("{host}-{user}"));
    for locus in wished.into_iter().chain([apart]) {
        let record = default_in(tx, &Registration::of_machine(locus, place, goal)).await?;
        if record.stands_for(place) {
            return Ok(record);
        }
    }
    Err(Error::Conflict(format!(
        "every name for the machine `{place}` stands for something else: register a locus with this endpoint yourself"
    )))
}

impl Registration {
    /// A login on a machine, by that name.
    pub fn of_machine(locus: Keeper, place: &Endpoint, goal: &str) -> Self {
        let Endpoint { user, host, port } = place;
        let ssh = json!({ "host": host, "user": user, "port": port, "key": "" });
        Self {
            goal: goal.to_owned(),
            endpoint: place.short(),
            pointer: Some([("ssh".to_owned(), ssh)].into_iter().collect()),
            ..Self::new(locus, Kind::Station)
        }
    }
}

/// As [`default_in`], in a transaction of its own.
///
/// # Errors
/// As [`default_in`].
pub async fn default(store: &Store, registration: &Registration) -> Result<Record, Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let record = default_in(&mut tx, registration).await?;
            tx.commit().await?;
            Ok(record)
        })
        .await
}

/// Registers a locus where its name is free, and gives what stands under it: what is there already
/// is left as it is, archived or not.
///
/// # Errors
/// As for [`super::register`].
pub async fn default_in(tx: &mut Tx, registration: &Registration) -> Result<Record, Error> {
    let new = registration.upon(None, tx.now())?;
    if insert(tx, &new).await? {
        return Ok(new);
    }
    let gone = || Error::Internal("a locus is gone that was there".to_owned());
    get(tx, &new.locus).await?.ok_or_else(gone)
}
