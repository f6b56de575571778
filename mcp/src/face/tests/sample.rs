//! A small catalogue, and the state that shows what its tools did.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::{Block, Call, Catalogue, Code, Entry, Fault, Scope, Spec, Tool};

/// What the tools did.
#[derive(Debug, Default)]
pub(crate) struct World {
    /// Waiting calls that run, and how many were stopped in all.
    pub(crate) waiting: watch::Sender<Waiting>,
    /// What there is to read.
    pub(crate) notes: super::shelf::Notes,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) running: usize,
    pub(crate) stopped: usize,
}

impl World {
    /// Waits until the counts are these.
    pub(crate) async fn sees(&self, running: usize, stopped: usize) {
        let mut waiting = self.waiting.subscribe();
        let want = Waiting { running, stopped };
        let seen = waiting.wait_for(|waiting| *waiting == want);
        let seen = tokio::time::timeout(Duration::from_secs(20), seen).await.is_ok();
        assert!(seen, "wanted {want:?}, still {:?}", *self.waiting.borrow());
    }
}

pub(crate) type App = Arc<World>;

pub(crate) fn catalogue() -> Catalogue<App> {
    Catalogue::new(vec![
        Entry::of::<Echo>(),
        Entry::of::<Wait>(),
        Entry::of::<Steps>(),
        Entry::of::<Bare>(),
        Entry::of::<Count>(),
        Entry::of::<Fail>(),
        Entry::of::<Break>(),
        Entry::of::<Purge>(),
        Entry::of::<Picture>(),
    ])
}

/// Says what it was told.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Echo {
    /// What to say.
    text: String,
    /// How often; default 1.
    times: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Said {
    text: String,
    bytes: u64,
}

impl Tool<App> for Echo {
    const SPEC: Spec = Spec {
        title: "Echo",
        about: "Says what it was told.",
        core: true,
        ..Spec::new("sample_echo", "/sample/echo", Scope::Read)
    };
    type Reply = Said;
    type Error = Fault;

    async fn call(self, _: Call<App>) -> Result<Said, Fault> {
        let text = self.text.repeat(self.times.unwrap_or(1) as usize);
        Ok(Said { bytes: text.len() as u64, text })
    }
}

/// Waits until it is stopped.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Wait {}

struct Running(App);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.waiting.send_modify(|waiting| {
            waiting.running -= 1;
            waiting.stopped += 1;
        });
    }
}

impl Tool<App> for Wait {
    const SPEC: Spec = Spec {
        about: "Waits until it is stopped.",
        core: true,
        egress: true,
        ..Spec::new("sample_wait", "/sample/wait", Scope::Delegate)
    };
    type Reply = Said;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Said, Fault> {
        cx.app.waiting.send_modify(|waiting| waiting.running += 1);
        let _running = Running(cx.app.clone());
        std::future::pending().await
    }
}

/// Reports progress a few times, then waits a little.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Steps {
    /// How many steps.
    steps: u64,
    /// Milliseconds after each.
    pause_ms: u64,
}

impl Tool<App> for Steps {
    const SPEC: Spec = Spec {
        about: "Reports progress.",
        core: true,
        ..Spec::new("sample_steps", "/sample/steps", Scope::Delegate)
    };
    type Reply = Said;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Said, Fault> {
        for step in 1..=self.steps {
            cx.progress.report(step, Some(self.steps), format!("step {step}"));
            tokio::time::sleep(Duration::from_millis(self.pause_ms)).await;
        }
        Ok(Said { text: "done".into(), bytes: 4 })
    }
}

/// Replies with a bare list, as an older client wants it.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Bare {}

impl Tool<App> for Bare {
    const SPEC: Spec = Spec {
        about: "Lists.",
        core: true,
        ..Spec::new("sample_bare", "/sample/bare", Scope::Read)
    };
    type Reply = Vec<Said>;
    type Error = Fault;

    async fn call(self, _: Call<App>) -> Result<Vec<Said>, Fault> {
        Ok(vec![Said { text: "one".into(), bytes: 3 }])
    }

    fn text(_: &Vec<Said>) -> Option<Vec<Block>> {
        Some(vec![Block::Text("one thing".into())])
    }
}

/// Replies with a bare number.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Count {}

impl Tool<App> for Count {
    const SPEC: Spec =
        Spec { about: "Counts.", ..Spec::new("sample_count", "/sample/count", Scope::Read) };
    type Reply = u32;
    type Error = Fault;

    async fn call(self, _: Call<App>) -> Result<u32, Fault> {
        Ok(7)
    }
}

/// Fails with everything that a fault can carry.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Fail {}

impl Tool<App> for Fail {
    const SPEC: Spec = Spec {
        about: "Fails.",
        core: true,
        ..Spec::new("sample_fail", "/sample/fail", Scope::Read)
    };
    type Reply = Said;
    type Error = Fault;

    async fn call(self, _: Call<App>) -> Result<Said, Fault> {
        Err(Fault::new(Code::Saturated, "the queue of `coder` is full: try again in 3 s")
            .kind("queue")
            .detail("a secret of the log")
            .retry_after(Some(Duration::from_millis(2_500))))
    }
}

/// Has a defect.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Break {}

impl Tool<App> for Break {
    const SPEC: Spec = Spec {
        about: "Has a defect.",
        core: true,
        ..Spec::new("sample_break", "/sample/break", Scope::Read)
    };
    type Reply = Said;
    type Error = Fault;

    async fn call(self, _: Call<App>) -> Result<Said, Fault> {
        let text = String::from("ä");
        Ok(Said { text: text[..1].to_owned(), bytes: 1 })
    }
}

/// For the operator alone.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Purge {}

impl Tool<App> for Purge {
    const SPEC: Spec = Spec {
        about: "Removes everything.",
        core: true,
        ..Spec::new("sample_purge", "/sample/purge", Scope::Operator)
    };
    type Reply = Said;
    type Error = Fault;

    async fn call(self, _: Call<App>) -> Result<Said, Fault> {
        Ok(Said { text: "gone".into(), bytes: 4 })
    }
}

/// Shows a picture and says much of it.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Picture {
    /// Bytes of what is said.
    bytes: usize,
}

impl Tool<App> for Picture {
    const SPEC: Spec =
        Spec { about: "Shows.", ..Spec::new("sample_picture", "/sample/picture", Scope::Delegate) };
    type Reply = Said;
    type Error = Fault;

    async fn call(self, _: Call<App>) -> Result<Said, Fault> {
        Ok(Said { text: "a cat ".repeat(self.bytes / 6), bytes: self.bytes as u64 })
    }

    fn text(reply: &Said) -> Option<Vec<Block>> {
        let image = Block::Image { mime: "image/png".into(), data: "iVBORw0KGgo=".repeat(5_000) };
        let link = Block::Link { uri: "cat://1".into(), name: "the cat".into() };
        Some(vec![Block::Text(reply.text.clone()), image, link, Block::Part("/bytes")])
    }
}
