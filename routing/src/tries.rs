//! The tries of one call on one backend: each waits for its turn, reserves, sends, settles and is
//! recorded.

use std::time::Duration;

use roster::Backend;
use tokio::time::{Instant, sleep_until, timeout_at};
use tower::retry::budget::Budget as _;

use crate::{
    Error,
    budget::{Micros, Refused, Reservation},
    gate::Ticket,
    journal::Receipt,
    outcome::{Attempt, cost_usd},
    permits::Permit,
    retry::{self, Next},
    router::Task,
    run::{At, Came, Run, millis},
    upstream::{Answer, Failure, Kind, Request, Sent, Usage},
};

/// The right to send one try.
struct Turn<'a> {
    permit: Permit,
    ticket: Ticket<'a>,
    queued: Duration,
}

/// Why one try has no answer.
enum Stop {
    Failure(Box<Failure>),
    Error(Error),
}

const WAITING: &str = "waiting for a permit";

impl Run<'_> {
    /// Tries one backend as often as its policy allows. `others`: whether another candidate could
    /// take the call now. `tried` counts the tries of this call here, those before included.
    pub(crate) async fn tries(
        &self,
        at: At<'_>,
        others: bool,
        tried: &mut u32,
        attempts: &mut Vec<Attempt>,
    ) -> Came {
        let policy = at.backend.retry;
        let mut queued = Duration::ZERO;
        loop {
            let id = &at.backend.id;
            self.context.notice.tell(|| format!("waiting for `{id}`"));
            let turn = match self.turn(at, others).await {
                Ok(turn) => turn,
                Err(error @ Error::Limited { .. }) => return Came::Limited(error),
                Err(error) => return Came::Spent(error),
            };
            queued += turn.queued;
            *tried += 1;
            self.context.notice.tell(|| match *tried {
                1 => format!("`{id}` is at work"),
                again => format!("`{id}` is at work, try {again} of {}", policy.attempts),
            });
            if *tried == 1 {
                at.post.lane.retries.deposit();
            }
            let failure = match self.one(at, turn, queued, attempts).await {
                Ok(answer) => return Came::Answer(answer),
                Err(Stop::Failure(failure)) => failure,
                Err(Stop::Error(error)) => return Came::Failed(error),
            };
            queued = Duration::ZERO;
            let next = retry::next(&failure, at.backend.tier.is_paid());
            let error = failed(at, failure);
            let last = *tried >= policy.attempts;
            match next {
                Next::Never => return Came::Failed(error),
                Next::Elsewhere => return Came::Spent(error),
                Next::Again | Next::Gate if last => return Came::Spent(error),
                Next::Again | Next::Gate if !at.post.lane.retries.withdraw() => {
                    return Came::Spent(error);
                }
                Next::Gate => return Came::Limited(error),
                Next::Again => {
                    let wake = Instant::now() + retry::backoff(&policy, *tried);
                    if at.deadline.is_some_and(|deadline| wake >= deadline) {
                        return Came::Failed(error);
                    }
                    sleep_until(wake).await;
                }
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
                    let backend = at.backend.id.clone();
                    return Err(Error::Limited {
                        backend,
                        retry_after: wait,
                        attempts: Vec::new(),
                    });
                }
            }
            let ticket = within(at, "rate-limited", gate.pass()).await?;
            let slot = match self.batch {
                Some(batch) => within(at, WAITING, batch.slot(at.backend)).await?,
                None => None,
            };
            let permit = within(at, WAITING, self.router.permits.acquire(&at.post.path)).await?;
            drop(slot);
            if ticket.holds() {
                break (permit, ticket);
            }
            permit.done();
        };
        drop(place);
        let tokens = estimate(self.task).saturating_add(self.task.max_tokens.unwrap_or(0));
        if let Err(late) = within(at, "waiting for its rate", at.post.rates.pass(tokens)).await {
            permit.done();
            return Err(late);
        }
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
        let mut reservation = match self.reserve(at).await {
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
            more: self.task.more.clone(),
            deadline: at.deadline.map(Instant::into_std),
        };
        at.post.lane.breaker.begins();
        reservation.leaves();
        let sent = Instant::now();
        let outcome = Box::pin(self.router.upstream.call(at.backend, &request)).await;
        let attempt = attempt(at.backend, &outcome, queued, sent.elapsed());
        at.post.lane.saw(outcome.as_ref().is_err_and(retry::shows_failing));
        judge(at, turn, &outcome);
        let cost = attempt.usage.as_ref().and_then(|usage| cost_usd(usage, at.backend.cost));
        let booked = match cost {
            Some(cost) => micros(cost),
            // What nobody told is counted as the most that it can be.
            None if attempt.may_be_billed => reservation.amount(),
            None => 0,
        };
        let booked = reservation.settle(booked);
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
        booked.await;
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
        let (most, limit) = (cost_usd(&most, at.backend.cost), self.context.budget);
        let is_paid = at.backend.tier.is_paid();
        if most.is_none() && is_paid && limit.is_some_and(|limit| limit > 0) {
            let id = &at.backend.id;
            let message = format!(
                "`{id}` is paid and its price is unknown, so no budget covers it: put its `cost` into the roster, or name another backend"
            );
            return Err(Error::Exhausted { message, retry_after: None });
        }
        let amount = most.map_or(0, micros);
        let reserved = self.router.ports.budget.reserve(&self.context.caller, limit, amount).await;
        reserved.map_err(|refused| match refused {
            Refused::Spent { message, renews_in } => {
                Error::Exhausted { message, retry_after: renews_in }
            }
            Refused::Unavailable => Error::Unbooked,
        })
    }
}

/// Bounds a wait by the call's deadline.
async fn within<T>(
    at: At<'_>,
    phase: &'static str,
    wait: impl Future<Output = T>,
) -> Result<T, Error> {
    let Some(deadline) = at.deadline else { return Ok(wait.await) };
    timeout_at(deadline, wait).await.map_err(|_elapsed| late(at, phase))
}

fn late(at: At<'_>, phase: &'static str) -> Error {
    let (backend, after) = (at.backend.id.clone(), at.start.elapsed());
    Error::Deadline { backend, phase, after, attempts: Vec::new() }
}

fn failed(at: At<'_>, failure: Box<Failure>) -> Error {
    if failure.kind == Kind::Deadline {
        return late(at, "the backend was at work");
    }
    Error::Upstream { backend: at.backend.id.clone(), failure, attempts: Vec::new() }
}

/// Tells gate and breaker, and gives the permit back: at once when the connection is done.
fn judge(at: At<'_>, turn: Turn<'_>, outcome: &Result<Answer, Failure>) {
    let (lane, Turn { permit, ticket, .. }) = (&at.post.lane, turn);
    let Err(failure) = outcome else {
        ticket.answered();
        lane.breaker.answered();
        return permit.done();
    };
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
    if matches!(failure.kind, Kind::RateLimited | Kind::Refused | Kind::Connect) {
        permit.done();
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

/// Prompt tokens by the rule of the house: ceil(bytes / 4).
fn estimate(task: &Task) -> u64 {
    let bytes = task.prompt.len() + task.system.as_ref().map_or(0, String::len);
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range")]
fn micros(dollars: f64) -> Micros {
    (dollars * 1e6).ceil().clamp(0.0, 1e18) as Micros
}
