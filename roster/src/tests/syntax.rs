//! Texts that are no TOML: everything that can be said of them is said at once.

use insta::assert_snapshot;

use super::helpers::{errors, extract, openai};
use crate::Roster;

#[test]
fn all_errors_of_a_file_come_at_once_in_file_order() {
    let text = r#"
[[backend]]
id = coder
tier = "local
kind = "openai"
enabled = True
can_delegate = yes
stream = "false"

[[backend]
id = "swallowed"

[[backend]]
id = "list"
good_at = ["a",
tier = "free"

[[backend]]
id
kind = "cli"
cmd = []
tier = "sub"
tier = "api"

[[backend]]
id = "list"
tier = "local"
kind = "extract"
limits = { concurrency = 0,

[backend.timeouts]
idle = "1s"
[backend.timeouts]
idle = "2s"

[[endpoint]]
base_url = "http://h/v1"
"#;
    assert_snapshot!(errors(text).join("\n"), @r#"
    3:6: a string must be in quotes
    4:14: invalid basic string, expected `"`
    6:11: a boolean is `true` or `false`, in small letters
    7:16: `yes` is no boolean: write `true` or `false`
    8:10: `stream` must be `true` or `false` without quotes
    10:11: unclosed array table, expected `]`
    15:1: a bracket or quotes opened here are never closed
    16:8: `tier` must be `local`, `sub` or `api`, not `free`
    19:3: key with no value, expected `=`
    21:7: `cmd` must not be empty: begin with the program
    23:1: `tier` is given twice in one table: keep one
    26:6: duplicate `id`: line 14 has `list` already
    29:1: a bracket or quotes opened here are never closed
    33:10: `timeouts` is given twice in one table: keep one
    36:1: `[[endpoint]]` has no `concurrency`: add `concurrency = 4`
    "#);
}

#[test]
fn what_the_syntax_hides_is_not_called_missing() {
    for line in ["tier = local", "tier = \"local", "tier", "tier = ", "tier = [\"local\""] {
        let text = extract("").replace("tier = \"local\"", line);
        let found = errors(&text);
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        assert!(found[0].starts_with("3:"), "{line}: {found:?}");
    }
}

#[test]
fn an_open_bracket_hides_no_later_error() {
    for open in ["good_at = [\"a\",", "good_at = [", "limits = {", "model = \"\"\"x", "model = '''"]
    {
        let text = extract(&format!("{open}\nenabled = 1\n{}", extract("stream = 1\n")));
        let found = errors(&text);
        let open = "5:1: a bracket or quotes opened here are never closed";
        assert_eq!(found.first().map(String::as_str), Some(open), "{open}: {found:?}");
        let last = found.last().unwrap();
        assert!(last.starts_with("11:1: `stream` does not belong"), "{open}: {found:?}");
    }
}

#[test]
fn headers_in_single_brackets_are_explained() {
    let single = extract("").replace("[[backend]]", "[backend]");
    assert_eq!(
        errors(&format!("{single}{single}")),
        [
            "1:1: begin each `backend` with `[[backend]]`, in double brackets",
            "5:2: `backend` is defined twice: begin each one with `[[backend]]`"
        ]
    );
}

#[test]
fn s35_line_ends_and_a_byte_order_mark_change_no_place() {
    let unix = "# é\n[[backend]]\nid = \"É\"\ntier = local\nkind = \"extract\"\n";
    let found = errors(unix);
    assert_eq!(found.len(), 2);
    assert_eq!(errors(&unix.replace('\n', "\r\n")), found);
    assert_eq!(errors(&format!("\u{feff}{unix}")), found);
    assert!(Roster::parse(&format!("\u{feff}{}", openai(""))).is_ok());
}

#[test]
fn columns_count_characters() {
    let found = errors(&openai("\"é\" = 1 # é\nextra = { \"é\" = 1, model = 1 }"));
    assert!(found[0].starts_with("7:1: unknown key `é`"), "{found:?}");
    assert!(found[1].starts_with("8:20: `extra`"), "{found:?}");
}

#[test]
fn s24_bytes_that_are_not_utf8_are_an_error_with_a_place() {
    let error = Roster::from_bytes(b"# \xc3\xa9\nid = \"\xff\"").unwrap_err();
    assert_eq!(
        error.problems[0].to_string(),
        "2:7: the roster is not UTF-8 from here on: save it as UTF-8"
    );
    assert!(Roster::from_bytes(openai("").as_bytes()).is_ok());
}

#[test]
fn a_file_that_is_far_too_large_is_told_at_once() {
    let found = errors(&"#".repeat(5 << 20));
    assert_eq!(found, ["1:1: the roster is larger than 4194304 bytes: is it the right file?"]);
}

#[test]
fn prose_and_nesting_end() {
    // None of these may take long or exhaust the stack.
    assert_eq!(errors(&"this is prose\n".repeat(3000)).len(), 3000);
    for text in [
        format!("x = {}", "[".repeat(100_000)),
        format!("x = {}1", "{a=".repeat(100_000)),
        format!("{}x = 1", "a.".repeat(100_000)),
        format!("[{}x]", "a.".repeat(100_000)),
        "x = [\n".repeat(1500),
        "[[backend]]\n'''\n".repeat(500),
        "\0".repeat(100_000),
    ] {
        assert!(!errors(&text).is_empty());
    }
}
