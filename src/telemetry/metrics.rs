//! Metrics, in the text form of Prometheus. Labels are closed sets: tool, code, backend, outcome.

use std::{fmt, sync::OnceLock, time::Duration};

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// Upper bounds of the buckets of every duration, in seconds: from an answer out of memory to a
/// long sub-task.
const SECONDS: &[f64] = &[
    0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0,
];

/// How often what was measured is put together, so that it does not pile up where nobody reads.
pub const UPKEEP: Duration = Duration::from_secs(5);

/// The metrics of this process. Clones share them.
#[derive(Clone)]
pub struct Metrics(PrometheusHandle);

impl Metrics {
    /// The metrics of this process, which are recorded from the first call on.
    pub fn of_process() -> Self {
        static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
        let handle = HANDLE.get_or_init(|| {
            let builder = PrometheusBuilder::new();
            // Only an empty list of buckets is refused.
            let builder = builder.set_buckets(SECONDS).unwrap_or_default();
            let recorder = builder.build_recorder();
            let handle = recorder.handle();
            if metrics::set_global_recorder(recorder).is_err() {
                tracing::warn!("metrics are recorded elsewhere in this process");
            }
            describe();
            handle
        });
        Self(handle.clone())
    }

    /// All of them as Prometheus reads them.
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// Puts together what was measured; to be called every [`UPKEEP`].
    pub fn upkeep(&self) {
        self.0.run_upkeep();
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

/// Counts one call of a tool: `code` is `ok` or the fault's.
pub fn tool_call(tool: &'static str, code: &'static str, took: Duration) {
    metrics::counter!("adjutant_calls_total", "tool" => tool, "code" => code).increment(1);
    metrics::histogram!("adjutant_call_seconds", "tool" => tool).record(took.as_secs_f64());
}

fn describe() {
    metrics::describe_counter!("adjutant_calls_total", "Calls of tools, by outcome.");
    metrics::describe_histogram!("adjutant_call_seconds", "How long calls of tools took.");
    metrics::describe_counter!("adjutant_attempts_total", "Tries on backends, by outcome.");
    metrics::describe_histogram!("adjutant_attempt_seconds", "How long tries on backends took.");
    metrics::describe_histogram!(
        "adjutant_queue_seconds",
        "How long calls waited before they were sent."
    );
    metrics::describe_counter!(
        "adjutant_refused_total",
        "Requests refused before any tool, by code."
    );
}

/// Counts one request that was refused before it reached a tool.
pub fn refused(code: &'static str) {
    metrics::counter!("adjutant_refused_total", "code" => code).increment(1);
}
