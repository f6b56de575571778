//! One run of a program: argv only, no shell of ours, in a process group of its own.
//!
//! Of the time-outs only the call's deadline counts: a program that prints its answer when it is
//! done has no first token and no pauses between tokens. `max_tokens` cannot be passed on. A
//! system message goes before the prompt, with a blank line between them.

use std::{
    io,
    pin::pin,
    process::{ExitStatus, Stdio},
    time::{Duration, Instant},
};

use roster::{Backend, Cli, Parse};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
    time::{sleep_until, timeout},
};

use super::{
    Answer, Failure, Kind, Request, Sent, Upstream, describe,
    fold::Bad,
    group::Group,
    output,
    redact::Redactor,
    request::prompt_bytes,
    timers::{Expired, Timers},
};

/// The most bytes of standard output; of standard error the last so many are kept.
const MAX_OUT: usize = 16 * 1024 * 1024;
const MAX_ERR: usize = 64 * 1024;

/// Between the polite signal and the other one.
const GRACE: Duration = Duration::from_millis(500);

/// After the program has ended, what its pipes still hold is awaited this long: a child of its own
/// may keep them open for ever.
const DRAIN: Duration = Duration::from_millis(250);

/// The longest partial text, in characters.
const MAX_PARTIAL: usize = 2000;

/// Never passed on: with these a delegated program could act as the operator.
const OUR_TOKENS: [&str; 3] =
    ["ADJUTANT_OPERATOR_TOKEN", "ADJUTANT_TOKEN", "TOOLSERVER_OPERATOR_TOKEN"];

const PLACE: &str = "{prompt}";

/// What the program has written so far.
#[derive(Default)]
struct Written {
    out: Vec<u8>,
    err: Vec<u8>,
    first: Option<Duration>,
}

/// How the program ended.
enum End {
    Exited(ExitStatus),
    Deadline,
    TooLarge,
}

/// Runs the program once and reads what it says.
pub(super) async fn call(
    upstream: &Upstream,
    backend: &Backend,
    program: &Cli,
    asked: &Request,
) -> Result<Answer, Failure> {
    // The program finds its key by itself; ours is read only to keep it out of what comes back.
    let key = match &backend.key {
        Some(at) => upstream.keys.read(at).await.ok(),
        None => None,
    };
    let redactor = Redactor::new(key.as_ref(), None);
    let timers = Timers::start(&backend.timeouts, asked.deadline);
    let outcome = run(program, asked, &timers, &redactor).await;
    let answer = outcome.map(|answer| Answer {
        model: if answer.model.is_empty() { backend.model().to_owned() } else { answer.model },
        ..answer
    });
    answer.map(|answer| redactor.answer(answer)).map_err(|failure| redactor.failure(failure))
}

async fn run(
    program: &Cli,
    asked: &Request,
    timers: &Timers,
    redactor: &Redactor,
) -> Result<Answer, Failure> {
    let prompt = match &asked.system {
        Some(system) => format!("{system}\n\n{}", asked.prompt),
        None => asked.prompt.clone(),
    };
    let by_argument = program.cmd.iter().any(|argument| argument.contains(PLACE));
    let name = program.cmd.first().map(String::as_str).unwrap_or_default();
    let mut command = command(program, &prompt, by_argument);
    let mut child = command.spawn().map_err(|error| not_started(name, &error))?;
    let group = Group::of(&child);
    let input = if by_argument { None } else { Some(prompt.as_bytes()) };
    let mut written = Written::default();
    let end = watch(&mut child, &group, input, &mut written, asked.deadline).await;
    drop(group);
    let sent = if written.out.is_empty() { Sent::Maybe } else { Sent::Token };
    let said = |parse| output::read(parse, &written.out);
    let partial = || {
        let text = String::from_utf8_lossy(&written.out);
        let start = redactor.text(text[..text.floor_char_boundary(8 * MAX_PARTIAL)].to_owned());
        Some(describe::clip(&start, MAX_PARTIAL))
            .filter(|text| !text.is_empty() && program.parse == Parse::Plain)
    };
    match end {
        Ok(End::Exited(status)) if status.success() => match said(program.parse) {
            Ok(said) => answer(said, asked, written.first),
            Err(bad) => Err(unreadable(name, bad, redactor)),
        },
        Ok(End::Exited(status)) => {
            let words = match said(program.parse) {
                Err(Bad::Error(words)) => describe::quote(&redactor.text(words), describe::MAX),
                _ => last_words(&written.err, redactor),
            };
            let message =
                format!("`{name}` ended with {status}: {words}; run it by hand to see more");
            let failure = Failure::new(Kind::Program, Sent::Answered, message);
            Err(Failure { partial: partial(), ..failure })
        }
        Ok(End::Deadline) => {
            Err(Failure { partial: partial(), ..timers.failure(Expired::Deadline, sent) })
        }
        Ok(End::TooLarge) => {
            let message = format!("`{name}` wrote more than 16 MiB; ask for less");
            Err(Failure { partial: partial(), ..Failure::new(Kind::TooLarge, sent, message) })
        }
        Err(error) => Err(Failure::new(Kind::Program, sent, format!("`{name}` was lost: {error}"))),
    }
}

fn command(program: &Cli, prompt: &str, by_argument: bool) -> Command {
    let mut arguments = program.cmd.iter();
    let mut command = Command::new(arguments.next().map(String::as_str).unwrap_or_default());
    command
        .args(arguments.map(|argument| argument.replace(PLACE, prompt)))
        .stdin(if by_argument { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    for name in OUR_TOKENS.into_iter().chain(program.scrub_env.iter().map(String::as_str)) {
        command.env_remove(name);
    }
    command
}

/// Feeds and reads the program until it has ended and its pipes are empty, within the deadline.
async fn watch(
    child: &mut Child,
    group: &Group,
    input: Option<&[u8]>,
    written: &mut Written,
    deadline: Option<Instant>,
) -> io::Result<End> {
    let mut pump =
        pin!(pump(child.stdin.take(), input, child.stdout.take(), child.stderr.take(), written));
    let mut pumped = false;
    let mut ended = None;
    let mut limit = deadline;
    while !pumped || ended.is_none() {
        // Without a limit the branch below is off; any time does for it.
        let at = limit.unwrap_or_else(Instant::now);
        tokio::select! {
            // In this order, so that what is in the pipes is read before a wait for it ends.
            biased;
            kept = &mut pump, if !pumped => match kept {
                Ok(()) => pumped = true,
                Err(TooLarge) => return Ok(End::TooLarge),
            },
            status = child.wait(), if ended.is_none() => {
                ended = Some(status?);
                let drained = Instant::now() + DRAIN;
                limit = Some(limit.map_or(drained, |limit| limit.min(drained)));
            }
            () = sleep_until(at.into()), if limit.is_some() => {
                if ended.is_none() {
                    group.terminate();
                    let _ = timeout(GRACE, child.wait()).await;
                    return Ok(End::Deadline);
                }
                break;
            }
        }
    }
    match ended {
        Some(status) => Ok(End::Exited(status)),
        None => child.wait().await.map(End::Exited),
    }
}

struct TooLarge;

/// Writes and reads at the same time, so that neither side can wait for the other for ever.
async fn pump(
    stdin: Option<impl tokio::io::AsyncWrite + Unpin>,
    input: Option<&[u8]>,
    stdout: Option<impl AsyncRead + Unpin>,
    stderr: Option<impl AsyncRead + Unpin>,
    written: &mut Written,
) -> Result<(), TooLarge> {
    let Written { out, err, first } = written;
    let started = Instant::now();
    let write = async {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // A program that does not read its input may still answer.
            let _ = stdin.write_all(input).await;
            let _ = stdin.shutdown().await;
        }
        Ok(())
    };
    let answer = read(stdout, |bytes| {
        first.get_or_insert_with(|| started.elapsed());
        out.extend_from_slice(bytes);
        if out.len() > MAX_OUT { Err(TooLarge) } else { Ok(()) }
    });
    let complaint = read(stderr, |bytes| {
        err.extend_from_slice(bytes);
        if err.len() > 2 * MAX_ERR {
            err.drain(..err.len() - MAX_ERR);
        }
        Ok(())
    });
    tokio::try_join!(write, answer, complaint).map(|_| ())
}

async fn read(
    pipe: Option<impl AsyncRead + Unpin>,
    mut take: impl FnMut(&[u8]) -> Result<(), TooLarge>,
) -> Result<(), TooLarge> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    let mut buffer = vec![0; 16 * 1024];
    // A pipe that cannot be read is one that has ended.
    while let Ok(got @ 1..) = pipe.read(&mut buffer).await {
        take(buffer.get(..got).unwrap_or_default())?;
    }
    Ok(())
}

fn answer(said: output::Said, asked: &Request, first: Option<Duration>) -> Result<Answer, Failure> {
    if said.text.trim().is_empty() {
        let message = "the program ended well and printed nothing; run it by hand to see why";
        return Err(Failure::new(Kind::Empty, Sent::Answered, message));
    }
    let usage = said.usage.or_estimate(prompt_bytes(asked), said.text.len());
    Ok(Answer {
        text: said.text,
        unknown: said.unknown,
        model: said.model.unwrap_or_default(),
        finish_reason: said.finish,
        usage,
        first_token: first,
        ..Answer::default()
    })
}

fn unreadable(name: &str, bad: Bad, redactor: &Redactor) -> Failure {
    match bad {
        Bad::Error(words) => {
            let words = describe::quote(&redactor.text(words), describe::MAX);
            Failure::new(
                Kind::BackendError,
                Sent::Answered,
                format!("`{name}` reports an error: {words}"),
            )
        }
        Bad::Shape(shape) => {
            let message =
                format!("`{name}` printed {shape}, not what `parse` says; check `cmd` and `parse`");
            Failure::new(Kind::Malformed, Sent::Answered, message)
        }
        Bad::TooLarge => {
            Failure::new(Kind::TooLarge, Sent::Token, format!("`{name}` printed too much"))
        }
    }
}

/// The end of what a program complained of: that is where the reason is.
fn last_words(err: &[u8], redactor: &Redactor) -> String {
    let text = redactor.text(String::from_utf8_lossy(err).trim().to_owned());
    if text.is_empty() {
        return "nothing on standard error".to_owned();
    }
    describe::quote_end(&text, describe::MAX)
}

/// The failure of a program that is not there.
pub(super) fn not_found(name: &str) -> Failure {
    let message = format!("`{name}` is not found; install it, or give its full path in `cmd`");
    Failure::new(Kind::Program, Sent::No, message)
}

fn not_started(name: &str, error: &io::Error) -> Failure {
    let refused = |why| {
        let message =
            format!("{why}; take `{PLACE}` out of `cmd`, and the prompt goes by standard input");
        Failure::new(Kind::Refused, Sent::No, message)
    };
    match error.kind() {
        io::ErrorKind::NotFound => not_found(name),
        io::ErrorKind::InvalidInput => {
            refused("the prompt has a NUL character, which no argument can hold")
        }
        io::ErrorKind::ArgumentListTooLong => refused("the prompt is too long for an argument"),
        _ => Failure::new(
            Kind::Program,
            Sent::No,
            format!("`{name}` cannot be started: {error}; check its path and permissions"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_never_gets_our_tokens_nor_what_the_roster_scrubs() {
        let program = Cli {
            cmd: vec!["true".into()],
            parse: Parse::Plain,
            scrub_env: vec!["ANTHROPIC_API_KEY".into()],
            model: None,
        };
        let command = command(&program, "hi", false);
        let removed: Vec<_> = command
            .as_std()
            .get_envs()
            .filter_map(|(name, value)| value.is_none().then(|| name.to_str()).flatten())
            .collect();
        for name in OUR_TOKENS.into_iter().chain(["ANTHROPIC_API_KEY"]) {
            assert!(removed.contains(&name), "{name}");
        }
    }
}
