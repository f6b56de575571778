//! One entry of a TangleBrain roster as one `[[backend]]`.

use roster::{KeyRef, Roster};
use serde_json::{Map, Value};

use super::{
    ids::Ids,
    text::{Toml, kind_of, names, one_line, scalar, shown, truthy},
};

const FIELDS: [&str; 9] = [
    "id",
    "tier",
    "invoke",
    "cost",
    "good_at",
    "can_orchestrate",
    "can_delegate",
    "enabled",
    "budget_usd_month",
];
const SERVER: [&str; 4] = ["kind", "base_url", "model", "key_ref"];
const PROGRAM: [&str; 5] = ["kind", "cmd", "parse", "scrub_env", "delegate_args"];
const PROMPT: &str = "{prompt}";

/// A backend under way.
#[derive(Default)]
struct Block {
    /// What could not carry over, or not as it was.
    remarks: Vec<String>,
    /// The keys of our entry.
    toml: Toml,
    /// What TangleBrain does not load either.
    problems: Vec<String>,
}

/// Converts an entry. An entry that only we refuse is left out with the reason as a comment.
pub(super) fn convert(index: usize, value: &Value, ids: &mut Ids) -> Result<String, Vec<String>> {
    let Value::Object(entry) = value else {
        return Err(vec![format!("entry {} must be a mapping, not {}", index + 1, kind_of(value))]);
    };
    let Some(id) = entry.get("id").filter(|id| truthy(id)).and_then(scalar) else {
        return Err(vec![format!("entry {} has no `id`", index + 1)]);
    };
    let mut block = Block::default();
    if !ids.first(&id) {
        block.problem("the id is given twice");
    }
    let ours = ids.ours(&id);
    if ours != id {
        block.remark(format!(
            "`id` was {}: an id here is of `a-z`, `0-9`, `-` and `_`. Callers name it `{ours}` \
             now.",
            shown(&id.as_str().into())
        ));
    }
    block.toml.line("[[backend]]");
    block.toml.pair("id", ours.as_str());
    block.reached(entry);
    block.offered(entry);
    block.dropped(entry);
    block.finish(&id, &ours)
}

impl Block {
    fn remark(&mut self, remark: impl Into<String>) {
        self.remarks.push(remark.into());
    }

    fn problem(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }

    fn finish(self, id: &str, ours: &str) -> Result<String, Vec<String>> {
        if !self.problems.is_empty() {
            let id = shown(&id.into());
            return Err(self.problems.iter().map(|what| format!("entry {id}: {what}")).collect());
        }
        let toml = String::from(self.toml);
        let mut block = Toml::default();
        if let Err(error) = Roster::parse(&toml) {
            block.comment(&format!("`{ours}` was left out, since it cannot be used here:"));
            for problem in error.problems {
                block.comment(&format!("- {}", problem.message));
            }
            return Ok(block.into());
        }
        for remark in self.remarks {
            block.comment(&remark);
        }
        Ok(String::from(block) + &toml)
    }

    /// Tier, kind and what the kind needs.
    fn reached(&mut self, entry: &Map<String, Value>) {
        let tier = entry.get("tier").and_then(Value::as_str);
        let tier = tier.filter(|tier| matches!(*tier, "local" | "sub" | "api"));
        if tier.is_none() {
            self.problem("`tier` must be `local`, `sub` or `api`");
        }
        let tier = tier.unwrap_or("api");
        let Some(Value::Object(invoke)) = entry.get("invoke") else {
            self.problem("`invoke` must be a mapping");
            return;
        };
        match invoke.get("kind").and_then(Value::as_str) {
            Some("api") => {
                if tier != "api" {
                    self.remark(format!(
                        "`tier` was `{tier}` with `kind: api`. What is paid by the call is tier \
                         `api` here, and waits for `[billing] enabled = true` in `adjutant.toml`."
                    ));
                }
                self.server("api", invoke);
            }
            Some("openai-compat") => {
                if tier == "api" {
                    self.remark(
                        "TangleBrain ran this entry with billing off, since its kind was not \
                         `api`. Here the tier alone counts: it waits for `[billing] enabled = \
                         true` in `adjutant.toml`.",
                    );
                }
                self.server(tier, invoke);
            }
            Some("cli") => self.program(tier, invoke),
            _ => {
                self.problem("`invoke.kind` must be `openai-compat`, `cli` or `api`");
            }
        }
    }

    fn server(&mut self, tier: &str, invoke: &Map<String, Value>) {
        self.toml.pair("tier", tier);
        self.toml.pair("kind", "openai");
        let mut text = |key: &str| {
            let text = invoke.get(key).filter(|value| truthy(value)).and_then(scalar);
            if text.is_none() {
                self.problem(format!("`invoke.{key}` is missing"));
            }
            text.unwrap_or_default()
        };
        let (base_url, model) = (text("base_url"), text("model"));
        self.toml.pair("base_url", base_url.trim().trim_end_matches('/'));
        self.toml.pair("model", model.trim());
        match invoke.get("key_ref").filter(|value| !value.is_null()) {
            None if invoke.get("kind").is_some_and(|kind| kind == "api") => {
                self.problem("`invoke.key_ref` is missing, which `kind: api` needs");
            }
            None => {}
            Some(value) if value == "none" => {}
            Some(value) => match value.as_str().unwrap_or_default().trim().parse::<KeyRef>() {
                Ok(key) => self.toml.pair("key", key.to_string()),
                Err(why) => self.remark(format!(
                    "`key_ref` was left out: it {why}. Its value is not repeated here."
                )),
            },
        }
        self.strangers("`invoke`", invoke, &SERVER);
    }

    fn program(&mut self, tier: &str, invoke: &Map<String, Value>) {
        self.toml.pair("tier", tier);
        self.toml.pair("kind", "cli");
        match invoke.get("cmd") {
            Some(Value::Array(cmd)) if !cmd.is_empty() => self.command(cmd),
            _ => self.problem("`invoke.cmd` must be a list that is not empty"),
        }
        match invoke.get("parse").map(|parse| (parse, parse.as_str())) {
            None | Some((Value::Null, _) | (_, Some("plain"))) => {}
            Some((_, Some(parse @ ("claude-json" | "gemini-json")))) => {
                self.toml.pair("parse", parse);
            }
            Some((other, _)) => self.remark(format!(
                "`parse` was {}, which TangleBrain refuses at the first call. Here the output is \
                 taken as it is.",
                shown(other)
            )),
        }
        let scrub = list(invoke.get("scrub_env"));
        let (kept, lost): (Vec<_>, Vec<_>) =
            scrub.iter().partition(|name| name.as_str().is_some_and(KeyRef::is_variable));
        if !kept.is_empty() {
            let kept: Vec<_> =
                kept.into_iter().filter_map(Value::as_str).map(toml::Value::from).collect();
            self.toml.pair("scrub_env", kept);
        }
        if !lost.is_empty() {
            self.remark(
                "`scrub_env` held what no environment variable can be called; that was left out.",
            );
        }
        if invoke.get("delegate_args").is_some_and(truthy) {
            self.remark(
                "`delegate_args` was left out: a backend here is always a leaf and gets no tools \
                 to delegate further.",
            );
        }
        self.strangers("`invoke`", invoke, &PROGRAM);
    }

    fn command(&mut self, cmd: &[Value]) {
        let mut ours: Vec<_> = cmd.iter().filter_map(scalar).collect();
        if ours.len() < cmd.len() {
            self.problem("`invoke.cmd` must hold strings alone");
        }
        if cmd.iter().any(|argument| !argument.is_string()) {
            self.remark("`cmd` held values that were no strings; they are now.");
        }
        if !ours.iter().any(|argument| argument.contains(PROMPT)) {
            // TangleBrain gives the prompt as the last argument.
            ours.push(PROMPT.to_owned());
        }
        self.toml.pair("cmd", ours);
    }

    /// What callers may ask of it.
    fn offered(&mut self, entry: &Map<String, Value>) {
        match entry.get("good_at") {
            None | Some(Value::Null | Value::Array(_)) => self.tags(list(entry.get("good_at"))),
            Some(_) => self.problem("`good_at` must be a list"),
        }
        if let Some(value) = entry.get("can_delegate").filter(|value| truthy(value)) {
            if !value.is_boolean() {
                self.remark(format!(
                    "`can_delegate` was {}, {}: TangleBrain took any value that is not empty as \
                     true, and so does this import. Is it meant?",
                    shown(value),
                    kind_of(value)
                ));
            }
            self.toml.pair("can_delegate", true);
        }
        match entry.get("enabled") {
            None | Some(Value::Bool(true)) => {}
            Some(Value::Bool(false)) => {
                self.toml.pair("enabled", false);
                let kind = entry.get("invoke").and_then(|invoke| invoke.get("kind"));
                if kind.is_some_and(|kind| kind != "api") {
                    self.remark(
                        "`enabled` was false, which TangleBrain minded for `kind: api` alone: it \
                         used this entry all the same. Here false is false.",
                    );
                }
            }
            Some(_) => self.problem("`enabled` must be true or false"),
        }
    }

    fn tags(&mut self, given: &[Value]) {
        let mut tags: Vec<String> = Vec::new();
        for tag in given.iter().filter_map(scalar) {
            let tag = one_line(&tag).trim().to_owned();
            if !tag.is_empty() && !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        let was = Value::from(given.to_vec());
        if Value::from(tags.clone()) != was {
            let was = shown(&was);
            self.remark(format!("`good_at` was {was}: tags are strings, each one once."));
        }
        if !tags.is_empty() {
            self.toml.pair("good_at", tags);
        }
    }

    /// What has no counterpart here.
    fn dropped(&mut self, entry: &Map<String, Value>) {
        if let Some(cost) = entry.get("cost").filter(|cost| !cost.is_null()) {
            self.remark(format!(
                "`cost` was {}, which is no price: a price here is in US dollars per million \
                 tokens.",
                shown(cost)
            ));
        }
        if entry.get("can_orchestrate").is_some_and(truthy) {
            self.remark(
                "`can_orchestrate` was left out: the orchestrator is the caller, not a backend.",
            );
        }
        if let Some(budget) = entry.get("budget_usd_month").filter(|budget| !budget.is_null()) {
            self.remark(format!(
                "`budget_usd_month` was {} and was left out: TangleBrain showed it and never \
                 enforced it.",
                shown(budget)
            ));
        }
        self.strangers("the entry", entry, &FIELDS);
    }

    /// Names the fields that have no meaning. Their values may be secrets and are not repeated.
    fn strangers(&mut self, place: &str, map: &Map<String, Value>, known: &[&str]) {
        let unknown: Vec<_> =
            map.keys().map(String::as_str).filter(|key| !known.contains(key)).collect();
        if !unknown.is_empty() {
            self.remark(format!("Without meaning in {place}, and left out: {}.", names(&unknown)));
        }
    }
}

/// A list that may be absent.
fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
