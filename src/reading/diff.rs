//! What changed from one text to another, as a unified diff
//! (<https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html>).

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// The lines around a change that are shown, unless the caller says.
pub const CONTEXT: usize = 3;

/// How long is looked for what two texts have in common: longer than that takes only what is large
/// and has little in common.
const LONGEST: Duration = Duration::from_millis(500);

/// The changes from one text to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// How many lines are new.
    pub added: usize,
    /// How many lines are gone.
    pub removed: usize,
    /// The hunks, without the lines that name files; empty where nothing changed. `patch` makes the
    /// second text of the first one by it.
    pub text: String,
}

/// The changes from `before` to `after`, line by line, with so many lines around each. Large texts
/// that have little in common are compared for half a second, and what was not found by then is
/// shown as gone and new.
pub fn diff(before: &str, after: &str, context: usize) -> Diff {
    let diff = TextDiff::configure().timeout(LONGEST).diff_lines(before, after);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    Diff {
        added: count(ChangeTag::Insert),
        removed: count(ChangeTag::Delete),
        text: diff.unified_diff().context_radius(context).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_diff_shows_what_changed_with_the_lines_around_it() {
        let before = "# T\n\n## Goal\n\n- red\n- b\n- c\n- d\n- e\n- f\n- g\n- h\n";
        let after = "# T\n\n## Goal\n\n- blue\n- b\n- c\n- d\n- e\n- f\n- g\n- h\n- i";
        let found = diff(before, after, CONTEXT);
        assert_eq!((found.added, found.removed), (2, 1));
        assert_eq!(
            found.text,
            "@@ -2,7 +2,7 @@\n \n ## Goal\n \n-- red\n+- blue\n - b\n - c\n - d\n@@ -10,3 +10,4 @@\n - f\n - g\n - h\n+- i\n\\ No newline at end of file\n"
        );
        assert_eq!(diff(before, before, 3).text, "");
        assert_eq!(diff("", "a\n", 3).text, "@@ -0,0 +1 @@\n+a\n");
        assert_eq!(diff("a\n", "", 3).text, "@@ -1 +0,0 @@\n-a\n");
        assert_eq!(diff("a\nb\n", "a\nx\nb\n", 0).text, "@@ -1,0 +2 @@\n+x\n");
    }

    /// As `patch` does it, strictly: every line that stays or goes must be there.
    fn patched(before: &str, hunks: &str) -> String {
        let old: Vec<&str> = before.split_inclusive('\n').collect();
        let (mut made, mut at) = (String::new(), 0);
        let mut lines = hunks.split_inclusive('\n').peekable();
        while let Some(line) = lines.next() {
            if let Some(head) = line.strip_prefix("@@ -") {
                let lines = head.split(' ').next().unwrap();
                let (start, length) = lines.split_once(',').unwrap_or((lines, "1"));
                let start: usize = start.parse().unwrap();
                let start = if length == "0" { start } else { start - 1 };
                made.extend(old[at..start].iter().copied());
                at = start;
                continue;
            }
            let is_last = lines.next_if(|next| next.starts_with('\\')).is_some();
            let (mark, text) = line.split_at(1);
            let text = if is_last { text.strip_suffix('\n').unwrap() } else { text };
            if mark != "+" {
                assert_eq!(old[at], text);
                at += 1;
            }
            if mark != "-" {
                made.push_str(text);
            }
        }
        made.extend(old[at..].iter().copied());
        made
    }

    proptest! {
        #[test]
        fn a_patched_text_is_the_other_one(
            before in "([abc]{0,2}\r?\n){0,30}[ab]?",
            after in "([abc]{0,2}\r?\n){0,30}[ab]?",
            context in 0_usize..5,
        ) {
            let found = diff(&before, &after, context);
            prop_assert_eq!(patched(&before, &found.text), after.clone());
            let marked = |mark: char| found.text.lines().filter(|line| line.starts_with(mark)).count();
            prop_assert_eq!(marked('+'), found.added);
            prop_assert_eq!(marked('-'), found.removed);
            prop_assert_eq!(found.text.is_empty(), before == after);
        }
    }

    /// Documents of the largest size that have nothing in common.
    #[test]
    fn documents_that_have_nothing_in_common_are_compared_too() {
        let of = |seed: usize| -> String {
            let digit = |n: usize| char::from(b'0' + u8::try_from((n * 7 + seed) % 10).unwrap());
            (0..131_072).flat_map(|n| [digit(n), '\n']).collect()
        };
        let (before, after) = (of(1), of(4));
        let found = diff(&before, &after, 3);
        assert_eq!(patched(&before, &found.text), after);
    }
}
