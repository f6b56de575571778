//! How large the binary is.

use std::fs;

use crate::{
    figure::{Figure, Row, count},
    server::BINARY,
};

pub(crate) const FIGURE: Figure = Figure {
    name: "g17",
    about: "the size of the binary",
    run: |_| Box::pin(std::future::ready(measure())),
};

fn measure() -> anyhow::Result<Vec<Row>> {
    let bytes = fs::metadata(BINARY)?.len();
    let row =
        Row::new("stripped, thin LTO", count(bytes) / f64::from(1 << 20), "MiB").at_most(20.0);
    Ok(vec![row.note(format!("{bytes} bytes"))])
}
