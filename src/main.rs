//! The one binary: see `cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    adjutant::cli::main()
}
