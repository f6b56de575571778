//! What the bridge knows of the session that runs it, for the tools that are about that session.
//!
//! A server sees a token, not the session behind it. The bridge runs where the session runs, so it
//! fills in what a call leaves out; what a call says stands.

use serde_json::{Map, Value};

/// The session that runs the bridge, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// Its id.
    pub session_id: Option<String>,
    /// Where it runs: `user@host[:port]`.
    pub ssh: Option<String>,
    /// Its working directory.
    pub dir: Option<String>,
    /// The login that it runs under.
    pub user: Option<String>,
    /// What its machine is called.
    pub machine: Option<String>,
}

impl Identity {
    /// Fills what a call of a tool leaves out, whether it is called itself or by `ts_call`. Other
    /// messages stay as they are.
    pub(super) fn fill(&self, message: &mut Value) {
        if message.get("method").and_then(Value::as_str) != Some("tools/call") {
            return;
        }
        let Some(params) = message.get_mut("params").and_then(Value::as_object_mut) else { return };
        let Some((name, arguments)) = call(params, ["name"], ["arguments"]) else { return };
        if name != "ts_call" {
            return self.complete(&name, arguments);
        }
        let Value::Object(inner) = arguments else { return };
        let inner = call(inner, ["name", "tool_name"], ["arguments", "tool_arguments"]);
        if let Some((name, arguments)) = inner {
            self.complete(&name, arguments);
        }
    }

    fn complete(&self, tool: &str, arguments: &mut Value) {
        match tool {
            "session_identity" | "session_pull" => {
                // A login and a machine are those of the place: where another is named, not ours.
                let is_here = lacks(arguments, "ssh");
                put(arguments, "session_id", self.session_id.as_ref());
                put(arguments, "dir", self.dir.as_ref());
                if is_here {
                    put(arguments, "ssh", self.ssh.as_ref());
                    put(arguments, "user", self.user.as_ref());
                    put(arguments, "machine", self.machine.as_ref());
                }
            }
            "handoff_request" => put(arguments, "source_session", self.session_id.as_ref()),
            _ => {}
        }
    }
}

/// The tool that is called, and its arguments; they are made where there are none.
fn call<'m, const N: usize>(
    members: &'m mut Map<String, Value>,
    names: [&str; N],
    arguments: [&'static str; N],
) -> Option<(String, &'m mut Value)> {
    let name = names.iter().find_map(|name| members.get(*name)?.as_str())?.to_owned();
    let given =
        arguments.iter().find(|key| members.get(**key).is_some_and(|value| !value.is_null()));
    let key = given.copied().or_else(|| arguments.first().copied())?;
    let arguments = members.entry(key).or_insert(Value::Null);
    Some((name, arguments))
}

/// Whether arguments leave a member out: absent, null or an empty text.
fn lacks(arguments: &Value, key: &str) -> bool {
    arguments.get(key).is_none_or(|value| {
        value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
    })
}

fn put(arguments: &mut Value, key: &str, value: Option<&String>) {
    let Some(value) = value.filter(|_| lacks(arguments, key)) else { return };
    if arguments.is_null() {
        *arguments = Value::Object(Map::new());
    }
    // Anything else than an object is the server's to refuse.
    if let Some(members) = arguments.as_object_mut() {
        members.insert(key.to_owned(), Value::String(value.clone()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known() -> Identity {
        let of = |text: &str| Some(text.to_owned());
        Identity {
            session_id: of("s1"),
            ssh: of("me@h"),
            dir: of("/d"),
            user: of("me"),
            machine: of("box"),
        }
    }

    fn filled(identity: &Identity, params: &Value) -> Value {
        let mut message = json!({"id": 1, "method": "tools/call", "params": params});
        identity.fill(&mut message);
        message["params"].take()
    }

    #[test]
    fn what_a_call_leaves_out_is_filled_and_what_it_says_stands() {
        let whole =
            json!({"session_id": "s1", "ssh": "me@h", "dir": "/d", "user": "me", "machine": "box"});
        for tool in ["session_identity", "session_pull"] {
            for left_out in [json!({}), json!({"ssh": null, "dir": " "}), Value::Null] {
                let params = filled(&known(), &json!({"name": tool, "arguments": left_out}));
                assert_eq!(params["arguments"], whole, "{tool} {left_out}");
            }
            let bare = filled(&known(), &json!({"name": tool}));
            assert_eq!(bare["arguments"], whole);
        }
        let said =
            json!({"name": "session_pull", "arguments": {"session_id": "s2", "ssh": "ann@x"}});
        assert_eq!(
            filled(&known(), &said)["arguments"],
            json!({"session_id": "s2", "ssh": "ann@x", "dir": "/d"}),
            "the login of another place"
        );
        let request = json!({"name": "handoff_request", "arguments": {"text": "go on"}});
        assert_eq!(
            filled(&known(), &request)["arguments"],
            json!({"text": "go on", "source_session": "s1"})
        );
    }

    #[test]
    fn a_call_by_name_is_filled_too_under_either_spelling() {
        for (name, arguments) in
            [("name", "arguments"), ("tool_name", "tool_arguments"), ("tool_name", "arguments")]
        {
            let inner = json!({ name: "handoff_request", arguments: {"text": "go on"} });
            let params = filled(&known(), &json!({"name": "ts_call", "arguments": inner}));
            assert_eq!(
                params["arguments"][arguments],
                json!({"text": "go on", "source_session": "s1"}),
                "{name} {arguments}"
            );
        }
        let bare = json!({"name": "ts_call", "arguments": {"name": "session_identity"}});
        assert_eq!(filled(&known(), &bare)["arguments"]["arguments"]["dir"], "/d");
    }

    #[test]
    fn everything_else_passes_as_it_is() {
        for params in [
            json!({"name": "session_spin", "arguments": {"id": "h1"}}),
            json!({"name": "handoff_pull", "arguments": {"locus": "a"}}),
            json!({"name": "handoff_request", "arguments": [1]}),
            json!({"name": "ts_call", "arguments": "x"}),
            json!({"name": 7}),
            json!([]),
        ] {
            let mut found = filled(&known(), &params);
            if let Some(object) = found.as_object_mut() {
                object.retain(|key, value| key != "arguments" || !value.is_null());
            }
            assert_eq!(found, params);
        }
        let unknown =
            filled(&Identity::default(), &json!({"name": "session_pull", "arguments": {}}));
        assert_eq!(unknown["arguments"], json!({}));
        let mut notification =
            json!({"method": "notifications/x", "params": {"name": "session_pull"}});
        let before = notification.clone();
        known().fill(&mut notification);
        assert_eq!(notification, before);
    }
}
