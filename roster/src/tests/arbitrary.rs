//! Any text at all: never a panic, always places that exist, always the same answer.

use std::{fmt::Write as _, time::Duration};

use proptest::{collection::vec, option, prelude::*, sample::select};

use super::helpers::openai;
use crate::{Backend, Cost, KeyRef, Kind, Limits, Parse, Roster, Tier};

/// Scraps that look like a roster.
const SCRAPS: [&str; 36] = [
    "[[backend]]",
    "[[backend]",
    "[backend]",
    "[[endpoint]]",
    "[backend.limits]",
    "id",
    "tier",
    "kind",
    "base_url",
    "cmd",
    "good_at",
    "key",
    "extra",
    "limits",
    " = ",
    "\"local\"",
    "\"openai\"",
    "\"cli\"",
    "\"extract\"",
    "\"a\"",
    "'é'",
    "\"\"\"",
    "'''",
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    "\n",
    "\r\n",
    "\n",
    "# é",
    "-1",
    "nan",
    "true",
];

/// What a backend without a model costs.
const FREE: Cost =
    Cost { input_per_mtok: Some(0.0), output_per_mtok: Some(0.0), cached_input_per_mtok: None };

fn check(text: &str) {
    let found = Roster::parse(text);
    assert_eq!(found, Roster::parse(text), "the same text, the same answer");
    let problems = match &found {
        Ok(roster) => roster.warnings(),
        Err(error) => &error.problems,
    };
    assert!(found.is_ok() || !problems.is_empty());
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<_> = text.split('\n').collect();
    for problem in problems {
        assert!((1..=lines.len()).contains(&problem.line), "{problem}");
        let line = lines[problem.line - 1].chars().count();
        assert!((1..=line + 1).contains(&problem.column), "{problem}");
        assert!(!problem.message.chars().any(char::is_control), "{problem:?}");
    }
    let places: Vec<_> = problems.iter().map(|p| (p.line, p.column, &p.message)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

fn words() -> impl Strategy<Value = String> {
    "[a-zA-Zäß0-9\"'\\\\ {}$.:/-]{0,20}[a-z]"
}

fn prices() -> impl Strategy<Value = Option<Cost>> {
    let price = || option::of(0.0..100.0);
    (price(), price(), price()).prop_map(|(input, output, cached)| {
        let cost =
            Cost { input_per_mtok: input, output_per_mtok: output, cached_input_per_mtok: cached };
        [input, output, cached].iter().any(Option::is_some).then_some(cost)
    })
}

fn limits() -> impl Strategy<Value = Limits> {
    let rate = || option::of(1..=u32::MAX);
    let tokens = || option::of(1..=1_000_000_000u64);
    (1..=1_000_000usize, 0..=1_000_000usize, rate(), rate(), tokens(), tokens()).prop_map(
        |(concurrency, queue, rpm, tpm, context_tokens, max_output_tokens)| Limits {
            concurrency,
            queue,
            rpm,
            tpm,
            context_tokens,
            max_output_tokens,
        },
    )
}

fn kinds() -> impl Strategy<Value = (Kind, Option<KeyRef>)> {
    let openai = (words(), vec(words(), 0..3), any::<bool>(), option::of("[A-Z_][A-Z0-9_]{0,9}"));
    let openai = openai.prop_map(|(model, values, stream, key)| {
        let base_url = "http://h/v1".parse().unwrap();
        let values = values.into_iter().map(|v| v.replace(['ä', 'ß'], "a")).enumerate();
        let headers = values.map(|(at, value)| (format!("x-{at}"), value)).collect();
        let extra = serde_json::Map::from_iter([("note".to_owned(), model.clone().into())]);
        let server = crate::OpenAi { base_url, model: model.trim().into(), headers, extra, stream };
        (Kind::OpenAi(server), key.map(KeyRef::Env))
    });
    let parses = select(vec![Parse::Plain, Parse::ClaudeJson, Parse::GeminiJson]);
    let cli = (vec(words(), 1..4), parses, vec("[A-Z]{1,9}", 0..3), option::of("[a-z]{1,9}"));
    let cli = cli.prop_map(|(cmd, parse, scrub_env, model)| {
        (Kind::Cli(crate::Cli { cmd, parse, scrub_env, model }), None)
    });
    prop_oneof![openai, cli, Just((Kind::Extract, None))]
}

prop_compose! {
    fn backends()(
        id in "[a-z0-9][a-z0-9_-]{0,62}",
        tier in select(vec![Tier::Local, Tier::Sub, Tier::Api]),
        (kind, key) in kinds(),
        tags in proptest::collection::hash_set(words(), 0..4),
        cost in prices(),
        can_delegate: bool,
        enabled: bool,
        limits in limits(),
        idle in option::of(1..1_000_000u64),
        attempts in 1..=u32::MAX,
    ) -> Backend {
        let mut good_at: Vec<_> = tags.iter().map(|tag| tag.trim().to_owned()).collect();
        good_at.sort();
        good_at.dedup();
        let cost = if kind == Kind::Extract { cost.or(Some(FREE)) } else { cost };
        let idle = idle.map(Duration::from_millis);
        let timeouts = crate::Timeouts { idle, ..Default::default() };
        let retry = crate::Retry { attempts, ..Default::default() };
        Backend {
            id, tier, kind, good_at, cost, can_delegate, enabled, key, limits, timeouts, retry,
        }
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn all_quoted(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
}

/// A backend as a person might write it.
fn written(backend: &Backend) -> String {
    let mut text = format!(
        "[[backend]]\nid = {:?}\ntier = {:?}\nkind = {:?}\ngood_at = {}\n\
         can_delegate = {}\nenabled = {}\n",
        backend.id,
        backend.tier.as_str(),
        backend.kind.as_str(),
        all_quoted(&backend.good_at),
        backend.can_delegate,
        backend.enabled,
    );
    let mut line = |line: String| writeln!(text, "{line}").unwrap();
    match &backend.kind {
        Kind::OpenAi(server) => {
            line(format!(
                "base_url = {:?}\nmodel = {}",
                server.base_url.as_str(),
                quoted(&server.model)
            ));
            line(format!("stream = {}", server.stream));
            for (name, value) in &server.headers {
                line(format!("headers.{name} = {}", quoted(value)));
            }
            for (name, value) in &server.extra {
                line(format!("extra.{name} = {}", quoted(value.as_str().unwrap())));
            }
        }
        Kind::Cli(program) => {
            line(format!(
                "cmd = {}\nscrub_env = {}",
                all_quoted(&program.cmd),
                all_quoted(&program.scrub_env)
            ));
            line(format!("parse = {}", serde_json::to_string(&program.parse).unwrap()));
            program.model.iter().for_each(|model| line(format!("model = {model:?}")));
        }
        Kind::Extract => {}
    }
    backend.key.iter().for_each(|key| line(format!("key = \"{key}\"")));
    if let Some(cost) = backend.cost {
        let prices = serde_json::to_value(cost).unwrap();
        for (name, price) in prices.as_object().unwrap() {
            line(format!("cost.{name} = {:?}", price.as_f64().unwrap()));
        }
    }
    let limits = backend.limits;
    line(format!("limits.concurrency = {}\nlimits.queue = {}", limits.concurrency, limits.queue));
    for (name, number) in [
        ("rpm", limits.rpm.map(u64::from)),
        ("tpm", limits.tpm.map(u64::from)),
        ("context_tokens", limits.context_tokens),
        ("max_output_tokens", limits.max_output_tokens),
    ] {
        if let Some(number) = number {
            line(format!("limits.{name} = {number}"));
        }
    }
    let idle = backend.timeouts.idle.map(|idle| format!("{}ms", idle.as_millis()));
    line(format!("timeouts.idle = {:?}", idle.as_deref().unwrap_or("none")));
    line(format!("retry.attempts = {}", backend.retry.attempts));
    text
}

proptest! {
    #[test]
    fn any_bytes_are_answered(bytes in vec(any::<u8>(), 0..400)) {
        let _ = Roster::from_bytes(&bytes);
    }

    #[test]
    fn s24_any_text_is_answered_with_places_that_exist(text in "(?s)\u{feff}?.{0,200}") {
        check(&text);
    }

    #[test]
    fn s24_any_scraps_are_answered_with_places_that_exist(
        scraps in vec(select(&SCRAPS[..]), 0..80),
    ) {
        check(&scraps.concat());
    }

    #[test]
    fn s24_a_cut_file_is_answered_with_places_that_exist(
        backend in backends(),
        at in any::<prop::sample::Index>(),
    ) {
        let text = written(&backend);
        let at = text.floor_char_boundary(at.index(text.len()));
        check(&text[..at]);
        check(&text[at..]);
    }

    #[test]
    fn what_is_written_is_what_is_read(backends in vec(backends(), 0..5)) {
        let mut backends = backends;
        backends.sort_by(|a, b| b.id.cmp(&a.id));
        backends.dedup_by(|a, b| a.id == b.id);
        let text: String = backends.iter().map(written).collect();
        let roster = Roster::parse(&text);
        let roster = roster.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(roster.backends(), &backends[..]);
    }

    #[test]
    fn any_url_is_taken_or_refused(url in "(?s)(https?://)?.{0,40}") {
        check(&openai("").replace("\"http://h/v1\"", &quoted(&url)));
    }
}
