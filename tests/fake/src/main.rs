//! `fake-backend PORT [--latency-ms N] [--log FILE]`: the fake as a process of its own.

use std::{io::Write, path::PathBuf, process::ExitCode, time::Duration};

use fake::Fake;

const USAGE: &str = "usage: fake-backend PORT [--latency-ms N] [--log FILE]\n\
    PORT 0 takes a free one; the address is printed when it is ready\n";

struct Arguments {
    port: u16,
    latency: Duration,
    log: Option<PathBuf>,
}

fn arguments() -> Option<Arguments> {
    let mut given = std::env::args().skip(1);
    let mut arguments = Arguments { port: 0, latency: Duration::ZERO, log: None };
    let mut port = None;
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--latency-ms" => {
                let millis: f64 = given.next()?.parse().ok()?;
                arguments.latency = Duration::try_from_secs_f64(millis / 1000.0).ok()?;
            }
            "--log" => arguments.log = Some(given.next()?.into()),
            number => port = Some(number.parse().ok()?),
        }
    }
    arguments.port = port?;
    Some(arguments)
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        let _ = std::io::stderr().write_all(USAGE.as_bytes());
        return ExitCode::from(2);
    };
    match Fake::lean(arguments.port, arguments.log.as_deref()) {
        Ok(fake) => {
            fake.set_latency(arguments.latency);
            let mut out = std::io::stdout();
            let _ = writeln!(out, "listening on {}", fake.url());
            let _ = out.flush();
            fake.join();
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "fake-backend cannot start: {error}");
            ExitCode::FAILURE
        }
    }
}
