use std::{fs, path::Path, time::Duration};

use secrecy::ExposeSecret as _;

use super::*;

fn load(
    file: &str,
    variables: &[(&str, &str)],
    flags: &[(&'static str, &str)],
) -> Result<Loaded, Error> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("adjutant.toml");
    fs::write(&path, file).unwrap();
    let home = ("HOME", dir.path().to_str().unwrap());
    let env = Env::of(variables.iter().copied().chain([home]));
    let flags = flags.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
    Settings::load(&env, &Flags { config: Some(path), settings: flags })
}

fn problems(file: &str, variables: &[(&str, &str)]) -> Vec<String> {
    load(file, variables, &[]).unwrap_err().problems
}

#[test]
fn the_defaults_stand_where_nothing_is_said() {
    let loaded = load("", &[], &[]).unwrap();
    let settings = loaded.settings;
    assert_eq!(settings.server.listen.to_string(), "127.0.0.1:7004");
    assert_eq!(settings.limits.delegate_many_body, ByteSize::mib(64));
    assert_eq!(settings.server.drain, Duration::from_secs(30));
    assert!(!settings.billing.enabled && settings.routing.concurrency.is_none());
    assert!(loaded.data_dir.ends_with(".local/share/adjutant"));
    assert!(loaded.roster.path().unwrap().ends_with(".config/adjutant/roster.toml"));
}

#[test]
fn what_comes_later_counts_more() {
    let file = "[server]\nlisten = \"127.0.0.1:1\"\ndrain = \"1s\"\n[limits]\nbody = 2048\nhead = \"8 KiB\"\n";
    let older = ("TOOLSERVER_PORT", "2");
    let ours = ("ADJUTANT__SERVER__LISTEN", "127.0.0.1:3");
    let port = |loaded: Loaded| loaded.settings.server.listen.port();
    assert_eq!(port(load(file, &[], &[]).unwrap()), 1);
    assert_eq!(port(load(file, &[older], &[]).unwrap()), 2);
    assert_eq!(port(load(file, &[older, ours], &[]).unwrap()), 3);
    assert_eq!(port(load(file, &[older, ours], &[("server.listen", "[::1]:4")]).unwrap()), 4);
    let settings = load(file, &[("ADJUTANT__LIMITS__BODY", "3 KiB")], &[]).unwrap().settings;
    assert_eq!((settings.limits.body, settings.limits.head), (ByteSize::kib(3), ByteSize::kib(8)));
    assert_eq!(settings.server.drain, Duration::from_secs(1));
}

#[test]
fn names_in_the_environment_reach_their_keys() {
    let variables = [
        ("ADJUTANT_DATA_DIR", "/tmp/data"),
        ("ADJUTANT_ROSTER", "/tmp/r.toml"),
        ("ADJUTANT_IDLE_EXIT", "15m"),
        ("ADJUTANT_LOG", "debug"),
        ("TOOLSERVER_OPERATOR_TOKEN", "older"),
        ("ADJUTANT__SERVER__ALLOWED_HOSTS", "a.example, b.example:81,"),
        ("ADJUTANT__BILLING__ENABLED", "true"),
        ("ADJUTANT__ROUTING__CONCURRENCY", "8"),
        ("ADJUTANT__LOG__FORMAT", "json"),
        ("TOOLSERVER_HOST", "::1"),
        ("HANDOFF_SPAWN_URL", "http://127.0.0.1:9124/api/handoff/spawn"),
        ("HANDOFF_SPAWN_TOKEN", "console"),
        ("ADJUTANT__OUTBOUND__ALLOW", "127.0.0.0/8, Host.Example"),
        ("AC_MCP_GOVERNOR", "0"),
        ("AC_MCP_RESULT_MAX_LINES", "300"),
        ("AC_MCP_RESULT_MAX_BYTES", "20000"),
        ("AC_MCP_GOVERNOR_EXEMPT", "ledger_get,fs_read_json"),
        ("ADJUTANT__RESULTS__TOKENS", "9000"),
    ];
    let loaded = load("", &variables, &[]).unwrap();
    let settings = loaded.settings;
    assert_eq!(loaded.data_dir, Path::new("/tmp/data"));
    assert_eq!(loaded.roster, RosterFile::Named("/tmp/r.toml".into()));
    assert_eq!(settings.server.idle_exit, Some(Duration::from_mins(15)));
    assert_eq!(settings.server.allowed_hosts, ["a.example", "b.example:81"]);
    assert_eq!(settings.server.listen.to_string(), "[::1]:7004");
    assert!(settings.billing.enabled);
    assert_eq!(settings.routing.concurrency.map(usize::from), Some(8));
    assert_eq!((settings.log.filter.as_str(), settings.log.format), ("debug", Format::Json));
    assert_eq!(settings.auth.operator_token.unwrap().expose_secret(), "older");
    assert_eq!(settings.station.spawn_url.unwrap().path(), "/api/handoff/spawn");
    assert_eq!(settings.station.spawn_token.unwrap().expose_secret(), "console");
    let allowed: Vec<String> = settings.outbound.allow.iter().map(Allowed::to_string).collect();
    assert_eq!(allowed, ["127.0.0.0/8", "host.example"]);
    let results = settings.results;
    assert!(!results.clip);
    assert_eq!(
        (results.lines.get(), results.bytes, results.tokens.get()),
        (300, ByteSize(20_000), 9_000)
    );
    assert_eq!(results.exempt, ["ledger_get", "fs_read_json"]);
    let models = [
        ("HANDOFF_JUDGE_MODEL", "third"),
        ("HANDOFF_POLISH_MODEL", "second"),
        ("TOOLSERVER_B_MODEL", "first"),
        ("ADJUTANT__B__MODEL", "ours"),
    ];
    for count in 1..=4 {
        let settings = load("", &models[..count], &[]).unwrap().settings;
        assert_eq!(settings.b.model.as_deref(), Some(models[count - 1].1));
    }
    let roots = [("ADJUTANT__FILES__ROOTS", "/srv/a, /srv/b")];
    let settings = load("", &roots, &[]).unwrap().settings;
    assert_eq!(settings.files.roots, [Path::new("/srv/a"), Path::new("/srv/b")]);
    let both = [("TOOLSERVER_OPERATOR_TOKEN", "older"), ("ADJUTANT_OPERATOR_TOKEN", "ours")];
    let settings = load("", &both, &[]).unwrap().settings;
    assert_eq!(settings.auth.operator_token.unwrap().expose_secret(), "ours");
}

#[test]
fn what_was_probably_not_meant_is_warned_of() {
    let odd = [("ADJUTANT_LISTEN", "x"), ("ADJUTANT_URL", "http://x"), ("ADJUTANT_LOG", "info")];
    let warnings = load("", &odd, &[]).unwrap().warnings;
    assert!(matches!(&warnings[..], [one] if one.contains("`ADJUTANT_LISTEN`")), "{warnings:?}");
    let file = "[auth]\noperator_token = \"0123456789abcdef0123456789abcdef\"\n";
    let warnings = load(file, &[], &[]).unwrap().warnings;
    assert!(matches!(&warnings[..], [one] if one.contains("chmod 600")), "{warnings:?}");
    let local = load("[server]\nlisten = \"localhost:81\"\n", &[], &[]).unwrap();
    assert_eq!(local.settings.server.listen.to_string(), "127.0.0.1:81");
}

#[test]
fn every_problem_is_told_with_its_file_key_and_the_nearest_word() {
    let file =
        "[server]\nlisen = \"127.0.0.1:1\"\n[billing]\nenabled = \"yes\"\n[logs]\nfilter = 1\n";
    let all = problems(file, &[("ADJUTANT__SERVER__LISEN", "x")]).join("\n");
    for wanted in [
        "unknown key `server.lisen`: did you mean `listen`?",
        "`billing.enabled` must be true or false",
        "unknown section `[logs]`: did you mean `log`?",
        "`ADJUTANT__SERVER__LISEN` is no setting: did you mean `ADJUTANT__SERVER__LISTEN`?",
        "adjutant.toml`: ",
    ] {
        assert!(all.contains(wanted), "{wanted} is not in\n{all}");
    }
}

#[test]
fn d21_a_wrong_value_names_where_it_came_from_and_what_it_must_be() {
    let told = |file: &str, variables: &[(&str, &str)]| problems(file, variables).join("\n");
    let file = told("[server]\ndrain = \"soon\"\n", &[]);
    assert!(
        file.contains("adjutant.toml`: `server.drain` must be a duration such as \"30s\""),
        "{file}"
    );
    let variable = told("", &[("ADJUTANT__SERVER__LISTEN", "nowhere")]);
    let wanted = "the environment variable `ADJUTANT__SERVER__LISTEN`: `server.listen` must be an address and port";
    assert!(variable.contains(wanted), "{variable}");
    let zero = told("[routing]\nconcurrency = 0\n", &[]);
    assert!(zero.contains("`routing.concurrency` must be a whole number"), "{zero}");
    let word = told("[log]\nformat = \"xml\"\n", &[]);
    assert!(word.contains("`log.format` must be one of auto, text, json"), "{word}");
    let broken = told("[server\n", &[]);
    assert!(broken.contains("adjutant.toml`: TOML parse error at line 1"), "{broken}");
    let net = told("[outbound]\nallow = [\"10.0.0.0/33\"]\n", &[]);
    assert!(net.contains("adjutant.toml`: `outbound.allow"), "{net}");
    assert!(net.contains("`10.0.0.0/33` is neither a network"), "{net}");
    for url in ["file:///etc/s3cret", "u:s3cret@host", "http://s3cret host/"] {
        let wrong = told("", &[("HANDOFF_SPAWN_URL", url)]);
        let wanted = "the environment variable `HANDOFF_SPAWN_URL`: `station.spawn_url` must be a URL such as";
        assert!(wrong.contains(wanted) && !wrong.contains("s3cret"), "{wrong}");
    }
    let secret = told("[station]\nspawn_token = [\"s3cret\"]\n", &[]);
    assert!(!secret.contains("s3cret"), "{secret}");
    let secret = told("[auth]\noperator_token = [\"s3cret\"]\n", &[]);
    assert!(!secret.contains("s3cret"), "{secret}");
}

#[test]
fn a_named_file_must_exist_and_the_usual_one_need_not() {
    let dir = tempfile::tempdir().unwrap();
    let home = ("HOME", dir.path().to_str().unwrap());
    assert!(Settings::load(&Env::of([home]), &Flags::default()).unwrap().file.is_none());
    let missing = ("ADJUTANT_CONFIG", "/nowhere/a.toml");
    let error = Settings::load(&Env::of([home, missing]), &Flags::default()).unwrap_err();
    assert!(
        error.to_string().contains("cannot read the settings file `/nowhere/a.toml`"),
        "{error}"
    );
    let error = Settings::load(&Env::default(), &Flags::default()).unwrap_err();
    assert!(error.to_string().contains("ADJUTANT_DATA_DIR"), "{error}");
}

/// `docs/config.md` is written anew when it is stale, and the test fails once to say so.
#[test]
fn the_reference_is_the_settings() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/config.md");
    let wanted = reference();
    let found = fs::read_to_string(&path).unwrap_or_default();
    if found != wanted {
        fs::write(&path, wanted).unwrap();
        panic!("docs/config.md was stale and is written anew: look at the change and commit it");
    }
}

#[test]
fn every_key_is_explained() {
    for (name, section) in schema::sections() {
        assert!(!section.about.is_empty(), "{name}");
        for (key, known) in &section.keys {
            assert!(!known.about.is_empty(), "{name}.{key}");
        }
    }
}

#[test]
fn the_example_of_deploy_loads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/adjutant.toml");
    let flags = Flags { config: Some(path), settings: Vec::new() };
    Settings::load(&Env::of([("HOME", "/home/someone")]), &flags).unwrap();
}
