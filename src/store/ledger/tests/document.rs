//! Sections and edits of them: rules of texts alone.

use proptest::prelude::*;

use super::super::*;

fn headings(doc: &str) -> Vec<&str> {
    sections(doc).iter().map(|section| section.heading).collect()
}

#[test]
fn a_section_begins_with_two_marks_and_a_blank() {
    let doc = "##\n##  A  \n### B\n##C\n## A\nx\n";
    assert_eq!(headings(doc), ["A", "A"]);
    assert_eq!(texts(doc), [("A", "### B\n##C\nx".to_owned())]);
    assert_eq!(headings(" ## a\n>## b\n\\## c\n## d"), ["d"]);
    assert_eq!(headings("## "), [""]);
    assert_eq!(texts("plain text, no sections"), []);
    let doc =
        "# L\n\nbefore\n\n## Goal\n- the cart is red\n\n## Open\n- how?\n\n## Goal\n- and fast\n";
    let wanted = [("Goal", "- the cart is red\n\n- and fast"), ("Open", "- how?")];
    assert_eq!(texts(doc), wanted.map(|(heading, text)| (heading, text.to_owned())));
    assert_eq!(texts("## A\n\n## A\nx"), [("A", "x".to_owned())]);
}

#[test]
fn code_has_no_sections_unless_its_fence_is_left_open() {
    assert_eq!(headings("```sh\n## a\n```\n## b\n"), ["b"]);
    assert_eq!(headings("~~~~\n## a\n~~~\n## b\n~~~~\n## c\n"), ["c"]);
    assert_eq!(headings("```\n## a\n~~~\n## b\n```\n## c\n"), ["c"]);
    assert_eq!(headings("```\n## a\n``` x\n## b\n   ```  \n## c\n"), ["c"]);
    assert_eq!(headings("    ```\n## a\n```\n## b\n"), ["a", "b"]);
    assert_eq!(headings("```\n## a\n## b\n"), ["a", "b"]);
    assert_eq!(headings("``` a`b\n## a\n```\n## b\n```\n"), ["a"]);
    assert_eq!(headings("````\n## a\n```sh\n## b\n```\n## c\n"), ["a", "c"]);
    assert_eq!(headings("```sh\r\n## a\r\n```\r\n## b\r\n"), ["b"]);
}

/// Many openings that nothing closes are read in one pass.
#[test]
fn a_hostile_document_is_read_in_one_pass() {
    let doc = "```x\n~~~~ y\n## h\n".repeat(DOC / 16);
    assert_eq!(sections(&doc).len(), DOC / 16);
}

fn done(doc: &str, heading: &str, action: Action, text: &str) -> String {
    apply(doc, heading, action, text).unwrap()
}

#[test]
fn a_section_is_edited_and_the_rest_stays() {
    use Action::{Append, Remove, Replace};
    let doc = "# T\n\n## A\n\n- a\n\n\n## B\n\n- b";
    assert_eq!(
        done(doc, "A", Replace, "new\nlines\n\n"),
        "# T\n\n## A\n\nnew\nlines\n\n\n## B\n\n- b"
    );
    assert_eq!(done(doc, "a", Append, "- c\n"), "# T\n\n## A\n\n- a\n- c\n\n\n## B\n\n- b");
    assert_eq!(done(doc, "## A", Remove, "ignored"), "# T\n\n## B\n\n- b");
    assert_eq!(done(doc, "B", Append, "- c"), "# T\n\n## A\n\n- a\n\n\n## B\n\n- b\n- c");
    assert_eq!(done(doc, "B", Replace, "x"), "# T\n\n## A\n\n- a\n\n\n## B\n\nx");
    assert_eq!(done(doc, "B", Replace, ""), "# T\n\n## A\n\n- a\n\n\n## B\n\n");
    // A section that is not there.
    assert_eq!(done(doc, "C", Append, "c"), "# T\n\n## A\n\n- a\n\n\n## B\n\n- b\n\n## C\nc\n");
    assert_eq!(done("x\n", "C", Append, "c\n\n"), "x\n\n## C\nc\n");
    // The heading with its text means the same as the text.
    assert_eq!(done("## A\nx\n", "A", Replace, "## A\n\ny\n"), "## A\ny\n");
    // Without a text, and without an end of its line.
    assert_eq!(done("## A\n\n\n## B\n", "A", Replace, "x"), "## A\nx\n\n\n## B\n");
    assert_eq!(done("## A", "A", Append, "x"), "## A\nx\n");
    assert_eq!(done("## A\r\nx\r\n", "A", Append, "y"), "## A\r\nx\r\ny\r\n");
}

#[test]
fn a_text_that_would_not_stay_in_its_section_is_refused() {
    use Action::{Append, Replace};
    let doc = "## A\na\n\n## B\n```sh\n## no heading\n```\n\n## C\nc\n";
    for (heading, text) in [
        ("A", "x\n## D\ny"),
        ("A", "```\nleft open"),
        ("B", "## C"),
        ("A", "```sh\nx\n```\n~~~\n\n## D"),
    ] {
        for action in [Replace, Append] {
            let error = apply(doc, heading, action, text).unwrap_err();
            assert!(error.to_string().contains("`text` would change other sections"), "{text}");
        }
    }
    assert!(apply(doc, "N\nM", Append, "x").is_err());
    assert!(apply(doc, " ", Append, "x").is_err());
    assert!(apply(doc, "N", Append, "x\n## M\n").is_err());
    let error = apply("## A\n## a\n## A\n", "A", Replace, "x").unwrap_err();
    assert!(error.to_string().contains("2 sections are called `A`"), "{error}");
    let many = "## h\n".repeat(30).replace("## h\n## h", "## h\n## i");
    assert!(apply(&many, "zz", Replace, "x").unwrap_err().to_string().contains("and more"));
}

/// Lines that matter to sections, with either end.
fn documents() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("## A".to_owned()),
        Just("## B ".to_owned()),
        Just("##  A".to_owned()),
        Just("## ä🦀".to_owned()),
        Just("##".to_owned()),
        Just("## ".to_owned()),
        Just("##C".to_owned()),
        Just("### D".to_owned()),
        Just("```".to_owned()),
        Just("```sh".to_owned()),
        Just("~~~~".to_owned()),
        Just("~~~".to_owned()),
        Just(String::new()),
        Just("  ".to_owned()),
        Just("- text".to_owned()),
        "\\PC{0,6}",
    ];
    let end = prop_oneof![4 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r")];
    let lines = prop::collection::vec((line, end), 0..24);
    (lines, any::<bool>()).prop_map(|(lines, is_open)| {
        let mut doc: String = lines.iter().flat_map(|(line, end)| [line, *end]).collect();
        if is_open {
            doc.truncate(doc.trim_end_matches(['\r', '\n']).len());
        }
        doc
    })
}

proptest! {
    /// Sections lie behind each other without a gap, up to the end, and each begins with its line.
    #[test]
    fn sections_cover_the_document_from_the_first_on(doc in documents()) {
        let sections = sections(&doc);
        for (number, section) in sections.iter().enumerate() {
            let next = sections.get(number + 1).map_or(doc.len(), |next| next.start);
            prop_assert_eq!(section.end, next);
            let line = &doc[section.start..section.body];
            prop_assert!(line.starts_with("## ") && line[3..].trim() == section.heading);
            prop_assert!(section.start == 0 || doc[..section.start].ends_with('\n'));
            prop_assert!(line.ends_with('\n') || section.body == doc.len());
        }
        let before = sections.first().map_or(doc.len(), |first| first.start);
        let is_fenced = doc.contains("```") || doc.contains("~~~");
        prop_assert!(is_fenced || !doc[..before].lines().any(|line| line.starts_with("## ")));
    }

    /// Without fences, what is shown is what a plain reader of lines sees.
    #[test]
    fn texts_are_what_the_lines_say(doc in documents()) {
        let doc = doc.replace("```", "").replace("~~~", "");
        let mut wanted = Vec::<(String, String)>::new();
        let mut at = None;
        for line in doc.split('\n') {
            if let Some(heading) = line.strip_prefix("## ") {
                let heading = heading.trim().to_owned();
                let place = wanted.iter().position(|(known, _)| *known == heading);
                at = Some(place.unwrap_or_else(|| {
                    wanted.push((heading, String::new()));
                    wanted.len() - 1
                }));
            } else if let Some(at) = at {
                wanted[at].1.push_str(line);
                wanted[at].1.push('\n');
            }
        }
        let trimmed = |(heading, text): (String, String)| (heading, text.trim().to_owned());
        let wanted: Vec<_> = wanted.into_iter().map(trimmed).collect();
        let shown: Vec<_> = texts(&doc).into_iter().map(|(h, t)| (h.to_owned(), t)).collect();
        prop_assert_eq!(shown, wanted);
    }

    /// Whatever is done to a section, every byte before and behind it stays, and it holds then what
    /// it should.
    #[test]
    fn an_edit_leaves_every_byte_around_it(
        doc in documents(),
        text in documents(),
        which in any::<prop::sample::Index>(),
        action in prop::sample::select(vec![Action::Replace, Action::Append, Action::Remove]),
    ) {
        let before = sections(&doc);
        prop_assume!(!before.is_empty());
        let section = before[which.index(before.len())];
        let Ok(after) = apply(&doc, section.heading, action, &text) else {
            let twice = before.iter().filter(|other| other.heading == section.heading).count() > 1;
            let spills = action != Action::Remove
                && (text.contains("## ") || text.contains("```") || text.contains("~~~"));
            prop_assert!(twice || spills, "{:?}", text);
            return Ok(());
        };
        prop_assert_eq!(&after[..section.start], &doc[..section.start]);
        let tail = &doc[section.end..];
        prop_assert!(after.ends_with(tail));
        let now = &after[section.start..after.len() - tail.len()];
        let old = doc[section.body..section.end].trim();
        // The section's own heading before its text is said once.
        let is_all = |shown: &str| {
            let text = text.trim();
            shown == text || text.starts_with("## ") && text.ends_with(shown)
        };
        match action {
            Action::Remove => prop_assert_eq!(now, ""),
            Action::Append => {
                prop_assert!(now.starts_with(&doc[section.start..section.body]));
                let shown = now[section.body - section.start..].trim();
                prop_assert!(shown.starts_with(old));
                prop_assert!(is_all(shown[old.len()..].trim()), "{now:?} {text:?}");
            }
            Action::Replace => {
                let shown = now[section.body - section.start..].trim();
                prop_assert!(is_all(shown), "{now:?} {text:?}");
            }
        }
        if action != Action::Remove {
            let same: Vec<&str> = before.iter().map(|section| section.heading).collect();
            prop_assert_eq!(headings(&after), same);
        }
    }

    /// A section that is not there comes behind all that is.
    #[test]
    fn a_new_section_comes_behind_all_others(doc in documents(), text in "[a-z\\n]{0,20}") {
        let after = apply(&doc, "Brand new", Action::Append, &text).unwrap();
        prop_assert!(after.starts_with(&doc));
        let all = sections(&after);
        prop_assert_eq!(all.last().unwrap().heading, "Brand new");
        prop_assert_eq!(all.len(), sections(&doc).len() + 1);
        prop_assert_eq!(after[all.last().unwrap().body..].trim(), text.trim());
    }
}
