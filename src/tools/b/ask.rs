//! `b_ask`: a question about a text, a ledger or a file, answered by a model that quotes it.

use mcp::{Block, Call, Code, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::{
    backend::Choice,
    given,
    material::Place,
    part::Part,
    reply::{Parts, Reply},
    talk::{self, Said, Spent},
    work,
};
use crate::{app::App, tools::spend};

/// Excerpts that are given unless the caller says, and the most.
const EXCERPTS: u32 = 8;
const MOST: u32 = 64;

/// The longest question, in bytes.
const QUESTION: usize = 16 * 1024;

/// Fewer bytes than that of a long source say nothing of it.
const LEAST: usize = 256;

fn excerpts() -> u32 {
    EXCERPTS
}

/// Arguments of `b_ask`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct BAsk {
    /// What you want to know of the source. At most 16 KiB.
    question: String,
    /// The source itself, at most 16 MiB. Of several, this counts, then `handle`, a ledger, `path`.
    #[serde(default)]
    text: Option<String>,
    /// The source is the whole of a clipped reply.
    #[serde(default)]
    handle: Option<String>,
    /// The source is a ledger of this locus, such as `web-7`.
    #[serde(default)]
    ledger_locus: Option<String>,
    /// Which one. Absent: the active one of the locus that was written last.
    #[serde(default)]
    ledger_task: Option<String>,
    /// That ledger at this revision. Absent: the newest.
    #[serde(default)]
    rev: Option<i64>,
    /// The source is this text file, below a directory that the server's operator has opened.
    #[serde(default)]
    path: Option<String>,
    /// Ask this model, or the backend of this id.
    #[serde(default)]
    model: Option<String>,
    /// Ask the backend of this id. Without it and `model`: the operator's choice.
    #[serde(default)]
    target: Option<String>,
    /// At most so many excerpts, 1 to 64. Default 8.
    #[serde(default = "excerpts")]
    #[schemars(range(min = 1, max = 64))]
    max_excerpts: u32,
}

impl Tool<App> for BAsk {
    const SPEC: Spec = Spec {
        title: "Ask about a long text",
        about: "Another model reads a long text, a ledger or a file and answers a question about it, so that you need not. Excerpts that are `verified` or `repaired` are the source's own words at their offsets; `unverified` ones are not in it. `unread` lists what did not fit.",
        core: true,
        egress: true,
        ..Spec::new("b_ask", "/b/ask", Scope::Delegate)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        spend::may_delegate(&cx)?;
        self.check()?;
        let choice = Choice::of(&cx.app, given(self.target), given(self.model).as_deref())?;
        let place = Place {
            text: given(self.text),
            handle: given(self.handle),
            locus: given(self.ledger_locus),
            task: given(self.ledger_task),
            rev: self.rev,
            path: given(self.path),
        };
        let material = place.read(&cx).await?;
        let (question, most) = (self.question, self.max_excerpts);
        let (mut unread, mut spent) = (Vec::new(), Spent::default());
        let said = if let Some(backend) = &choice.extractor {
            Said::Nobody(talk::no_model(backend))
        } else {
            let words = [talk::system(most), talk::hint(most)].concat();
            let beside = talk::prompt(&question, &material.label, &words).len();
            let part = part(&question, &material.text, choice.room(beside)).await?;
            let Some(part) = part else {
                let words = format!(
                    "`question` leaves no room for the source in a context of {}: shorten it, or name a backend with a larger one",
                    choice.window()
                );
                return Err(Fault::new(Code::TooLarge, words));
            };
            unread = part.unread;
            let prompt = talk::prompt(&question, &material.label, &part.shown);
            talk::talk(&cx, &choice, most, prompt, &mut spent).await?
        };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let warnings = choice.warning.into_iter().collect();
        let parts = Parts { question, material, unread, said, spent, most, warnings };
        work(move || Reply::of(parts)).await
    }

    fn text(reply: &Reply) -> Option<Vec<Block>> {
        Some(reply.blocks())
    }

    fn warnings(reply: &Reply) -> Vec<String> {
        reply.warnings.clone()
    }
}

impl BAsk {
    fn check(&self) -> Result<(), Fault> {
        if self.question.trim().is_empty() {
            return Err(Fault::invalid("`question` is empty: say what you want to know"));
        }
        let size = self.question.len();
        if size > QUESTION {
            let words = format!(
                "`question` has {size} bytes, and may have {QUESTION}: put the material into `text`"
            );
            return Err(Fault::new(Code::TooLarge, words).with("limit", QUESTION.into()));
        }
        if !(1..=MOST).contains(&self.max_excerpts) {
            let words = format!("`max_excerpts` must be 1 to {MOST}, not {}", self.max_excerpts);
            return Err(Fault::invalid(words));
        }
        Ok(())
    }
}

/// What is read in so much room; nothing when that is too little to read anything.
async fn part(
    question: &str,
    text: &std::sync::Arc<str>,
    room: usize,
) -> Result<Option<Part>, Fault> {
    if text.len() <= room {
        return Ok(Some(Part::of(question, text, room)));
    }
    if room < LEAST {
        return Ok(None);
    }
    let (question, text) = (question.to_owned(), text.clone());
    let part = work(move || Part::of(&question, &text, room)).await?;
    Ok(Some(part).filter(|part| !part.shown.is_empty()))
}
