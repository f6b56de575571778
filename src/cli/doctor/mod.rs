//! `adjutant doctor`: what is wrong with a set-up, before anybody depends on it.

mod backends;
mod finding;
mod machine;
mod records;
mod server;

use std::time::Duration;

use clap::Args;
use serde_json::json;

use self::finding::{Finding, Verdict};
use super::{
    Context, Run,
    exit::{Error, Exit},
    output::Output,
    progress::Spinner,
    stop,
    table::{self, Table},
};
use crate::{boot::place, clock::Clock, config::Loaded};

/// How long looking at files and the running server may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Check the set-up: settings, roster, data directory, records, every backend, clock, disk
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant doctor
  adjutant doctor --json | jq -r '.checks[] | select(.result == \"wrong\") | .words'

Nothing is changed and no secret is shown; the records are read whole, while the server runs or not, \
and a backend that is silent is waited for a few seconds. \
Warnings alone are no failure; when something is wrong the exit code is 10. With --json: one document \
with `ok` and `checks`, each with `check`, `subject`, `result` (`ok`, `warning`, `wrong`, `skipped`) \
and `words`.")]
pub(super) struct Doctor {}

impl Run for Doctor {
    async fn run(self, cx: Context) -> Result<(), Error> {
        let out = Output::new(&cx.env);
        let look = Spinner::new("looking at the set-up");
        let findings = stop::on_interrupt(look.during(Box::pin(look_at(&cx)))).await?;
        let is_ok = findings.iter().all(|finding| finding.verdict != Verdict::Wrong);
        if cx.globals.json {
            let checks: Vec<_> = findings.iter().map(Finding::document).collect();
            out.json(&json!({ "ok": is_ok, "checks": checks }))?;
        } else {
            out.table(show(&findings))?;
        }
        if is_ok { Ok(()) } else { Err(Error::new(Exit::Unhealthy, "")) }
    }
}

async fn look_at(cx: &Context) -> Result<Vec<Finding>, Error> {
    let loaded = match cx.settings(Vec::new()) {
        Ok(loaded) => loaded,
        Err(error) => {
            let mut findings: Vec<Finding> = error
                .message
                .lines()
                .map(|line| Finding::new("settings", Verdict::Wrong, line))
                .collect();
            findings.push(machine::time(&Clock::system()));
            return Ok(findings);
        }
    };
    let mut findings = vec![settings(&loaded)];
    // A file system may be slow to answer: it is waited for on a thread of its own.
    let files = {
        let (loaded, env) = (loaded.clone(), cx.env.clone());
        tokio::task::spawn_blocking(move || {
            let dir = &loaded.data_dir;
            let (mut findings, roster) = backends::read(&loaded, &env);
            let address = loaded.settings.server.listen.ip();
            findings.extend([
                machine::data_dir(dir),
                machine::disk(dir),
                server::token(&loaded.settings.auth, address, dir),
                machine::time(&Clock::system()),
            ]);
            (findings, roster)
        })
    };
    let Ok(Ok((found, roster))) = tokio::time::timeout(PATIENCE, files).await else {
        let words = format!(
            "the files could not be looked at within {} s: is a disk gone?",
            PATIENCE.as_secs()
        );
        findings.push(Finding::new("files", Verdict::Wrong, words));
        return Ok(findings);
    };
    findings.extend(found);
    findings.push(records::look(&place(&loaded.settings, &loaded.data_dir)).await);
    let billing = loaded.settings.billing.enabled;
    let servers = async {
        let running = server::running(cx, &loaded.data_dir).await;
        [Some(running), server::named(cx).await].into_iter().flatten().collect()
    };
    let (servers, asked) = tokio::join!(
        tokio::time::timeout(PATIENCE, servers),
        backends::ask(&roster, billing, &cx.env)
    );
    findings.extend(servers.unwrap_or_else(|_| {
        let words = format!("no answer within {} s", PATIENCE.as_secs());
        vec![Finding::new("server", Verdict::Wrong, words)]
    }));
    findings.extend(asked?);
    Ok(findings)
}

fn settings(loaded: &Loaded) -> Finding {
    let words = match &loaded.file {
        Some(file) => file.display().to_string(),
        None => "no file: the defaults and the environment".to_owned(),
    };
    Finding::new("settings", Verdict::Ok, words)
}

fn show(findings: &[Finding]) -> Table {
    let mut table = Table::new(&["CHECK", "", "RESULT", ""]);
    for finding in findings {
        table.row([
            table::text(finding.check),
            table::text(&finding.subject),
            table::toned(finding.verdict.tone(), finding.verdict.as_str()),
            table::text(&finding.words),
        ]);
    }
    table
}
