//! What was measured, as a table for people or as JSON for programs.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;
use serde_json::json;

use crate::{
    figure::{Figure, Row, number},
    machine::Machine,
};

/// The whole run.
pub(crate) struct Report {
    machine: Machine,
    figures: Vec<Measured>,
}

#[derive(Serialize)]
struct Measured {
    name: &'static str,
    about: &'static str,
    rows: Vec<Judged>,
    /// Why it could not be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

#[derive(Serialize)]
struct Judged {
    #[serde(flatten)]
    row: Row,
    /// Null without a bound.
    pass: Option<bool>,
}

/// Figures that are measured elsewhere, for whoever looks for them here.
const ELSEWHERE: &str = "g15: just model-check\ng16: cargo bench -p routing --bench select\n";

impl Report {
    pub(crate) fn new(machine: Machine) -> Self {
        Self { machine, figures: Vec::new() }
    }

    pub(crate) fn add(&mut self, figure: &Figure, rows: anyhow::Result<Vec<Row>>) {
        let failure = rows.as_ref().err().map(|error| format!("{error:#}"));
        let judged = |row: Row| Judged { pass: row.holds(), row };
        let rows = rows.unwrap_or_default().into_iter().map(judged).collect();
        self.figures.push(Measured { name: figure.name, about: figure.about, rows, failure });
    }

    /// How many bounds were missed.
    pub(crate) fn misses(&self) -> usize {
        let rows = self.figures.iter().flat_map(|figure| &figure.rows);
        rows.filter(|judged| judged.pass == Some(false)).count()
    }

    /// How many figures could not be measured.
    pub(crate) fn failures(&self) -> usize {
        self.figures.iter().filter(|figure| figure.failure.is_some()).count()
    }

    /// A table, with the machine above and what went wrong below.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(["figure", "what", "value", "unit", "bound", "", "beside"]);
        for Measured { name, rows, .. } in &self.figures {
            for Judged { row, pass } in rows {
                let (value, bound) = (number(row.value), row.bound.to_string());
                let verdict = match pass {
                    Some(true) => "pass",
                    Some(false) => "MISS",
                    None => "",
                };
                table.add_row([name, &*row.what, &value, row.unit, &bound, verdict, &row.note]);
            }
        }
        for right in [2, 4] {
            if let Some(column) = table.column_mut(right) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let failed = self.figures.iter().filter_map(|figure| {
            Some(format!("`{}` could not be measured: {}\n", figure.name, figure.failure.as_ref()?))
        });
        let misses = match self.misses() {
            0 => "every bound holds".to_owned(),
            1 => "1 bound is missed".to_owned(),
            many => format!("{many} bounds are missed"),
        };
        let failed: String = failed.collect();
        format!("{}\n\n{table}\n\n{failed}{misses}\n{ELSEWHERE}", self.machine)
    }

    /// Everything in one object.
    pub(crate) fn json(&self) -> anyhow::Result<String> {
        let misses = self.misses();
        let all = json!({ "machine": self.machine, "figures": self.figures, "misses": misses });
        Ok(format!("{}\n", serde_json::to_string_pretty(&all)?))
    }
}
