//! What the environment says of the session that runs the bridge.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use mcp::bridge::Identity;

use crate::config::Env;

/// Where a session's id is said, the first that is set counts: a name of our own, then those that
/// harnesses set for what they start.
const SESSION: &[&str] = &[
    "TOOLSERVER_SESSION_ID",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_SESSION_ID",
];

/// Any address outside this machine, of those kept for documentation: nothing is sent to it.
const OUTSIDE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 9);

/// What the environment and this machine say.
pub(super) fn of(env: &Env) -> Identity {
    let dir = std::env::current_dir().ok().and_then(|dir| dir.into_os_string().into_string().ok());
    let name = rustix::system::uname().nodename().to_str().ok().map(str::to_owned);
    with(env, dir, name.filter(|name| !name.is_empty()), address)
}

fn with(
    env: &Env,
    dir: Option<String>,
    machine: Option<String>,
    address: impl Fn() -> Option<String>,
) -> Identity {
    let get = |name: &str| env.get(name).map(str::to_owned);
    let user = ["TOOLSERVER_SELF_USER", "USER", "LOGNAME"].iter().find_map(|name| get(name));
    let host = || get("TOOLSERVER_SELF_HOST").or_else(&address);
    let ssh = get("TOOLSERVER_SELF_SSH")
        .or_else(|| user.as_ref().zip(host()).map(|(user, host)| format!("{user}@{host}")));
    // The login of the place that is named, where it is named whole.
    let user = get("TOOLSERVER_SELF_SSH")
        .and_then(|ssh| ssh.split_once('@').map(|(user, _)| user.to_owned()))
        .filter(|_| env.get("TOOLSERVER_SELF_USER").is_none())
        .or(user);
    Identity {
        session_id: SESSION.iter().find_map(|name| get(name)),
        ssh,
        dir,
        user,
        machine: get("TOOLSERVER_SELF_MACHINE").or(machine),
    }
}

/// The address that this machine reaches others from, as the routing table has it.
fn address() -> Option<String> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect(OUTSIDE).ok()?;
    Some(socket.local_addr().ok()?.ip().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(variables: &[(&str, &str)]) -> Identity {
        let dir = Some("/srv/app".to_owned());
        let env = Env::of(variables.iter().copied());
        with(&env, dir, Some("box".to_owned()), || Some("192.0.2.7".to_owned()))
    }

    #[test]
    fn the_first_name_of_a_session_counts() {
        for at in 0..SESSION.len() {
            let set: Vec<_> = SESSION[at..].iter().map(|name| (*name, *name)).collect();
            assert_eq!(identity(&set).session_id.as_deref(), Some(SESSION[at]));
        }
        assert_eq!(identity(&[]).session_id, None);
        assert_eq!(identity(&[("TOOLSERVER_SESSION_ID", "")]).session_id, None);
    }

    #[test]
    fn the_place_is_what_is_said_else_what_this_machine_is() {
        let of = |variables: &[(&str, &str)]| {
            let found = identity(variables);
            assert_eq!(found.dir.as_deref(), Some("/srv/app"));
            [found.ssh, found.user, found.machine].map(Option::unwrap_or_default)
        };
        assert_eq!(of(&[("USER", "me")]), ["me@192.0.2.7", "me", "box"]);
        assert_eq!(of(&[]), ["", "", "box"]);
        let said = [
            ("USER", "me"),
            ("TOOLSERVER_SELF_USER", "ann"),
            ("TOOLSERVER_SELF_HOST", "node.example"),
            ("TOOLSERVER_SELF_MACHINE", "desk"),
        ];
        assert_eq!(of(&said), ["ann@node.example", "ann", "desk"]);
        let whole = [("USER", "me"), ("TOOLSERVER_SELF_SSH", "bob@node.example:2222")];
        assert_eq!(of(&whole), ["bob@node.example:2222", "bob", "box"]);
    }
}
