//! T14: any sequence of verbs against a model of one board.

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use super::*;

/// How many sequences on SQLite; `ADJUTANT_CASES` at compile time says otherwise (10,000 before a
/// release).
const CASES: u32 = match option_env!("ADJUTANT_CASES") {
    Some(text) => match u32::from_str_radix(text, 10) {
        Ok(cases) => cases,
        Err(_) => 256,
    },
    None => 256,
};

/// Terms and pauses are in steps of five minutes, so that no real time counts.
const STEP: i64 = 300;

const NAMES: [&str; 2] = ["a", "b"];

#[derive(Debug, Clone, Copy)]
enum Step {
    Add,
    Update { item: usize, status: Option<Status>, text: Option<bool>, shown: Option<Shown> },
    Done { item: usize, shown: Option<Shown> },
    Remove { item: usize },
    Claim { item: usize, by: usize, steps: i64 },
    Renew { item: usize, shown: Shown, steps: i64 },
    Release { item: usize, shown: Shown },
    Delivered { item: usize, by: usize },
    Pass { steps: i64 },
}

/// A token as somebody shows it: so far behind the newest.
#[derive(Debug, Clone, Copy)]
struct Shown {
    by: usize,
    behind: i64,
}

fn step() -> impl Strategy<Value = Step> {
    let item = 0..3_usize;
    let status =
        prop::option::of(prop::sample::select(vec![Status::Open, Status::Doing, Status::Done]));
    let shown = (0..2_usize, prop_oneof![4 => Just(0), 1 => Just(1)])
        .prop_map(|(by, behind)| Shown { by, behind });
    let maybe = prop::option::weighted(0.5, shown.clone());
    prop_oneof![
        2 => Just(Step::Add),
        3 => (item.clone(), status, prop::option::of(any::<bool>()), maybe.clone())
            .prop_map(|(item, status, text, shown)| Step::Update { item, status, text, shown }),
        2 => (item.clone(), maybe).prop_map(|(item, shown)| Step::Done { item, shown }),
        1 => item.clone().prop_map(|item| Step::Remove { item }),
        8 => (item.clone(), 0..2_usize, 1..4_i64)
            .prop_map(|(item, by, steps)| Step::Claim { item, by, steps }),
        4 => (item.clone(), shown.clone(), 1..4_i64)
            .prop_map(|(item, shown, steps)| Step::Renew { item, shown, steps }),
        3 => (item.clone(), shown).prop_map(|(item, shown)| Step::Release { item, shown }),
        1 => (item, 0..2_usize).prop_map(|(item, by)| Step::Delivered { item, by }),
        4 => (1..4_i64).prop_map(|steps| Step::Pass { steps }),
    ]
}

/// An item as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Model {
    id: BoardId,
    status: Status,
    text: String,
    fence: i64,
    /// Who claimed it, and until when in seconds of the model's clock.
    claim: Option<(&'static str, i64)>,
    delivered: Option<&'static str>,
}

impl Model {
    fn is_held(&self, now: i64) -> bool {
        self.claim.is_some_and(|(_, until)| until > now)
    }

    fn is_holder(&self, shown: Shown) -> bool {
        self.claim.is_some_and(|(by, _)| by == NAMES[shown.by]) && shown.behind == 0
    }

    fn finish(&mut self) {
        (self.status, self.claim) = (Status::Done, None);
    }
}

struct Machine<'f> {
    fixture: &'f Fixture,
    items: Vec<Model>,
    now: i64,
}

impl Machine<'_> {
    #[expect(clippy::too_many_lines, reason = "the whole model at one glance")]
    /// Takes a step, and holds its outcome against what the model says.
    async fn take(&mut self, step: Step) {
        let (store, now) = (&self.fixture.store, self.now);
        let (all, count) = (all(), self.items.len());
        let at = |item: usize| item % count;
        match step {
            Step::Add => {
                if count < 3 {
                    let id = item(store, "text").await;
                    self.items.push(Model {
                        id,
                        status: Status::Open,
                        text: "text".to_owned(),
                        fence: 0,
                        claim: None,
                        delivered: None,
                    });
                }
            }
            Step::Pass { steps } => {
                let time = Duration::from_secs(u64::try_from(steps * STEP).unwrap());
                pass(self.fixture, time).await;
                self.now += steps * STEP;
            }
            _ if count == 0 => {}
            Step::Update { item, status, text, shown } => {
                let model = &mut self.items[at(item)];
                let text = text.map(|text| if text { "one" } else { "two" });
                let holder = shown.map(|shown| holder(model, shown));
                let change = Change { status, text, ..Change::default() };
                let outcome = update(store, model.id, change, holder, Mode::Enforce, &all).await;
                if shown.is_some_and(|shown| !(model.is_holder(shown) && model.is_held(now))) {
                    assert!(is_conflict(&outcome), "{outcome:?}");
                } else {
                    outcome.unwrap();
                    model.text = text.unwrap_or(&model.text).to_owned();
                    model.status = status.unwrap_or(model.status);
                    if model.status == Status::Done {
                        model.finish();
                    }
                }
            }
            Step::Done { item, shown } => {
                let model = &mut self.items[at(item)];
                let holder = shown.map(|shown| holder(model, shown));
                let outcome = done(store, model.id, holder, &all).await;
                let stands = match shown {
                    None => true,
                    Some(shown) if model.status == Status::Done => shown.behind == 0,
                    Some(shown) => model.is_holder(shown) && model.is_held(now),
                };
                assert_eq!(outcome.is_ok(), stands, "{outcome:?}");
                assert!(stands || is_conflict(&outcome), "{outcome:?}");
                if stands {
                    model.finish();
                }
            }
            Step::Remove { item } => {
                let model = self.items.remove(at(item));
                remove(store, model.id, &all).await.unwrap();
                let gone = find(store, model.id, &all).await;
                assert!(matches!(gone, Err(Error::NotFound(_))), "{gone:?}");
            }
            Step::Claim { item, by, steps } => {
                let model = &mut self.items[at(item)];
                let claim = claim(store, model.id, NAMES[by], steps * STEP, &all).await.unwrap();
                let why = match model {
                    Model { delivered: Some(_), .. } => Some(Why::Delivered),
                    Model { status: Status::Done, .. } => Some(Why::Done),
                    _ if model.is_held(now) => Some(Why::Held),
                    _ => None,
                };
                assert_eq!(claim.why, why);
                if why.is_none() {
                    model.fence += 1;
                    model.claim = Some((NAMES[by], now + steps * STEP));
                }
            }
            Step::Renew { item, shown, steps } => {
                let model = &mut self.items[at(item)];
                let holder = holder(model, shown);
                let outcome = renew(store, model.id, holder, steps * STEP, &all).await;
                if model.is_holder(shown) && model.is_held(now) {
                    outcome.unwrap();
                    model.claim = Some((NAMES[shown.by], now + steps * STEP));
                } else {
                    assert!(is_conflict(&outcome), "{outcome:?}");
                }
            }
            Step::Release { item, shown } => {
                let model = &mut self.items[at(item)];
                let outcome = release(store, model.id, holder(model, shown), &all).await;
                let replayed = model.claim.is_none() && shown.behind == 0 && model.fence > 0;
                if model.is_holder(shown) || replayed {
                    outcome.unwrap();
                    model.claim = None;
                } else {
                    assert!(is_conflict(&outcome), "{outcome:?}");
                }
            }
            Step::Delivered { item, by } => {
                let model = &mut self.items[at(item)];
                let verdict = delivered(store, model.id, NAMES[by], None, &all).await.unwrap();
                let by_other = model.claim.is_some_and(|(holder, _)| holder != NAMES[by]);
                let why = if model.delivered.is_some() {
                    Some(Why::Delivered)
                } else {
                    (by_other && model.is_held(now)).then_some(Why::Held)
                };
                assert_eq!(verdict.why, why);
                if why.is_none() {
                    (model.delivered, model.claim) = (Some(NAMES[by]), None);
                }
            }
        }
        self.agree().await;
    }

    /// What is stored is what the model says.
    async fn agree(&self) {
        for model in &self.items {
            let (row, at) = find(&self.fixture.store, model.id, &all()).await.unwrap();
            assert_eq!(
                (row.status, &row.text, row.fence),
                (model.status, &model.text, model.fence)
            );
            assert_eq!(row.attempts, model.fence);
            assert_eq!(row.claimed_by, model.claim.map_or("", |(by, _)| by));
            assert_eq!(row.is_held(at), model.is_held(self.now));
            assert_eq!(row.delivered_by, model.delivered.unwrap_or_default());
        }
    }
}

fn holder(model: &Model, shown: Shown) -> Holder<'static> {
    Holder { by: NAMES[shown.by], token: model.fence - shown.behind }
}

fn run(fixture: &Fixture, runtime: &tokio::runtime::Runtime, cases: u32) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let steps = prop::collection::vec(step(), 1..100);
    TestRunner::new(config)
        .run(&steps, |steps| {
            runtime.block_on(async {
                let mut machine = Machine { fixture, items: Vec::new(), now: 0 };
                for step in steps {
                    machine.take(step).await;
                }
            });
            Ok(())
        })
        .unwrap();
}

#[test]
fn t14_every_sequence_of_verbs_leaves_what_the_model_says() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let fixture = runtime.block_on(Fixture::sqlite());
    run(&fixture, &runtime, CASES);
    if let Some(fixture) = runtime.block_on(Fixture::postgres()) {
        run(&fixture, &runtime, CASES / 16);
    }
}
