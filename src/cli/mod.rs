//! The commands: one file each, one line each in `COMMANDS`.
//!
//! A command is a struct of its arguments (`Run`); help, completions and the dispatcher are made
//! of the list. What a script reads goes to standard output, all else to standard error.

mod backup;
mod call;
mod client;
mod completions;
mod connect;
mod delegate;
mod delegate_many;
mod demo;
mod doctor;
mod edited;
pub mod exit;
mod files;
mod health;
mod import;
mod mcp;
mod migrate;
mod output;
mod progress;
#[cfg(test)]
mod reference;
mod restore;
mod roster;
mod serve;
mod stop;
mod table;
mod targets;
mod token;
mod tools;
mod words;

use std::{
    io::{self, Write as _},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use clap::{ArgMatches, Args, FromArgMatches as _};
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use self::exit::{Error, Exit};
use crate::config::{Env, Flags, Loaded, Settings};

/// Every command, in the order of the help.
const COMMANDS: &[Command] = &[
    Command::of::<serve::Serve>("serve"),
    Command::of::<self::mcp::Mcp>("mcp"),
    Command::of::<delegate::Delegate>("delegate"),
    Command::of::<delegate_many::DelegateMany>("delegate-many"),
    Command::of::<targets::Targets>("targets"),
    Command::of::<tools::Tools>("tools"),
    Command::of::<call::Call>("call"),
    Command::of::<token::Token>("token"),
    Command::of::<roster::Roster>("roster"),
    Command::of::<client::Client>("client"),
    Command::of::<doctor::Doctor>("doctor"),
    Command::of::<backup::Backup>("backup"),
    Command::of::<restore::Restore>("restore"),
    Command::of::<migrate::Migrate>("migrate"),
    Command::of::<demo::Demo>("demo"),
    Command::of::<completions::Completions>("completions"),
];

/// A command: its arguments, and what it does.
pub(crate) trait Run: Args + Send + 'static {
    /// Does it. What it answers goes to standard output.
    fn run(self, cx: Context) -> impl Future<Output = Result<(), Error>> + Send;
}

/// What every command gets.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The environment.
    pub(crate) env: Env,
    /// What holds for all commands.
    pub(crate) globals: Globals,
}

/// Flags that every command takes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Globals {
    /// The settings file [default: adjutant.toml in the configuration directory]
    #[arg(long, value_name = "FILE", global = true, display_order = 900)]
    pub(crate) config: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true, display_order = 901)]
    pub(crate) json: bool,
}

impl Context {
    /// The settings, with those that the command's own flags set.
    pub(crate) fn settings(&self, flags: Vec<(&'static str, String)>) -> Result<Loaded, Error> {
        let flags = Flags { config: self.globals.config.clone(), settings: flags };
        Ok(Settings::load(&self.env, &flags)?)
    }

    /// Prints to standard output.
    ///
    /// # Errors
    /// When it cannot be written; a reader that left is no failure.
    #[expect(
        clippy::unused_self,
        reason = "said of the context, so that commands have one way to print"
    )]
    pub(crate) fn print(&self, text: &str) -> Result<(), Error> {
        let mut out = io::stdout().lock();
        output::written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
    }
}

type Job = BoxFuture<'static, Result<(), Error>>;

/// One line of the list: a command with its type erased.
struct Command {
    name: &'static str,
    build: fn(clap::Command) -> clap::Command,
    start: fn(&ArgMatches, Context) -> Result<Job, clap::Error>,
}

impl Command {
    const fn of<C: Run>(name: &'static str) -> Self {
        Self {
            name,
            build: C::augment_args,
            start: |matches, cx| {
                let command = C::from_arg_matches(matches)?;
                Ok(Box::pin(command.run(cx)))
            },
        }
    }
}

/// The whole command line, for the help and for completions.
pub(crate) fn command() -> clap::Command {
    let root = Globals::augment_args(clap::Command::new("adjutant"))
        .version(env!("CARGO_PKG_VERSION"))
        .about("Hands sub-tasks to the cheapest fitting backend, over MCP and HTTP")
        .after_help(exit_codes())
        .subcommand_required(true)
        .arg_required_else_help(true);
    COMMANDS.iter().fold(root, |root, command| {
        root.subcommand((command.build)(clap::Command::new(command.name)))
    })
}

fn exit_codes() -> String {
    let lines = Exit::ALL.iter().map(|(exit, meaning)| format!("  {:>3}  {meaning}", exit.code()));
    format!("Exit codes:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            let printed = error.print().and_then(|()| io::stdout().flush());
            if error.use_stderr() {
                return Exit::Usage.into();
            }
            // The help and the version are results too.
            return match output::written(printed) {
                Ok(()) => Exit::Ok.into(),
                Err(error) => {
                    report(&error, false);
                    error.exit.into()
                }
            };
        }
    };
    let globals = Globals::from_arg_matches(&matches).unwrap_or_default();
    let cx = Context { env: Env::of_process(), globals };
    let json = cx.globals.json;
    match dispatch(&matches, cx) {
        Ok(()) => Exit::Ok.into(),
        Err(error) => {
            report(&error, json);
            error.exit.into()
        }
    }
}

fn dispatch(matches: &ArgMatches, cx: Context) -> Result<(), Error> {
    let found = matches.subcommand().and_then(|(name, matches)| {
        COMMANDS.iter().find(|command| command.name == name).map(|command| (command, matches))
    });
    let Some((command, matches)) = found else {
        return Err(Error::usage("no such command: see `adjutant --help`"));
    };
    let job = (command.start)(matches, cx).map_err(|error| Error::usage(error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::failed(format!("no threads to work with: {error}")))?;
    let outcome = runtime.block_on(job);
    // A read of standard input cannot be stopped: the process does not wait for it.
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}

/// Says why a command failed, to standard error.
fn report(error: &Error, json: bool) {
    if error.message.is_empty() {
        return;
    }
    let text = if json {
        let mut body = match &error.document {
            Some(Value::Object(body)) => body.clone(),
            _ => Map::from_iter([("error".to_owned(), Value::from(error.message.as_str()))]),
        };
        body.insert("exit".to_owned(), error.exit.code().into());
        Value::Object(body).to_string()
    } else {
        format!("adjutant: {}", error.message)
    };
    // Nobody reads when it cannot be written.
    let _ = writeln!(io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed_and_every_command_is_explained() {
        command().debug_assert();
        for command in command().get_subcommands() {
            assert!(
                command.is_hide_set() || command.get_about().is_some(),
                "{}",
                command.get_name()
            );
        }
    }
}
