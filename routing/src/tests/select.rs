use proptest::prelude::*;
use roster::Roster;

use crate::{Error, Index, Selected, Standing, Want, Why};

fn roster(text: &str) -> (Roster, Index) {
    let roster = Roster::parse(text).unwrap();
    let index = Index::of(&roster);
    (roster, index)
}

fn entry(id: &str, tier: &str, more: &str) -> String {
    format!(
        "[[backend]]\nid = \"{id}\"\ntier = \"{tier}\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"{id}\"\ncan_delegate = true\n{more}\n"
    )
}

fn pick(text: &str, want: &Want, standing: impl Fn(usize) -> Standing) -> Option<String> {
    let (roster, index) = roster(text);
    match index.select(&roster, want, false, &[], standing).unwrap() {
        Selected::Pick(pick) => Some(roster.backends()[pick.at].id.clone()),
        Selected::NoFit | Selected::Spent => None,
    }
}

fn task(name: &str) -> Want {
    Want::Task(name.to_owned())
}

#[test]
fn tier_comes_before_price_and_unknown_price_comes_last() {
    let good = "good_at = [\"code\"]";
    let text = entry(
        "sub",
        "sub",
        &format!("{good}\ncost = {{ input_per_mtok = 0.01, output_per_mtok = 0.01 }}"),
    ) + &entry("unknown", "local", good)
        + &entry("half", "local", &format!("{good}\ncost = {{ input_per_mtok = 0.0 }}"))
        + &entry(
            "dear",
            "local",
            &format!("{good}\ncost = {{ input_per_mtok = 9, output_per_mtok = 9 }}"),
        );
    assert_eq!(pick(&text, &task("code"), |_| Standing::default()).unwrap(), "dear");
    let benched = |at: usize| Standing { benched: at == 3, load: 0 };
    assert_eq!(pick(&text, &task("code"), benched).unwrap(), "unknown");
    let local = |at: usize| Standing { benched: at > 0, load: 0 };
    assert_eq!(pick(&text, &task("code"), local).unwrap(), "sub");
}

#[test]
fn equals_share_their_load() {
    let text =
        entry("a", "local", "good_at = [\"code\"]") + &entry("b", "local", "good_at = [\"code\"]");
    let loads = |at: usize| Standing { benched: false, load: if at == 0 { 250 } else { 0 } };
    assert_eq!(pick(&text, &task("code"), loads).unwrap(), "b");
    assert_eq!(pick(&text, &task("code"), |_| Standing::default()).unwrap(), "a");
}

/// D7: the only backend of a name is never benched into "none".
#[test]
fn d7_all_benched_still_gives_the_first() {
    let text =
        entry("a", "local", "good_at = [\"code\"]") + &entry("b", "sub", "good_at = [\"code\"]");
    let benched = |_| Standing { benched: true, load: 9 };
    assert_eq!(pick(&text, &task("code"), benched).unwrap(), "a");
}

#[test]
fn the_default_is_the_first_local_backend_with_a_model() {
    let extract = "[[backend]]\nid = \"x\"\ntier = \"local\"\nkind = \"extract\"\ncan_delegate = true\ngood_at = [\"summary\"]\n";
    let text = extract.to_owned() + &entry("s", "sub", "") + &entry("l", "local", "");
    assert_eq!(pick(&text, &Want::Local, |_| Standing::default()).unwrap(), "l");
    assert_eq!(pick(&text, &task("summary"), |_| Standing::default()).unwrap(), "x");
    let (roster, index) = roster(extract);
    let none = index.select(&roster, &Want::Local, false, &[], |_| Standing::default());
    assert!(matches!(none, Err(Error::NoLocal)), "{none:?}");
}

#[test]
fn a_named_target_runs_there_or_not_at_all() {
    let text = entry("a", "local", "")
        + &entry("off", "local", "enabled = false")
        + &entry("paid", "api", "")
        + &entry("shut", "local", "").replace("can_delegate = true", "");
    let (roster, index) = roster(&text);
    let named = |id: &str, billing| {
        index.select(&roster, &Want::Target(id.to_owned()), billing, &[], |_| Standing {
            benched: true,
            load: 0,
        })
    };
    let Ok(Selected::Pick(pick)) = named("a", false) else { panic!("not chosen") };
    assert_eq!((pick.at, pick.why), (0, Why::Named));
    assert!(named("off", true).unwrap_err().to_string().contains("enabled = true"));
    assert!(named("paid", false).unwrap_err().to_string().contains("billing"));
    assert!(matches!(named("paid", true), Ok(Selected::Pick(_))));
    assert!(named("shut", false).unwrap_err().to_string().contains("can_delegate"));
    let unknown = named("nope", false).unwrap_err().to_string();
    assert!(unknown.contains("`nope`") && unknown.contains("`a`"), "{unknown}");
    assert!(matches!(named("", false), Err(Error::UnknownTarget { .. })));
}

#[derive(Debug, Clone)]
struct Gen {
    tier: &'static str,
    price: Option<u8>,
    tags: Vec<u8>,
    can: bool,
    on: bool,
}

fn gen_backend() -> impl Strategy<Value = Gen> {
    (
        prop::sample::select(vec!["local", "sub", "api"]),
        prop::option::of(0u8..4),
        prop::collection::vec(0u8..3, 0..3),
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.8),
    )
        .prop_map(|(tier, price, tags, can, on)| Gen { tier, price, tags, can, on })
}

fn text(backends: &[Gen]) -> String {
    let one = |(at, b): (usize, &Gen)| {
        let mut tags: Vec<String> = b.tags.iter().map(|t| format!("\"t{t}\"")).collect();
        tags.dedup();
        let cost = b.price.map_or(String::new(), |p| {
            format!("cost = {{ input_per_mtok = {p}, output_per_mtok = 0 }}\n")
        });
        let can = if b.can { "" } else { "# " };
        let kind = if at % 3 == 0 && b.tier != "api" {
            "kind = \"cli\"\ncmd = [\"true\"]".to_owned()
        } else {
            format!("kind = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"m{at}\"")
        };
        format!(
            "[[backend]]\nid = \"b{at}\"\ntier = \"{}\"\n{kind}\n{can}can_delegate = true\nenabled = {}\ngood_at = [{}]\n{cost}",
            b.tier,
            b.on,
            tags.join(", ")
        )
    };
    backends.iter().enumerate().map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::tests::select::cases(), ..ProptestConfig::default() })]

    /// G15, D39: over random rosters, standings and failures, no automatic decision selects a paid
    /// backend, whatever the billing switch says; choices are deterministic and, while any
    /// candidate stands, the cheapest standing tier.
    #[test]
    fn g15_no_automatic_decision_selects_a_paid_backend(
        backends in prop::collection::vec(gen_backend(), 0..8),
        benched in any::<u8>(),
        failed in prop::collection::vec(0usize..8, 0..8),
        billing: bool,
        tag in 0u8..4,
    ) {
        let (roster, index) = roster(&text(&backends));
        let standing = |at: usize| Standing { benched: benched >> at & 1 == 1, load: 0 };
        for want in [Want::Local, Want::Task(format!("t{tag}"))] {
            let mut excluded = Vec::new();
            // Failing over again and again, in any order of failures.
            for step in 0..=backends.len() {
                let choice = index.select(&roster, &want, billing, &excluded, standing);
                let again = index.select(&roster, &want, billing, &excluded, standing);
                prop_assert_eq!(format!("{choice:?}"), format!("{again:?}"));
                let Ok(Selected::Pick(pick)) = choice else { break };
                let chosen = &roster.backends()[pick.at];
                prop_assert!(!chosen.tier.is_paid());
                prop_assert!(chosen.enabled);
                prop_assert!(!excluded.contains(&pick.at));
                if let Want::Task(task) = &want {
                    prop_assert!(chosen.can_delegate && chosen.good_at.contains(task));
                    for (at, other) in roster.backends().iter().enumerate() {
                        let better = other.is_automatic() && other.good_at.contains(task)
                            && other.tier < chosen.tier && !excluded.contains(&at) && !standing(at).benched;
                        prop_assert!(!better, "{} stood before {}", other.id, chosen.id);
                    }
                }
                excluded.push(pick.at);
                excluded.extend(failed.get(step));
            }
        }
        // A named target may be paid, and only with billing on.
        for (at, backend) in roster.backends().iter().enumerate() {
            let named = index.select(&roster, &Want::Target(backend.id.clone()), billing, &[], standing);
            if let Ok(Selected::Pick(pick)) = named {
                prop_assert_eq!(pick.at, at);
                prop_assert!(billing || !backend.tier.is_paid());
            }
        }
    }
}

/// Cases of the model check: 2,000 by default, as many as `ADJUTANT_CASES` says for a release.
fn cases() -> u32 {
    option_env!("ADJUTANT_CASES").and_then(|text| text.parse().ok()).unwrap_or(2_000)
}
