//! `adjutant client`: the registration with an orchestrator, shown or carried out.

mod apply;
mod command;
mod opencode;
mod place;

use clap::{Args, ValueEnum};
use serde_json::json;

use self::{
    command::quoted,
    place::{Http, Place, Stdio},
};
use super::{Context, Run, exit::Error, output::Output, stop};

/// Show how an orchestrator is told of this server, or tell it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant client claude
  adjutant client claude --apply
  adjutant client codex --http
  adjutant client opencode --http --url https://adjutant.example

By default the orchestrator starts `adjutant mcp`, which joins the running server or starts one, and \
no token is needed. With --http it calls the server itself: the line then holds the token (for Codex \
the name of a variable with it), so do not share it. --apply runs the orchestrator's own command; for \
OpenCode it edits opencode.json and keeps what was there as opencode.json.bak. With --json: one \
document with `client`, `transport`, `command`, and `file` with `entry` for OpenCode.")]
pub(super) struct Client {
    /// The orchestrator
    #[arg(value_enum, value_name = "CLIENT")]
    orchestrator: Name,
    /// Carry it out instead of showing it
    #[arg(long)]
    apply: bool,
    /// Through the bridge over standard input and output (the default)
    #[arg(long, conflicts_with = "http")]
    stdio: bool,
    /// Over HTTP, with the token in the registration
    #[arg(long)]
    http: bool,
    /// The server's URL, whose token is then taken from `ADJUTANT_TOKEN` [default: the running one's]
    #[arg(long, value_name = "URL")]
    url: Option<url::Url>,
    /// The name to register under
    #[arg(long, value_name = "NAME", default_value = "adjutant", value_parser = name)]
    name: String,
}

/// An orchestrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Name {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// OpenCode
    #[value(name = "opencode")]
    OpenCode,
    /// Gemini CLI
    Gemini,
}

impl Name {
    /// The program, and how it is called here.
    fn program(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::OpenCode => "opencode",
            Self::Gemini => "gemini",
        }
    }
}

impl Run for Client {
    async fn run(self, cx: Context) -> Result<(), Error> {
        let out = Output::new(&cx.env);
        let place = if self.http {
            Place::Http(Http::find(&cx, self.url.as_ref()).await?)
        } else {
            Place::Stdio(Stdio::find(&cx, self.url.as_ref())?)
        };
        let argv = command::of(self.orchestrator, &self.name, &place);
        let file = (self.orchestrator == Name::OpenCode).then(|| opencode::file(&cx.env)).flatten();
        let entry = opencode::entry(&place);
        if self.apply {
            let job =
                apply::run(self.orchestrator, &self.name, &place, &argv, file.as_deref(), &out);
            return stop::on_interrupt(job).await;
        }
        if cx.globals.json {
            let (file, entry) = match file {
                Some(file) => (Some(file.display().to_string()), Some(entry)),
                None => (None, None),
            };
            out.json(&json!({
                "client": self.orchestrator.program(),
                "transport": place.transport(),
                "command": argv,
                "file": file,
                "entry": entry,
            }))?;
        } else {
            out.line(quoted(&argv))?;
            if let Some(file) = file {
                let entry = json!({ "mcp": { &self.name: entry } });
                out.note(format_args!("or, in {}:\n{entry:#}", file.display()));
            }
        }
        place.warn(self.orchestrator, &out);
        Ok(())
    }
}

fn name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !text.is_empty() && text.len() <= 64 && text.chars().all(fits) && !text.starts_with('-') {
        Ok(text.to_owned())
    } else {
        Err("a name is made of letters, digits, `-` and `_`, 64 at most".to_owned())
    }
}
