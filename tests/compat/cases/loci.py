"""Loci and the feed of their pointers."""

from steps import Area

AREA = Area("loci")
REGISTER, ARCHIVE, LIST, POINTERS = "/loci/register", "/loci/archive", "/loci/list", "/loci/pointers"


def mine(body: dict) -> list:
    """The rows of this area: the rest depends on the machine."""
    return [row for row in body["result"] if row["locus"].startswith("lo")]


def feed(body: dict) -> dict:
    """The pointers of this area, and the shape of the feed."""
    result = body["result"]
    hosts = {locus: host for locus, host in result["ssh_hosts"].items() if locus.startswith("lo")}
    sessions = [row for row in result["sessions"] if row["locus"].startswith("lo")]
    counts = {name: type(value).__name__ for name, value in result["count"].items()}
    return {**result, "ssh_hosts": hosts, "sessions": sessions, "count": counts}


AREA.post("register", REGISTER, {"locus": "lo-1", "goal": "the first", "endpoint": "me@127.0.0.1:22"})
AREA.post("register-again", REGISTER, {"locus": "lo-1"})
AREA.post("register-changed", REGISTER, {"locus": "lo-1", "goal": "still the first", "kind": "vm"})
AREA.post(
    "register-pointer",
    REGISTER,
    {"locus": "lo-2", "pointer": {"serve_url": "http://127.0.0.1:9", "a": {"b": 1}}},
)
AREA.post("register-pointer-merge", REGISTER, {"locus": "lo-2", "pointer": {"serve_url": None, "c": 2}})
AREA.post("register-pointer-text", REGISTER, {"locus": "lo-2", "pointer": "words"})
AREA.post("register-pointer-large", REGISTER, {"locus": "lo-2", "pointer": {"a": "x" * 8001}})
for kind in ("vm", "session", "handoff", "ssh"):
    AREA.post(f"register-{kind}", REGISTER, {"locus": f"lo-{kind}", "kind": kind})
AREA.post(
    "register-ssh-pointer",
    REGISTER,
    {
        "locus": "lo-ssh",
        "kind": "ssh",
        "pointer": {"ssh": {"host": "127.0.0.1", "user": "me", "port": 22, "key": ""}},
    },
)
AREA.post(
    "register-session-pointer",
    REGISTER,
    {
        "locus": "lo-session",
        "kind": "session",
        "pointer": {
            "session_id": "s-1",
            "dir": "/srv",
            "login": "me",
            "ssh": {"host": "127.0.0.1", "user": "me", "port": 22},
        },
    },
)
AREA.post("register-kind-unknown", REGISTER, {"locus": "lo-3", "kind": "castle"})
AREA.post("register-underscore", REGISTER, {"locus": "ODD_4"})
AREA.post("register-dotted", REGISTER, {"locus": "lo.5"})
AREA.post("register-bad", REGISTER, {"locus": "-lo"})
AREA.post("register-without-locus", REGISTER, {"goal": "x"})
AREA.post("register-63", REGISTER, {"locus": "lo" + "x" * 61})
AREA.post("register-64", REGISTER, {"locus": "lo" + "x" * 62})
AREA.post("register-long-goal", REGISTER, {"locus": "odd-6", "goal": "g" * 500, "endpoint": "e" * 300})
AREA.post("register-bad-endpoint", REGISTER, {"locus": "lo-7", "endpoint": "no address"})
AREA.post("archive", ARCHIVE, {"locus": "lo-1"})
AREA.post("archive-again", ARCHIVE, {"locus": "lo-1"})
AREA.post("archive-unknown", ARCHIVE, {"locus": "lo-none"})
AREA.post("archive-without-locus", ARCHIVE, {})
AREA.post("register-archived", REGISTER, {"locus": "lo-1", "goal": "again"})
AREA.post("list", LIST, {}, only=mine, ordered=True)
AREA.post("list-archived", LIST, {"status": "archived"}, only=mine)
AREA.post("list-all", LIST, {"status": ""}, only=mine)
AREA.post("list-kind", LIST, {"kind": "vm"}, only=mine)
AREA.post("list-kind-unknown", LIST, {"kind": "castle"})
AREA.post("list-status-unknown", LIST, {"status": "bogus"})
AREA.post("reactivate", REGISTER, {"locus": "lo-1", "reactivate": True})
AREA.post("pointers", POINTERS, {}, only=feed)
AREA.post("pointers-kind", POINTERS, {"kind": "ssh"}, only=feed)
AREA.post("pointers-kind-unknown", POINTERS, {"kind": "castle"}, only=feed)
AREA.post(
    "default-locus", LIST, {}, only=lambda body: [row for row in body["result"] if row["locus"] == "home-box"]
)
AREA.post("nodes", "/loci/nodes", {}, only=mine)
