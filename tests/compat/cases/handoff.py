"""Handoffs of a seat: asked for, pulled once, claimed and closed."""

from steps import Area, count

AREA = Area("handoff")
REQUEST, PULL, CLAIM, LIST = "/handoff/request", "/handoff/pull", "/handoff/claim", "/handoff/list"
STATION = "/handoff/station"
S1, S2 = "11111111-2222-4222-8222-222222222221", "11111111-2222-4222-8222-222222222222"
MOVE = {"ssh": "me@127.0.0.1:2222", "dir": "/srv/app"}

AREA.post("station-before", STATION, {})
AREA.post("station-locus-none", STATION, {"locus": "ho-none"})
AREA.post("pull-none", PULL, {"locus": "ho-none", "session_id": S1})
AREA.post("request-without-text", REQUEST, {"locus": "ho"})
AREA.post("request-without-locus", REQUEST, {"text": "go on"})
AREA.post("request-bad-locus", REQUEST, {"locus": "h o", "text": "go on"})
AREA.post("request-unknown-ledger", REQUEST, {"locus": "ho", "text": "go on", "task": "nothing"})
AREA.post("request-fork-without-source", REQUEST, {"locus": "ho", "text": "go on", "fork": True})
AREA.post("request-seat-unknown", REQUEST, {"locus": "ho", "text": "go on", "seat": "sofa"})
AREA.post("request-too-long", REQUEST, {"locus": "ho", "text": "x" * 16_001})
AREA.post(
    "ledger",
    "/ledger/put",
    {"locus": "ho", "task": "cart", "doc": "# Ledger: cart\n\n## Goal\n- red\n", "by": "t"},
)
AREA.post(
    "request",
    REQUEST,
    {"locus": "ho", "text": "go on", "by": "t", "source_session": S1},
    keep={"h": "result.id"},
)
AREA.post(
    "request-task", REQUEST, {"locus": "ho-2", "brief": "by the older name"}, keep={"brief": "result.id"}
)
AREA.post("list", LIST, {"locus": "ho"})
AREA.post("list-open", LIST, {"locus": "ho", "status": "open"})
AREA.post("list-pending", LIST, {"locus": "ho", "status": "pending"})
AREA.post("list-status-unknown", LIST, {"locus": "ho", "status": "bogus"})
AREA.post("list-mode", LIST, {"locus": "ho", "mode": "pull"})
AREA.post("list-mode-unknown", LIST, {"locus": "ho", "mode": "bogus"})
AREA.post("list-limit", LIST, {"locus": "ho", "limit": 1}, only=count)
AREA.post("station-locus", STATION, {"locus": "ho"})
AREA.post("pull-read-only", PULL, {"locus": "ho"})
AREA.post("pull-by-id-read-only", PULL, {"id": "${h}", "consume": False})
AREA.post("pull", PULL, {"locus": "ho", "session_id": S2})
AREA.post("pull-again-same-session", PULL, {"locus": "ho", "session_id": S2})
AREA.post("pull-again-other-session", PULL, {"locus": "ho", "session_id": S1})
AREA.post("pull-by-id-other-session", PULL, {"id": "${h}", "session_id": S1})
AREA.post("pull-by-id-same-session", PULL, {"id": "${h}", "session_id": S2})
AREA.post("pull-by-id-no-consume", PULL, {"id": "${h}", "session_id": S1, "consume": False})
AREA.post("pull-unknown", PULL, {"id": "h99999"})
AREA.post("pull-bad-id", PULL, {"id": "nonsense"})
AREA.post("pull-nothing", PULL, {"consume": True})
AREA.post("claim-consumed", CLAIM, {"id": "${h}"})
AREA.post("claim-done", CLAIM, {"id": "${h}", "status": "done", "by": "t"})
AREA.post("claim-done-again", CLAIM, {"id": "${h}", "status": "done"})
AREA.post("claim-done-to-open", CLAIM, {"id": "${h}", "status": "open"})
AREA.post("claim-done-to-claimed", CLAIM, {"id": "${h}", "status": "claimed"})
AREA.post("pull-done", PULL, {"id": "${h}", "session_id": S2})
AREA.post("claim", CLAIM, {"id": "${brief}", "by": "t"})
AREA.post("claim-again", CLAIM, {"id": "${brief}", "by": "u", "station_handle": "tmux:x"})
AREA.post("claim-consumed-without-session", CLAIM, {"id": "${brief}", "status": "consumed"})
AREA.post("claim-spun-without-handle", CLAIM, {"id": "${brief}", "status": "spun"})
AREA.post("claim-spun-after-claimed", CLAIM, {"id": "${brief}", "status": "spun", "station_handle": "tmux:x"})
AREA.post("claim-state-unknown", CLAIM, {"id": "${brief}", "status": "zzz"})
AREA.post("claim-pending", CLAIM, {"id": "${brief}", "status": "pending"})
AREA.post("claim-consumed-with-session", CLAIM, {"id": "${brief}", "status": "consumed", "session_id": S1})
AREA.post("claim-abandoned", CLAIM, {"id": "${brief}", "status": "abandoned"})
AREA.post("claim-abandoned-to-done", CLAIM, {"id": "${brief}", "status": "done"})
AREA.post("claim-unknown", CLAIM, {"id": "h99999"})
AREA.post("claim-bad-id", CLAIM, {"id": "t1"})
AREA.post("claim-number", CLAIM, {"id": 1})
AREA.post("claim-without-id", CLAIM, {"status": "done"})
AREA.post(
    "request-spawn", REQUEST, {"locus": "ho-spawn", "text": "go on", **MOVE}, keep={"spun": "result.id"}
)
AREA.post("list-spawned", LIST, {"locus": "ho-spawn"})
AREA.post("request-spawn-off", REQUEST, {"locus": "ho-off", "text": "go on", "spawn": False, **MOVE})
AREA.post("request-spawn-user", REQUEST, {"locus": "ho-user", "text": "go on", "user": "me"})
AREA.post("request-spawn-vague", REQUEST, {"locus": "ho-vague", "text": "go on", **MOVE})
AREA.post("request-spawn-refused", REQUEST, {"locus": "ho-refused", "text": "go on", **MOVE})
AREA.post("request-spawn-broken", REQUEST, {"locus": "ho-broken", "text": "go on", **MOVE})
AREA.post("request-spawn-silent", REQUEST, {"locus": "ho-silent", "text": "go on", **MOVE})
AREA.post(
    "request-spawn-fork",
    REQUEST,
    {"locus": "ho-fork", "text": "x", "fork": True, "source_session": S1, "seat": "keeper", **MOVE},
)
AREA.post("request-bad-ssh", REQUEST, {"locus": "ho-ssh", "text": "go on", "ssh": "no address"})
AREA.post("claim-spun", CLAIM, {"id": "${spun}", "by": "t"})
AREA.post("pull-spawned", PULL, {"locus": "ho-vague", "session_id": S2})
AREA.post("board-item", "/todo/list", {"locus": "ho"})
AREA.get("by-session-unknown", f"/handoff/{S1}")
AREA.get("by-session-bad", "/handoff/none")
AREA.post("request-older", REQUEST, {"locus": "ho-order", "text": "older"}, pause=1.1)
AREA.post("request-newer", REQUEST, {"locus": "ho-order", "text": "newer"}, pause=1.1)
AREA.post("list-newest-first", LIST, {"locus": "ho-order"}, ordered=True)
AREA.post("pull-newest", PULL, {"locus": "ho-order", "session_id": S1})
AREA.post("pull-next", PULL, {"locus": "ho-order", "session_id": S2})
