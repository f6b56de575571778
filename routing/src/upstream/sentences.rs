//! Cuts text into sentences, by its punctuation and its lines.

/// Ends a sentence when a blank follows.
const STOPS: [char; 4] = ['.', '!', '?', '…'];

/// Ends a sentence whatever follows: these scripts write no blanks.
const WIDE_STOPS: [char; 4] = ['。', '！', '？', '｡'];

/// The sentences of a text in order, trimmed; none is empty.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for paragraph in blocks(text) {
        let mut start = 0;
        let mut chars = paragraph.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let end = at + c.len_utf8();
            let wide = WIDE_STOPS.contains(&c);
            if !wide && !STOPS.contains(&c) {
                continue;
            }
            // Closing quotation marks and brackets, and further stops, belong to the sentence.
            let mut end = end;
            while let Some((at, c)) = chars
                .next_if(|(_, c)| is_closing(*c) || STOPS.contains(c) || WIDE_STOPS.contains(c))
            {
                end = at + c.len_utf8();
            }
            let rest = paragraph.get(end..).unwrap_or_default();
            if wide || begins_another(rest) && !is_abbreviation(paragraph.get(start..at)) {
                push(&mut sentences, paragraph.get(start..end));
                start = end;
            }
        }
        push(&mut sentences, paragraph.get(start..));
    }
    sentences
}

fn push<'a>(sentences: &mut Vec<&'a str>, sentence: Option<&'a str>) {
    let sentence = sentence.unwrap_or_default().trim();
    if sentence.chars().any(char::is_alphanumeric) {
        sentences.push(sentence);
    }
}

/// Runs of lines that belong together: a blank line ends one, and so does a line that begins or
/// follows a list item or a heading.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = 0;
        let mut alone = false;
        for line in rest.split_inclusive('\n') {
            let blank = line.trim().is_empty();
            if end > 0 && (alone || blank || stands_alone(line)) {
                break;
            }
            end += line.len();
            alone = blank || stands_alone(line);
        }
        let (block, tail) = rest.split_at(end);
        rest = tail;
        Some(block)
    })
}

fn stands_alone(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.split_once(['.', ')']).is_some_and(|(number, rest)| {
        !number.is_empty()
            && number.len() <= 3
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && rest.starts_with(' ')
    });
    numbered
        || ["- ", "* ", "+ ", "• ", "#", "> ", "|", "```"].iter().any(|mark| line.starts_with(mark))
}

fn is_closing(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '」' | '』' | '）')
}

/// Whether what follows a stop is a new sentence: the end, or a blank before anything that is not
/// a small letter.
fn begins_another(rest: &str) -> bool {
    let next = rest.trim_start();
    rest.len() != next.len() && !next.starts_with(char::is_lowercase) || next.is_empty()
}

/// Whether the stop after this belongs to a short form: one letter, or a title.
fn is_abbreviation(before: Option<&str>) -> bool {
    let word = before.unwrap_or_default().rsplit(char::is_whitespace).next().unwrap_or_default();
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    let letters = word.chars().count();
    letters == 1 && word.chars().all(char::is_uppercase)
        || ["Dr", "Mr", "Mrs", "Ms", "Prof", "St", "vs", "cf", "No", "Fig", "e.g", "i.e"]
            .contains(&word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        let cases: &[(&str, &[&str])] = &[
            ("One. Two! Three? Four", &["One.", "Two!", "Three?", "Four"]),
            ("It is 3.14 in v1.2.3. Next.", &["It is 3.14 in v1.2.3.", "Next."]),
            (
                "See Dr. Who, e.g. now. J. Smith came.",
                &["See Dr. Who, e.g. now.", "J. Smith came."],
            ),
            ("He said \"no.\" Then left.", &["He said \"no.\"", "Then left."]),
            ("東京は都市です。大阪も。", &["東京は都市です。", "大阪も。"]),
            (
                "a line\nthat goes on. And\r\n\r\nA new one",
                &["a line\nthat goes on.", "And", "A new one"],
            ),
            (
                "# Title\nText here.\n- one\n- two\n1. three",
                &["# Title", "Text here.", "- one", "- two", "1. three"],
            ),
            ("Wait... what?! Yes.", &["Wait... what?!", "Yes."]),
            ("", &[]),
            (" \n... \n", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(split(text), *expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn s24_any_text_is_cut_into_parts_of_itself_in_order(text in "(\\PC|[.!? \n。\"]){0,200}") {
            let mut from = 0;
            for sentence in split(&text) {
                let at = text[from..].find(sentence);
                prop_assert!(at.is_some(), "{sentence:?} is in {text:?} after {from}");
                from += at.unwrap_or(0) + sentence.len();
            }
        }
    }
}
