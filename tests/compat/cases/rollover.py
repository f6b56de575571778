"""Rollovers of seats, and the sessions that hand over."""

from steps import Area

AREA = Area("rollover")
ROLL, ALL = "/seat/rollover", "/seat/rollover_all"
REGISTER, LEAVE, LEFT, RESUME = (
    f"/seat/session_{verb}" for verb in ("register", "handoff", "handoff_get", "resume")
)
DOC = "## Goal\nship it\n## In-flight step\n- the tests are running"
LEDGER = "\n".join(
    f"## {heading}\n- x\n"
    for heading in (
        "Goal",
        "Constraints/rulings",
        "Decisions",
        "World state",
        "In-flight step",
        "Open questions",
        "Pointers",
    )
)
FULL = {"context_tokens": 260_000, "idle_s": 120}


def roll(name: str, locus: str, action: str, **more: object) -> None:
    """One word about the rollover of a seat."""
    AREA.post(name, ROLL, {"locus": locus, "action": action, **more})


def of_ours(body: dict) -> dict:
    """The seats of this area: others have theirs."""
    return {
        kind: [row for row in body["result"][kind] if row["locus"].startswith("ra")]
        for kind in ("requested", "skipped")
    }


roll("status-none", "ro", "status")
AREA.post("observe-nothing", ROLL, {"locus": "ro"})
roll("observe-small", "ro", "observe", session_id="a", context_tokens=1000, idle_s=500)
roll("observe-busy", "ro", "observe", session_id="a", context_tokens=260_000, idle_s=5)
roll("observe", "ro", "observe", session_id="a", **FULL)
roll("observe-again", "ro", "observe", session_id="a", context_tokens=270_000, idle_s=300)
roll("handoff-missing", "ro", "handoff", session_id="a")
roll("handoff-odd", "ro", "handoff", session_id="a", handoff_id="words")
roll("handoff-other-session", "ro", "handoff", session_id="b")
roll("restarting-early", "ro", "restarting", session_id="a")
roll("resuming-early", "ro", "resuming", session_id="a")
roll("resumed-early", "ro", "resumed", session_id="a", successor="b")
roll("complete-early", "ro", "complete", session_id="a")
roll("cancel-without-session", "ro", "cancel")
AREA.post("leave-thin", LEAVE, {"session_id": "a", "doc": "short"})
AREA.post("leave-blank", LEAVE, {"session_id": "a", "doc": " " * 99})
AREA.post("leave-without-doc", LEAVE, {"session_id": "a"})
AREA.post("leave-without-session", LEAVE, {"doc": DOC})
AREA.post("leave", LEAVE, {"session_id": "a", "doc": DOC})
AREA.post("left", LEFT, {"session_id": "a"})
roll("handoff", "ro", "handoff", session_id="a")
roll("handoff-again", "ro", "handoff", session_id="a")
roll("restarting-clear", "ro", "restarting", session_id="a")
roll("resuming", "ro", "resuming", session_id="a")
roll("resuming-again", "ro", "resuming", session_id="a")
roll("resumed-without-successor", "ro", "resumed", session_id="a")
roll("resumed", "ro", "resumed", session_id="a", successor="b")
roll("resumed-by-another", "ro", "resumed", session_id="a", successor="c")
roll("complete-done", "ro", "complete", session_id="a")
roll("observe-done", "ro", "observe", session_id="a", **FULL)
roll("observe-next", "ro", "observe", session_id="d", **FULL)
roll("status", "ro", "status")
roll("request-without-session", "rq", "request")
roll("request-mode-unknown", "rq", "request", mode="sleep")
AREA.post("report", "/seat/report", {"locus": "rq", "seat": "claude-code", "session_id": "q"})
roll("request", "rq", "request", context_tokens=77)
roll("request-again", "rq", "request", mode="restart")
roll("cancel", "rq", "cancel", session_id="q")
roll("cancel-again", "rq", "cancel", session_id="q")
roll("handoff-cancelled", "rq", "handoff", session_id="q")
roll("request-restart", "rq", "request", session_id="q", mode="restart")
AREA.post("leave-restart", LEAVE, {"session_id": "q", "doc": DOC})
roll("handoff-restart", "rq", "handoff", session_id="q")
roll("restarting", "rq", "restarting", session_id="q", tmux="x:1")
roll("complete", "rq", "complete", session_id="q")
roll("cancel-done", "rq", "cancel", session_id="q")
roll("configure", "rc", "configure", threshold=1000, idle_gate_s=1)
roll("configure-small", "rc", "configure", threshold=999)
roll("configure-nothing", "rc", "configure")
roll("configure-negative", "rc", "configure", idle_gate_s=-1)
roll("observe-configured", "rc", "observe", session_id="z", context_tokens=1000, idle_s=9)
roll("action-unknown", "ro", "dance")
roll("seat-unknown", "ro", "status", seat="shell")
roll("seat-codex", "ro", "status", seat="codex")
roll("dotted", "r.o", "status")
AREA.post("without-locus", ROLL, {"action": "status"})
roll("observe-word", "ro", "observe", context_tokens="many")
roll("observe-negative", "ro", "observe", context_tokens=-4)
roll("request-stale", "rs", "request", session_id="old")
AREA.post("leave-early", LEAVE, {"session_id": "early", "doc": DOC})
AREA.post("request-late", ROLL, {"locus": "re", "action": "request", "session_id": "early"}, pause=1.1)
roll("handoff-too-old", "re", "handoff", session_id="early")
roll("ledger-request", "rl", "request", session_id="l")
AREA.post("ledger-put", "/ledger/put", {"locus": "rl", "task": "t", "doc": LEDGER, "session_id": "l"})
roll("ledger-handoff", "rl", "handoff", session_id="l", handoff_id="rl/t")
AREA.post("register-least", REGISTER, {"session_id": "s1"})
AREA.post(
    "register",
    REGISTER,
    {
        "session_id": "s2",
        "locus": "ro",
        "login": "me",
        "host": "box",
        "pid": 5,
        "model": "m",
        "config_dir": "/c",
        "tmux": "x:0",
        "predecessor": "s1",
    },
)
AREA.post("register-again", REGISTER, {"session_id": "s2"})
AREA.post("register-nulls", REGISTER, {"session_id": "s1", "pid": None, "model": None})
AREA.post("register-empty", REGISTER, {"session_id": ""})
AREA.post("register-without-session", REGISTER, {})
AREA.post("register-bad-locus", REGISTER, {"session_id": "odd", "locus": "N L"})
AREA.post("register-bad-pid", REGISTER, {"session_id": "odd", "pid": "many"})
AREA.post("register-long", REGISTER, {"session_id": "x" * 300})
AREA.post("left-nothing", LEFT, {"session_id": "s1"})
AREA.post("left-unknown", LEFT, {"session_id": "none"})
AREA.post("left-without-session", LEFT, {})
AREA.post("resume-left-nothing", RESUME, {"session_id": "s2"})
AREA.post("leave-predecessor", LEAVE, {"session_id": "s1", "doc": DOC})
AREA.post("resume-read", RESUME, {"session_id": "s2", "declare": False})
AREA.post("resume", RESUME, {"session_id": "s2"})
AREA.post("left-resumed", LEFT, {"session_id": "s1"})
AREA.post("resume-named", RESUME, {"session_id": "s3", "from_session": "s1"})
AREA.post("resume-own", RESUME, {"session_id": "s1", "from_session": "s1"})
AREA.post("resume-unknown", RESUME, {"session_id": "s3", "from_session": "none"})
AREA.post("resume-nobody", RESUME, {"session_id": "stranger"})
AREA.post("resume-without-session", RESUME, {})
roll("closing-request", "rx", "request", session_id="s1")
AREA.post("closing-leave", LEAVE, {"session_id": "s1", "doc": DOC})
roll("closing-handoff", "rx", "handoff", session_id="s1")
AREA.post("closing-resume", RESUME, {"session_id": "s2"})
roll("closing-status", "rx", "status")
AREA.get("left-by-path", "/handoff/s1")
AREA.post("all-report", "/seat/report", {"locus": "ra", "seat": "codex", "session_id": "g"})
AREA.post("all-report-ended", "/seat/report", {"locus": "ra-2", "seat": "codex", "alive": False})
AREA.post("all", ALL, {"seat": "codex"}, only=of_ours)
AREA.post("all-again", ALL, {"seat": "codex", "mode": "clear"}, only=of_ours)
AREA.post("all-seat-unknown", ALL, {"seat": "shell"})
