//! What clients of the earlier server call and this one has not: an answer that says so at once.
//!
//! Any failure is "not there" to them, and they go on; an answer that looks like one would be
//! believed, such as an empty list of session directories. These are neither listed nor in
//! `/endpoints`.

use mcp::{Code, Fault};

/// What is absent: the beginning of the names, and what to do instead. The first that fits counts.
const ABSENT: &[(&str, &str)] = &[
    (
        "claude_dir",
        "session directories are kept by their own machine and not here: look for its running sessions there",
    ),
    ("claude_", "no credential is stored or served here: log in on the machine itself"),
    (
        "permit_",
        "permits are asked of the machine that holds the files: there is no hub for them here",
    ),
    ("station_", "stations are loci here: `loci_list` and `loci_pointers` name them"),
    ("pypit_", "leases of packages are not kept here: send to a locus or to `session:<id>`"),
];

/// The answer to a tool that clients of the earlier server call and this one has not; `None` for
/// every other name.
pub fn tool(name: &str) -> Option<Fault> {
    let (_, words) = ABSENT.iter().find(|(prefix, _)| name.starts_with(prefix))?;
    Some(Fault::new(Code::Unavailable, *words))
}

/// The same for the path of such a tool, `/area/verb`.
pub fn path(path: &str) -> Option<Fault> {
    let (area, verb) = path.strip_prefix('/')?.trim_end_matches('/').split_once('/')?;
    let is_one = !verb.is_empty() && !verb.contains('/');
    is_one.then(|| tool(&format!("{area}_{verb}")))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_absent_is_answered_for() {
        for name in ["claude_dirs", "claude_oauth_token", "permit_pending", "station_x", "pypit_x"]
        {
            let fault = tool(name).unwrap();
            assert_eq!(fault.code, Code::Unavailable);
            assert_eq!(
                path(&format!("/{}", name.replacen('_', "/", 1))).unwrap().message,
                fault.message
            );
        }
        assert_ne!(tool("claude_dirs").unwrap().message, tool("claude_models").unwrap().message);
        for name in ["", "claude", "claudette_x", "node_list", "role_x", "cred_x", "ledger_get"] {
            assert!(tool(name).is_none(), "{name}");
        }
        for odd in ["", "/", "/claude", "/claude/", "/claude/a/b", "claude/a", "//a", "/nodes/x"] {
            assert!(path(odd).is_none(), "{odd}");
        }
        assert!(path("/claude/dirs/").is_some());
    }

    /// A tool that comes to be is not answered for here.
    #[test]
    fn no_tool_of_ours_is_absent() {
        for entry in crate::tools::catalogue().entries() {
            assert!(tool(entry.spec.name).is_none(), "{}", entry.spec.name);
        }
    }
}
