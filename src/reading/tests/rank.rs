use std::ops::Range;

use super::*;

const NOTES: &str = "# Notes\n\n## Broker\n\nThe broker listens on port 7004.\n\n## Store\n\n\
    The store is one file. Its leases expire.\n\n## Backups\n\nBackups are taken at night.\n\n\
    ## Rest\n\nThe rest is about the weather.\n";

fn best<'a>(question: &str, text: &'a str) -> &'a str {
    let chunks = chunks(text, 60);
    let scores = rank(question, text, &chunks);
    let best = (0..chunks.len()).rev().max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap();
    assert!(scores[best] > 0.0);
    &text[chunks[best].span.clone()]
}

#[test]
fn the_chunk_that_answers_is_ranked_first() {
    assert!(best("Which PORT does the broker use?", NOTES).contains("7004"));
    assert!(best("When is the backup taken?", NOTES).contains("night"));
    assert!(best("how long is a lease", NOTES).contains("leases"));
    assert!(
        best("大阪の人口", "東京は首都です。\n\n大阪は西にある都市です。\n\n京都は古い。")
            .contains("大阪")
    );
}

/// The scores of chunks of one paragraph each.
fn scores(question: &str, paragraphs: &[&str]) -> Vec<f64> {
    let text = paragraphs.concat();
    let mut end = 0;
    let spans = paragraphs.iter().map(|paragraph| {
        let start = end;
        end += paragraph.len();
        Chunk { span: start..end, heading: None }
    });
    rank(question, &text, &spans.collect::<Vec<_>>())
}

#[test]
fn rare_words_short_chunks_repetition_and_neighbours_count() {
    let rare = scores("the dog", &["the the the ", "the cat ", "the cow ", "a dog "]);
    assert!(rare[3] > rare[0] && rare[0] > rare[1] && rare[1] > 0.0, "{rare:?}");
    let short = scores("port", &["port and ", "port and much more of other things ", "nothing "]);
    assert!(short[0] > short[1] && short[1] > 0.0 && short[2] == 0.0, "{short:?}");
    let often = scores("port", &["port port ", "port and ", "nothing "]);
    assert!(often[0] > often[1], "{often:?}");
    let wide = scores("東京", &["東、京 ", "東京 ", "西 "]);
    assert!(wide[1] > wide[0] && wide[0] > 0.0 && wide[2] == 0.0, "{wide:?}");
    assert!(scores("port", &[]).is_empty());
    assert_eq!(scores("", &["port ", " "]), [0.0, 0.0]);
}

#[test]
fn the_heading_above_counts() {
    let text = format!(
        "## Decisions\n\n{}\n\n{}\n\n## Other\n\nwords\n",
        "one ".repeat(9),
        "two ".repeat(9)
    );
    let chunks = chunks(&text, 40);
    let scores = rank("decision", &text, &chunks);
    let two = chunks.iter().position(|chunk| text[chunk.span.clone()].contains("two")).unwrap();
    assert!(scores[two] > 0.0 && *scores.last().unwrap() == 0.0, "{scores:?}");
}

#[test]
fn the_best_that_fit_are_read_in_order_and_the_rest_is_told() {
    let spans = [0..10, 10..20, 20..50, 50..60, 60..65];
    let chunks = spans.map(|span| Chunk { span, heading: None });
    let select = |scores: &[f64], budget| select(&chunks, scores, budget);
    let told = |scores: &[f64], budget| {
        let Selection { read, unread } = select(scores, budget);
        let pairs = |spans: Vec<Range<usize>>| -> Vec<(usize, usize)> {
            spans.into_iter().map(|span| (span.start, span.end)).collect()
        };
        (pairs(read), pairs(unread))
    };
    assert_eq!(told(&[1.0, 0.0, 9.0, 2.0, 0.0], 45), (vec![(20, 65)], vec![(0, 20)]));
    // What does not fit is passed over for what does; equal ones go by their place.
    assert_eq!(told(&[0.0; 5], 25), (vec![(0, 20), (60, 65)], vec![(20, 60)]));
    assert_eq!(told(&[0.0, 0.0, 9.0, 0.0, 8.0], 15).0, [(0, 10), (60, 65)]);
    assert_eq!(told(&[0.0; 5], 65), (vec![(0, 65)], vec![]));
    assert_eq!(told(&[1.0; 5], 0), (vec![], vec![(0, 65)]));
}

#[test]
fn passages_are_verbatim_best_first_and_no_more_than_asked_for() {
    let raw = format!("\u{feff}{}", NOTES.replace('\n', "\r\n"));
    let source = Source::new(&raw);
    let found = passages("the broker's port, and backups", &source, 2);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].text, "# Notes\r\n\r\n## Broker\r\n\r\nThe broker listens on port 7004.");
    assert_eq!((found[0].start, found[0].line), (Some(3), Some(1)));
    assert_eq!(found[1].line, Some(11));
    for passage in &found {
        assert_eq!(passage.status, Status::Verified);
        let (start, end) = (passage.start.unwrap(), passage.end.unwrap());
        assert_eq!(raw[start..end], passage.text);
        assert_eq!(source.check(&passage.text), *passage);
    }
    // Only what has a word of the question; where nothing has, the beginning.
    assert_eq!(passages("weather", &source, 9).len(), 1);
    let first = passages("xylophone", &source, 1);
    assert!(first[0].text.starts_with("# Notes"), "{first:?}");
    assert!(passages("port", &Source::new(" \r\n"), 3).is_empty());
}
