"""Exchanges of sessions, transcripts taken in, and files that are kept."""

import base64
import json
from typing import Any

from steps import Area, count

AREA = Area("exchange")
RECORD, LIST, SESSIONS, SESSION = "/exchange/record", "/exchange/list", "/exchange/sessions", "/exchange/session"
USAGE, INGEST, DEDUP = "/exchange/usage_report", "/exchange/ingest_transcript", "/exchange/dedup"
PUT, GET, FILES = "/exchange/archive", "/exchange/archive_get", "/exchange/archive_list"
UUID = "0b7e2a4c-5d1f-4e6a-9c3b-8f2d7a1e4b60"
NOTICE = "<task-notification><task-id>ag-7</task-id><status>done</status><summary>audit</summary></task-notification>"


def bare(body: dict) -> dict:
    """A recorded exchange without its tripwire, which is looked at by itself."""
    return {"result": {key: value for key, value in body["result"].items() if key != "tripwire"}}


def data(text: str) -> str:
    """A file's bytes as they are sent."""
    return base64.b64encode(text.encode()).decode()


def lines(*rows: Any) -> str:
    """A transcript."""
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def user(uuid: str, second: int, content: Any) -> dict:
    """A row in the user's role."""
    row = {"type": "user", "uuid": uuid, "sessionId": "ex-s9", "message": {"role": "user", "content": content}}
    return row | {"timestamp": f"2026-11-30T10:00:{second:02d}.250Z"}


def assistant(id: str, second: int, content: Any) -> dict:
    """A row of the model."""
    usage = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 2}
    message = {"id": id, "role": "assistant", "model": "m-1", "content": content, "usage": usage}
    row = {"type": "assistant", "uuid": f"a-{id}", "sessionId": "ex-s9", "message": message}
    return row | {"timestamp": f"2026-11-30T10:00:{second:02d}Z"}


TRANSCRIPT = lines(
    user("u-1", 1, "Fix the login in /srv/app."),
    assistant(
        "m1",
        2,
        [
            {"type": "thinking", "thinking": "hmm"},
            {"type": "text", "text": "I look first."},
            {"type": "tool_use", "id": "c1", "name": "Read", "input": {"file_path": "/srv/app/login.py"}},
        ],
    ),
    assistant("m1", 2, [{"type": "tool_use", "id": "c2", "name": "Bash", "input": {"command": "pytest -q"}}]),
    user("u-2", 3, [{"type": "tool_result", "tool_use_id": "c1", "content": "x" * 2000}]),
    user("u-3", 4, NOTICE),
    user("e-1", 5, "<command-name>/model</command-name>"),
    user("u-4", 6, "and the docs"),
)
GROWN = TRANSCRIPT + lines(user("u-5", 8, "one more"), assistant("m2", 9, "done"))

# The earlier server cannot note an assessment while it records (SQLite: the second write waits for the first); where
# there is one already, it need not.
for locus in ("ex", "ex-2", "ex-odd", "ex-in", "ex-keep", "ex-drop", "ex-ev"):
    AREA.prepare(f"assess-{locus}", "/assess/run", {"locus": locus})

FULL = {
    "locus": "ex",
    "turn": "t-1",
    "prompt": "paint the cart",
    "response": "it is red",
    "model": "m-1",
    "pointers": {"cost_est": 1, "run": "r-1"},
    "tokens": 12,
    "duration_s": 1.5,
    "session_id": "ex-s1",
    "source": "serve",
    "input_tokens": 5,
    "output_tokens": 7,
    "cache_read_tokens": 3,
    "cache_creation_tokens": 1,
    "cost_usd": 0.25,
    "cache_ttl_s": 300,
    "cache_expires_at": 4_000_000_000,
    "ts": 1_790_000_000,
}
AREA.post("record", RECORD, FULL, only=bare)
AREA.post("record-same", RECORD, FULL, only=bare)
AREA.post(
    "record-longer", RECORD, {"locus": "ex", "turn": "t-1", "prompt": "paint", "response": "it is red and fast"}, only=bare
)
AREA.post(
    "record-other-locus",
    RECORD,
    {"locus": "ex-2", "turn": "t-1", "session_id": "ex-s1", "prompt": "paint the cart", "response": ""},
    only=bare,
)
AREA.post("list-merged", LIST, {"locus": "ex", "full": True})
AREA.post("record-without-turn", RECORD, {"locus": "ex", "prompt": "no name", "response": "a"}, only=bare)
AREA.post("record-uuid", RECORD, {"locus": "ex", "turn": UUID, "prompt": "q", "response": ""}, only=bare)
AREA.post("record-uuid-again", RECORD, {"locus": "ex", "turn": UUID, "prompt": "q", "response": "a"}, only=bare)
AREA.post("record-response-only", RECORD, {"locus": "ex", "turn": "t-r", "prompt": "", "response": "a"}, only=bare)
AREA.post("record-harness", RECORD, {"locus": "ex", "turn": "t-h", "prompt": NOTICE, "response": ""}, only=bare)
AREA.post(
    "record-origin",
    RECORD,
    {"locus": "ex", "turn": "t-o", "prompt": NOTICE, "response": "", "origin": "operator"},
    only=bare,
)
AREA.post("record-numeric-text", RECORD, {"locus": "ex", "turn": "t-7", "prompt": "007", "response": ""}, only=bare)
AREA.post("record-long", RECORD, {"locus": "ex", "turn": "t-l", "prompt": "x" * 1000, "response": "y"}, only=bare)
AREA.post("record-nul", RECORD, {"locus": "ex", "turn": "t-n", "prompt": "a\0b", "response": ""}, only=bare)
AREA.post("record-number-strings", RECORD, {**FULL, "turn": "t-s", "tokens": "12", "ts": "1790000001"}, only=bare)
AREA.post("record-pointers-text", RECORD, {**FULL, "turn": "t-p", "pointers": '{"a": 1}'}, only=bare)
AREA.post("record-nothing", RECORD, {"locus": "ex", "prompt": "", "response": ""})
AREA.post("record-without-response", RECORD, {"locus": "ex", "prompt": "q"})
AREA.post("record-without-locus", RECORD, {"prompt": "q", "response": "a"})
AREA.post("record-bad-locus", RECORD, {"locus": "e x", "prompt": "q", "response": "a"})
AREA.post("record-origin-unknown", RECORD, {"locus": "ex-odd", "prompt": "q", "response": "a", "origin": "robot"})
AREA.post("record-tokens-word", RECORD, {"locus": "ex-odd", "prompt": "q", "response": "a", "tokens": "many"})
AREA.post("record-long-model", RECORD, {"locus": "ex-odd", "prompt": "q", "response": "a", "model": "m" * 81})
AREA.post("record-huge", RECORD, {"locus": "ex-odd", "prompt": "x" * 200_001, "response": ""})
AREA.post("list", LIST, {"locus": "ex"})
AREA.post("list-limit", LIST, {"locus": "ex", "limit": 2}, only=count)
AREA.post("list-limit-zero", LIST, {"locus": "ex", "limit": 0}, only=count)
AREA.post("list-harness", LIST, {"locus": "ex", "origin": "harness"})
AREA.post("list-operator", LIST, {"locus": "ex", "origin": "operator"}, only=count)
AREA.post("list-origin-unknown", LIST, {"locus": "ex", "origin": "robot"})
AREA.post("list-session", LIST, {"session_id": "ex-s1"})
AREA.post("list-since-later", LIST, {"locus": "ex", "since": 4_000_000_000})
AREA.post("list-none", LIST, {"locus": "ex-none"})
AREA.get("list-get", "/exchange/list?locus=ex&limit=1")
AREA.post("session", SESSION, {"session_id": "ex-s1"})
AREA.post("session-none", SESSION, {"session_id": "ex-none"})
AREA.post("session-empty", SESSION, {"session_id": ""})
AREA.post("session-without", SESSION, {})
AREA.post("sessions", SESSIONS, {"locus": "ex"})
AREA.post("usage", USAGE, {"locus": "ex"})
AREA.post("ingest", INGEST, {"locus": "ex-in", "body": TRANSCRIPT})
AREA.post("ingest-list", LIST, {"locus": "ex-in", "full": True})
AREA.post("ingest-again", INGEST, {"locus": "ex-in", "body": TRANSCRIPT})
AREA.post("ingest-grown", INGEST, {"locus": "ex-in", "body": GROWN})
AREA.post("ingest-since", INGEST, {"locus": "ex-in", "body": GROWN, "since_ts": 1_796_032_806})
AREA.post("ingest-all", INGEST, {"locus": "ex-in", "body": GROWN, "since_ts": 0})
AREA.post("ingest-odd-lines", INGEST, {"locus": "ex-in", "body": f"no json\n{GROWN}[1, 2\n", "since_ts": 4_000_000_000})
AREA.post("ingest-no-source", INGEST, {"locus": "ex-in"})
AREA.post("ingest-path", INGEST, {"locus": "ex-in", "path": "/nonexistent/t.jsonl"})
AREA.post("ingest-bad-locus", INGEST, {"locus": "e x", "body": TRANSCRIPT})
AREA.post("ingest-without-locus", INGEST, {"body": TRANSCRIPT})
for locus in ("ex-keep", "ex-drop"):
    AREA.post(f"record-{locus}", RECORD, {"locus": locus, "turn": "t-d", "prompt": "q", "response": "a"}, only=bare)
AREA.post("dedup-dry", DEDUP, {"keep_locus": "ex-keep", "drop_locus": "ex-drop"})
AREA.post("dedup", DEDUP, {"keep_locus": "ex-keep", "drop_locus": "ex-drop", "dry_run": False})
AREA.post("dedup-again", DEDUP, {"keep_locus": "ex-keep", "drop_locus": "ex-drop", "dry_run": False})
AREA.post("dedup-same", DEDUP, {"keep_locus": "ex", "drop_locus": "ex"})
AREA.post("dedup-without", DEDUP, {"keep_locus": "ex"})
AREA.watch(
    "stream", "/events/stream?locus=ex-ev", 2, RECORD, {"locus": "ex-ev", "turn": "t", "prompt": "q", "response": "a"}
)
# The only exchange of a locus without an assessment: this one takes the earlier server ten seconds.
AREA.post("tripwire", RECORD, {"locus": "ex-tw", "prompt": "please fix it", "response": ""})
FILE = {"locus": "ex", "source": "/home/me/t.jsonl", "data": data("one\ntwo\n"), "version": 7, "session_id": "ex-s1"}
AREA.post("archive", PUT, FILE)
AREA.post("archive-same", PUT, FILE)
AREA.post("archive-older", PUT, {**FILE, "data": data("old"), "version": 3})
AREA.post("archive-newer", PUT, {**FILE, "data": data("one\ntwo\nthree"), "version": 8})
AREA.post("archive-get", GET, {"locus": "ex", "source": "/home/me/t.jsonl"})
AREA.post("archive-empty", PUT, {"locus": "ex", "source": "empty", "data": "", "backend": "mcp"})
AREA.post("archive-bad-data", PUT, {**FILE, "data": "no base64!"})
AREA.post("archive-bad-version", PUT, {**FILE, "version": "new"})
AREA.post("archive-without-source", PUT, {"locus": "ex", "data": ""})
AREA.post("archive-empty-source", PUT, {"locus": "ex", "source": "", "data": ""})
AREA.post("archive-long-source", PUT, {"locus": "ex", "source": "s" * 4097, "data": ""})
AREA.post("archive-get-unknown", GET, {"locus": "ex", "source": "none"})
AREA.post("archive-list", FILES, {"locus": "ex"})
AREA.post("archive-list-backend", FILES, {"locus": "ex", "backend": "mcp"})
AREA.post("archive-list-offset", FILES, {"locus": "ex", "limit": 1, "offset": 1})
AREA.post("archive-list-none", FILES, {"locus": "ex-none"})
AREA.post("archive-list-without", FILES, {})
