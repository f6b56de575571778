//! What is asked for, and whether a text has it: see the [contract](super).

use std::ops::{ControlFlow, Range};

use super::words::words;

/// The most characters of a query.
const MOST: usize = 1_000;

/// The most words of a query: as many as an integer has bits.
const WORDS: usize = 64;

/// How many places of a term are looked for.
const PLACES: usize = 3;

/// Why a text is no query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is nothing to look for.
    #[error("`query` has no word: give letters or digits to look for")]
    Empty,
    /// It is too long.
    #[error("`query` has {0} characters, and may have {MOST}: look for fewer words")]
    Long(usize),
    /// It has too many words.
    #[error("`query` has more than {WORDS} words: look for fewer")]
    Many,
}

/// One word that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Its folded form: letters and digits, one at least.
    pub text: String,
    /// Whether it may go on.
    pub is_prefix: bool,
}

impl Word {
    fn is(&self, word: &str) -> bool {
        if self.is_prefix { word.starts_with(&self.text) } else { word == self.text }
    }
}

/// Words that stand one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// One at least; the last one alone may go on.
    pub words: Vec<Word>,
}

/// What is looked for: every term of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    terms: Vec<Term>,
}

/// Where a text has a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// Which term of the query.
    pub term: usize,
    /// Which of the texts.
    pub text: usize,
    /// Its bytes there.
    pub span: Range<usize>,
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// [`Error`]. No sign in it is wrong.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let length = text.chars().count();
        if length > MOST {
            return Err(Error::Long(length));
        }
        let mut terms = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let (term, mut behind) = if first == '"' {
                let quoted = &rest[1..];
                quoted.split_once('"').unwrap_or((quoted, ""))
            } else {
                let is_end = |c: char| c.is_whitespace() || c == '"';
                rest.split_at(rest.find(is_end).unwrap_or(rest.len()))
            };
            let mut is_prefix = false;
            if first == '"'
                && let Some(after) = behind.strip_prefix('*')
            {
                (is_prefix, behind) = (true, after);
            }
            terms.extend(Term::read(term, is_prefix));
            rest = behind.trim_start();
        }
        let count: usize = terms.iter().map(|term| term.words.len()).sum();
        match count {
            0 => Err(Error::Empty),
            count if count > WORDS => Err(Error::Many),
            _ => Ok(Self { terms }),
        }
    }

    /// What a text must have, all of it.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Where the texts have it, the first few places of each term, in the order of the terms;
    /// nothing where any term is in none of them. No term reaches from one text into the next.
    pub fn find(&self, texts: &[&str]) -> Option<Vec<Spot>> {
        let mut seekers: Vec<Seeker<'_>> = self.terms.iter().enumerate().map(Seeker::new).collect();
        for (at, text) in texts.iter().enumerate() {
            seekers.iter_mut().for_each(Seeker::begin);
            words(text, |span, word| {
                for seeker in &mut seekers {
                    seeker.next(at, &span, word);
                }
                let is_enough = seekers.iter().all(|seeker| seeker.found.len() == PLACES);
                if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        }
        let is_there = seekers.iter().all(|seeker| !seeker.found.is_empty());
        is_there.then(|| seekers.into_iter().flat_map(|seeker| seeker.found).collect())
    }
}

impl Term {
    /// A term as it was written; nothing where it has no word.
    fn read(text: &str, is_prefix: bool) -> Option<Self> {
        let (mut term, mut end) = (Self { words: Vec::new() }, 0);
        words(text, |span, word| {
            term.words.push(Word { text: word.to_owned(), is_prefix: false });
            end = span.end;
            ControlFlow::Continue(())
        });
        let last = term.words.last_mut()?;
        last.is_prefix = is_prefix || text.get(end..)?.trim_end() == "*";
        Some(term)
    }
}

/// Goes through the words of a text after a term (the Shift-And of Baeza-Yates and Gonnet, "A New
/// Approach to Text Searching", 1992): bit `n` of the state says that the words up to here end
/// with the first `n + 1` of the term.
struct Seeker<'q> {
    term: usize,
    words: &'q [Word],
    state: u64,
    /// Where the last words began, as many as a term may have.
    starts: [usize; WORDS],
    count: usize,
    found: Vec<Spot>,
}

impl<'q> Seeker<'q> {
    fn new((term, Term { words }): (usize, &'q Term)) -> Self {
        Self { term, words, state: 0, starts: [0; WORDS], count: 0, found: Vec::new() }
    }

    fn begin(&mut self) {
        self.state = 0;
    }

    fn next(&mut self, text: usize, span: &Range<usize>, word: &str) {
        if self.found.len() == PLACES {
            return;
        }
        self.starts[self.count % WORDS] = span.start;
        self.count += 1;
        let wanted = self.state << 1 | 1;
        self.state = 0;
        for (nth, own) in self.words.iter().enumerate() {
            if wanted >> nth & 1 == 1 && own.is(word) {
                self.state |= 1 << nth;
            }
        }
        let length = self.words.len();
        if self.state >> (length - 1) & 1 == 1 {
            let start = self.starts[(self.count - length) % WORDS];
            self.found.push(Spot { term: self.term, text, span: start..span.end });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(query: &str) -> String {
        let query = Query::parse(query).unwrap();
        let term = |term: &Term| {
            let words = term.words.iter();
            let words =
                words.map(|word| format!("{}{}", word.text, if word.is_prefix { "*" } else { "" }));
            words.collect::<Vec<_>>().join("+")
        };
        query.terms.iter().map(term).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn terms_are_read_between_blanks_and_in_quotes() {
        for (query, wanted) in [
            ("Fix login", "fix login"),
            ("fix-login src/mod.rs", "fix+login src+mod+rs"),
            ("\"red  cart\" now", "red+cart now"),
            ("dead* \"the lo*\" \"the lo\"*", "dead* the+lo* the+lo*"),
            ("a\"b c\"d", "a b+c d"),
            ("\"never closed", "never+closed"),
            ("a AND NOT -b OR c:d^2 NEAR(e)", "a and not b or c+d+2 near+e"),
            ("* x * ** -- \"\" \"*\"", "x"),
            ("ca*r bar**", "ca+r bar"),
            ("検索*", "検+索*"),
            ("Été ete\u{301}*", "ete ete*"),
        ] {
            assert_eq!(shown(query), wanted, "{query}");
        }
        assert_eq!(Query::parse(" * -- \"\""), Err(Error::Empty));
        assert_eq!(Query::parse(&"a".repeat(1_001)), Err(Error::Long(1_001)));
        assert_eq!(Query::parse(&"a ".repeat(65)), Err(Error::Many));
        assert_eq!(Query::parse(&"a ".repeat(64)).unwrap().terms.len(), 64);
    }

    fn spots(query: &str, texts: &[&str]) -> Option<Vec<(usize, String)>> {
        let spots = Query::parse(query).unwrap().find(texts)?;
        Some(
            spots
                .into_iter()
                .map(|spot| (spot.text, texts[spot.text][spot.span].to_owned()))
                .collect(),
        )
    }

    #[test]
    fn a_text_has_a_query_when_it_has_each_term() {
        let texts = ["The red cart.", "A redder\ncart — cart"];
        let of = |spots: &[(usize, &str)]| {
            Some(spots.iter().map(|(at, text)| (*at, (*text).to_owned())).collect::<Vec<_>>())
        };
        assert_eq!(spots("cart", &texts), of(&[(0, "cart"), (1, "cart"), (1, "cart")]));
        assert_eq!(spots("redder red", &texts), of(&[(1, "redder"), (0, "red")]));
        assert_eq!(spots("red*", &texts), of(&[(0, "red"), (1, "redder")]));
        assert_eq!(spots("\"redder cart cart\"", &texts), of(&[(1, "redder\ncart — cart")]));
        assert_eq!(spots("\"cart a\"", &texts), None);
        assert_eq!(spots("red blue", &texts), None);
        assert_eq!(spots("\"red ca*\"", &texts), of(&[(0, "red cart")]));
        assert_eq!(spots("\"re* cart\"", &texts), None);
        assert_eq!(spots("a a a", &["a b a b a b a"]).unwrap().len(), 9);
    }

    /// What must be found, said as simply as can be.
    fn has(texts: &[&str], query: &Query) -> bool {
        let list = |text: &str| {
            let mut list = Vec::new();
            words(text, |_, word| {
                list.push(word.to_owned());
                ControlFlow::Continue(())
            });
            list
        };
        let lists: Vec<Vec<String>> = texts.iter().map(|text| list(text)).collect();
        query.terms().iter().all(|term| {
            lists.iter().any(|list| {
                list.windows(term.words.len()).any(|window| {
                    window.iter().zip(&term.words).all(|(word, wanted)| wanted.is(word))
                })
            })
        })
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_is_there(
            texts in proptest::collection::vec("[aàAb検 \\-]{0,30}", 1..3),
            query in "[aAb検 \"*\\-]{1,10}",
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            if let Ok(query) = Query::parse(&query) {
                let found = query.find(&texts);
                prop_assert_eq!(found.is_some(), has(&texts, &query));
                for spot in found.into_iter().flatten() {
                    prop_assert!(texts[spot.text].get(spot.span).is_some());
                }
            }
        }

        #[test]
        fn any_text_is_a_query_or_has_a_reason(text in "(?s).{0,60}") {
            match Query::parse(&text) {
                Ok(query) => prop_assert!(query.find(&[&text]).is_some() || text.contains('*')),
                Err(error) => prop_assert_eq!(error, Error::Empty),
            }
        }
    }
}
