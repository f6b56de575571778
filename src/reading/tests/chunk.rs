use super::*;

fn cut(text: &str, most: usize) -> Vec<&str> {
    let chunks = chunks(text, most);
    let parts: Vec<&str> = chunks.iter().map(|chunk| &text[chunk.span.clone()]).collect();
    assert_eq!(parts.concat(), text);
    assert!(chunks.windows(2).all(|pair| pair[0].span.end == pair[1].span.start));
    parts
}

#[test]
fn headings_begin_a_chunk_and_small_paragraphs_share_one() {
    let text = "intro\n\n# Title\n\n## One\ntext\n\nmore\n\n## Two\ntext\n#hashtag\n####### no\n";
    assert_eq!(
        cut(text, 1000),
        [
            "intro\n\n",
            "# Title\n\n## One\ntext\n\nmore\n\n",
            "## Two\ntext\n#hashtag\n####### no\n"
        ]
    );
    assert_eq!(cut("one one\n\ntwo two\n\nthree", 18), ["one one\n\ntwo two\n\n", "three"]);
    assert_eq!(cut("one one\n\ntwo two\n\nthree", 17), ["one one\n\n", "two two\n\nthree"]);
    assert!(cut("", 10).is_empty());
}

#[test]
fn s35_every_line_end_is_one() {
    for end in ["\n", "\r\n", "\r"] {
        let text = "\u{feff}# One\n\ntext\n\n# Two\n\ntext\n".replace('\n', end);
        let parts = cut(&text, 1000);
        assert_eq!(parts.len(), 2, "{parts:?}");
        assert!(parts[1].starts_with("# Two"), "{parts:?}");
        let heading = chunks(&text, 1000)[0].heading.clone().unwrap();
        assert_eq!(&text[heading], "\u{feff}# One");
    }
}

#[test]
fn a_fenced_block_is_whole_when_it_fits_and_what_is_in_it_is_no_structure() {
    let code = "```sh\n# no heading\n\nline\n~~~\n```\n";
    let text = format!("before before\n{code}after after\n");
    assert_eq!(cut(&text, code.len()), ["before before\n", code, "after after\n"]);
    // One that is too large is cut at its lines.
    let parts = cut(code, 20);
    assert_eq!(parts, ["```sh\n# no heading\n\n", "line\n~~~\n```\n"]);
    // Only a line of its own mark closes it, with as many of them.
    let text = "~~~~\n```\n~~~\n# inside\n~~~~\n# outside\n";
    assert_eq!(cut(text, 1000), ["~~~~\n```\n~~~\n# inside\n~~~~\n", "# outside\n"]);
    // An indent makes either of them text.
    let text = "    # no heading\n    ```\n# one\n";
    assert_eq!(cut(text, 1000), ["    # no heading\n    ```\n", "# one\n"]);
    // One that is never closed goes to the end.
    assert_eq!(cut("```\n\n# inside\n\ntext\n", 1000).len(), 1);
}

#[test]
fn what_is_too_large_is_cut_at_a_line_a_sentence_a_blank_or_a_character() {
    assert_eq!(cut("one line\ntwo line\n", 12), ["one line\n", "two line\n"]);
    assert_eq!(cut("One is. Two is. Three", 18), ["One is. Two is.", " Three"]);
    assert_eq!(cut("東京です。大阪です。", 20), ["東京です。", "大阪です。"]);
    assert_eq!(cut("v1.2 of something", 12), ["v1.2 of ", "something"]);
    assert_eq!(cut("abcdefghij", 4), ["abcd", "efgh", "ij"]);
    // A cut that would leave next to nothing is not taken.
    assert_eq!(cut("a bcdefghijklmnop", 10), ["a bcdefghi", "jklmnop"]);
}

#[test]
fn s24_no_character_is_cut() {
    assert_eq!(cut("aaae\u{301}bb", 4), ["aaa", "e\u{301}b", "b"]);
    assert_eq!(cut("abc\r\nd", 4), ["abc", "\r\nd"]);
    // A character that is larger than a chunk is cut between its parts, a part is not.
    assert_eq!(cut("e\u{301}\u{301}\u{301}", 3), ["e\u{301}", "\u{301}", "\u{301}"]);
    assert_eq!(cut("👩👩", 1), ["👩", "👩"]);
    assert_eq!(cut("abc", 0), ["a", "b", "c"]);
}

#[test]
fn a_chunk_knows_the_heading_above_it() {
    let text =
        format!("lead\n# One\n{}\n## Two \n{}", "a b c d e f\n\n".repeat(4), "x y z\n\n".repeat(4));
    let headings: Vec<(&str, Option<&str>)> = chunks(&text, 30)
        .into_iter()
        .map(|chunk| (&text[chunk.span], chunk.heading.map(|heading| &text[heading])))
        .collect();
    assert_eq!(headings[0], ("lead\n", None));
    assert_eq!(headings[1].1, Some("# One"));
    assert!(headings[1].0.starts_with("# One\na b"), "a heading stays with its text: {headings:?}");
    assert_eq!(headings[2].1, Some("# One"));
    assert_eq!(headings.last().unwrap().1, Some("## Two"));
    // A paragraph that has to be cut anyway begins under its heading.
    let text = format!("# One\n{}", "word ".repeat(20));
    assert!(cut(&text, 40)[0].starts_with("# One\nword "));
}
