//! The lines that begin a section: `NAME:`, or a Markdown heading of one to four `#`; the name in
//! any case, by any of its names, and bold if the writer likes.

use super::{Kind, Section};

/// A line that begins a section.
pub(super) struct Header<'a> {
    pub(super) section: Section,
    /// What follows the name on its line.
    pub(super) inline: &'a str,
}

/// Reads a line as a header.
pub(super) fn header(kind: Kind, line: &str) -> Option<Header<'_>> {
    let line = line.trim();
    let text = line.trim_start_matches('#');
    let is_heading = match line.len() - text.len() {
        0 => false,
        1..=4 => true,
        _ => return None,
    };
    let text = text.trim_start();
    let text = text.strip_prefix("**").unwrap_or(text);
    kind.names().iter().find_map(|(name, section)| {
        let rest = after(text, name)?;
        if rest.starts_with(continues_word) {
            return None;
        }
        let rest = rest.strip_prefix("**").unwrap_or(rest).trim_start();
        let inline = match rest.strip_prefix(':') {
            Some(rest) => rest.strip_prefix("**").unwrap_or(rest).trim_start(),
            None if is_heading => rest,
            None => return None,
        };
        Some(Header { section: *section, inline })
    })
}

/// Whether a name that this follows is only the beginning of a longer word, as in `# Runbook`.
fn continues_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// What follows the words of a name, whatever their case and the blanks between them.
fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text;
    for (at, word) in name.split(' ').enumerate() {
        let next = if at == 0 { rest } else { rest.trim_start() };
        if at > 0 && next.len() == rest.len() {
            return None;
        }
        let head = next.get(..word.len())?;
        if !head.eq_ignore_ascii_case(word) {
            return None;
        }
        rest = &next[word.len()..];
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_hides_a_longer_one_below_it() {
        for kind in [Kind::Operator, Kind::Proposal] {
            for (at, (name, _)) in kind.names().iter().enumerate() {
                let hidden =
                    kind.names()[at + 1..].iter().find(|(longer, _)| longer.starts_with(name));
                assert_eq!(hidden, None, "{name}");
            }
        }
    }

    #[test]
    fn words_that_only_begin_like_a_name_are_no_headers() {
        for line in [
            "# Runbook",
            "## Workers: two",
            "# do-over",
            "# checks",
            "##### DO",
            "WHY",
            "do not: x",
        ] {
            assert!(header(Kind::Operator, line).is_none(), "{line}");
        }
    }

    #[test]
    fn bold_text_behind_a_heading_stays_whole() {
        let found = header(Kind::Operator, "# why **now** or never").unwrap();
        assert_eq!((found.section, found.inline), (Section::Why, "**now** or never"));
    }
}
