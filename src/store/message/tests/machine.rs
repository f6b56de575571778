//! T14: any sequence of verbs against a model of two loci that write to each other.

use std::cell::Cell;

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
    Send { from: usize, key: Option<u8>, words: u8 },
    Reply { item: usize, key: Option<u8>, words: u8 },
    Drain { to: usize, role: Role, limit: i64 },
    Acknowledge { item: usize, status: Status, stranger: bool },
    Thread { item: usize, party: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let item = 0..8_usize;
    let key = prop::option::of(0..3_u8);
    let role = prop::sample::select(Role::ALL.to_vec());
    let status = prop::sample::select(Status::ALL.to_vec());
    prop_oneof![
        4 => (0..2_usize, key.clone(), 0..2_u8)
            .prop_map(|(from, key, words)| Step::Send { from, key, words }),
        3 => (item.clone(), key, 0..2_u8)
            .prop_map(|(item, key, words)| Step::Reply { item, key, words }),
        4 => (0..2_usize, role, 1..4_i64)
            .prop_map(|(to, role, limit)| Step::Drain { to, role, limit }),
        3 => (item.clone(), status, prop::bool::weighted(0.2))
            .prop_map(|(item, status, stranger)| Step::Acknowledge { item, status, stranger }),
        1 => (item, 0..2_usize).prop_map(|(item, party)| Step::Thread { item, party }),
    ]
}

/// A message as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Model {
    id: String,
    to: usize,
    key: Option<u8>,
    words: u8,
    parent: Option<usize>,
    /// Where its thread began.
    root: usize,
    status: Status,
    attempts: i64,
    delivered: bool,
}

struct Machine<'f> {
    store: &'f Store,
    names: [String; 2],
    messages: Vec<Model>,
}

impl Machine<'_> {
    /// Takes a step, and holds its outcome against what the model says.
    async fn take(&mut self, step: Step) {
        let count = self.messages.len();
        match step {
            Step::Send { from, key, words } => {
                let (to, from_name) = (1 - from, address(&self.names[from]));
                let (address, said) = ([address(&self.names[to])], saying(words));
                let reference = reference(key);
                let post = Post {
                    from: Some(&from_name),
                    reference: &reference,
                    ..plain(&address, &said)
                };
                let outcome = send(self.store, post).await.map(|(mut receipts, _)| {
                    let Receipt { message, already } = receipts.remove(0);
                    (message.id, already)
                });
                self.put(outcome, to, key, words, None);
            }
            _ if count == 0 => {}
            Step::Reply { item, key, words } => {
                let parent = item % count;
                let (said, reference) = (saying(words), reference(key));
                let to = &self.messages[parent].id;
                let response = Response { to, from: None, body: &said, reference: &reference };
                let outcome = reply(self.store, response, &all()).await;
                let outcome = outcome.map(|replied| (replied.reply.id, replied.already));
                let to = 1 - self.messages[parent].to;
                if self.put(outcome, to, key, words, Some(parent)) {
                    self.messages[parent].status = Status::Replied;
                }
            }
            Step::Drain { to, role, limit } => {
                let taken = take(self.store, &self.names[to], role, limit).await;
                let wanted = self.messages.iter_mut().filter(|model| {
                    let fits = match role {
                        Role::All => true,
                        Role::Recipient => model.parent.is_none(),
                        Role::Sender => model.parent.is_some(),
                    };
                    fits && model.to == to && model.status == Status::Queued
                });
                let mut ids = Vec::new();
                for model in wanted.take(usize::try_from(limit).unwrap()) {
                    (model.status, model.delivered) = (Status::Delivered, true);
                    model.attempts += 1;
                    ids.push(model.id.clone());
                }
                let taken: Vec<String> = taken.into_iter().map(|message| message.id).collect();
                assert_eq!(taken, ids);
            }
            Step::Acknowledge { item, status, stranger } => {
                let model = &mut self.messages[item % count];
                let rights = if stranger { only("stranger") } else { all() };
                let outcome = acknowledge(self.store, &model.id, status, &rights).await;
                if stranger {
                    assert!(is_absent(&outcome), "{outcome:?}");
                } else {
                    assert_eq!(outcome.unwrap().0.status, status);
                    model.status = status;
                    model.delivered |= status == Status::Delivered;
                }
            }
            Step::Thread { item, party } => {
                let root = self.messages[item % count].root;
                let (id, party) = (&self.messages[item % count].id, &self.names[party]);
                let window = Window { after: None, limit: 200 };
                let (found, _) = thread(self.store, id, party, None, window).await.unwrap();
                let found: Vec<&String> = found.iter().map(|message| &message.id).collect();
                let wanted: Vec<&String> = self
                    .messages
                    .iter()
                    .filter(|model| model.root == root)
                    .map(|model| &model.id)
                    .collect();
                assert_eq!(found, wanted);
            }
        }
        self.agree().await;
    }

    /// Holds what sending came to against the key; whether a message was made.
    fn put(
        &mut self,
        outcome: Result<(String, bool), Error>,
        to: usize,
        key: Option<u8>,
        words: u8,
        parent: Option<usize>,
    ) -> bool {
        let there = key.and_then(|key| {
            self.messages.iter().find(|model| model.to == to && model.key == Some(key))
        });
        match there {
            None => {
                let (id, already) = outcome.unwrap();
                assert!(!already);
                let root = parent.map_or(self.messages.len(), |at| self.messages[at].root);
                let status = Status::Queued;
                let (attempts, delivered) = (0, false);
                self.messages.push(Model {
                    id,
                    to,
                    key,
                    words,
                    parent,
                    root,
                    status,
                    attempts,
                    delivered,
                });
                true
            }
            Some(model) if (model.words, model.parent) == (words, parent) => {
                assert_eq!(outcome.unwrap(), (model.id.clone(), true));
                false
            }
            Some(_) => {
                assert!(matches!(outcome, Err(Error::Conflict(_))), "{outcome:?}");
                false
            }
        }
    }

    /// What is stored is what the model says.
    async fn agree(&self) {
        for (to, name) in self.names.iter().enumerate() {
            for status in Status::ALL {
                let filter = Filter { to: name, role: Role::All, status, since: 0 };
                let window = Window { after: None, limit: 200 };
                let (stored, _) = list(self.store, filter, window).await.unwrap();
                let stored: Vec<_> = stored
                    .iter()
                    .map(|message| (&message.id, message.attempts, message.delivered_at != 0))
                    .collect();
                let wanted: Vec<_> = self
                    .messages
                    .iter()
                    .filter(|model| (model.to, model.status) == (to, status))
                    .map(|model| (&model.id, model.attempts, model.delivered))
                    .collect();
                assert_eq!(stored, wanted, "{status:?}");
            }
        }
    }
}

fn reference(key: Option<u8>) -> String {
    key.map(|key| format!("k{key}")).unwrap_or_default()
}

fn saying(words: u8) -> Body {
    body(&json!({ "text": format!("words {words}") }))
}

fn run(fixture: &Fixture, runtime: &tokio::runtime::Runtime, cases: u32) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let steps = prop::collection::vec(step(), 1..60);
    let case = Cell::new(0);
    TestRunner::new(config)
        .run(&steps, |steps| {
            case.set(case.get() + 1);
            // Loci of its own, beside those of the cases before.
            let names = ["a", "b"].map(|name| format!("{name}{}", case.get()));
            runtime.block_on(async {
                let mut machine = Machine { store: &fixture.store, names, messages: Vec::new() };
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
