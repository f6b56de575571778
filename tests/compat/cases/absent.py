"""What station clients call and one server alone has: the other says so, and holds no credential."""

from steps import Area

AREA = Area("absent")
CALLS = {
    "claude_oauth_token": {},
    "claude_dirs": {"host": "box"},
    "claude_dir_beat": {"host": "box", "login": "me", "pid": 1},
    "claude_dir_release": {"host": "box", "login": "me", "pid": 1},
    "claude_credentials": {},
    "permit_pending": {},
    "permit_answer": {"request_id": "r", "decision": "deny"},
    "station_list": {},
    "station_get": {"station_id": "none"},
    "pypit_leases": {},
    "pypit_bind_session": {"pkg": "none", "session_id": "s-1"},
}

for tool, arguments in CALLS.items():
    AREA.post(f"{tool}-by-path", "/" + tool.replace("_", "/", 1), arguments)
    AREA.post(f"{tool}-by-name", "/ts/call", {"name": tool, "arguments": arguments})
AREA.post("session-key", "/ledger/list", {}, token=False, headers={"authorization": "Bearer hps_unknown"})
AREA.post(
    "node-key",
    "/ledger/list",
    {},
    token=False,
    headers={"authorization": "Bearer tsa_unknown", "x-session-id": "s-1"},
)
AREA.post("lease", "/comms/send", {"to": "lease:none", "body": {"text": "x"}})
AREA.post(
    "forwarded-by-a-node",
    "/ts/call",
    {"name": "todo_add", "arguments": {"text": "x", "locus": "ab"}},
    headers={"x-hugpy-locus": "ab", "x-session": "s-1", "x-toolserver-store-forward": "1"},
)
