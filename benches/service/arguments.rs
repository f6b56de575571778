//! The command line of the benchmark.

use clap::{Args, Parser};

/// The figures of the running service, each with its bound
#[derive(Debug, Parser)]
#[command(name = "service")]
pub(crate) struct Arguments {
    /// Which figures, by name [default: all]
    pub(crate) figures: Vec<String>,
    #[command(flatten)]
    pub(crate) effort: Effort,
    /// Say which figures there are
    #[arg(long)]
    pub(crate) list: bool,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Fail when a bound is missed
    #[arg(long)]
    pub(crate) strict: bool,
}

impl Arguments {
    /// Those of this process, without the one that `cargo bench` adds.
    pub(crate) fn of_process() -> Self {
        Self::parse_from(std::env::args().filter(|argument| argument != "--bench"))
    }
}

/// How long it may take.
#[derive(Debug, Clone, Args)]
pub(crate) struct Effort {
    /// The sizes of a release: more rounds, a longer storm, a million mixed requests
    #[arg(long)]
    pub(crate) full: bool,
    /// Mixed requests for the memory figure [default: 60000, with --full 1000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1_000..))]
    requests: Option<u64>,
    /// Readers of the feed of changes at once [default: 1000, with --full 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16_000))]
    readers: Option<u32>,
    /// The program of the earlier server, to be measured beside ours
    #[arg(long, value_name = "PATH")]
    pub(crate) earlier: Option<std::path::PathBuf>,
}

impl Effort {
    /// How many mixed requests the memory figure sends.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.unwrap_or(self.pick(60_000, 1_000_000))
    }

    /// How many read the feed of changes.
    pub(crate) fn readers(&self) -> usize {
        let readers = self.readers.unwrap_or(self.pick(1_000, 10_000));
        usize::try_from(readers).unwrap_or(usize::MAX)
    }

    /// One size or the other.
    pub(crate) fn pick<T>(&self, short: T, full: T) -> T {
        if self.full { full } else { short }
    }
}
