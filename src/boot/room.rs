//! Room for connections: the kernel gives a process few open files unless it asks for more.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Files that are open besides connections: the database, listeners, programs' pipes, backends.
const BESIDES: u64 = 512;

/// Asks for as many open files as the process may have, and says when those are too few for so many
/// connections.
pub(super) fn make(connections: usize) {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let connections = u64::try_from(connections).unwrap_or(u64::MAX);
    if files < connections.saturating_add(BESIDES) {
        tracing::info!(
            files,
            connections,
            "fewer files may be open than `limits.connections` allows: raise the limit of the process (`LimitNOFILE=`, `ulimit -Hn`) for so many"
        );
    }
}
