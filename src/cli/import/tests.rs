use insta::assert_snapshot;
use proptest::{collection::vec, option, prelude::*, sample::select};
use roster::{Kind, Roster, Tier};
use serde_json::{Value, json};

use super::{ImportError, tanglebrain};

/// Entries of every kind that TangleBrain knows, as its users write them.
const TYPICAL: &str = r#"
# my machines
- id: ollama
  tier: local
  invoke:
    kind: openai-compat
    base_url: http://127.0.0.1:11434/v1/
    model: llama3.2
  cost: free
  good_at: [draft, code]
  can_delegate: true
- id: gpu
  tier: local
  invoke: {kind: openai-compat, base_url: "http://gpu/v1", model: "null", key_ref: "file:~/k.key"}
  good_at:
    - code
  can_delegate: yes
- id: agent
  tier: sub
  invoke:
    kind: cli
    cmd: [/bin/sh, -c, 'answer "$0"']
    parse: plain
    scrub_env: [HOUSE_KEY]
  cost: subscription
  good_at: [review, code]
  can_delegate: true
- id: cloud
  tier: api
  invoke: {kind: api, base_url: "https://api.example.com/v1", model: big, key_ref: "env:CLOUD_KEY"}
  good_at: [hard]
  can_delegate: true
- {id: private, tier: sub, invoke: {kind: openai-compat, base_url: "http://h/v1", model: m}}
"#;

/// A whole entry of which one part is replaced.
fn entry(part: &str, with: &str) -> String {
    let invoke = "{kind: openai-compat, base_url: 'http://h/v1', model: m}";
    let entry = format!("- id: a\n  tier: local\n  invoke: {invoke}\n");
    assert!(part.is_empty() || entry.contains(part), "{part}");
    entry.replacen(part, &format!("{part}{with}"), usize::from(!with.is_empty()))
}

fn import(yaml: &str) -> (String, Roster) {
    let text = tanglebrain(yaml, None).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
    let roster = Roster::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (text, roster)
}

fn problems(yaml: &str) -> Vec<String> {
    match tanglebrain(yaml, None) {
        Err(ImportError::Invalid { file: "roster", problems }) => problems,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_typical_roster_carries_over() {
    let (text, roster) = import(TYPICAL);
    let ids: Vec<_> = roster.backends().iter().map(|b| b.id.as_str()).collect();
    assert_eq!(ids, ["ollama", "gpu", "agent", "cloud", "private"]);
    assert_eq!(roster.capabilities(), ["code", "draft", "review"]);
    assert_eq!(roster.warnings(), []);
    let get = |id| roster.get(id).unwrap();
    assert_eq!(get("cloud").tier, Tier::Api);
    assert_eq!(get("cloud").key.as_ref().unwrap().to_string(), "env:CLOUD_KEY");
    assert_eq!(get("gpu").key.as_ref().unwrap().to_string(), "file:~/k.key");
    assert_eq!(get("gpu").model(), "null");
    assert!(!get("private").can_delegate && get("gpu").can_delegate);
    let Kind::OpenAi(server) = &get("ollama").kind else { panic!("{text}") };
    assert_eq!(server.base_url.as_str(), "http://127.0.0.1:11434/v1");
    let Kind::Cli(program) = &get("agent").kind else { panic!("{text}") };
    assert_eq!(program.cmd, ["/bin/sh", "-c", "answer \"$0\"", "{prompt}"]);
    assert_eq!(program.scrub_env, ["HOUSE_KEY"]);
    assert_eq!(text, import(TYPICAL).0, "the same file, the same text");
}

#[test]
fn what_cannot_carry_over_is_said() {
    let yaml = r#"
- id: My GPU!
  tier: sub
  invoke: {kind: api, base_url: "http://127.0.0.1:1/v1", model: 3.5, key_ref: "env:K"}
  cost: {in: 3}
  good_at: [grunt, 5, "", grunt]
  can_delegate: "false"
  can_orchestrate: yes
  budget_usd_month: 5
- id: sub1
  tier: sub
  invoke:
    kind: cli
    cmd: [llm, "{prompt}"]
    parse: json
    scrub_env: [A, "a b"]
    delegate_args: [x]
  can_delgate: true
  enabled: false
- id: bad
  tier: local
  invoke: {kind: openai-compat, base_url: "http://u:hunter2@h/v1", model: m}
- id: odd
  tier: api
  invoke:
    {kind: openai-compat, base_url: "http://h/v1", model: m, key_ref: hunter2, api_key: hunter2}
"#;
    let settings = "delegate_max_concurrency: 8\napi_billing_enabled: yes\n\
                    classifier_gate_enabled: true\nx: 1\n";
    let text = tanglebrain(yaml, Some(settings)).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    Roster::parse(&text).unwrap();
    assert_snapshot!(text, @r#"
    # Imported from a TangleBrain roster of 4 entries. Check it with `adjutant roster check`.
    #
    # `delegate_max_concurrency` is a limit on all calls together. It belongs into `adjutant.toml`:
    # [routing]
    # concurrency = 8
    #
    # `api_billing_enabled` was true. Here paid backends wait until `adjutant.toml` says so:
    # [billing]
    # enabled = true
    #
    # `classifier_gate_enabled` was true. There is no such gate: the caller chooses.
    #
    # Settings without a meaning, left out: `x`.

    # `id` was "My GPU!": an id here is of `a-z`, `0-9`, `-` and `_`. Callers name it `my-gpu` now.
    # `tier` was `sub` with `kind: api`. What is paid by the call is tier `api` here, and waits for
    # `[billing] enabled = true` in `adjutant.toml`.
    # `good_at` was ["grunt",5,"","grunt"]: tags are strings, each one once.
    # `can_delegate` was "false", a string: TangleBrain took any value that is not empty as true, and
    # so does this import. Is it meant?
    # `cost` was {"in":3}, which is no price: a price here is in US dollars per million tokens.
    # `can_orchestrate` was left out: the orchestrator is the caller, not a backend.
    # `budget_usd_month` was 5 and was left out: TangleBrain showed it and never enforced it.
    [[backend]]
    id = "my-gpu"
    tier = "api"
    kind = "openai"
    base_url = "http://127.0.0.1:1/v1"
    model = "3.5"
    key = "env:K"
    good_at = ["grunt", "5"]
    can_delegate = true

    # `parse` was "json", which TangleBrain refuses at the first call. Here the output is taken as it
    # is.
    # `scrub_env` held what no environment variable can be called; that was left out.
    # `delegate_args` was left out: a backend here is always a leaf and gets no tools to delegate
    # further.
    # `enabled` was false, which TangleBrain minded for `kind: api` alone: it used this entry all the
    # same. Here false is false.
    # Without meaning in the entry, and left out: `can_delgate`.
    [[backend]]
    id = "sub1"
    tier = "sub"
    kind = "cli"
    cmd = ["llm", "{prompt}"]
    scrub_env = ["A"]
    enabled = false

    # `bad` was left out, since it cannot be used here:
    # - `base_url` must not contain a user or a password: name the key with `key`

    # TangleBrain ran this entry with billing off, since its kind was not `api`. Here the tier alone
    # counts: it waits for `[billing] enabled = true` in `adjutant.toml`.
    # `key_ref` was left out: it must be `env:NAME` or `file:PATH`: a key itself does not belong into
    # the roster. Its value is not repeated here.
    # Without meaning in `invoke`, and left out: `api_key`.
    [[backend]]
    id = "odd"
    tier = "api"
    kind = "openai"
    base_url = "http://h/v1"
    model = "m"
    "#);
}

#[test]
fn truth_is_pythons() {
    for (value, wanted) in [
        ("true", true),
        ("yes", true),
        ("On", true),
        ("1", true),
        ("'false'", true),
        ("'no'", true),
        ("n", true),
        ("nO", true),
        ("[x]", true),
        ("false", false),
        ("no", false),
        ("off", false),
        ("0", false),
        ("0.0", false),
        ("''", false),
        ("~", false),
        ("[]", false),
        ("{}", false),
    ] {
        let (text, roster) = import(&entry("- id: a\n", &format!("  can_delegate: {value}\n")));
        assert_eq!(roster.get("a").unwrap().can_delegate, wanted, "{value}");
        let plain = ["true", "yes", "On"].contains(&value);
        assert_eq!(text.contains("Is it meant?"), wanted && !plain, "{value}");
    }
}

#[test]
fn ids_are_mended_and_stay_unique() {
    let ids = ["5", "A", "'a!'", "a", "a-2", "'?'", "été", "'-x-'", "true", "'a/b c'"];
    let long = "Y".repeat(70);
    let yaml: String = ids
        .into_iter()
        .chain([long.as_str()])
        .map(|id| entry("", "").replace("id: a\n", &format!("id: {id}\n")))
        .collect();
    let (text, roster) = import(&yaml);
    let ids: Vec<_> = roster.backends().iter().map(|b| b.id.as_str()).collect();
    let long = "y".repeat(63);
    let wanted =
        ["5", "a-3", "a-4", "a", "a-2", "backend", "t", "x", "true", "a-b-c", long.as_str()];
    assert_eq!(ids, wanted);
    assert!(text.contains("# `id` was \"A\": "));
}

#[test]
fn what_tanglebrain_refuses_is_refused_all_at_once() {
    let yaml = r"
- x
- {}
- {id: a}
- {id: a, tier: gpu, invoke: {kind: openai-compat}, good_at: x, enabled: 'yes'}
- {id: c, tier: sub, invoke: {kind: cli, cmd: []}}
- {id: d, tier: sub, invoke: {kind: api, base_url: u, model: m}}
- {id: e, tier: sub, invoke: {kind: x}}
- {id: f, tier: sub, invoke: {kind: cli, cmd: [[x]]}}
";
    assert_eq!(
        problems(yaml),
        [
            "entry 1 must be a mapping, not a string",
            "entry 2 has no `id`",
            "entry \"a\": `tier` must be `local`, `sub` or `api`",
            "entry \"a\": `invoke` must be a mapping",
            "entry \"a\": the id is given twice",
            "entry \"a\": `tier` must be `local`, `sub` or `api`",
            "entry \"a\": `invoke.base_url` is missing",
            "entry \"a\": `invoke.model` is missing",
            "entry \"a\": `good_at` must be a list",
            "entry \"a\": `enabled` must be true or false",
            "entry \"c\": `invoke.cmd` must be a list that is not empty",
            "entry \"d\": `invoke.key_ref` is missing, which `kind: api` needs",
            "entry \"e\": `invoke.kind` must be `openai-compat`, `cli` or `api`",
            "entry \"f\": `invoke.cmd` must hold strings alone",
        ]
    );
    let error = tanglebrain("- {}\n", None).unwrap_err();
    assert_eq!(error.to_string(), "the TangleBrain roster has 1 problem: entry 1 has no `id`");
}

#[test]
fn other_files_are_told() {
    for (yaml, says) in [
        ("", "the TangleBrain roster must be a YAML list of entries, not empty"),
        ("a: 1", "the TangleBrain roster must be a YAML list of entries, not a mapping"),
        ("- [", "the TangleBrain roster is not valid YAML: "),
        ("--- []\n--- []\n", "the TangleBrain roster is not valid YAML: "),
    ] {
        let error = tanglebrain(yaml, None).unwrap_err().to_string();
        assert!(error.starts_with(says), "{error}");
        assert!(!error.contains('\n'));
    }
    assert!(import("[]").1.backends().is_empty());
}

#[test]
fn settings_become_lines_to_paste() {
    let with = |settings| tanglebrain("[]", Some(settings));
    assert_eq!(
        with("").unwrap(),
        with("delegate_max_concurrency: ~\napi_billing_enabled: no\n").unwrap()
    );
    let text = with("delegate_max_concurrency: 3\napi_billing_enabled: true\n").unwrap();
    assert!(text.contains("\n# [routing]\n# concurrency = 3\n"), "{text}");
    assert!(text.contains("\n# [billing]\n# enabled = true\n"), "{text}");
    // With the marks gone, the lines are settings.
    let lines: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| line.starts_with('[') || line.contains(" = "))
        .collect();
    let settings: toml::Table = lines.join("\n").parse().unwrap();
    assert_eq!(
        json!(settings),
        json!({"routing": {"concurrency": 3}, "billing": {"enabled": true}})
    );

    assert_eq!(
        with(
            "delegate_max_concurrency: 0\napi_billing_enabled: 'yes'\nclassifier_gate_enabled: 1\n"
        )
        .unwrap_err()
        .to_string(),
        "the TangleBrain settings file has 3 problems: `delegate_max_concurrency` must be a whole \
         number of 1 or more; `api_billing_enabled` must be true or false; \
         `classifier_gate_enabled` must be true or false"
    );
    assert_eq!(
        with("[]").unwrap_err().to_string(),
        "the TangleBrain settings file must be a YAML mapping, not a list"
    );
}

#[test]
fn anchors_and_merges_are_followed() {
    let (_, roster) = import(
        "- &a\n  id: a\n  tier: local\n  \
           invoke: &i {kind: openai-compat, base_url: 'http://h/v1', model: m}\n\
         - {<<: *a, id: b}\n- {id: c, tier: sub, invoke: {<<: *i, model: n}}\n",
    );
    assert_eq!(roster.backends().len(), 3);
    assert_eq!(roster.get("c").unwrap().model(), "n");
}

/// Fields that take any value.
const ODD: [&str; 5] = ["cost", "can_delegate", "can_orchestrate", "budget_usd_month", "id"];

/// Strings of a kind that has broken a writer of TOML before.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        "(?s).{0,12}",
        select(vec!["\"\"\"", "'''", "\\", "\u{7f}", "a\r\nb", "{prompt}", "none"])
            .prop_map(str::to_owned)
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        texts().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((texts(), inner), 0..3).prop_map(|pairs| pairs.into_iter().collect())
        ]
    })
}

prop_compose! {
    fn entries()(
        id in texts(),
        tier in select(vec!["local", "sub", "api"]),
        kind in select(vec!["openai-compat", "api", "cli"]),
        model in texts(),
        key in texts(),
        cmd in vec(texts(), 1..4),
        tags in vec(values(), 0..4),
        more in vec((texts(), values()), 0..3),
        odd in option::of((select(&ODD[..]), values())),
    ) -> Value {
        let mut entry = json!({
            "id": format!("{id}x"), "tier": tier, "good_at": tags, "can_delegate": key.len(),
            "invoke": {
                "kind": kind,
                "base_url": format!("http://{model}/v1"),
                "model": format!("{model}m"),
                "key_ref": format!("file:{key}"), "cmd": cmd, "parse": model, "scrub_env": [key],
            },
        });
        let odd = odd.map(|(key, value)| (key.to_owned(), value));
        for (key, value) in more.into_iter().chain(odd) {
            entry.as_object_mut().unwrap().insert(key, value);
        }
        entry
    }
}

proptest! {
    #[test]
    fn any_text_is_answered(yaml in "(?s).{0,100}", settings in option::of("(?s).{0,60}")) {
        if let Ok(text) = tanglebrain(&yaml, settings.as_deref()) {
            prop_assert!(Roster::parse(&text).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_comes_out_is_a_roster(entries in vec(entries(), 0..4)) {
        // JSON is YAML.
        let yaml = Value::from(entries).to_string();
        match tanglebrain(&yaml, None) {
            Ok(text) => {
                let roster = Roster::parse(&text);
                prop_assert!(roster.is_ok(), "{roster:?}\n{text}");
                prop_assert_eq!(tanglebrain(&yaml, None), Ok(text));
            }
            Err(ImportError::Invalid { problems, .. }) => prop_assert!(!problems.is_empty()),
            // Not every control character may stand in YAML, nor any number.
            Err(ImportError::Yaml { .. }) => {}
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
