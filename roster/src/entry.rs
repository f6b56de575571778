//! One `[[backend]]` or `[[endpoint]]` table as what it says.

use crate::{
    Backend, Cost, Endpoint, Kind, MAX_ID, Tier,
    field::{Field, Fields, unknown},
    hint::listed,
    notes::{Notes, shown},
    parts::{self, COST, LIMITS, RETRY, TIMEOUTS},
    program, wire,
};

const COMMON: [&str; 10] = [
    "id",
    "tier",
    "kind",
    "good_at",
    "cost",
    "can_delegate",
    "enabled",
    "limits",
    "timeouts",
    "retry",
];
const OPENAI: [&str; 6] = ["base_url", "model", "key", "headers", "extra", "stream"];
const CLI: [&str; 4] = ["cmd", "parse", "scrub_env", "model"];

/// Names that other tools have for keys of ours.
const ELSEWHERE: [(&str, &str); 9] = [
    ("api_key", "key"),
    ("key_ref", "key"),
    ("url", "base_url"),
    ("api_base", "base_url"),
    ("command", "cmd"),
    ("name", "id"),
    ("tags", "good_at"),
    ("capabilities", "good_at"),
    ("timeout", "timeouts.total"),
];

/// A kind by its name alone, while its keys are still to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    OpenAi,
    Cli,
    Extract,
}

const KINDS: [(&str, Named, &[&str]); 3] = [
    ("openai", Named::OpenAi, &OPENAI),
    ("cli", Named::Cli, &CLI),
    ("extract", Named::Extract, &[]),
];

/// A backend as far as it could be read, for the rules across entries.
pub(crate) struct Read<T> {
    /// What names it, and where that stands.
    pub(crate) name: Option<(usize, String)>,
    /// `None` when something in it is wrong.
    pub(crate) value: Option<T>,
}

/// Reads one `[[backend]]`.
pub(crate) fn backend(fields: &Fields<'_>, notes: &mut Notes) -> Read<Backend> {
    let id = fields
        .require("id", "id = \"coder\"", notes)
        .and_then(|field| Some((field.at, id(field, notes)?)));
    let tiers = [Tier::Local, Tier::Sub, Tier::Api].map(|tier| (tier.as_str(), tier));
    let tier = fields
        .require("tier", "tier = \"local\"", notes)
        .and_then(|field| field.choice(&tiers, notes));
    let named = fields
        .require("kind", "kind = \"openai\"", notes)
        .and_then(|field| field.choice(&KINDS.map(|(name, kind, _)| (name, kind)), notes));
    only(fields, named, notes);
    let good_at = fields.get("good_at").map(|field| good_at(field, notes)).unwrap_or_default();
    let mut cost = parts::cost(fields, notes);
    let mut boolean = |key, absent| {
        fields.get(key).and_then(|field: Field<'_>| field.boolean(notes)).unwrap_or(absent)
    };
    let can_delegate = boolean("can_delegate", false);
    let enabled = boolean("enabled", true);
    let limits = parts::limits(fields, notes);
    let timeouts = parts::timeouts(fields, notes);
    let retry = parts::retry(fields, notes);
    let key = match named {
        Some(Named::OpenAi) => fields.get("key").and_then(|field| wire::key(field, notes)),
        _ => None,
    };
    let kind = named.and_then(|named| match named {
        Named::OpenAi => wire::openai(fields, notes).map(Kind::OpenAi),
        Named::Cli => program::cli(fields, notes).map(Kind::Cli),
        Named::Extract => Some(Kind::Extract),
    });
    if let (Some(tier), Some(cost)) = (tier, cost) {
        warn_of_price(fields, tier, cost, notes);
    }
    if named == Some(Named::Extract) {
        // No model, no price: here zero is known.
        cost = cost.or(Some(Cost {
            input_per_mtok: Some(0.0),
            output_per_mtok: Some(0.0),
            cached_input_per_mtok: None,
        }));
    }
    let value = match (&id, tier, kind) {
        (Some((_, id)), Some(tier), Some(kind)) => Some(Backend {
            id: id.clone(),
            tier,
            kind,
            good_at,
            cost,
            can_delegate,
            enabled,
            key,
            limits,
            timeouts,
            retry,
        }),
        _ => None,
    };
    Read { name: id, value }
}

/// Reads one `[[endpoint]]`.
pub(crate) fn endpoint(fields: &Fields<'_>, notes: &mut Notes) -> Read<Endpoint> {
    fields.only(&["base_url", "concurrency"], notes);
    let server = fields
        .require("base_url", "base_url = \"http://127.0.0.1:8080/v1\"", notes)
        .and_then(|field| Some((field.at, wire::server(field, notes)?)));
    let concurrency = fields
        .require("concurrency", "concurrency = 4", notes)
        .and_then(|field| parts::concurrency(field, notes));
    let value = server
        .clone()
        .zip(concurrency)
        .map(|((_, base_url), concurrency)| Endpoint { base_url, concurrency });
    Read { name: server.map(|(at, url)| (at, url.into())), value }
}

fn id(field: Field<'_>, notes: &mut Notes) -> Option<String> {
    let id = field.string(notes)?;
    if Backend::is_id(id) {
        return Some(id.to_owned());
    }
    let what = format!(
        "must be 1 to {MAX_ID} of `a-z`, `0-9`, `-` and `_`, a letter or digit first, not `{}`",
        shown(id)
    );
    field.bad(what, notes)
}

fn good_at(field: Field<'_>, notes: &mut Notes) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for element in field.elements("strings", notes).unwrap_or_default() {
        let Some(tag) = element.line(notes) else { continue };
        if tags.iter().any(|known| known == tag) {
            notes.warn(element.at, format!("`good_at` holds `{}` twice", shown(tag)));
        } else {
            tags.push(tag.to_owned());
        }
    }
    tags
}

/// Notes each key that is not known, or that another kind has.
fn only(fields: &Fields<'_>, named: Option<Named>, notes: &mut Notes) {
    for (at, field) in fields.all() {
        if COMMON.contains(&field.name) {
            continue;
        }
        let has = |kind: &&(&str, Named, &[&str])| kind.2.contains(&field.name);
        let mut owners = KINDS.iter().filter(has).peekable();
        if owners.peek().is_none() {
            notes.error(at, stranger(fields.title, field.name, named));
            continue;
        }
        let Some((own, ..)) = KINDS.iter().find(|(_, kind, _)| Some(*kind) == named) else {
            continue;
        };
        let owners: Vec<_> = owners.map(|(name, ..)| *name).collect();
        if !owners.contains(own) {
            let what = format!(
                "`{}` does not belong to kind `{own}`, only to {}: remove it",
                field.name,
                listed(owners, "and")
            );
            notes.error(at, what);
        }
    }
}

/// What to say of a key that no kind has.
fn stranger(title: &str, key: &str, named: Option<Named>) -> String {
    let inner =
        [("cost", &COST[..]), ("limits", &LIMITS), ("timeouts", &TIMEOUTS), ("retry", &RETRY)];
    let inside = inner.iter().find(|(_, keys)| keys.contains(&key));
    let elsewhere = ELSEWHERE.iter().find(|(name, _)| *name == key).map(|(_, ours)| *ours);
    let meant = inside.map(|(part, _)| format!("{part}.{key}")).or(elsewhere.map(str::to_owned));
    if let Some(meant) = meant {
        return format!("unknown key `{key}` in `{title}`: did you mean `{meant}`?");
    }
    let own = KINDS.iter().filter(|(_, kind, _)| named.is_none_or(|named| named == *kind));
    let mut known = COMMON.to_vec();
    for (_, _, keys) in own {
        known.extend(keys.iter().filter(|key| !COMMON.contains(key)));
    }
    known.dedup();
    unknown(key, title, &known)
}

fn warn_of_price(fields: &Fields<'_>, tier: Tier, cost: Cost, notes: &mut Notes) {
    let prices = [cost.input_per_mtok, cost.output_per_mtok, cost.cached_input_per_mtok];
    if !tier.is_paid() && prices.into_iter().flatten().any(|price| price > 0.0) {
        let at = fields.get("cost").map_or(fields.at, |field| field.at);
        let what = format!(
            "a price above zero on tier `{tier}`: a backend that is paid by the call \
             has `tier = \"api\"`, and only that tier waits for billing"
        );
        notes.warn(at, what);
    }
}
