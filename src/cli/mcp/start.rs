//! Starting a server that outlives the bridge. Of several bridges at once, one starts it and the
//! others find it. Where another server still holds the data directory, its end is waited for.

use std::{
    ffi::OsString,
    fs::{self, File, TryLockError},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use mcp::{Code, Fault, bridge::Endpoint};
use roster::{KeyRef, Roster};
use tokio::time::{Instant, sleep};

use super::{
    environment,
    find::{Place, look},
};
use crate::{
    boot,
    cli::exit::Exit,
    config::{Env, Loaded, RosterFile},
    files,
};

/// How long a server may take until it answers, waiting for another bridge's start or for the end
/// of a server that stops included: longer than one that stops lets its calls run.
const READY: Duration = Duration::from_secs(45);

/// How long another server may hold the data directory before it is said that this is waited for,
/// and how often it is tried again. The kernel's lock cannot be asked without taking it, which could
/// get in the way of a server that starts at that moment.
const AGAIN: Duration = Duration::from_secs(1);

/// How often it is looked whether it answers.
const LOOK: Duration = Duration::from_millis(20);

/// When a server that was started by the bridge leaves, unless the settings say otherwise.
const IDLE_EXIT: &str = "15m";

/// A log larger than this is put aside at the next start.
const LOG: u64 = 8 << 20;

/// How much of the log's end is shown when the server did not start.
const TAIL: u64 = 2_000;

/// Another server holds the data directory.
#[derive(Debug)]
struct Held {
    /// When that was last seen.
    tried: Instant,
    /// Whether the person knows.
    is_told: bool,
}

impl Default for Held {
    fn default() -> Self {
        Self { tried: Instant::now(), is_told: false }
    }
}

/// How a server is started.
#[derive(Debug)]
pub(super) struct Start {
    data_dir: PathBuf,
    home: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(String, OsString)>,
    tell: fn(&str),
}

impl Start {
    /// With the settings that the bridge itself has. `tell` is told what takes long.
    pub(super) fn new(env: &Env, config: Option<&Path>, loaded: &Loaded, tell: fn(&str)) -> Self {
        let data_dir =
            std::path::absolute(&loaded.data_dir).unwrap_or_else(|_| loaded.data_dir.clone());
        let mut arguments: Vec<OsString> =
            ["serve", "--detached", "--listen", "127.0.0.1:0"].map(Into::into).into();
        let mut path = |flag: &str, path: &Path| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            arguments.extend([flag.into(), path.into_os_string()]);
        };
        path("--data-dir", &data_dir);
        if let RosterFile::Named(roster) = &loaded.roster {
            path("--roster", roster);
        }
        if let Some(config) = config.map(ToOwned::to_owned).or_else(|| env.path("ADJUTANT_CONFIG"))
        {
            path("--config", &config);
        }
        if loaded.settings.server.idle_exit.is_none() {
            arguments.extend(["--idle-exit".into(), IDLE_EXIT.into()]);
        }
        let mut names = keys(loaded.roster.path());
        names.extend(loaded.settings.mcp.pass_env.iter().cloned());
        let environment = environment::of(env, &names);
        let home = env.path("HOME").filter(|home| home.is_dir()).unwrap_or_else(|| "/".into());
        Self { data_dir, home, arguments, environment, tell }
    }

    /// A server there: the one that another bridge starts at this moment, or a new one.
    ///
    /// # Errors
    /// When it does not answer in time or ends by itself, with the end of its log; and as
    /// [`look`].
    pub(super) async fn server(&self, place: &Place) -> Result<Endpoint, Fault> {
        let deadline = Instant::now() + READY;
        let failed = |error: io::Error| {
            let words = format!(
                "no server runs, and none can be started in `{}`: {error}",
                self.data_dir.display()
            );
            Fault::new(Code::Unavailable, words)
        };
        files::own_dir(&self.data_dir).map_err(io::Error::other).map_err(failed)?;
        let options = &mut File::options();
        options.write(true).create(true).truncate(false);
        let lock = files::own(options, &self.data_dir.join("start.lock")).map_err(failed)?;
        let mut started: Option<(Child, u64)> = None;
        let mut held: Option<Held> = None;
        let mut locked = false;
        loop {
            if let Some(endpoint) = look(place).await? {
                if let Some((mut child, _)) = started {
                    // Nobody else can collect it, should it end before the bridge.
                    std::thread::spawn(move || child.wait());
                }
                return Ok(endpoint);
            }
            if !locked {
                locked = match lock.try_lock() {
                    Ok(()) => true,
                    Err(TryLockError::WouldBlock) => false,
                    Err(TryLockError::Error(error)) => return Err(failed(error)),
                };
                // Looked once more under the lock before anything is started.
                if locked {
                    continue;
                }
            } else if let Some((child, logged)) = &mut started {
                if let Some(status) = child.try_wait().map_err(failed)? {
                    if status.code() == Some(Exit::SecondInstance.code().into()) {
                        started = None;
                        held.get_or_insert_default().tried = Instant::now();
                        continue;
                    }
                    let log = self.tail(*logged);
                    let words = format!("the server was started and ended at once ({status}){log}");
                    return Err(Fault::new(Code::Unavailable, words));
                }
            } else if held.as_ref().is_none_or(|held| held.tried.elapsed() >= AGAIN) {
                if let Some(held) = held.as_mut().filter(|held| !held.is_told) {
                    held.is_told = true;
                    (self.tell)(&format!("{}: waiting for its end", self.holder()));
                }
                started = Some(self.spawn().map_err(failed)?);
            }
            if Instant::now() >= deadline {
                if held.is_some() {
                    let words = format!("{}: it is stopping, try again", self.holder());
                    return Err(Fault::new(Code::Unavailable, words));
                }
                let log = started.map(|(_, logged)| self.tail(logged)).unwrap_or_default();
                let words = format!("the server did not answer within {} s{log}", READY.as_secs());
                return Err(Fault::new(Code::Unavailable, words));
            }
            sleep(LOOK).await;
        }
    }

    /// The server that holds the data directory and takes no work, in words.
    fn holder(&self) -> String {
        // Its lock names its process.
        let pid = files::read_text(&self.data_dir.join("lock"), 32).ok();
        let pid = pid.and_then(|text| text.trim().parse::<u32>().ok());
        let process = pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
        format!(
            "another server{process} still has the data directory `{}` and takes no work",
            self.data_dir.display()
        )
    }

    /// Starts it: nothing of the bridge's own input and output, and of its environment only what
    /// is meant for it. It leaves the session by itself. Gives also how long its log was before.
    fn spawn(&self) -> io::Result<(Child, u64)> {
        let log = self.data_dir.join("server.log");
        if fs::symlink_metadata(&log).is_ok_and(|about| about.is_file() && about.len() > LOG) {
            fs::rename(&log, log.with_extension("log.1"))?;
        }
        let log = files::own(File::options().append(true).create(true), &log)?;
        let logged = log.metadata()?.len();
        tracing::info!(data_dir = %self.data_dir.display(), "no server runs: starting one");
        let child = Command::new(std::env::current_exe()?)
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        Ok((child, logged))
    }

    /// The end of what was logged from `logged` on, for a message.
    fn tail(&self, logged: u64) -> String {
        let path = self.data_dir.join("server.log");
        let read = || -> io::Result<String> {
            let mut log = files::own(File::options().read(true), &path)?;
            let from = log.metadata()?.len().saturating_sub(TAIL).max(logged);
            log.seek(SeekFrom::Start(from))?;
            let mut bytes = Vec::new();
            log.take(TAIL).read_to_end(&mut bytes)?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            // The first line may be the end of one.
            Ok(if from > logged {
                text.split_once('\n').map_or(text.clone(), |(_, rest)| rest.to_owned())
            } else {
                text
            })
        };
        match read() {
            Ok(text) if !text.trim().is_empty() => {
                format!("; the end of `{}`:\n{}", path.display(), text.trim_end())
            }
            _ => String::new(),
        }
    }
}

/// The variables that the keys of a roster name. A roster with errors has none: the server will
/// say what is wrong with it.
fn keys(path: Option<&Path>) -> Vec<String> {
    let roster = path
        .and_then(|path| boot::roster::read(path).ok())
        .and_then(|bytes| Roster::from_bytes(&bytes).ok());
    let Some(roster) = roster else { return Vec::new() };
    let keys = roster.backends().iter().filter_map(|backend| match &backend.key {
        Some(KeyRef::Env(name)) => Some(name.clone()),
        _ => None,
    });
    keys.collect()
}
