//! T14: any sequence of keeping, reading, waiting and removing, against a model.

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use super::{samples::shape, *};
use crate::{clock::Clock, store::result};

/// How many sequences; `ADJUTANT_CASES` at compile time says otherwise (10,000 before a release).
const CASES: u32 = match option_env!("ADJUTANT_CASES") {
    Some(text) => match u32::from_str_radix(text, 10) {
        Ok(cases) => cases,
        Err(_) => 256,
    },
    None => 256,
};

const TOKENS: [&str; 2] = ["a", "b"];

#[derive(Debug, Clone)]
enum Step {
    Keep { token: usize, seed: u64, bytes: usize, has_text: bool },
    Read { token: usize, reply: usize, way: Way, seed: u64 },
    Pass { hours: u64 },
    Prune,
}

#[derive(Debug, Clone, Copy)]
enum Way {
    Whole,
    Bytes,
    Lines,
    Grep,
    Pointer,
}

fn step() -> impl Strategy<Value = Step> {
    let token = 0..TOKENS.len();
    let way =
        prop::sample::select(vec![Way::Whole, Way::Bytes, Way::Lines, Way::Grep, Way::Pointer]);
    prop_oneof![
        4 => (token.clone(), any::<u64>(), 0..30_000_usize, any::<bool>())
            .prop_map(|(token, seed, bytes, has_text)| Step::Keep { token, seed, bytes, has_text }),
        10 => (token, 0..6_usize, way, any::<u64>())
            .prop_map(|(token, reply, way, seed)| Step::Read { token, reply, way, seed }),
        1 => (1..20_u64).prop_map(|hours| Step::Pass { hours }),
        1 => Just(Step::Prune),
    ]
}

fn dice(seed: u64) -> impl FnMut(usize) -> usize {
    let mut rng = fastrand::Rng::with_seed(seed);
    move |below| rng.usize(0..below)
}

/// A reply as it should be.
struct Model {
    token: &'static str,
    handle: String,
    value: Value,
    whole: Whole,
    expires: u64,
}

struct Machine<'w> {
    app: &'w App,
    clock: &'w Clock,
    replies: Vec<Model>,
    hour: u64,
    budget: Budget,
}

impl Machine<'_> {
    async fn take(&mut self, step: Step) {
        match step {
            Step::Keep { token, seed, bytes, has_text } => {
                let mut dice = dice(seed);
                let value = json!({ "rows": shape(&mut dice, bytes), "text": samples::text(&mut dice, bytes / 2) });
                let whole = Whole {
                    token: TOKENS[token].to_owned(),
                    tool: "ledger_get",
                    is_error: bytes % 2 == 0,
                    json: mcp::clip::layout(&value),
                    text: has_text.then(|| value["text"].as_str().unwrap().to_owned()),
                };
                let handle = self.app.keep(&whole).await.unwrap().handle;
                assert!(self.replies.iter().all(|reply| reply.handle != handle));
                let expires = self.hour + 24;
                self.replies.push(Model { token: TOKENS[token], handle, value, whole, expires });
            }
            Step::Read { token, reply, way, seed } => {
                if let Some(reply) = self.replies.iter().rev().nth(reply) {
                    self.read(TOKENS[token], reply, way, seed).await;
                }
            }
            Step::Pass { hours } => {
                self.hour += hours;
                self.clock.pass(std::time::Duration::from_hours(hours));
            }
            Step::Prune => drop(result::prune(&self.app.store).await.unwrap()),
        }
    }

    /// One way to read, to its end where it has one.
    async fn read(&self, token: &str, reply: &Model, way: Way, seed: u64) {
        let mut dice = dice(seed);
        let text = reply.whole.text.as_ref().unwrap_or(&reply.whole.json);
        let all = text.matches('\n').count() + 1;
        let mut arguments = json!({ "handle": reply.handle });
        let (wanted, from) = match way {
            Way::Whole => (text.clone(), 0),
            Way::Bytes => {
                let offset =
                    (0..=dice(text.len() + 1)).rev().find(|at| text.is_char_boundary(*at)).unwrap();
                arguments["offset"] = json!(offset);
                (text[offset..].to_owned(), offset)
            }
            Way::Lines => {
                let first = 1 + dice(all);
                let last = first + dice(all - first + 1);
                arguments["lines"] = json!(format!("{first}-{last}"));
                let rows: Vec<&str> = text.split('\n').collect();
                (rows[first - 1..last].join("\n"), 0)
            }
            Way::Grep => {
                arguments["grep"] = json!("[a-m]");
                let hits =
                    text.split('\n').filter(|row| row.contains(|c| ('a'..='m').contains(&c)));
                let hits = hits.count();
                if let Ok(found) = self.ask(token, reply, &arguments).await {
                    assert_eq!(found["matches"], hits);
                    for line in found["text"].as_str().unwrap().split_terminator('\n') {
                        assert!(line.starts_with(|c: char| c.is_ascii_digit()), "{line}");
                    }
                }
                return;
            }
            Way::Pointer => {
                arguments["json_pointer"] = json!("/text");
                (reply.value["text"].as_str().unwrap().to_owned(), 0)
            }
        };
        let mut read = String::new();
        // A long reply is not read to its end each time.
        for _ in 0..6 {
            let Ok(piece) = self.ask(token, reply, &arguments).await else { return };
            read.push_str(piece["text"].as_str().unwrap());
            let Some(next) = piece["next"].as_object() else {
                assert!(
                    read == wanted,
                    "{way:?} from {from}: {} of {} bytes",
                    read.len(),
                    wanted.len()
                );
                return;
            };
            for name in ["offset", "lines"] {
                arguments.as_object_mut().unwrap().shift_remove(name);
            }
            arguments.as_object_mut().unwrap().extend(next.clone());
            if matches!(way, Way::Lines) && next.contains_key("offset") {
                break;
            }
        }
        assert!(wanted.starts_with(&read), "{way:?} from {from}");
    }

    /// Asks; it is refused exactly when the model says so.
    async fn ask(&self, token: &str, reply: &Model, arguments: &Value) -> Result<Value, Fault> {
        let is_there = token == reply.token && self.hour < reply.expires;
        let answer = ask(self.app, token, self.budget, arguments.clone()).await;
        match &answer {
            Ok(piece) => {
                assert!(is_there, "{token} read what is {}'s until {}", reply.token, reply.expires);
                assert_eq!(piece["tool"], "ledger_get");
                assert_eq!(piece.get("is_error").is_some(), reply.whole.is_error);
            }
            Err(fault) => {
                assert!(!is_there && fault.code == mcp::Code::NotFound, "{fault}");
            }
        }
        answer
    }
}

#[test]
fn t14_kept_replies_follow_their_model() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (app, clock, _dir) = runtime.block_on(world(Settings::default()));
    let mut runner = TestRunner::new(Config { max_shrink_iters: 200, ..Config::with_cases(CASES) });
    let budget = (10..300_usize, 1_024..20_000_usize).prop_map(|(lines, bytes)| Budget {
        lines,
        bytes,
        ..Budget::default()
    });
    runner
        .run(&(budget, prop::collection::vec(step(), 1..24)), |(budget, steps)| {
            runtime.block_on(async {
                let mut machine =
                    Machine { app: &app, clock: &clock, replies: Vec::new(), hour: 0, budget };
                for step in steps {
                    machine.take(step).await;
                }
                // The next sequence begins without them.
                clock.pass(std::time::Duration::from_hours(24));
                result::prune(&app.store).await.unwrap();
            });
            Ok(())
        })
        .unwrap();
}
