"""Sessions that are pulled to a station."""

from steps import Area, count

AREA = Area("session")
PULL, SPIN, LIST, RELEASE = "/session/pull", "/session/spin", "/session/list", "/session/release"
IDENTITY = "/session/identity"


def sid(number: int) -> str:
    """A session id."""
    return f"{number:08d}-3333-4333-8333-333333333333"


def short(body: dict) -> list:
    """The rows without those of the overlong pulls."""
    return [row for row in body["result"] if row["locus"] != "sess-00000004"]


HERE = {"ssh": "me@127.0.0.1:2222", "dir": "/srv/app"}

AREA.post("identity", IDENTITY, {"session_id": sid(1), "user": "me", "machine": "box", **HERE})
AREA.post("identity-empty", IDENTITY, {})
AREA.post("identity-partial", IDENTITY, {"session_id": sid(1)})
AREA.post("identity-bad-session", IDENTITY, {"session_id": "nonsense"})
AREA.post(
    "pull",
    PULL,
    {"session_id": sid(1), "brief": "go on", "machine": "box", **HERE},
    keep={"h": "result.handoff.id"},
)
AREA.post("pull-again", PULL, {"session_id": sid(1), **HERE})
AREA.post(
    "pull-upper-case", PULL, {"session_id": sid(1).replace("3333", "ABCD").upper(), "name": "my-seat", **HERE}
)
AREA.post(
    "pull-name",
    PULL,
    {"session_id": sid(2), "name": "seat-two", "fork": False, "seat": "keeper", "user": "other", **HERE},
)
AREA.post("pull-locus", PULL, {"session_id": sid(3), "locus": "se-locus", "name": "seat-three", **HERE})
AREA.post("pull-without-session", PULL, dict(HERE))
AREA.post("pull-bad-session", PULL, {"session_id": "nonsense", **HERE})
AREA.post("pull-without-ssh", PULL, {"session_id": sid(4), "dir": "/srv/app"})
AREA.post("pull-without-dir", PULL, {"session_id": sid(4), "ssh": "me@127.0.0.1"})
AREA.post("pull-bad-ssh", PULL, {"session_id": sid(4), "ssh": "no address", "dir": "/srv/app"})
AREA.post("pull-bad-name", PULL, {"session_id": sid(4), "name": "My Seat!", **HERE})
AREA.post("pull-seat-unknown", PULL, {"session_id": sid(4), "seat": "sofa", **HERE})
AREA.post("pull-long-brief", PULL, {"session_id": sid(4), "brief": "x" * 4001, **HERE})
AREA.post("pull-long-dir", PULL, {"session_id": sid(4), "ssh": "me@127.0.0.1", "dir": "/" + "d" * 200})
AREA.post(
    "pull-vague",
    PULL,
    {"session_id": sid(5), "name": "vague-seat", **HERE},
    keep={"vague": "result.handoff.id"},
)
AREA.post(
    "pull-refused",
    PULL,
    {"session_id": sid(6), "name": "refused-seat", **HERE},
    keep={"refused": "result.handoff.id"},
)
AREA.post("pull-broken", PULL, {"session_id": sid(7), "name": "broken-seat", **HERE})
AREA.post("pull-silent", PULL, {"session_id": sid(8), "name": "silent-seat", **HERE})
AREA.post("list", LIST, {}, only=short)
AREA.post("list-open", LIST, {"status": "open"})
AREA.post("list-spun", LIST, {"status": "spun", "limit": 1}, only=count)
AREA.post("list-status-unknown", LIST, {"status": "bogus"})
AREA.post("spin-spun", SPIN, {"id": "${h}"})
AREA.post("spin-refused-again", SPIN, {"id": "${refused}"})
AREA.post("spin-vague-again", SPIN, {"id": "${vague}"})
AREA.post("spin-unknown", SPIN, {"id": "h99999"})
AREA.post("spin-bad-id", SPIN, {"id": "nonsense"})
AREA.post("spin-without-id", SPIN, {})
AREA.post(
    "seat-handoff", "/handoff/request", {"locus": "se-seat", "text": "go on"}, keep={"seat": "result.id"}
)
AREA.post("spin-seat-handoff", SPIN, {"id": "${seat}"})
AREA.post("release", RELEASE, {"id": "${h}"})
AREA.post("release-again", RELEASE, {"id": "${h}"})
AREA.post("release-abandoned", RELEASE, {"id": "${refused}", "status": "abandoned"})
AREA.post("release-status-unknown", RELEASE, {"id": "${vague}", "status": "open"})
AREA.post("release-seat-handoff", RELEASE, {"id": "${seat}"})
AREA.post("release-unknown", RELEASE, {"id": "h99999"})
AREA.post("list-after", LIST, {"status": "done"})
AREA.post("handoff-list-pull", "/handoff/list", {"mode": "pull"}, only=short)
AREA.post("handoff-pull-of-pull", "/handoff/pull", {"id": "${vague}", "session_id": sid(9)})
AREA.post("board-item", "/todo/list", {"locus": "se-locus"})
AREA.post("spin-released", SPIN, {"id": "${h}"})
