//! T14: any sequence of verbs against a model of one canvas.

use std::collections::BTreeMap;

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

#[derive(Debug, Clone, Copy)]
enum Step {
    /// Writes one of a few documents, perhaps asking for a revision so far above the highest, and
    /// perhaps expecting one so far below the present one.
    Put {
        label: usize,
        ahead: Option<i64>,
        behind: Option<i64>,
        notify: bool,
    },
    /// Writes what breaks a rule.
    Break,
    Clear,
    /// Puts a kept revision back.
    Restore {
        nth: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..4_usize, prop::option::weighted(0.3, -3..20_i64), prop::option::of(-1..3_i64), any::<bool>())
            .prop_map(|(label, ahead, behind, notify)| Step::Put { label, ahead, behind, notify }),
        1 => Just(Step::Break),
        2 => Just(Step::Clear),
        2 => (0..50_usize).prop_map(|nth| Step::Restore { nth }),
    ]
}

/// A canvas as it should be.
#[derive(Debug, Default)]
struct Model {
    present: Option<(i64, Value)>,
    all: BTreeMap<i64, Value>,
}

impl Model {
    fn rev(&self) -> i64 {
        self.present.as_ref().map_or(0, |(rev, _)| *rev)
    }

    fn highest(&self) -> i64 {
        self.all.keys().next_back().copied().unwrap_or(0)
    }

    /// What writing this comes to: the revision, and whether it is another.
    fn put(&mut self, nodes: &Value, wanted: i64, expected: Option<i64>) -> Option<(i64, bool)> {
        if expected.is_some_and(|expected| expected != self.rev()) {
            return None;
        }
        if let Some((rev, there)) = &self.present
            && there == nodes
        {
            return Some((*rev, false));
        }
        let rev = wanted.max(self.highest() + 1);
        self.present = Some((rev, nodes.clone()));
        self.all.insert(rev, nodes.clone());
        Some((rev, true))
    }
}

struct Machine<'f> {
    store: &'f Store,
    model: Model,
    locus: Keeper,
}

impl Machine<'_> {
    async fn write(&mut self, state: Value, expected: Option<i64>, notify: bool) {
        let document = document(&state);
        let draft = Draft {
            locus: &self.locus,
            document: &document,
            by: "t",
            note: "",
            expected_rev: expected,
            notify,
        };
        let outcome = put(self.store, &draft).await;
        let wanted = state["rev"].as_i64().unwrap_or(0);
        let Some((rev, changed)) = self.model.put(&state["nodes"], wanted, expected) else {
            let rev = self.model.rev();
            assert!(matches!(outcome, Err(Error::Stale { rev: said, .. }) if said == rev));
            return;
        };
        let (written, _) = outcome.unwrap();
        assert_eq!((written.head.rev, written.changed), (rev, changed));
        assert_eq!(written.notified.is_some(), changed && notify);
    }

    /// Takes a step, and holds its outcome against what the model says.
    async fn take(&mut self, step: Step) {
        match step {
            Step::Put { label, ahead, behind, notify } => {
                let mut state = flow(&label.to_string());
                if let Some(ahead) = ahead {
                    state["rev"] = json!((self.model.highest() + ahead).max(0));
                }
                let expected = behind.map(|behind| (self.model.rev() - behind).max(0));
                self.write(state, expected, notify).await;
            }
            Step::Break => {
                let mut state = flow("broken");
                state["edges"] = json!([{ "from": "a", "to": "nowhere" }]);
                assert!(matches!(Document::read(Kind::Flow, state), Err(Error::Invalid(_))));
            }
            Step::Clear => {
                let (removed, _) = clear(self.store, &self.locus, Kind::Flow).await.unwrap();
                assert_eq!(removed, self.model.present.take().is_some());
            }
            Step::Restore { nth } => {
                let kept: Vec<i64> = self.model.all.keys().copied().collect();
                let Some(rev) = kept.get(nth % kept.len().max(1)) else { return };
                let mut conn = self.store.read().await.unwrap();
                let then = at(&mut conn, &self.locus, Kind::Flow, *rev).await.unwrap();
                drop(conn);
                self.write(then.state, None, false).await;
            }
        }
        self.agree().await;
    }

    /// What is stored is what the model says, revision by revision.
    async fn agree(&self) {
        let mut conn = self.store.read().await.unwrap();
        let there = get(&mut conn, &self.locus, Kind::Flow).await.unwrap();
        let there = there.map(|canvas| {
            assert_eq!(canvas.state["rev"].as_i64(), Some(canvas.head.rev));
            (canvas.head.rev, canvas.state["nodes"].clone())
        });
        assert_eq!(there, self.model.present);
        let kept = revs(&mut conn, &self.locus, Kind::Flow, None, 1_000).await.unwrap();
        let kept: Vec<i64> = kept.iter().rev().map(|head| head.rev).collect();
        assert_eq!(kept, self.model.all.keys().copied().collect::<Vec<_>>());
        if let Some((rev, nodes)) = self.model.all.iter().next() {
            let first = at(&mut conn, &self.locus, Kind::Flow, *rev).await.unwrap();
            assert_eq!(&first.state["nodes"], nodes);
        }
    }
}

fn run(fixture: &Fixture, runtime: &tokio::runtime::Runtime, cases: u32) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    // Fewer than are kept, so that all can be read again.
    let steps = prop::collection::vec(step(), 1..40);
    let case = std::cell::Cell::new(0);
    TestRunner::new(config)
        .run(&steps, |steps| {
            case.set(case.get() + 1);
            runtime.block_on(async {
                let locus = locus(&format!("case-{}", case.get()));
                let mut machine = Machine { store: &fixture.store, model: Model::default(), locus };
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
