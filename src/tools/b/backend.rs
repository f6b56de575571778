//! Who is asked, and how much it can read.

use mcp::{Code, Fault};
use roster::{Backend, Kind, Roster};
use routing::{Index, State, Target, Want};

use crate::{app::App, config::Settings, untrusted};

/// The capability that is asked for where nobody is named.
const SKILL: &str = "summarization";

/// Bytes that are read of a source where no window is known: what the earlier server read.
const USUAL: usize = 48_000;

/// Tokens of an answer, and of one that is asked for again.
const FIRST: u64 = 2_500;
const SECOND: u64 = 4_000;

/// Tokens that the chat template of a model may add.
const TEMPLATE: u64 = 64;

/// Bytes that are counted as one token. Prose has more, figures and code have fewer.
const PER_TOKEN: u64 = 3;

/// The backends that a message lists.
const LISTED: usize = 20;

/// Who is asked.
#[derive(Debug)]
pub(in crate::tools) struct Choice {
    pub(in crate::tools) want: Want,
    /// The smallest context window, in tokens, of those that may answer; none is known.
    window: Option<u64>,
    /// The most tokens that any of them may be asked for.
    most: u64,
    /// The one who would answer, where that is no model.
    pub(in crate::tools) extractor: Option<String>,
    /// What the caller should know of the choice.
    pub(super) warning: Option<String>,
}

impl Choice {
    /// The backend that is named by its id, else by its model, else by the setting `b.model`; else
    /// the cheapest that is good at `summarization`, else the first local one.
    pub(super) fn of(
        app: &App,
        target: Option<String>,
        model: Option<&str>,
    ) -> Result<Self, Fault> {
        match (target, model) {
            (Some(target), _) => Ok(Self::among(&app.router.roster(), Want::Target(target))),
            (None, Some(model)) => {
                let target = named(&app.router.targets(None), model)?;
                Ok(Self::among(&app.router.roster(), Want::Target(target)))
            }
            (None, None) => Ok(Self::set("b.model", app, |settings| settings.b.model.as_deref())),
        }
    }

    /// The backend that a setting names by its id or its model; else the cheapest that is good at
    /// `summarization`, else the first local one.
    pub(in crate::tools) fn set(
        key: &str,
        app: &App,
        of: impl Fn(&Settings) -> Option<&str>,
    ) -> Self {
        let roster = app.router.roster();
        let Some(model) = of(&app.settings).map(str::trim).filter(|model| !model.is_empty()) else {
            return Self::among(&roster, by_skill(&roster));
        };
        if let Some(want) = by_setting(&app.router.targets(None), model) {
            return Self::among(&roster, want);
        }
        let warning = format!(
            "the setting `{key}` names `{}`, which no unpaid backend of the roster is: another one was asked",
            untrusted::one_line(model, 80)
        );
        Self { warning: Some(warning), ..Self::among(&roster, by_skill(&roster)) }
    }

    /// Who would answer where a call goes there.
    fn among(roster: &Roster, want: Want) -> Self {
        let places = Index::of(roster).candidates(&want);
        let all: Vec<&Backend> =
            places.iter().filter_map(|at| roster.backends().get(*at)).collect();
        let models = || all.iter().filter(|backend| backend.kind != Kind::Extract);
        // What has no model may be cheaper than one that has; what is switched off is the router's
        // to tell.
        let first = all.first().filter(|one| one.kind == Kind::Extract && one.can_delegate);
        let (want, extractor) = match (first, models().next()) {
            (Some(_), Some(model)) => (Want::Target(model.id.clone()), None),
            (Some(extractor), None) if extractor.enabled => (want, Some(extractor.id.clone())),
            _ => (want, None),
        };
        Self {
            want,
            window: models().filter_map(|backend| backend.limits.context_tokens).min(),
            most: models()
                .filter_map(|backend| backend.limits.max_output_tokens)
                .min()
                .unwrap_or(u64::MAX),
            extractor,
            warning: None,
        }
    }

    /// Tokens that are left to an answer: never more than half of the window.
    fn answer(&self, asked: u64) -> u64 {
        let half = self.window.map_or(u64::MAX, |window| window / 2);
        asked.min(self.most).min(half).max(1)
    }

    /// The most tokens of an answer; more when it is asked for again.
    pub(super) fn max_tokens(&self, again: bool) -> u64 {
        self.answer(if again { SECOND } else { FIRST })
    }

    /// How many bytes of a source can be read beside so many bytes of other words.
    pub(super) fn room(&self, beside: usize) -> usize {
        let Some(window) = self.window else { return USUAL };
        let tokens = window.saturating_sub(self.answer(SECOND)).saturating_sub(TEMPLATE);
        let bytes = usize::try_from(tokens.saturating_mul(PER_TOKEN)).unwrap_or(usize::MAX);
        bytes.saturating_sub(beside)
    }

    /// The window, in words.
    pub(super) fn window(&self) -> String {
        self.window.map_or_else(|| "unknown size".to_owned(), |window| format!("{window} tokens"))
    }
}

/// Whether a backend of that id answers without a model.
pub(super) fn extracts(roster: &Roster, id: &str) -> bool {
    roster.get(id).is_some_and(|backend| backend.kind == Kind::Extract)
}

fn by_skill(roster: &Roster) -> Want {
    if roster.capabilities().contains(&SKILL) { Want::Task(SKILL.to_owned()) } else { Want::Local }
}

/// The id of the backend that is called so, or whose model is: an unpaid one where there is one,
/// and of equals the one that stands best.
fn find<'t>(targets: impl Iterator<Item = &'t Target>, model: &str) -> Option<&'t Target> {
    let model = model.trim();
    let fits = |target: &&Target| target.id == model || target.model == model;
    let standing = |target: &&Target| {
        let state = match target.state {
            State::Ready => 0,
            State::Busy => 1,
            State::Limited => 2,
            State::Failing => 3,
            State::Inert | State::Disabled => 4,
        };
        (target.id != model, target.tier.is_paid(), state, target.tier)
    };
    targets.filter(fits).min_by_key(standing)
}

fn named(targets: &[Target], model: &str) -> Result<String, Fault> {
    if let Some(target) = find(targets.iter(), model) {
        return Ok(target.id.clone());
    }
    let line =
        |target: &Target| format!("`{}` ({})", target.id, untrusted::one_line(&target.model, 80));
    let there: Vec<String> = targets.iter().take(LISTED).map(line).collect();
    let there = match targets.len().saturating_sub(LISTED) {
        _ if there.is_empty() => "none yet (no roster entry has `can_delegate = true`)".to_owned(),
        0 => there.join(", "),
        more => format!("{} and {more} more", there.join(", ")),
    };
    let model = untrusted::one_line(model, 80);
    let words = format!("no backend has the id or the model `{model}`: the backends are {there}");
    Err(Fault::new(Code::NotFound, words).kind("unknown_model"))
}

/// A setting is no call that names a paid backend.
fn by_setting(targets: &[Target], model: &str) -> Option<Want> {
    let unpaid = targets.iter().filter(|target| !target.tier.is_paid());
    find(unpaid, model).map(|target| Want::Target(target.id.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(window: Option<u64>, most: u64) -> Choice {
        Choice { want: Want::Local, window, most, extractor: None, warning: None }
    }

    #[test]
    fn a_window_is_shared_between_source_and_answer() {
        for (window, most, first, second, room) in [
            (None, u64::MAX, 2_500, 4_000, 48_000),
            (Some(32_768), u64::MAX, 2_500, 4_000, (32_768 - 4_000 - 64) * 3 - 1_000),
            (Some(32_768), 1_000, 1_000, 1_000, (32_768 - 1_000 - 64) * 3 - 1_000),
            (Some(2_048), u64::MAX, 1_024, 1_024, (1_024 - 64) * 3 - 1_000),
            (Some(256), u64::MAX, 128, 128, 0),
            (Some(1), u64::MAX, 1, 1, 0),
        ] {
            let choice = choice(window, most);
            let found = (choice.max_tokens(false), choice.max_tokens(true), choice.room(1_000));
            assert_eq!(found, (first, second, room), "{window:?}");
        }
    }
}
