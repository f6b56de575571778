//! The machine that the figures come from.

use std::{fmt, fs, process::Command};

use serde::Serialize;

/// See the module. What cannot be found out is empty.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    cores: usize,
    cpu: String,
    memory_gib: f64,
    kernel: String,
    rustc: String,
    version: &'static str,
    /// Processes that wanted to run in the last minute before the start: others' work, which makes
    /// every figure worse.
    load_before: f64,
}

impl Machine {
    /// Looks at the machine that this runs on.
    pub(crate) fn look() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned())
        };
        let memory = field(&read("/proc/meminfo"), "MemTotal").unwrap_or_default();
        let kib: f64 = memory.trim_end_matches(" kB").parse().unwrap_or_default();
        let rustc = Command::new("rustc").arg("--version").output();
        let rustc = rustc.map(|done| String::from_utf8_lossy(&done.stdout).trim().to_owned());
        Self {
            cores: std::thread::available_parallelism().map_or(0, Into::into),
            cpu: field(&read("/proc/cpuinfo"), "model name").unwrap_or_default(),
            memory_gib: (kib / 1024.0 / 102.4).round() / 10.0,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            rustc: rustc.unwrap_or_default(),
            version: env!("CARGO_PKG_VERSION"),
            load_before: read("/proc/loadavg")
                .split(' ')
                .next()
                .and_then(|load| load.parse().ok())
                .unwrap_or_default(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cores, cpu, memory_gib, kernel, rustc, version, load_before } = self;
        write!(
            f,
            "adjutant {version} on {cores} cores of {cpu}, {memory_gib} GiB, Linux {kernel}, {rustc}; load before the start {load_before}"
        )
    }
}
