//! One call from choice to answer: its tries, their waits and what is recorded of them.

use std::{sync::Arc, time::Duration};

use roster::Backend;
use tokio::time::{Instant, timeout_at};

use crate::{
    Error,
    budget::{Micros, Reservation},
    gate::Ticket,
    journal::Receipt,
    many::Batch,
    outcome::{Attempt, Delegated, Outcome, cost_usd},
    permits::Permit,
    post::{Post, Table},
    retry::{self, Next},
    router::{Context, Router, Task},
    select::{Index, Pick, Selected},
    upstream::{Answer, Failure, Kind, Request, Sent, Usage},
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
enum Came {
    Answer(Box<Answer>),
    /// Not here; another candidate may.
    Elsewhere(Error),
    Failed(Error),
}

/// The right to send one try.
struct Turn<'a> {
    permit: Permit,
    ticket: Ticket<'a>,
    queued: Duration,
}

/// One backend with its runtime state and this call's deadline on it.
#[derive(Clone, Copy)]
struct At<'a> {
    backend: &'a Backend,
    post: &'a Post,
    start: Instant,
    deadline: Option<Instant>,
    why: &'a str,
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
        let mut excluded: Vec<usize> = Vec::new();
        let mut attempts = Vec::new();
        let mut last = None;
        loop {
            let pick = match self.select(&excluded)? {
                Selected::Pick(pick) => pick,
                Selected::NoFit => return Ok(self.no_fit()),
                Selected::Spent => return Err(told(last.unwrap_or(Error::NoLocal), attempts)),
            };
            let Some(at) = self.at(pick, start) else { return Err(Error::NoLocal) };
            let why = Index::explain(&self.table.roster, &self.task.want, pick);
            let others = matches!(self.select(&with(&excluded, pick.at)), Ok(Selected::Pick(_)));
            match Box::pin(self.backend(At { why: &why, ..at }, others, &mut attempts)).await {
                Came::Answer(answer) => {
                    let done = self.delegated(at, *answer, why, attempts);
                    return Ok(Outcome::Done(Box::new(done)));
                }
                Came::Elsewhere(error) => {
                    excluded.push(pick.at);
                    // What a backend said is worth more to the caller than that another was busy.
                    if last.is_none() || matches!(error, Error::Upstream { .. }) {
                        last = Some(error);
                    }
                }
                Came::Failed(error) => return Err(told(error, attempts)),
            }
        }
    }

    fn select(&self, excluded: &[usize]) -> Result<Selected, Error> {
        let standing = |at: usize| self.table.posts.get(at).map(Post::standing).unwrap_or_default();
        let billing = self.router.settings.billing;
        self.table.index.select(&self.table.roster, &self.task.want, billing, excluded, standing)
    }

    fn at(&self, pick: Pick, start: Instant) -> Option<At<'_>> {
        let backend = self.table.roster.backends().get(pick.at)?;
        let post = self.table.posts.get(pick.at)?;
        let longest = match (self.context.timeout, backend.timeouts.total) {
            (Some(asked), Some(total)) => Some(asked.min(total)),
            (asked, total) => asked.or(total),
        };
        let deadline = longest.and_then(|longest| start.checked_add(longest));
        Some(At { backend, post, start, deadline, why: "" })
    }

    /// All tries on one backend. `others`: whether another candidate could take the call.
    async fn backend(&self, at: At<'_>, others: bool, attempts: &mut Vec<Attempt>) -> Came {
        let policy = at.backend.retry;
        let mut queued = Duration::ZERO;
        let mut tried = 0;
        loop {
            let turn = match self.turn(at, others).await {
                Ok(turn) => turn,
                Err(error) => return if others { Came::Elsewhere(error) } else { Came::Failed(error) },
            };
            queued += turn.queued;
            tried += 1;
            if tried == 1 {
                tower::retry::budget::Budget::deposit(&at.post.lane.retries);
            }
            let failure = match self.one(at, turn, queued, attempts).await {
                Ok(answer) => return Came::Answer(answer),
                Err(Stop::Failure(failure)) => failure,
                Err(Stop::Error(error)) => return Came::Failed(error),
            };
            queued = Duration::ZERO;
            let next = retry::next(&failure, at.backend.tier.is_paid());
            let error = |failure| self.failed(at, failure);
            match next {
                Next::Never => return Came::Failed(error(failure)),
                Next::Elsewhere | Next::Gate if others => return Came::Elsewhere(error(failure)),
                Next::Elsewhere => return Came::Failed(error(failure)),
                Next::Again | Next::Gate if tried >= policy.attempts => {
                    return if others { Came::Elsewhere(error(failure)) } else { Came::Failed(error(failure)) };
                }
                Next::Again | Next::Gate => {}
            }
            if !tower::retry::budget::Budget::withdraw(&at.post.lane.retries) {
                return Came::Elsewhere(error(failure));
            }
            if next == Next::Again {
                let wake = Instant::now() + retry::backoff(&policy, tried);
                if at.deadline.is_some_and(|deadline| wake >= deadline) {
                    return Came::Failed(error(failure));
                }
                tokio::time::sleep_until(wake).await;
            } else if let Some(wait) = at.post.lane.gate.closed_for()
                && at.deadline.is_some_and(|deadline| Instant::now() + wait >= deadline)
            {
                return Came::Failed(error(failure));
            }
        }
    }

    /// Waits for the gate, the permits and the rates, in that order, within the deadline.
    async fn turn<'a>(&self, at: At<'a>, others: bool) -> Result<Turn<'a>, Error> {
        let asked = Instant::now();
        let place = at.post.enter(at.backend, self.batch.is_some())?;
        let gate = &at.post.lane.gate;
        let (permit, ticket) = loop {
            if let Some(wait) = gate.closed_for() {
                let late = at.deadline.is_some_and(|deadline| Instant::now() + wait >= deadline);
                if late || others {
                    return Err(Error::Limited {
                        backend: at.backend.id.clone(),
                        retry_after: wait,
                        attempts: Vec::new(),
                    });
                }
            }
            let ticket = within(at, "rate-limited", gate.pass()).await?;
            let slot = match self.batch {
                Some(batch) => Some(within(at, WAITING, batch.slot(at.backend)).await?),
                None => None,
            };
            let acquire = self.router.permits.acquire(&at.post.path);
            let permit = within(at, WAITING, acquire).await?;
            drop(slot);
            if ticket.holds() {
                break (permit, ticket);
            }
            permit.done();
        };
        drop(place);
        let tokens = estimate(self.task).saturating_add(self.task.max_tokens.unwrap_or(0));
        within(at, "waiting for its rate", at.post.rates.pass(tokens)).await?;
        Ok(Turn { permit, ticket, queued: asked.elapsed() })
    }

    /// One try: reserve, send, settle, record.
    async fn one(
        &self,
        at: At<'_>,
        turn: Turn<'_>,
        queued: Duration,
        attempts: &mut Vec<Attempt>,
    ) -> Result<Box<Answer>, Stop> {
        let reservation = match self.reserve(at).await {
            Ok(reservation) => reservation,
            Err(error) => {
                turn.permit.done();
                return Err(Stop::Error(error));
            }
        };
        let request = Request {
            prompt: self.task.prompt.clone(),
            system: self.task.system.clone(),
            max_tokens: self.task.max_tokens,
            deadline: at.deadline.map(Instant::into_std),
        };
        at.post.lane.breaker.begins();
        let sent = Instant::now();
        let outcome = Box::pin(self.router.upstream.call(at.backend, &request)).await;
        let took = sent.elapsed();
        at.post.lane.seen();
        let attempt = attempt(at.backend, &outcome, queued, took);
        let cost = attempt.usage.as_ref().and_then(|usage| cost_usd(usage, at.backend.cost));
        reservation.settle(cost.map_or(0, micros));
        self.router.ports.journal.record(Receipt {
            caller: self.context.caller.clone(),
            request: self.context.request.clone(),
            revision: self.table.roster.revision().to_owned(),
            why: at.why.to_owned(),
            tier: at.backend.tier,
            cost_usd: cost,
            attempt: attempt.clone(),
        });
        attempts.push(attempt);
        judge(at, turn, &outcome);
        outcome.map(Box::new).map_err(|failure| Stop::Failure(Box::new(failure)))
    }

    /// Sets the most that the call can cost aside: every two bytes of prompt as a token, and
    /// `max_tokens` of output.
    async fn reserve(&self, at: At<'_>) -> Result<Reservation, Error> {
        let most = Usage {
            input_tokens: estimate(self.task).saturating_mul(2),
            output_tokens: self.task.max_tokens.unwrap_or(0),
            ..Usage::default()
        };
        let amount = cost_usd(&most, at.backend.cost).map_or(0, micros);
        let reserved = self.router.ports.budget.reserve(&self.context.caller, amount).await;
        reserved.map_err(|spent| Error::Exhausted { message: spent.message, retry_after: spent.renews_in })
    }

    fn failed(&self, at: At<'_>, failure: Box<Failure>) -> Error {
        if failure.kind == Kind::Deadline {
            let after = at.start.elapsed();
            let phase = "the backend was at work";
            return Error::Deadline { backend: at.backend.id.clone(), phase, after, attempts: Vec::new() };
        }
        Error::Upstream { backend: at.backend.id.clone(), failure, attempts: Vec::new() }
    }

    fn delegated(&self, at: At<'_>, answer: Answer, why: String, attempts: Vec<Attempt>) -> Delegated {
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
        let task = if let crate::Want::Task(task) = &self.task.want { task.as_str() } else { "" };
        let capabilities = self.table.roster.capabilities();
        let available = if capabilities.is_empty() { "none".to_owned() } else { capabilities.join(", ") };
        let message = format!(
            "no delegate target is good_at '{task}'; available capabilities: {available}. Do this sub-task yourself, or name one of these"
        );
        Outcome::NoFit { message, capabilities }
    }
}

const WAITING: &str = "waiting for a permit";

/// Why one try has no answer.
enum Stop {
    Failure(Box<Failure>),
    Error(Error),
}

/// Bounds a wait by the call's deadline.
async fn within<T>(
    at: At<'_>,
    phase: &'static str,
    wait: impl Future<Output = T>,
) -> Result<T, Error> {
    let Some(deadline) = at.deadline else { return Ok(wait.await) };
    timeout_at(deadline, wait).await.map_err(|_elapsed| Error::Deadline {
        backend: at.backend.id.clone(),
        phase,
        after: at.start.elapsed(),
        attempts: Vec::new(),
    })
}

/// Tells gate and breaker, and gives the permit back: at once when the connection is done.
fn judge(at: At<'_>, turn: Turn<'_>, outcome: &Result<Answer, Failure>) {
    let (lane, Turn { permit, ticket, .. }) = (&at.post.lane, turn);
    match outcome {
        Ok(_) => {
            ticket.answered();
            lane.breaker.answered();
            permit.done();
        }
        Err(failure) => {
            if retry::next(failure, false) == Next::Gate {
                lane.gate.close(failure.retry_after, &at.backend.retry);
                drop(ticket);
            } else if failure.sent >= Sent::Answered {
                ticket.answered();
            }
            if retry::blames_backend(failure) {
                lane.breaker.failed();
            } else {
                lane.breaker.undecided();
            }
            let whole = matches!(failure.kind, Kind::RateLimited | Kind::Refused | Kind::Connect);
            if whole {
                permit.done();
            }
        }
    }
}

fn attempt(
    backend: &Backend,
    outcome: &Result<Answer, Failure>,
    queued: Duration,
    took: Duration,
) -> Attempt {
    let failure = outcome.as_ref().err();
    let answer = outcome.as_ref().ok();
    Attempt {
        backend: backend.id.clone(),
        model: backend.model().to_owned(),
        failed: failure.map(|failure| failure.kind),
        error: failure.map(|failure| failure.message.clone()),
        status: failure.and_then(|failure| failure.status),
        queue_ms: millis(queued),
        first_token_ms: answer.and_then(|answer| answer.first_token).map(millis),
        ms: millis(took),
        usage: answer.map(|answer| answer.usage).or_else(|| failure.and_then(|f| f.usage)),
        may_be_billed: failure.is_some_and(|f| matches!(f.sent, Sent::Maybe | Sent::Token)),
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

/// Prompt tokens by the rule of the house: ceil(bytes / 4).
fn estimate(task: &Task) -> u64 {
    let bytes = task.prompt.len() + task.system.as_ref().map_or(0, String::len);
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range")]
fn micros(dollars: f64) -> Micros {
    (dollars * 1e6).ceil().clamp(0.0, 1e18) as Micros
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn with(excluded: &[usize], at: usize) -> Vec<usize> {
    excluded.iter().copied().chain([at]).collect()
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
