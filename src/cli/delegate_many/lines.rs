//! The items of a file with one JSON document a line. A line that is none is one failed item.

use mcp::broken;
use serde_json::{Map, Value, json};

/// One item.
#[derive(Debug, PartialEq)]
pub(crate) struct Item {
    /// Its place among the items, from 0.
    pub(crate) index: usize,
    /// Its line in the file, from 1.
    pub(crate) line: usize,
    /// The sub-task as it stands there, or what is wrong with the line.
    pub(crate) task: Result<Value, String>,
}

impl Item {
    /// A row of results for this item: where it came from, then what became of it.
    pub(super) fn row(&self, members: Map<String, Value>) -> Map<String, Value> {
        let mut row = Map::new();
        row.insert("index".to_owned(), json!(self.index));
        row.insert("line".to_owned(), json!(self.line));
        row.extend(members.into_iter().filter(|(name, _)| name != "index" && name != "line"));
        row
    }
}

/// The items of a file. Empty lines are none.
pub(super) fn read(bytes: &[u8]) -> Vec<Item> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
    let full = lines.filter(|(line, _)| !line.trim_ascii().is_empty());
    full.enumerate()
        .map(|(index, (text, line))| Item { index, line, task: task(text, line) })
        .collect()
}

fn task(text: &[u8], line: usize) -> Result<Value, String> {
    let text = std::str::from_utf8(text).map_err(|error| {
        format!("line {line} is not UTF-8 from byte {} on", error.valid_up_to())
    })?;
    serde_json::from_str(text.trim()).map_err(|error| {
        // Each line is a document of its own: the parser's line is always 1.
        let words =
            broken::why(text.as_bytes(), &error).replace(" at line 1 column ", " at column ");
        format!("line {line} is no JSON: {words}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d35_a_bad_line_is_one_failed_item_with_its_number() {
        let items = read(
            b"\xef\xbb\xbf{\"prompt\": \"a\"}\r\n\n  \n{\"prompt\": \n\xff\n7\n{\"prompt\": \"b\"}",
        );
        let places: Vec<_> = items.iter().map(|item| (item.index, item.line)).collect();
        assert_eq!(places, [(0, 1), (1, 4), (2, 5), (3, 6), (4, 7)]);
        assert_eq!(items[0].task, Ok(json!({"prompt": "a"})));
        assert!(
            items[1].task.as_ref().unwrap_err().starts_with("line 4 is no JSON: EOF"),
            "{items:?}"
        );
        assert_eq!(items[2].task, Err("line 5 is not UTF-8 from byte 0 on".to_owned()));
        // What is JSON is for the server to judge.
        assert_eq!(items[3].task, Ok(json!(7)));
        assert!(read(b"").is_empty() && read(b"\n\r\n").is_empty());
    }

    #[test]
    fn a_row_says_first_where_it_came_from() {
        let item = Item { index: 3, line: 9, task: Ok(json!(1)) };
        let members = json!({"index": 0, "status": "ok"});
        let row = item.row(members.as_object().cloned().unwrap());
        assert_eq!(json!(row).to_string(), r#"{"index":3,"line":9,"status":"ok"}"#);
    }
}
