//! The help, the version and the completions.

use super::Cli;

const COMMANDS: [&str; 15] = [
    "serve",
    "mcp",
    "delegate",
    "delegate-many",
    "targets",
    "tools",
    "call",
    "token",
    "roster",
    "client",
    "doctor",
    "backup",
    "restore",
    "migrate",
    "demo",
];

#[tokio::test]
async fn every_command_is_in_the_help_and_has_its_own() {
    let help = Cli::new(&["--help"]).end().await;
    assert_eq!((help.code, help.err.as_str()), (Some(0), ""));
    assert!(help.out.contains("Exit codes:") && help.out.contains("130"), "{}", help.out);
    for command in COMMANDS {
        assert!(help.out.contains(&format!("\n  {command} ")), "{command}");
        let own = Cli::new(&[command, "--help"]).end().await;
        assert!(own.code == Some(0) && own.out.contains("Usage: adjutant"), "{own:?}");
        assert!(!own.out.contains('\u{1b}'), "colours without a terminal");
    }
    let version = Cli::new(&["--version"]).end().await;
    assert_eq!(version.out, format!("adjutant {}\n", env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn a_slip_is_told_with_the_nearest_right_word() {
    Cli::new(&[]).end().await.failed(2, "Usage: adjutant");
    Cli::new(&["targts"]).end().await.failed(2, "targets");
    Cli::new(&["targets", "--tsak", "x"]).end().await.failed(2, "--task");
}

#[tokio::test]
async fn results_that_cannot_be_written_are_a_failure() {
    for arguments in [&["--help"][..], &["--version"], &["completions", "bash"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_adjutant"));
        let ended = command.args(arguments).env_clear().stdout(full).output().unwrap();
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {err}");
        assert!(err.contains("cannot write to standard output"), "{err}");
    }
}

#[tokio::test]
async fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = Cli::new(&["completions", shell]).end().await;
        assert_eq!(script.code, Some(0), "{script:?}");
        for command in COMMANDS {
            assert!(script.out.contains(command), "{shell}: {command}");
        }
    }
}
