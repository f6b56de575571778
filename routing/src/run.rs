//! One call from choice to answer: which candidates it goes through, and what it comes to.

use std::{sync::Arc, time::Duration};

use roster::Backend;
use tokio::time::Instant;

use crate::{
    Error,
    many::Batch,
    outcome::{Attempt, Delegated, Outcome, cost_usd},
    post::{Post, Table},
    router::{Context, Router, Task},
    select::{Index, Pick, Selected},
    upstream::Answer,
};

/// See the module.
pub(crate) struct Run<'a> {
    pub(crate) router: &'a Router,
    pub(crate) table: &'a Arc<Table>,
    pub(crate) task: &'a Task,
    pub(crate) context: &'a Context,
    /// The batch that it belongs to, which bounds its own waiters.
    pub(crate) batch: Option<&'a Batch>,
}

/// What one backend came to.
pub(crate) enum Came {
    Answer(Box<Answer>),
    /// Rate-limited, with tries left: worth coming back to when no other candidate is.
    Limited(Error),
    /// No more tries here; another candidate may.
    Spent(Error),
    /// No candidate would do better.
    Failed(Error),
}

/// One backend with its runtime state and this call's deadline on it.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) backend: &'a Backend,
    pub(crate) post: &'a Post,
    pub(crate) start: Instant,
    pub(crate) deadline: Option<Instant>,
    pub(crate) why: &'a str,
}

/// How far a call has come through its candidates.
#[derive(Default)]
struct Course {
    spent: Vec<usize>,
    limited: Vec<Pick>,
    tries: Vec<(usize, u32)>,
    attempts: Vec<Attempt>,
    last: Option<Error>,
}

impl Course {
    /// The candidates that are not to be chosen anew.
    fn out(&self, also: Option<usize>) -> Vec<usize> {
        let limited = self.limited.iter().map(|pick| pick.at);
        self.spent.iter().copied().chain(limited).chain(also).collect()
    }

    fn tried(&self, at: usize) -> u32 {
        self.tries.iter().find(|(place, _)| *place == at).map_or(0, |(_, tries)| *tries)
    }

    fn set_tried(&mut self, at: usize, tried: u32) {
        self.tries.retain(|(place, _)| *place != at);
        self.tries.push((at, tried));
    }

    /// Keeps the error that tells a caller most: what a backend said, over that another was busy.
    fn remember(&mut self, error: Error) {
        if self.last.is_none() || matches!(error, Error::Upstream { .. }) {
            self.last = Some(error);
        }
    }

    fn fail(self, error: Error) -> Error {
        told(error, self.attempts)
    }
}

impl Run<'_> {
    /// The whole call, stopped by the context's token.
    pub(crate) async fn whole(&self) -> Result<Outcome, Error> {
        check(self.task)?;
        tokio::select! {
            biased;
            () = self.context.cancel.cancelled() => Err(Error::Cancelled),
            outcome = self.candidates() => outcome,
        }
    }

    async fn candidates(&self) -> Result<Outcome, Error> {
        let start = Instant::now();
        let mut course = Course::default();
        loop {
            let pick = match self.select(&course.out(None))? {
                Selected::Pick(pick) => pick,
                Selected::NoFit => return Ok(self.no_fit()),
                Selected::Spent => match self.first_to_return(&mut course, start) {
                    Ok(pick) => pick,
                    Err(error) => return Err(course.fail(error)),
                },
            };
            let Some(at) = self.at(pick.at, start) else { return Err(Error::NoLocal) };
            let why = Index::explain(&self.table.roster, &self.task.want, pick);
            let others = matches!(self.select(&course.out(Some(pick.at))), Ok(Selected::Pick(_)));
            let mut tried = course.tried(pick.at);
            let all = self.tries(At { why: &why, ..at }, others, &mut tried, &mut course.attempts);
            let came = Box::pin(all).await;
            course.set_tried(pick.at, tried);
            match came {
                Came::Answer(answer) => {
                    let done = self.delegated(at, *answer, why, course.attempts);
                    return Ok(Outcome::Done(Box::new(done)));
                }
                Came::Limited(error) => {
                    course.limited.push(pick);
                    course.remember(error);
                }
                Came::Spent(error) => {
                    course.spent.push(pick.at);
                    course.remember(error);
                }
                Came::Failed(error) => return Err(course.fail(error)),
            }
        }
    }

    fn select(&self, excluded: &[usize]) -> Result<Selected, Error> {
        let standing = |at: usize| self.table.posts.get(at).map(Post::standing).unwrap_or_default();
        let billing = self.router.settings.billing;
        self.table.index.select(&self.table.roster, &self.task.want, billing, excluded, standing)
    }

    /// When every candidate is rate-limited: the one that opens first, if the call may wait so long.
    fn first_to_return(&self, course: &mut Course, start: Instant) -> Result<Pick, Error> {
        let wait = |pick: &Pick| {
            let post = self.table.posts.get(pick.at);
            post.and_then(|post| post.lane.gate.closed_for()).unwrap_or(Duration::ZERO)
        };
        let first = course.limited.iter().enumerate().min_by_key(|(_, pick)| wait(pick));
        let Some((place, pick)) = first.map(|(place, pick)| (place, *pick)) else {
            return Err(course.last.take().unwrap_or(Error::NoLocal));
        };
        let (wait, Some(at)) = (wait(&pick), self.at(pick.at, start)) else {
            return Err(Error::NoLocal);
        };
        if at.deadline.is_some_and(|deadline| Instant::now() + wait >= deadline) {
            let backend = at.backend.id.clone();
            return Err(Error::Limited { backend, retry_after: wait, attempts: Vec::new() });
        }
        course.limited.remove(place);
        Ok(pick)
    }

    fn at(&self, at: usize, start: Instant) -> Option<At<'_>> {
        let backend = self.table.roster.backends().get(at)?;
        let post = self.table.posts.get(at)?;
        let longest = match (self.context.timeout, backend.timeouts.total) {
            (Some(asked), Some(total)) => Some(asked.min(total)),
            (asked, total) => asked.or(total),
        };
        let deadline = longest.and_then(|longest| start.checked_add(longest));
        Some(At { backend, post, start, deadline, why: "" })
    }

    fn delegated(
        &self,
        at: At<'_>,
        answer: Answer,
        why: String,
        attempts: Vec<Attempt>,
    ) -> Delegated {
        Delegated {
            backend: at.backend.id.clone(),
            cost_usd: cost_usd(&answer.usage, at.backend.cost),
            answer,
            ms: millis(at.start.elapsed()),
            why,
            attempts,
            revision: self.table.roster.revision().to_owned(),
        }
    }

    fn no_fit(&self) -> Outcome {
        let task = self.task.want.task();
        let capabilities = self.table.roster.capabilities();
        let capabilities: Vec<String> = capabilities.into_iter().map(str::to_owned).collect();
        let available =
            if capabilities.is_empty() { "none".to_owned() } else { capabilities.join(", ") };
        let message = format!(
            "no delegate target is good_at '{task}'; available capabilities: {available}. Do this sub-task yourself, or name one of these"
        );
        Outcome::NoFit { message, capabilities }
    }
}

fn check(task: &Task) -> Result<(), Error> {
    if task.max_tokens == Some(0) {
        return Err(Error::Invalid("`max_tokens` must be at least 1".to_owned()));
    }
    if task.prompt.trim().is_empty() {
        return Err(Error::Invalid("`prompt` is empty: say what is to be done".to_owned()));
    }
    Ok(())
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// An error with all tries of the call.
fn told(mut error: Error, all: Vec<Attempt>) -> Error {
    if let Error::Limited { attempts, .. }
    | Error::Deadline { attempts, .. }
    | Error::Upstream { attempts, .. } = &mut error
    {
        *attempts = all;
    }
    error
}
