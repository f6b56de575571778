//! An answer without a model: the sentences of the prompt's own material that fit its question
//! best, verbatim and in their order. Pure, deterministic, and the same for the same prompt.
//!
//! The question is what the prompt asks: its sentences with a question mark, else its first line.
//! The rest is the material. Sentences are ranked by BM25 (Robertson and Zaragoza, "The
//! Probabilistic Relevance Framework: BM25 and Beyond", 2009) against the question; where the
//! question has no word in common with the material, against the material as a whole.

use std::{
    collections::{HashMap, HashSet},
    time::Instant,
};

use super::{Answer, Failure, Kind, Request, Sent, request::prompt_bytes, sentences, usage};

/// What is looked at of a prompt: its first bytes and sentences.
const MAX_MATERIAL: usize = 1024 * 1024;
const MAX_SENTENCES: usize = 20_000;

/// Sentences of an answer.
const BEST: usize = 5;

/// Bytes of an answer whose length the caller left open.
const MAX_ANSWER: u64 = 4 * 1024;

/// BM25's usual constants: how soon repetition stops to count, and how much length does.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Answers from the prompt alone.
pub(super) fn call(asked: &Request) -> Result<Answer, Failure> {
    let started = Instant::now();
    let most = asked.max_tokens.map_or(MAX_ANSWER, |tokens| tokens.saturating_mul(4));
    let text = extract(&asked.prompt, usize::try_from(most).unwrap_or(usize::MAX));
    if text.is_empty() {
        let message = "the prompt has no sentence to extract from; put the material into it";
        return Err(Failure::new(Kind::Empty, Sent::Answered, message));
    }
    let usage = usage::Reported::default().or_estimate(prompt_bytes(asked), text.len());
    Ok(Answer {
        text,
        model: "extractive".to_owned(),
        finish_reason: "stop".to_owned(),
        usage,
        first_token: Some(started.elapsed()),
        ..Answer::default()
    })
}

/// The best sentences in at most so many bytes.
fn extract(prompt: &str, most: usize) -> String {
    let prompt = &prompt[..prompt.floor_char_boundary(MAX_MATERIAL)];
    let mut all = sentences::split(prompt);
    all.truncate(MAX_SENTENCES);
    let (question, material) = split_question(&all);
    let Some(first) = material.first().or(all.first()) else { return String::new() };
    let scores = rank(&question, &material);
    let mut order: Vec<usize> = (0..material.len()).collect();
    // Equal scores keep their order: what comes first says more.
    order.sort_by(|a, b| score(&scores, *b).total_cmp(&score(&scores, *a)));
    let mut chosen = Vec::new();
    let mut size = 0;
    for index in order.into_iter().filter(|index| score(&scores, *index) > 0.0) {
        let length = material.get(index).map_or(0, |sentence| sentence.len() + 1);
        if chosen.len() < BEST && size + length <= most.saturating_add(1) {
            size += length;
            chosen.push(index);
        }
    }
    if chosen.is_empty() {
        let end = first.floor_char_boundary(most);
        return first[..end].trim_end().to_owned();
    }
    chosen.sort_unstable();
    let sentences: Vec<&str> =
        chosen.into_iter().filter_map(|index| material.get(index).copied()).collect();
    sentences.join("\n")
}

fn score(scores: &[f64], index: usize) -> f64 {
    scores.get(index).copied().unwrap_or(0.0)
}

/// The question's sentences and the rest. Only the beginning and the end of a prompt can ask: a
/// question mark within the material is the material's own.
fn split_question<'a>(all: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    let asks = |index: usize, sentence: &str| {
        (index < 3 || index + 3 >= all.len()) && sentence.ends_with(['?', '？'])
    };
    let asked = all.iter().enumerate().any(|(index, sentence)| asks(index, sentence));
    let mut question = Vec::new();
    let mut material = Vec::new();
    for (index, sentence) in all.iter().enumerate() {
        let is_question = if asked { asks(index, sentence) } else { index == 0 };
        if is_question { question.push(*sentence) } else { material.push(*sentence) }
    }
    (question, material)
}

/// BM25 of each sentence of the material.
fn rank(question: &[&str], material: &[&str]) -> Vec<f64> {
    let sentences: Vec<Vec<String>> = material.iter().map(|sentence| words(sentence)).collect();
    let mut within: HashMap<&str, usize> = HashMap::new();
    for sentence in &sentences {
        for word in sentence.iter().map(String::as_str).collect::<HashSet<_>>() {
            *within.entry(word).or_default() += 1;
        }
    }
    let asked: HashSet<String> = question.iter().flat_map(|sentence| words(sentence)).collect();
    let mut terms: Vec<&str> =
        asked.iter().map(String::as_str).filter(|word| within.contains_key(word)).collect();
    let about_all = terms.is_empty();
    if about_all {
        // A word of one sentence alone says nothing of the whole.
        terms = within.iter().filter(|(_, count)| **count > 1).map(|(word, _)| *word).collect();
    }
    let terms: HashSet<&str> = terms.into_iter().collect();
    let count = float(material.len());
    let total: usize = sentences.iter().map(Vec::len).sum();
    let average = (float(total) / count.max(1.0)).max(1.0);
    sentences
        .iter()
        .map(|sentence| {
            let mut times: Vec<(&str, usize)> = Vec::new();
            for word in sentence.iter().map(String::as_str).filter(|word| terms.contains(word)) {
                match times.iter_mut().find(|(known, _)| *known == word) {
                    Some((_, times)) => *times += 1,
                    None => times.push((word, 1)),
                }
            }
            let length = K1 * (1.0 - B + B * float(sentence.len()) / average);
            let sum = |(word, times): (&str, usize)| {
                let found = float(within.get(word).copied().unwrap_or(0));
                let rare = ((count - found + 0.5) / (found + 0.5)).ln_1p();
                // About the whole, what many sentences share is what counts.
                let weight = if about_all { found.ln() } else { rare };
                weight * float(times) * (K1 + 1.0) / (float(times) + length)
            };
            times.into_iter().map(sum).sum()
        })
        .collect()
}

/// The words of a sentence in small letters. Scripts that write no blanks count by character;
/// shorter words than three letters elsewhere are seldom what is meant.
fn words(sentence: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if word.chars().any(|c| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')) {
            words.extend(word.chars().map(String::from));
        } else if word.chars().count() > 2 || word.chars().any(char::is_numeric) {
            words.push(word.to_lowercase());
        }
    }
    words
}

#[expect(clippy::cast_precision_loss, reason = "counts of at most a million")]
fn float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOTES: &str = "Which port does the broker use?\n\n\
        The broker is one binary. It listens on port 7004 unless told otherwise. \
        Its store is SQLite. Backups are taken at night by a timer.";

    #[test]
    fn the_sentence_that_answers_comes_out_verbatim() {
        let text = extract(NOTES, 4096);
        assert!(text.contains("It listens on port 7004 unless told otherwise."), "{text}");
        assert!(!text.contains("Backups"), "{text}");
        assert!(!text.contains("Which port"), "the question is no material: {text}");
        assert_eq!(text, extract(NOTES, 4096));
    }

    #[test]
    fn sentences_keep_their_order_and_the_bound() {
        let text = extract(NOTES, 30);
        assert!(text.len() <= 30 && NOTES.contains(&text), "{text}");
        let long = extract(NOTES, 4096);
        let places: Vec<_> = long.lines().map(|line| NOTES.find(line).unwrap()).collect();
        assert!(places.is_sorted(), "{long}");
    }

    #[test]
    fn without_a_common_word_the_middle_of_the_matter_is_taken() {
        let text =
            extract("Summarise this.\n\nCats purr. Cats sleep, and cats hunt. Rain fell.", 4096);
        assert!(text.contains("Cats"), "{text}");
        assert!(!text.contains("Rain"), "{text}");
    }

    #[test]
    fn without_material_the_first_sentence_stands() {
        assert_eq!(extract("Say hello", 4096), "Say hello");
        assert_eq!(extract("Say hello. ", 4), "Say");
        assert_eq!(extract("Why?", 4096), "Why?");
        assert_eq!(extract("", 4096), "");
        assert_eq!(extract(" ... ", 4096), "");
    }

    #[test]
    fn an_answer_is_marked_as_extractive_and_estimated() {
        let answer = call(&Request { prompt: NOTES.into(), ..Request::default() }).unwrap();
        assert_eq!((answer.model.as_str(), answer.finish_reason.as_str()), ("extractive", "stop"));
        assert!(answer.usage.estimated && answer.usage.input_tokens > 1);
        let failure = call(&Request { prompt: " ".into(), ..Request::default() }).unwrap_err();
        assert_eq!(failure.kind, Kind::Empty);
    }

    proptest! {
        #[test]
        fn s24_any_prompt_gives_bounded_parts_of_itself(
            prompt in "(\\PC|[.?! \n。a-e]){0,300}", most in 0usize..200,
        ) {
            let text = extract(&prompt, most);
            prop_assert!(text.len() <= most);
            let from_prompt = text.lines().all(|line| prompt.contains(line));
            prop_assert!(from_prompt || prompt.contains(&text), "{text:?}");
        }
    }
}
