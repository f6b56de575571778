//! `delegate`: a sub-task on a named backend, or on the cheapest one with a capability.

use std::{borrow::Cow, fmt::Write as _};

use mcp::{Block, Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use routing::{State, Target, Want};
use serde::Deserialize;

use super::{answer::Answer, ask::Ask};
use crate::{app::App, untrusted};

/// Arguments of `delegate`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Delegate {
    /// What is asked.
    #[serde(flatten)]
    ask: Ask,
    /// The id of a backend of the menu. It runs there and nowhere else; wins over `task`.
    #[serde(default)]
    target: Option<String>,
    /// A capability of the menu, such as `code`: the cheapest backend that is good at it runs it.
    /// Without `target` and `task` the first local backend does.
    #[serde(default)]
    task: Option<String>,
}

/// The most backends that the menu names.
const MENU: usize = 40;
/// The most characters of one line of it.
const LINE: usize = 160;

impl Tool<App> for Delegate {
    const SPEC: Spec = Spec {
        title: "Delegate a sub-task",
        about: "Run one self-contained sub-task on another model and return its answer: on `target`, or on the cheapest backend good at `task`, or on the first local one. A backend paid by the call runs only when named, and only while billing is on. When nothing fits, `status` is `no_fit`: do the sub-task yourself.",
        core: true,
        egress: true,
        ..Spec::new("delegate", "/delegate", Scope::Delegate)
    };
    type Reply = Answer;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Answer, Fault> {
        self.ask.run(Want::of(self.target, self.task), cx).await
    }

    fn about(app: &App) -> Cow<'static, str> {
        let targets = app.router.targets(None);
        let usable: Vec<&Target> = targets.iter().filter(|t| t.state != State::Disabled).collect();
        let mut text = format!("{}\nThe menu:\n", Self::SPEC.about);
        for target in usable.iter().take(MENU) {
            let _ = writeln!(text, "  - {}", line(target));
        }
        if usable.len() > MENU {
            let _ = writeln!(text, "  - and {} more: see delegate_targets", usable.len() - MENU);
        }
        if usable.is_empty() {
            text.push_str("  (empty: no backend of the roster is open to delegation)\n");
        }
        Cow::Owned(text.trim_end().to_owned())
    }

    fn text(reply: &Answer) -> Option<Vec<Block>> {
        Some(reply.blocks())
    }
}

/// One backend in one line: `id: good_at [a, b] (cost: …)`.
fn line(target: &Target) -> String {
    let skills =
        if target.good_at.is_empty() { "—".to_owned() } else { target.good_at.join(", ") };
    let price = target.cost.and_then(|cost| cost.input_per_mtok.zip(cost.output_per_mtok));
    let cost = match price {
        Some((input, output)) => format!("${input}/${output} per Mtok"),
        None if target.tier.is_paid() => "paid, price unknown".to_owned(),
        None => target.tier.to_string(),
    };
    let inert = if target.state == State::Inert { "; billing is off" } else { "" };
    untrusted::one_line(&format!("{}: good_at [{skills}] (cost: {cost}{inert})", target.id), LINE)
}
