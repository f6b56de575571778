//! What was measured, as a table for people or as JSON for programs.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    figure::{Figure, Row, number},
    machine::Machine,
};

/// The whole run.
pub(crate) struct Report {
    machine: Machine,
    figures: Vec<(&'static str, &'static str, Vec<Row>)>,
}

/// Figures that are measured elsewhere, for whoever looks for them here.
const ELSEWHERE: &str = "g15: just model-check\ng16: cargo bench --bench select\n";

impl Report {
    pub(crate) fn new(machine: Machine) -> Self {
        Self { machine, figures: Vec::new() }
    }

    pub(crate) fn add(&mut self, figure: &Figure, rows: Vec<Row>) {
        self.figures.push((figure.name, figure.about, rows));
    }

    /// How many bounds were missed.
    pub(crate) fn misses(&self) -> usize {
        let rows = self.figures.iter().flat_map(|(_, _, rows)| rows);
        rows.filter(|row| row.holds() == Some(false)).count()
    }

    /// A table, with the machine above and the count of misses below.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(["figure", "what", "value", "unit", "bound", "", "beside"]);
        for (name, _, rows) in &self.figures {
            for row in rows {
                let (value, bound) = (number(row.value), row.bound.to_string());
                table.add_row([name, row.what.as_str(), &value, row.unit, &bound, verdict(row), &row.note]);
            }
        }
        for right in [2, 4] {
            if let Some(column) = table.column_mut(right) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let misses = match self.misses() {
            0 => "every bound holds".to_owned(),
            1 => "1 bound is missed".to_owned(),
            many => format!("{many} bounds are missed"),
        };
        format!("{}\n\n{table}\n\n{misses}\n{ELSEWHERE}", self.machine)
    }

    /// Everything in one object.
    pub(crate) fn json(&self) -> anyhow::Result<String> {
        let figures = self.figures.iter().map(|(name, about, rows)| {
            let rows: Vec<Value> = rows.iter().map(|row| json!(Judged { row, pass: row.holds() })).collect();
            json!({ "name": name, "about": about, "rows": rows })
        });
        let figures: Vec<Value> = figures.collect();
        let all = json!({ "machine": self.machine, "figures": figures, "misses": self.misses() });
        Ok(format!("{}\n", serde_json::to_string_pretty(&all)?))
    }
}

#[derive(Serialize)]
struct Judged<'a> {
    #[serde(flatten)]
    row: &'a Row,
    /// Null without a bound.
    pass: Option<bool>,
}

fn verdict(row: &Row) -> &'static str {
    match row.holds() {
        Some(true) => "pass",
        Some(false) => "MISS",
        None => "",
    }
}
