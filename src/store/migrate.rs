//! The schema, step by step: the same numbers on both engines, never edited once released.

use std::borrow::Cow;

use sqlx::{
    SqlSafeStr as _,
    migrate::{AppliedMigration, MigrateError, Migration, MigrationType, Migrator},
};

use super::OpenError;

/// One step of the schema, in the words of each engine.
struct Step {
    number: i64,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

macro_rules! step {
    ($number:literal, $file:literal) => {
        Step {
            number: $number,
            name: $file,
            sqlite: include_str!(concat!("../../migrations/sqlite/", $file, ".sql")),
            postgres: include_str!(concat!("../../migrations/postgres/", $file, ".sql")),
        }
    };
}

/// Every step, in order.
const STEPS: &[Step] = &[
    step!(1, "0001_feed"),
    step!(2, "0002_ledger"),
    step!(3, "0003_todo"),
    step!(4, "0004_locus"),
    step!(5, "0005_board"),
    step!(6, "0006_seat"),
    step!(7, "0007_message"),
    step!(8, "0008_token"),
    step!(9, "0009_handoff"),
    step!(10, "0010_exchanges"),
    step!(11, "0011_results"),
    step!(12, "0012_search"),
    step!(13, "0013_canvas"),
];

/// The table that says which steps were taken.
const TABLE: &str = "adjutant_migrations";

/// The newest step: what the schema is called.
pub(super) fn newest() -> i64 {
    STEPS.last().map_or(0, |step| step.number)
}

/// The steps for SQLite.
pub(super) fn sqlite() -> Migrator {
    migrator(|step| step.sqlite)
}

/// The steps for PostgreSQL.
pub(super) fn postgres() -> Migrator {
    migrator(|step| step.postgres)
}

fn migrator(text: impl Fn(&Step) -> &'static str) -> Migrator {
    let of = |step: &Step| {
        let (name, sql) = (Cow::Borrowed(step.name), text(step).into_sql_str());
        Migration::new(step.number, name, MigrationType::Simple, sql, false)
    };
    let mut migrator = Migrator::with_migrations(STEPS.iter().map(of).collect());
    migrator.dangerous_set_table_name(TABLE);
    migrator
}

/// The newest step that was taken; 0 when none was.
///
/// # Errors
/// When one of them is newer than any here, or is another than the one of that number here.
pub(super) fn judge(
    taken: &[AppliedMigration],
    steps: &Migrator,
    place: &str,
) -> Result<i64, OpenError> {
    let last = taken.iter().map(|step| step.version).max().unwrap_or_default();
    if last > newest() {
        return Err(explain(MigrateError::VersionMissing(last), place));
    }
    let is_ours = |taken: &&AppliedMigration| {
        steps.iter().any(|step| step.version == taken.version && step.checksum == taken.checksum)
    };
    match taken.iter().find(|step| !is_ours(step)) {
        Some(other) => Err(explain(MigrateError::VersionMismatch(other.version), place)),
        None => Ok(last),
    }
}

/// Why a schema cannot be brought up to date, in words.
pub(super) fn explain(error: MigrateError, place: &str) -> OpenError {
    match error {
        MigrateError::VersionMissing(number) => {
            OpenError::Newer { place: place.to_owned(), number, newest: newest() }
        }
        MigrateError::VersionMismatch(number) => OpenError::Foreign {
            place: place.to_owned(),
            why: format!("step {number} of its schema is not the one of this program"),
        },
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
            OpenError::failed(place, &error)
        }
        other => OpenError::Failed { place: place.to_owned(), why: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_are_numbered_from_one_without_a_gap_and_named_after_their_number() {
        for (step, number) in STEPS.iter().zip(1..) {
            assert_eq!(step.number, number);
            assert!(step.name.starts_with(&format!("{number:04}_")), "{}", step.name);
        }
        for engine in ["sqlite", "postgres"] {
            let dir = format!("{}/migrations/{engine}", env!("CARGO_MANIFEST_DIR"));
            assert_eq!(std::fs::read_dir(dir).unwrap().count(), STEPS.len(), "{engine}");
        }
    }
}
