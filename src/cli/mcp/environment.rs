//! What a server that the bridge starts gets of the bridge's environment: what it needs, and
//! nothing that a client happened to have.

use std::ffi::OsString;

use crate::config::Env;

const NAMES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "TZ",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

const PREFIXES: &[&str] =
    &["LC_", "XDG_", "ADJUTANT_", "TOOLSERVER_", "HUGPY_", "HANDOFF_", "AC_MCP_"];

/// What is for the bridge alone.
const OURS: &[&str] = &["ADJUTANT_URL", "ADJUTANT_TOKEN"];

/// The variables for the server: the usual ones, and those of these names.
pub(super) fn of(env: &Env, named: &[String]) -> Vec<(String, OsString)> {
    env.all()
        .filter(|(name, _)| {
            let usual =
                NAMES.contains(name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix));
            (usual && !OURS.contains(name)) || named.iter().any(|wanted| wanted == name)
        })
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_gets_what_it_needs_and_nothing_else() {
        let env = Env::of(
            [
                "PATH",
                "HOME",
                "LC_ALL",
                "https_proxy",
                "XDG_DATA_HOME",
                "ADJUTANT_ROSTER",
                "ADJUTANT__LOG__FILTER",
                "HUGPY_BASE",
                "TOOLSERVER_OPERATOR_TOKEN",
                "MY_KEY",
                "PASSED",
                "ANTHROPIC_API_KEY",
                "CLAUDE_CODE_SESSION_ID",
                "LD_PRELOAD",
                "ADJUTANT_TOKEN",
                "ADJUTANT_URL",
                "PATHX",
                "SSH_AUTH_SOCK",
            ]
            .map(|name| (name, "x")),
        );
        let got: Vec<String> = of(&env, &["MY_KEY".into(), "PASSED".into(), "ABSENT".into()])
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        let mut wanted = vec![
            "PATH",
            "HOME",
            "LC_ALL",
            "https_proxy",
            "XDG_DATA_HOME",
            "ADJUTANT_ROSTER",
            "ADJUTANT__LOG__FILTER",
            "HUGPY_BASE",
            "TOOLSERVER_OPERATOR_TOKEN",
            "MY_KEY",
            "PASSED",
        ];
        wanted.sort_unstable();
        assert_eq!(got, wanted);
    }
}
