//! What the engines are given: folded words, which are letters and digits alone, and two marks that
//! no word can be.

use std::{collections::BTreeSet, ops::ControlFlow};

use crate::reading::find::{Query, Word, words};

/// The most bytes of the different words of a record. One with more is looked at in every search:
/// a `tsvector` has room for a megabyte
/// (<https://www.postgresql.org/docs/current/textsearch-limitations.html>).
const MOST: usize = 1_000_000;

/// The mark of such a record.
const EVERY: &str = "★";

/// The mark in front of the kind.
const KIND: char = '§';

/// The words of a record, each once, with a blank between.
pub(super) fn content(kind: &str, text: &str) -> String {
    let (mut known, mut bytes) = (BTreeSet::<String>::new(), 0);
    words(text, |_, word| {
        if !known.contains(word) {
            bytes += word.len() + 1;
            known.insert(word.to_owned());
        }
        if bytes > MOST { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if bytes > MOST {
        return format!("{KIND}{kind} {EVERY}");
    }
    let mut content = format!("{KIND}{kind}");
    content.reserve(bytes);
    for word in known {
        content.push(' ');
        content.push_str(&word);
    }
    content
}

/// The expression of FTS5 (<https://sqlite.org/fts5.html#full_text_query_syntax>) for the records of
/// a kind that have every word of a query.
pub(super) fn sqlite(kind: &str, query: &Query) -> String {
    let word = |word: &Word| format!("\"{}\"{}", word.text, if word.is_prefix { "*" } else { "" });
    let words = each(query, word).join(" AND ");
    format!("\"{KIND}{kind}\" AND (({words}) OR \"{EVERY}\")")
}

/// The same as a `tsquery`
/// (<https://www.postgresql.org/docs/current/datatype-textsearch.html#DATATYPE-TSQUERY>).
pub(super) fn postgres(kind: &str, query: &Query) -> String {
    let word = |word: &Word| format!("'{}'{}", word.text, if word.is_prefix { ":*" } else { "" });
    let words = each(query, word).join(" & ");
    format!("'{KIND}{kind}' & (({words}) | '{EVERY}')")
}

fn each(query: &Query, shown: impl Fn(&Word) -> String) -> Vec<String> {
    query.terms().iter().flat_map(|term| &term.words).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_in_the_index_once() {
        assert_eq!(content("todo", "The cart, the CART: Ä-1"), "§todo 1 a cart the");
        assert_eq!(content("todo", " — "), "§todo");
    }

    #[test]
    fn a_record_with_too_many_words_is_looked_at_in_every_search() {
        let many = (0..200_000).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
        assert_eq!(content("ledger", &many), "§ledger ★");
        assert!(content("ledger", &"same ".repeat(300_000)).ends_with(" same"));
    }

    #[test]
    fn a_query_is_words_for_the_engines_whatever_is_in_it() {
        let query = Query::parse("NOT a* \"b' c\" \\x OR ':*").unwrap();
        assert_eq!(
            sqlite("todo", &query),
            "\"§todo\" AND ((\"not\" AND \"a\"* AND \"b\" AND \"c\" AND \"x\" AND \"or\") OR \"★\")"
        );
        assert_eq!(
            postgres("todo", &query),
            "'§todo' & (('not' & 'a':* & 'b' & 'c' & 'x' & 'or') | '★')"
        );
    }
}
