//! `adjutant completions`: what a shell needs to complete our commands.

use clap::Args;
use clap_complete::Shell;

use super::{Context, Run, command, exit::Error};

/// Print what a shell needs to complete these commands
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant completions bash > ~/.local/share/bash-completion/completions/adjutant
  adjutant completions zsh > ~/.zfunc/_adjutant
  adjutant completions fish > ~/.config/fish/completions/adjutant.fish")]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Run for Completions {
    async fn run(self, cx: Context) -> Result<(), Error> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "adjutant", &mut script);
        cx.print(&String::from_utf8_lossy(&script))
    }
}
