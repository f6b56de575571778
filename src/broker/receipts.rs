//! The journal of this process: every try becomes one log line and three metrics, and the newest
//! stay in memory for the operator. Nothing of a prompt or an answer is kept.

use routing::journal::{Journal, Receipt, Recent};

/// How many receipts stay in memory.
const KEPT: usize = 1_000;

/// See the module.
#[derive(Debug)]
pub struct Receipts {
    recent: Recent,
}

impl Default for Receipts {
    fn default() -> Self {
        Self { recent: Recent::new(KEPT) }
    }
}

impl Receipts {
    /// The newest receipts, oldest first.
    pub fn recent(&self) -> Vec<Receipt> {
        self.recent.all()
    }
}

impl Journal for Receipts {
    fn record(&self, receipt: Receipt) {
        let attempt = &receipt.attempt;
        let outcome = attempt.failed.map_or("ok", routing::upstream::Kind::as_str);
        let backend = attempt.backend.clone();
        metrics::counter!("adjutant_attempts_total", "backend" => backend.clone(), "outcome" => outcome)
            .increment(1);
        metrics::histogram!("adjutant_attempt_seconds", "backend" => backend.clone())
            .record(seconds(attempt.ms));
        metrics::histogram!("adjutant_queue_seconds", "backend" => backend)
            .record(seconds(attempt.queue_ms));
        // As text, not by `%`: one passes a formatter for each.
        tracing::info!(
            request = receipt.request.as_str(),
            caller = receipt.caller.as_str(),
            revision = receipt.revision.as_str(),
            backend = attempt.backend.as_str(),
            model = attempt.model.as_str(),
            outcome,
            status = attempt.status,
            queue_ms = attempt.queue_ms,
            first_token_ms = attempt.first_token_ms,
            ms = attempt.ms,
            input_tokens = attempt.usage.map(|usage| usage.input_tokens),
            output_tokens = attempt.usage.map(|usage| usage.output_tokens),
            estimated = attempt.usage.map(|usage| usage.estimated),
            cost_usd = receipt.cost_usd,
            may_be_billed = attempt.may_be_billed,
            why = receipt.why.as_str(),
            "attempt on `{}`: {outcome}",
            attempt.backend,
        );
        self.recent.record(receipt);
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of one call are far below 2^52")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}
