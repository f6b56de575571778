//! What the server logs, caught.

use std::{
    io,
    sync::{Arc, LazyLock, Mutex},
};

use adjutant::{
    config::Log,
    telemetry::{self, Redacting, Secrets},
};
use tracing::{Dispatch, level_filters::LevelFilter};
use tracing_subscriber::{layer::SubscriberExt as _, registry};

/// Log lines of this thread, as the server writes them, until it is dropped. The test must run on
/// one thread (`#[tokio::test]`).
pub(crate) struct Logs {
    lines: Arc<Mutex<Vec<u8>>>,
    _guard: tracing::subscriber::DefaultGuard,
}

impl Logs {
    /// Catches every event from now on, with these secrets hidden.
    pub(crate) fn catch(secrets: &Secrets) -> Self {
        // While there is one subscriber alone, what is first logged by another test's thread, which
        // has none, counts as wanted by nobody.
        static OTHER: LazyLock<Dispatch> =
            LazyLock::new(|| Dispatch::new(registry().with(LevelFilter::OFF)));
        LazyLock::force(&OTHER);
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = lines.clone();
        let writer = Redacting::new(move || Sink(sink.clone()), secrets.clone());
        let settings = Log { filter: "trace".to_owned(), ..Log::default() };
        let subscriber = telemetry::log_to(&settings, writer, true).unwrap();
        Self { lines, _guard: tracing::subscriber::set_default(subscriber) }
    }

    /// What was logged so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.lines.lock().unwrap()).into_owned()
    }
}

struct Sink(Arc<Mutex<Vec<u8>>>);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
