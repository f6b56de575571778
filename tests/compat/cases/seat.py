"""Seats: what is reported, leases of heartbeats and ghosts."""

from steps import Area

AREA = Area("seat")
REPORT, STATE, BEAT, GHOSTS = "/seat/report", "/seat/state", "/seat/heartbeat", "/seat/ghosts"
FULL = {
    "alive": True,
    "pid": 4242,
    "age_s": 10,
    "model": "m-1",
    "session_id": "s-1",
    "auth_ok": True,
    "host": "box",
    "login": "me",
    "status": {"line": "busy", "n": 1},
    "started": 1_700_000_000,
}

AREA.post("state-none", STATE, {"locus": "st-none"})
AREA.post("report", REPORT, {"locus": "st", "seat": "claude-code", **FULL})
AREA.post("report-least", REPORT, {"locus": "st", "seat": "codex"})
AREA.post("report-again", REPORT, {"locus": "st", "seat": "claude-code", "alive": True, "model": "m-2"})
AREA.post("report-not-alive", REPORT, {"locus": "st", "seat": "shell", "alive": False})
for seat in ("mct", "local", "keeper"):
    AREA.post(f"report-{seat}", REPORT, {"locus": "st-2", "seat": seat, "pid": "77"})
AREA.post("report-seat-unknown", REPORT, {"locus": "st", "seat": "sofa"})
AREA.post("report-without-seat", REPORT, {"locus": "st"})
AREA.post("report-without-locus", REPORT, {"seat": "codex"})
AREA.post("report-bad-locus", REPORT, {"locus": "s t", "seat": "codex"})
AREA.post("report-status-text", REPORT, {"locus": "odd", "seat": "codex", "status": "words"})
AREA.post("report-status-large", REPORT, {"locus": "odd", "seat": "codex", "status": {"a": "x" * 200_001}})
AREA.post("report-bad-pid", REPORT, {"locus": "odd", "seat": "codex", "pid": "many"})
AREA.post("state", STATE, {"locus": "st"})
AREA.post("state-seat", STATE, {"locus": "st", "seat": "codex"})
AREA.post("state-seat-unknown", STATE, {"locus": "st", "seat": "sofa"})
AREA.post(
    "state-all", STATE, {}, only=lambda body: [row for row in body["result"] if row["locus"].startswith("st")]
)
AREA.post("heartbeat", BEAT, {"locus": "st", "seat": "codex", "lease_id": "l-1", "ttl_s": 60, "pid": 5})
AREA.post("heartbeat-default", BEAT, {"locus": "st", "seat": "codex", "lease_id": "l-1"})
AREA.post("heartbeat-other-lease", BEAT, {"locus": "st", "seat": "codex", "lease_id": "l-2"})
AREA.post("heartbeat-short", BEAT, {"locus": "st", "seat": "codex", "ttl_s": 1})
AREA.post("heartbeat-long", BEAT, {"locus": "st", "seat": "codex", "ttl_s": 1_000_000})
AREA.post("heartbeat-first", BEAT, {"locus": "st-beat", "seat": "keeper"})
AREA.post("heartbeat-seat-unknown", BEAT, {"locus": "st", "seat": "sofa"})
AREA.post("heartbeat-without-locus", BEAT, {"seat": "codex"})
AREA.post("state-after-heartbeat", STATE, {"locus": "st", "seat": "codex"})
AREA.post("ghosts", GHOSTS, {"locus": "st"})
AREA.post("ghosts-all", GHOSTS, {}, only=lambda body: type(body["result"]).__name__)
AREA.post("ghosts-none", GHOSTS, {"locus": "st-none"})
