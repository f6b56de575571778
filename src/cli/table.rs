//! Tables for people: columns without lines, so that they can be read, cut and searched.

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Table as Inner,
    presets,
};

use crate::untrusted;

/// The most characters of one cell.
const CELL: usize = 400;

/// The most characters of a model's name.
pub(crate) const MODEL: usize = 32;

/// How a cell is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it should be.
    Good,
    /// Worth a look.
    Warn,
    /// Wrong.
    Bad,
    /// Of little weight.
    Dim,
}

/// A table under construction. What its cells say may come from elsewhere: control characters
/// are escaped.
#[derive(Debug)]
pub(crate) struct Table(Inner);

/// One cell.
#[derive(Debug)]
pub(crate) struct Text(Cell);

impl Table {
    /// A table with these headings.
    pub(crate) fn new(headings: &[&str]) -> Self {
        let mut table = Inner::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        let heading = |text: &&str| Cell::new(text).add_attribute(Attribute::Bold);
        table.set_header(headings.iter().map(heading).collect::<Vec<_>>());
        Self(table)
    }

    /// One more row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Text>) {
        self.0.add_row(cells.into_iter().map(|Text(cell)| cell).collect::<Vec<_>>());
    }

    /// The table as text, its first column always whole, since it is what a person copies: within `width` columns where one is given.
    pub(crate) fn render(mut self, width: Option<u16>, colours: bool) -> String {
        for column in self.0.column_iter_mut() {
            column.set_padding((0, 2));
        }
        if let Some(first) = self.0.column_mut(0) {
            first.set_constraint(ColumnConstraint::ContentWidth);
        }
        self.0.force_no_tty();
        if colours {
            self.0.enforce_styling();
        }
        if let Some(width) = width {
            self.0.set_width(width);
        } else {
            self.0.set_content_arrangement(ContentArrangement::Disabled);
        }
        self.0.trim_fmt()
    }
}

/// A cell.
pub(crate) fn text(text: impl AsRef<str>) -> Text {
    Text(Cell::new(untrusted::one_line(text.as_ref(), CELL)))
}

/// A cell of a name that may be long, such as a path: one of more than `most` characters loses its
/// middle, since both its ends tell it from others.
pub(crate) fn ends(name: impl AsRef<str>, most: usize) -> Text {
    let name = untrusted::one_line(name.as_ref(), CELL);
    let count = name.chars().count();
    if count <= most {
        return text(name);
    }
    let kept = most.saturating_sub(1);
    let head: String = name.chars().take(kept / 2).collect();
    let tail: String = name.chars().skip(count - (kept - kept / 2)).collect();
    text(format!("{head}…{tail}"))
}

/// A cell of a number.
pub(crate) fn number(number: impl ToString) -> Text {
    Text(Cell::new(number).set_alignment(CellAlignment::Right))
}

/// A cell with a meaning.
pub(crate) fn toned(tone: Tone, words: impl AsRef<str>) -> Text {
    let Text(cell) = text(words);
    Text(match tone {
        Tone::Good => cell.fg(Color::Green),
        Tone::Warn => cell.fg(Color::Yellow),
        Tone::Bad => cell.fg(Color::Red),
        Tone::Dim => cell.add_attribute(Attribute::Dim),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(&["ID", "STATE", "CALLS"]);
        table.row([text("coder"), toned(Tone::Good, "ready"), number(12)]);
        table.row([text("a\u{1b}[31m\nb"), toned(Tone::Bad, "failing"), number(3)]);
        table
    }

    #[test]
    fn a_table_reads_without_lines_and_without_control_characters() {
        let table = sample().render(None, false);
        assert_eq!(
            table,
            "ID             STATE    CALLS\ncoder          ready       12\na\\u{1b}[31m b  failing      3"
        );
    }

    #[test]
    fn colours_come_only_when_asked_for_and_width_is_kept() {
        assert!(sample().render(None, true).contains("\u{1b}["));
        let narrow = sample().render(Some(28), false);
        assert!(narrow.lines().all(|line| line.chars().count() <= 28), "{narrow}");
    }

    #[test]
    fn an_id_never_wraps_and_a_long_name_loses_its_middle() {
        let id = "qwen3-coder-next-80b-a3b-instruct-q4";
        let mut table = Table::new(&["ID", "MODEL", "HEALTH"]);
        let model = "/models/of/a/long/path/to/qwen3-coder-next.gguf";
        table.row([text(id), ends(model, 21), text("down: nobody listens there at all")]);
        let narrow = table.render(Some(84), false);
        assert!(narrow.contains(&format!("{id}  /models/of…-next.gguf")), "{narrow}");
        let mut table = Table::new(&["ID", "HEALTH"]);
        table.row([text(id), text("down: nobody listens there at all")]);
        assert!(table.render(Some(44), false).contains(id));
    }
}
