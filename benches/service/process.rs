//! What a process uses, as the kernel counts it.

use std::{fs, time::Duration};

use anyhow::Context as _;

/// A process by its number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process(pub(crate) u32);

/// How many of the kernel's ticks make a second; the same on every Linux that users see.
const TICKS: u64 = 100;

impl Process {
    /// Resident memory in KiB.
    pub(crate) fn resident(self) -> anyhow::Result<f64> {
        self.status("VmRSS:")
    }

    /// The most resident memory that it ever had, in KiB.
    pub(crate) fn most_resident(self) -> anyhow::Result<f64> {
        self.status("VmHWM:")
    }

    fn status(self, name: &str) -> anyhow::Result<f64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.0))
            .context("the process is gone")?;
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        kib.with_context(|| format!("no `{name}` in the process's status"))
    }

    /// Processor time so far, in user code and in the kernel, exact to 10 ms.
    pub(crate) fn cpu(self) -> anyhow::Result<Duration> {
        let text =
            fs::read_to_string(format!("/proc/{}/stat", self.0)).context("the process is gone")?;
        // The second field is the program's name, which may hold spaces.
        let fields = text.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        let ticks = ticks.sum::<Result<u64, _>>().context("an odd `stat` of the process")?;
        Ok(Duration::from_millis(ticks * 1000 / TICKS))
    }
}
