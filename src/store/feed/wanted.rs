//! Which changes a reader wants, and which of them it may see.

use mcp::Rights;

use super::{Event, KINDS, Kind};
use crate::store::{
    Error,
    names::{Recipient, SESSION},
};

/// The most loci of one filter.
const LOCI: usize = 256;

/// What a reader asks for; by default everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    loci: Box<[Box<str>]>,
    kinds: Box<[&'static str]>,
    nobodys: bool,
}

impl Wanted {
    /// Reads loci (`session:<id>` among them) and kinds, each text several with commas between;
    /// without any, all are wanted.
    ///
    /// # Errors
    /// [`Error::Invalid`] for what is no locus or no kind; [`Error::TooLarge`] for more than 256
    /// loci.
    pub fn parse<'a>(
        loci: impl IntoIterator<Item = &'a str>,
        kinds: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, Error> {
        let loci = words(loci).map(locus).collect::<Result<Box<[_]>, _>>()?;
        if loci.len() > LOCI {
            let count = loci.len();
            return Err(Error::TooLarge(format!(
                "`locus` names {count} loci and may name {LOCI}: name fewer, or none for all"
            )));
        }
        let kinds = words(kinds).map(kind).collect::<Result<Box<[_]>, _>>()?;
        Ok(Self { loci, kinds, nobodys: false })
    }

    /// With what is nobody's in particular, whichever loci are named.
    #[must_use]
    pub fn with_nobodys(mut self) -> Self {
        self.nobodys = true;
        self
    }

    /// The loci that are named; none where all are wanted.
    pub fn loci(&self) -> impl Iterator<Item = &str> {
        self.loci.iter().map(|locus| &**locus)
    }

    /// Whether the event is wanted, and is for a reader of these rights.
    pub fn takes(&self, rights: &Rights, event: &Event) -> bool {
        let is_named = self.loci.is_empty()
            || (self.nobodys && event.locus.is_empty())
            || self.loci.iter().any(|locus| **locus == *event.locus);
        is_named
            && (self.kinds.is_empty() || self.kinds.contains(&&*event.kind))
            && rights.scope >= event.needs
            && rights.reaches(&event.locus)
    }
}

fn words<'a>(texts: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    let parts = texts.into_iter().flat_map(|text| text.split(','));
    parts.map(str::trim).filter(|word| !word.is_empty())
}

fn locus(word: &str) -> Result<Box<str>, Error> {
    match Recipient::parse(word) {
        // No change is a lease's: it stands for a session.
        Ok(Recipient::Lease(_)) => Err(Error::Invalid(format!(
            "changes have a locus or `{SESSION}<id>`: name the session that holds the lease"
        ))),
        Ok(recipient) => Ok(recipient.to_string().into()),
        Err(error) => Err(Error::Invalid(error.to_string())),
    }
}

fn kind(word: &str) -> Result<&'static str, Error> {
    Kind::named(&word.to_ascii_lowercase()).map(|kind| kind.name).ok_or_else(|| {
        let known: Vec<String> = KINDS.iter().map(|kind| format!("`{}`", kind.name)).collect();
        let word = crate::untrusted::one_line(word, 80);
        Error::Invalid(format!("`{word}` is no kind of record: it is one of {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use mcp::Scope;

    use super::*;

    fn rights(scope: Scope, loci: Option<&[&str]>) -> Rights {
        let loci = loci.map(|loci| loci.iter().map(ToString::to_string).collect::<BTreeSet<_>>());
        Rights { scope, loci }
    }

    fn event(kind: &str, locus: &str) -> Event {
        Event::new(1, 0, kind.to_owned(), locus.to_owned(), "x".to_owned(), "insert".to_owned())
    }

    #[test]
    fn what_is_wanted_is_read_in_any_case_and_what_is_nothing_is_refused() {
        let wanted = Wanted::parse(["Alpha, be_ta", "session:S-1"], ["Ledger,todo", ""]).unwrap();
        assert_eq!(wanted.loci().collect::<Vec<_>>(), ["alpha", "be-ta", "session:s-1"]);
        assert_eq!(&*wanted.kinds, ["ledger", "todo"]);
        assert_eq!(Wanted::parse([""], [" , "]).unwrap(), Wanted::default());
        let error = Wanted::parse([], ["ledgers"]).unwrap_err().to_string();
        assert!(error.contains("`ledgers`") && error.contains("`ledger`, `locus`"), "{error}");
        assert!(Wanted::parse(["/etc"], []).is_err() && Wanted::parse(["lease:x"], []).is_err());
        let many = vec!["a"; 257].join(",");
        assert!(matches!(Wanted::parse([&*many], []), Err(Error::TooLarge(_))));
    }

    #[test]
    fn an_event_is_for_those_who_want_it_and_may_see_it() {
        let all = rights(Scope::Read, None);
        let alphas = rights(Scope::Read, Some(&["alpha"]));
        let any = Wanted::default();
        assert!(any.takes(&all, &event("ledger", "beta")) && any.takes(&all, &event("todo", "")));
        assert!(any.takes(&alphas, &event("ledger", "alpha")));
        assert!(!any.takes(&alphas, &event("ledger", "beta")));
        assert!(!any.takes(&alphas, &event("ledger", "")));
        assert!(!any.takes(&all, &event("token", "")));
        assert!(any.takes(&rights(Scope::Operator, None), &event("token", "")));
        let beta = Wanted::parse(["beta"], []).unwrap();
        assert!(beta.takes(&all, &event("todo", "beta")) && !beta.takes(&all, &event("todo", "")));
        assert!(!beta.takes(&alphas, &event("todo", "beta")));
        let beta = beta.with_nobodys();
        assert!(beta.takes(&all, &event("todo", "")) && !beta.takes(&alphas, &event("todo", "")));
        assert!(!beta.takes(&all, &event("todo", "alpha")));
        let todos = Wanted::parse([], ["todo"]).unwrap();
        assert!(todos.takes(&all, &event("todo", "x")) && !todos.takes(&all, &event("board", "x")));
    }
}
