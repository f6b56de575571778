use crate::{Error, Problem, Roster};

/// A whole backend of kind `openai`, one key a line; `more` follows from line 7.
pub(super) fn openai(more: &str) -> String {
    let head = "[[backend]]\nid = \"a\"\ntier = \"local\"\nkind = \"openai\"\n";
    format!("{head}base_url = \"http://h/v1\"\nmodel = \"m\"\n{more}")
}

/// A whole backend of kind `cli`; `more` follows from line 6.
pub(super) fn cli(more: &str) -> String {
    let head = "[[backend]]\nid = \"a\"\ntier = \"sub\"\nkind = \"cli\"\ncmd = [\"claude\"]\n";
    format!("{head}{more}")
}

/// A whole backend of kind `extract`; `more` follows from line 5.
pub(super) fn extract(more: &str) -> String {
    format!("[[backend]]\nid = \"a\"\ntier = \"local\"\nkind = \"extract\"\n{more}")
}

/// Every error of a text as `line:column: message`.
pub(super) fn errors(text: &str) -> Vec<String> {
    match Roster::parse(text) {
        Ok(_) => Vec::new(),
        Err(Error { problems }) => problems.iter().map(Problem::to_string).collect(),
    }
}

/// Every warning of a text that is a roster.
pub(super) fn warnings(text: &str) -> Vec<String> {
    Roster::parse(text).unwrap().warnings().iter().map(Problem::to_string).collect()
}

/// Holds each text to exactly the errors that are given for it, one a line.
#[track_caller]
pub(super) fn each(cases: &[(&str, &str)], text: impl Fn(&str) -> String) {
    for (more, says) in cases {
        let found = errors(&text(more));
        let wanted: Vec<_> = says.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        assert_eq!(found, wanted, "{more}");
    }
}
