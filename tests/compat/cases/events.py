"""The stream of changes."""

from steps import Area

AREA = Area("events")

AREA.post("status", "/events/status", {})
AREA.watch("stream-todo", "/events/stream?locus=ev", 2, "/todo/add", {"text": "seen", "locus": "ev"})
AREA.watch(
    "stream-message",
    "/events/stream?locus=session:ev-m",
    2,
    "/comms/send",
    {"to": "session:ev-m", "body": {"a": 1}},
)
AREA.watch("stream-locus", "/events/stream?locus=ev-l", 2, "/loci/register", {"locus": "ev-l"})
AREA.watch("stream-seat", "/events/stream?locus=ev-s", 2, "/seat/report", {"locus": "ev-s", "seat": "codex"})
AREA.watch("stream-board", "/events/stream?locus=ev-b", 2, "/board/put", {"locus": "ev-b", "text": "x"})
AREA.watch(
    "stream-two-loci", "/events/stream?locus=ev-none,ev-2", 2, "/todo/add", {"text": "seen", "locus": "ev-2"}
)
AREA.get("stream-unauthorised", "/events/stream?locus=ev", token=False)
