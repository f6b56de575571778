"""Exchanges rolled up, and judgements of a focus."""

from steps import Area, count

AREA = Area("assess")
ROLL, STATE, HISTORY = "/assess/roll", "/assess/state", "/assess/state_history"
FOCUS, RUN, PENDING, SUBMIT = "/assess/focus", "/assess/run", "/assess/pending", "/assess/submit"
BEGUN = 1_790_000_000
TURNS = [
    (
        "Fix the flaky login test in /srv/app. Then ship it.",
        "Next: run the whole suite\n[tools] Read(file_path=/srv/app/login.py); Edit(file_path=/srv/app/login.py); "
        "Bash(command=pytest -q)\n[results]\n1\tdef login():\n---\nupdated\n---\n2 failed, 3 passed",
    ),
    (
        "please continue",
        "\n[tools] Edit(file_path=/srv/app/login.py); Bash(command=pytest -q); "
        'Bash(command=git commit -m "fix login race")\n[results]\nupdated\n---\n5 passed in 1s\n---\n[main 1] fix',
    ),
    (
        "Deploy to staging and check https://staging.example.com/health",
        "Should I restart app.service?\n[tools] Bash(command=ssh stg deploy.sh); Agent(description=audit logs)"
        "\n[results]\nfatal: no route\n---\nagentId: ag-7",
    ),
    ("<task-notification><task-id>ag-7</task-id></task-notification>", ""),
]


def record(name: str, locus: str, turns: list[int]) -> None:
    """Records some of the turns, a second apart."""
    for turn in turns:
        prompt, response = TURNS[turn]
        body = {"locus": locus, "turn": f"t{turn}", "prompt": prompt, "response": response, "ts": BEGUN + turn}
        AREA.prepare(f"{name}-{turn}", "/exchange/record", body)


def ageless(body: dict) -> dict:
    """A state without how old it is."""
    return {"result": {key: value for key, value in body["result"].items() if key != "age_s"}}


def ours(rows: list[dict]) -> list[dict]:
    """The rows of this area's loci."""
    return [row for row in rows if row["locus"].startswith("as-")]


AREA.post("state-none", STATE, {"locus": "as-none"})
AREA.post("history-none", HISTORY, {"locus": "as-none"})
AREA.post("roll-none", ROLL, {"locus": "as-none"})
AREA.post("focus-none", FOCUS, {"locus": "as-none"})
# The earlier server cannot note an assessment while it records; where there is one already, it need not.
AREA.post("run-without-items", RUN, {"locus": "as-1"})
record("turn", "as-1", [0])
AREA.post("roll", ROLL, {"locus": "as-1"})
AREA.post("state", STATE, {"locus": "as-1"}, only=ageless)
AREA.post("roll-nothing-new", ROLL, {"locus": "as-1"})
# Of states of one second the earlier server takes any for the newest.
record("turn", "as-1", [1, 2])
AREA.post("roll-more", ROLL, {"locus": "AS-1"}, pause=1.1)
record("turn", "as-1", [3])
AREA.post("roll-harness", ROLL, {"locus": "as-1", "force": True}, pause=1.1)
AREA.post("state-later", STATE, {"locus": "as-1"}, only=ageless)
AREA.post("roll-force", ROLL, {"locus": "as-1", "force": True}, pause=1.1)
AREA.post("roll-force-text", ROLL, {"locus": "as-1", "force": "true"}, pause=1.1)
AREA.post("roll-since", ROLL, {"locus": "as-1", "since_ts": BEGUN + 1}, pause=1.1)
AREA.post("roll-since-zero", ROLL, {"locus": "as-1", "since_ts": 0}, pause=1.1)
AREA.post("roll-since-text", ROLL, {"locus": "as-1", "since_ts": str(BEGUN + 2)}, pause=1.1)
AREA.post("roll-since-later", ROLL, {"locus": "as-1", "since_ts": BEGUN + 9})
AREA.post("roll-force-empty", ROLL, {"locus": "as-empty", "force": True})
AREA.post("roll-model", ROLL, {"locus": "as-2", "model": "fake", "force": True})
AREA.post("roll-without-locus", ROLL, {"force": True})
AREA.post("roll-bad-locus", ROLL, {"locus": "a b"})
AREA.post("state-without-locus", STATE, {})
AREA.post("state-bad-locus", STATE, {"locus": "-x"})
AREA.post("history", HISTORY, {"locus": "as-1"}, only=lambda body: body["result"]["history"][0])
AREA.post("history-limit", HISTORY, {"locus": "as-1", "limit": 2}, only=lambda body: len(body["result"]["history"]))
AREA.post("history-limit-zero", HISTORY, {"locus": "as-1", "limit": 0}, only=lambda body: len(body["result"]["history"]))
AREA.post("history-without-locus", HISTORY, {})
AREA.get("state-by-query", "/assess/state?locus=as-1", only=ageless)

AREA.post("focus-of-roll", FOCUS, {"locus": "as-1"})
AREA.post("item", "/todo/add", {"locus": "as-3", "text": "paint the cart"}, keep={"item": "result.id"})
AREA.post("item-of-test", "/todo/add", {"locus": "as-3", "text": "test todo, ignore it"})
AREA.post("run", RUN, {"locus": "as-3"})
AREA.post("focus", FOCUS, {"locus": "as-3"})
AREA.post("pending", PENDING, {}, only=lambda body: ours(body["result"]))
AREA.post("pending-limit", PENDING, {"limit": 1}, only=count)
AREA.post("item-done", "/todo/done", {"id": "${item}"})
AREA.post("focus-done", FOCUS, {"locus": "as-3"})
AREA.post("submit", SUBMIT, {"locus": "as-3", "focus_item_id": "${item}", "focus_summary": "the cart", "fulfilled": True})
AREA.post("pending-after", PENDING, {}, only=lambda body: ours(body["result"]))
AREA.post("focus-submitted", FOCUS, {"locus": "as-3"})
AREA.post("submit-open", SUBMIT, {"locus": "as-3", "focus_summary": "the cart", "rationale": "it is red", "by": "t"})
AREA.post("submit-nothing", SUBMIT, {"locus": "as-3"})
AREA.post("submit-unfulfilled", SUBMIT, {"locus": "as-3", "focus_summary": "x", "fulfilled": False})
AREA.post("submit-todos", SUBMIT, {"locus": "as-3", "new_todos": ["sell it", {"text": "wash it", "priority": "low"}]})
AREA.post("submit-todo", SUBMIT, {"locus": "as-3", "new_todos": "sell it"})
AREA.post("submit-unknown-item", SUBMIT, {"locus": "as-3", "focus_item_id": 999_999, "focus_summary": "x"})
AREA.post("submit-long-summary", SUBMIT, {"locus": "as-odd", "focus_summary": "x" * 301})
AREA.post("submit-long-rationale", SUBMIT, {"locus": "as-odd", "rationale": "x" * 1001})
AREA.post("submit-without-locus", SUBMIT, {"focus_summary": "everything"})
AREA.post("focus-without-locus", FOCUS, {})
