//! The reference of the commands, made of their own help.

use std::fmt::Write as _;

use super::{command, exit::Exit};

/// The width of the help in the reference, in columns.
const WIDTH: usize = 100;

/// The text of `docs/cli.md`.
pub(super) fn reference() -> String {
    let mut text = HEAD.to_owned();
    text.push_str("## Exit codes\n\n| code | meaning |\n|---|---|\n");
    for (exit, meaning) in Exit::ALL {
        let _ = writeln!(text, "| {} | {meaning} |", exit.code());
    }
    // The codes have their table: they are left out of the help itself.
    let mut root = command().after_help("").term_width(WIDTH);
    root.build();
    section(&mut root, "adjutant", &mut text);
    text
}

fn section(command: &mut clap::Command, name: &str, text: &mut String) {
    let help = command.render_help().to_string();
    let _ = write!(text, "\n## `{name}`\n\n```text\n{}\n```\n", help.trim_end());
    for inner in command.get_subcommands_mut() {
        if !inner.is_hide_set() && inner.get_name() != "help" {
            let name = format!("{name} {}", inner.get_name());
            section(inner, &name, text);
        }
    }
}

const HEAD: &str = "\
# Commands

<!-- Generated from `src/cli` by its test: edit the comments there. -->

Results go to standard output and nothing else does; progress, notes, warnings and errors go to standard error. Colours and progress are shown on a terminal only, and no colours where `NO_COLOR` is set. With `--json` the results are JSON for programs, and so is an error on standard error: `{\"error\": …, \"code\": …, \"exit\": …}`.

The commands that need a server (`delegate`, `delegate-many`, `targets`, `tools`, `call`, `token`) use the one that `ADJUTANT_URL` names, with the token in `ADJUTANT_TOKEN`; else the one that runs on the data directory; else they start one, which leaves by itself when nothing has been going on for a while. Settings and the other variables are in [config.md](config.md).

Ctrl-C stops a command and the calls that it has in flight.

";

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    /// `docs/cli.md` is written anew when it is stale, and the test fails once to say so.
    #[test]
    fn the_reference_is_the_help() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md");
        let wanted = reference();
        if fs::read_to_string(&path).unwrap_or_default() != wanted {
            fs::write(&path, wanted).unwrap();
            panic!("docs/cli.md was stale and is written anew: look at the change and commit it");
        }
    }

    #[test]
    fn every_command_has_examples_and_every_argument_its_meaning() {
        fn look(command: &clap::Command, name: &str) {
            let inner: Vec<_> = command
                .get_subcommands()
                .filter(|c| !c.is_hide_set() && c.get_name() != "help")
                .collect();
            if inner.is_empty() {
                let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(after.contains("Examples:\n  "), "{name} has no examples");
            }
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{name}: {}", argument.get_id());
            }
            for command in inner {
                look(command, &format!("{name} {}", command.get_name()));
            }
        }
        let mut root = command();
        root.build();
        look(&root, "adjutant");
    }
}
