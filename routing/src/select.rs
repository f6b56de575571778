//! Which backend a call goes to: a pure function of a snapshot, a want and each candidate's
//! standing. No clock, no lock, no I/O.
//!
//! Precedence: `target`, then `task`, then the default local backend. An explicit target never
//! runs elsewhere. Candidates by capability are ordered by tier, then price (unknown last), then
//! load. A benched candidate (rate-limited or failing) is passed over while another stands, and
//! taken when none does. A paid backend is a candidate only where it is named and billing is on.

use std::{cmp::Ordering, collections::HashMap, fmt::Write as _};

use roster::{Backend, Kind, Roster, Tier};

use crate::Error;

/// How a caller says where a call should go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Want {
    /// Exactly this backend.
    Target(String),
    /// The cheapest backend with this capability.
    Task(String),
    /// The first local backend that has a model.
    #[default]
    Local,
}

impl Want {
    /// From the arguments of a call: the target wins over the task.
    pub fn of(target: Option<String>, task: Option<String>) -> Self {
        match (target, task) {
            (Some(target), _) => Self::Target(target),
            (None, Some(task)) => Self::Task(task),
            (None, None) => Self::Local,
        }
    }

    /// The capability that is asked for; empty when none is.
    pub fn task(&self) -> &str {
        if let Self::Task(task) = self { task } else { "" }
    }
}

/// How a candidate stands at the moment of choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// Rate-limited or failing: passed over while another candidate stands.
    pub benched: bool,
    /// Calls in flight and waiting, in thousandths of its concurrency.
    pub load: u32,
}

/// A choice, by position in the roster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pick {
    /// Position in [`Roster::backends`].
    pub at: usize,
    /// Why this one; put into words by [`Index::explain`].
    pub why: Why,
}

/// The reason for a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It was named.
    Named,
    /// The default local backend.
    Default,
    /// By capability: its tier and price came first among `of` candidates; `ties` of them stood
    /// equal and it had the least load.
    Capability {
        /// Candidates with the capability.
        of: usize,
        /// Candidates of the same tier and price that were compared by load.
        ties: usize,
        /// Candidates before it that were benched or had already been tried.
        passed: usize,
    },
}

/// The outcome of a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selected {
    /// This backend.
    Pick(Pick),
    /// No backend has the capability.
    NoFit,
    /// Those that have it were all excluded.
    Spent,
}

/// What a snapshot's selection needs, computed once when the snapshot is taken.
#[derive(Debug, Default)]
pub struct Index {
    by_id: HashMap<String, usize>,
    by_task: HashMap<String, Vec<Candidate>>,
    default: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    at: usize,
    tier: Tier,
    price: f64,
}

impl Candidate {
    fn rank(&self, other: &Self) -> Ordering {
        self.tier.cmp(&other.tier).then(self.price.total_cmp(&other.price))
    }
}

/// The price by which candidates of one tier are ordered: input plus output in dollars per million
/// tokens. Unknown in either part is infinite, so that it sorts last.
fn price(backend: &Backend) -> f64 {
    let parts = backend.cost.and_then(|cost| cost.input_per_mtok.zip(cost.output_per_mtok));
    parts.map_or(f64::INFINITY, |(input, output)| input + output)
}

impl Index {
    /// The index of a roster.
    pub fn of(roster: &Roster) -> Self {
        let mut by_task: HashMap<String, Vec<Candidate>> = HashMap::new();
        for (at, backend) in roster.backends().iter().enumerate() {
            if !backend.is_automatic() {
                continue;
            }
            let candidate = Candidate { at, tier: backend.tier, price: price(backend) };
            for task in &backend.good_at {
                let list = by_task.entry(task.clone()).or_default();
                if list.last().is_none_or(|last| last.at != at) {
                    list.push(candidate);
                }
            }
        }
        for list in by_task.values_mut() {
            list.sort_by(|a, b| a.rank(b).then(a.at.cmp(&b.at)));
        }
        let default = roster.backends().iter().position(|backend| {
            backend.enabled && backend.tier == Tier::Local && backend.kind != Kind::Extract
        });
        let by_id =
            roster.backends().iter().enumerate().map(|(at, b)| (b.id.clone(), at)).collect();
        Self { by_id, by_task, default }
    }

    /// The positions of the candidates for a want, best first; empty when there is none.
    pub fn candidates(&self, want: &Want) -> Vec<usize> {
        match want {
            Want::Target(id) => self.by_id.get(id).copied().into_iter().collect(),
            Want::Task(task) => {
                self.by_task.get(task).into_iter().flatten().map(|c| c.at).collect()
            }
            Want::Local => self.default.into_iter().collect(),
        }
    }

    /// Chooses. `excluded` are positions that this call has already given up on.
    ///
    /// # Errors
    /// When the target does not exist, is not open to delegation, is disabled, or is paid while
    /// billing is off; when there is no local backend for a call without target and task.
    pub fn select(
        &self,
        roster: &Roster,
        want: &Want,
        billing: bool,
        excluded: &[usize],
        standing: impl Fn(usize) -> Standing,
    ) -> Result<Selected, Error> {
        match want {
            Want::Target(id) => {
                let at = self.named(roster, id, billing)?;
                Ok(single(at, Why::Named, excluded))
            }
            Want::Task(task) => {
                let Some(list) = self.by_task.get(task) else { return Ok(Selected::NoFit) };
                Ok(cheapest(list, excluded, standing).map_or(Selected::Spent, Selected::Pick))
            }
            Want::Local => {
                let at = self.default.ok_or(Error::NoLocal)?;
                Ok(single(at, Why::Default, excluded))
            }
        }
    }

    fn named(&self, roster: &Roster, id: &str, billing: bool) -> Result<usize, Error> {
        let at = self.by_id.get(id).copied();
        let Some((at, backend)) = at.and_then(|at| Some((at, roster.backends().get(at)?))) else {
            return Err(Error::UnknownTarget { id: id.to_owned(), targets: targets(roster) });
        };
        let id = || id.to_owned();
        if !backend.enabled {
            return Err(Error::Disabled { id: id() });
        }
        if !backend.can_delegate {
            return Err(Error::NotDelegate { id: id(), targets: targets(roster) });
        }
        if backend.tier.is_paid() && !billing {
            return Err(Error::Billing { id: id() });
        }
        Ok(at)
    }

    /// A choice in words, for `explain` and receipts.
    pub fn explain(roster: &Roster, want: &Want, pick: Pick) -> String {
        let id = roster.backends().get(pick.at).map_or("?", |backend| &backend.id);
        match pick.why {
            Why::Named => format!("`{id}` was named as the target"),
            Why::Default => format!("`{id}` is the first local backend of the roster"),
            Why::Capability { of: 1, .. } => {
                format!("`{id}` is the only backend good at `{}`", want.task())
            }
            Why::Capability { of, ties, passed } => {
                let task = want.task();
                let mut text =
                    format!("`{id}` comes first by tier and price of {of} good at `{task}`");
                if ties > 1 {
                    let _ = write!(text, ", with the least load of {ties} equals");
                }
                if passed > 0 {
                    let _ = write!(text, "; {passed} before it failing, rate-limited or tried");
                }
                text
            }
        }
    }
}

fn single(at: usize, why: Why, excluded: &[usize]) -> Selected {
    if excluded.contains(&at) { Selected::Spent } else { Selected::Pick(Pick { at, why }) }
}

/// The ids that may be named, in file order.
fn targets(roster: &Roster) -> Vec<String> {
    let open = roster.backends().iter().filter(|b| b.enabled && b.can_delegate);
    open.map(|backend| backend.id.clone()).collect()
}

/// The best of a sorted list: the first group of equal tier and price that has a candidate which
/// is neither excluded nor benched, and in it the least loaded. When all are benched, the first
/// that is not excluded.
fn cheapest(
    list: &[Candidate],
    excluded: &[usize],
    standing: impl Fn(usize) -> Standing,
) -> Option<Pick> {
    let pick =
        |at, ties, passed| Some(Pick { at, why: Why::Capability { of: list.len(), ties, passed } });
    let mut start = 0;
    while let Some(first) = list.get(start) {
        let rest = list.get(start..).unwrap_or_default();
        let group = rest.iter().take_while(|c| c.rank(first) == Ordering::Equal);
        let (mut best, mut size, mut ties): (Option<(u32, usize)>, usize, usize) = (None, 0, 0);
        for candidate in group {
            size += 1;
            if excluded.contains(&candidate.at) {
                continue;
            }
            let stands = standing(candidate.at);
            if stands.benched {
                continue;
            }
            ties += 1;
            if best.is_none_or(|(load, _)| stands.load < load) {
                best = Some((stands.load, candidate.at));
            }
        }
        if let Some((_, at)) = best {
            return pick(at, ties, start + size - ties);
        }
        start += size;
    }
    let open = list.iter().position(|candidate| !excluded.contains(&candidate.at))?;
    pick(list.get(open)?.at, 1, open)
}
