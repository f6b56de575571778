"""The board of to-dos: rows, ids, batches, the format check and moves between loci."""

from steps import Area, count

AREA = Area("todo")
ADD, LIST, UPDATE, DONE, REMOVE = "/todo/add", "/todo/list", "/todo/update", "/todo/done", "/todo/remove"
BATCH, REASSIGN = "/todo/batch", "/todo/reassign_locus"
OPERATOR = """WHY: it is stuck
WHO: root
GATE: the queue is empty
DO:
```bash
systemctl restart cart
```
VERIFY:
```bash
systemctl is-active cart
```
EXPECT: active
"""
BARE = OPERATOR.replace("```bash\n", "").replace("```\n", "").replace("WHY", "**why**")
PROPOSAL = """PROBLEM: two carts
OPTIONS:
A) keep both
B) keep one
REC: B
DECISION: open
SKETCH:
rm cart-2
"""
OP, REC = {"locus": "td-op", "type": "operator"}, {"locus": "td-op", "type": "proposal"}

AREA.post("add", ADD, {"text": "paint it", "locus": "td", "by": "t", "note": "soon"}, keep={"t": "result.id"})
AREA.post(
    "add-priority", ADD, {"text": "wash it", "locus": "td", "priority": "high"}, keep={"high": "result.id"}
)
AREA.post("add-without-locus", ADD, {"text": "paint it"})
AREA.post("add-without-text", ADD, {"locus": "td"})
AREA.post("add-empty-text", ADD, {"text": "", "locus": "td"})
AREA.post("add-blank-text", ADD, {"text": "  ", "locus": "td"})
AREA.post("add-bad-locus", ADD, {"text": "x", "locus": "T D!"})
for kind in ("request", "bookmark", "direction", "finding"):
    AREA.post(
        f"add-{kind}", ADD, {"text": f"a {kind}", "locus": "td", "type": kind}, keep={kind: "result.id"}
    )
AREA.post("add-operator", ADD, {"text": "[OP] restart it", "note": OPERATOR, **OP}, keep={"op": "result.id"})
AREA.post("add-operator-bare", ADD, {"text": "restart it", "note": BARE, **OP})
AREA.post("add-operator-without", ADD, {"text": "restart it", **OP})
AREA.post("add-operator-in-text", ADD, {"text": OPERATOR, **OP})
AREA.post("add-operator-half", ADD, {"text": "x", "note": "WHY:\nWHO: me\nDO:\n```bash\nrm <file>\n", **OP})
AREA.post("add-operator-by-operator", ADD, {"text": "restart", "by": "operator", **OP})
AREA.post("add-proposal", ADD, {"text": "one cart", "note": PROPOSAL, **REC})
AREA.post("add-proposal-without", ADD, {"text": "one cart", **REC})
AREA.post(
    "add-proposal-one-option", ADD, {"text": "one cart", "note": PROPOSAL.replace("B) keep one\n", ""), **REC}
)
AREA.post("add-type-unknown", ADD, {"text": "x", "locus": "td-odd", "type": "chore"})
AREA.post("add-priority-unknown", ADD, {"text": "x", "locus": "td-odd", "priority": "urgent"})
AREA.post("add-ref", ADD, {"text": "by ref", "locus": "td", "ref": "r-1"}, keep={"ref": "result.id"})
AREA.post("add-ref-again", ADD, {"text": "by ref", "locus": "td", "ref": "r-1"})
AREA.post("add-ref-other-text", ADD, {"text": "another", "locus": "td", "ref": "r-1"})
AREA.post("add-ref-other-locus", ADD, {"text": "by ref", "locus": "td-2", "ref": "r-1"})
AREA.post(
    "add-sender",
    ADD,
    {
        "text": "sent",
        "locus": "td",
        "sender_session": "s-1",
        "sender_lease": "l-1",
        "sender_locus": "td-2",
        "source": "x",
    },
)
AREA.post("add-numeric-text", ADD, {"text": "007", "locus": "td"})
AREA.post("add-number", ADD, {"text": 7, "locus": "td-odd"})
AREA.post("add-long-by", ADD, {"text": "x", "locus": "td", "by": "b" * 40})
AREA.post("add-unknown-key", ADD, {"text": "x", "locus": "td", "nonsense": 1})
AREA.post("list", LIST, {"locus": "td"})
AREA.post("list-open", LIST, {"locus": "td", "status": "open"})
AREA.post("list-type", LIST, {"locus": "td", "type": "request"})
AREA.post("list-limit", LIST, {"locus": "td", "limit": 2}, only=count)
AREA.post("list-limit-zero", LIST, {"locus": "td", "limit": 0})
AREA.post("list-status-unknown", LIST, {"locus": "td", "status": "bogus"})
AREA.post("list-type-unknown", LIST, {"locus": "td", "type": "bogus"})
AREA.post("list-unknown-locus", LIST, {"locus": "td-none"})
AREA.post("list-locus-normalised", LIST, {"locus": "TD", "type": "bookmark"})
AREA.post("update-doing", UPDATE, {"id": "${t}", "status": "doing"})
AREA.post("update-text", UPDATE, {"id": "${t}", "text": "paint it red", "note": "now", "priority": "low"})
AREA.post("update-nothing", UPDATE, {"id": "${t}"})
AREA.post("update-empty-note", UPDATE, {"id": "${t}", "note": ""})
AREA.post("update-priority-empty", UPDATE, {"id": "${t}", "priority": ""})
AREA.post("update-status-unknown", UPDATE, {"id": "${t}", "status": "bogus"})
AREA.post("update-wrong-letter", UPDATE, {"id": "r1", "status": "done"})
AREA.post("update-bare-number", UPDATE, {"id": 1, "status": "open"})
AREA.post("update-digits", UPDATE, {"id": "1", "status": "open"})
AREA.post("update-upper-case", UPDATE, {"id": "T1", "status": "open"})
AREA.post("update-unknown", UPDATE, {"id": "t99999", "status": "done"})
AREA.post("update-bad-id", UPDATE, {"id": "nonsense", "status": "done"})
AREA.post("update-without-id", UPDATE, {"status": "done"})
AREA.post("update-operator-done", UPDATE, {"id": "${op}", "status": "done"})
AREA.post("update-operator-worse", UPDATE, {"id": "${op}", "note": "WHY: because"})
AREA.post("update-operator-priority", UPDATE, {"id": "${op}", "priority": "high"})
AREA.post("done", DONE, {"id": "${high}"})
AREA.post("done-again", DONE, {"id": "${high}"})
AREA.post("done-unknown", DONE, {"id": "t99999"})
AREA.post("reopen", UPDATE, {"id": "${high}", "status": "open"})
AREA.post("list-done", LIST, {"locus": "td", "status": "done"})
AREA.post("remove", REMOVE, {"id": "${bookmark}"})
AREA.post("remove-again", REMOVE, {"id": "${bookmark}"})
AREA.post("remove-wrong-letter", REMOVE, {"id": "r1"})
OPS = [
    {"op": "add", "text": "one"},
    {"op": "update", "id": "${t}", "status": "doing"},
    {"op": "done", "id": "t99999"},
    {"op": "fly"},
    {"op": "remove", "id": "${finding}"},
    {"op": "add"},
]
AREA.post("batch", BATCH, {"ops": OPS, "by": "t", "locus": "td"})
AREA.post("batch-good", BATCH, {"ops": [{"op": "add", "text": "two", "locus": "td-2"}], "locus": "td"})
AREA.post("batch-empty", BATCH, {"ops": []})
AREA.post("batch-101", BATCH, {"ops": [{"op": "add", "text": "x"}] * 101, "locus": "td"})
AREA.post("batch-no-list", BATCH, {"ops": "add"})
AREA.post("batch-text-list", BATCH, {"ops": '[{"op": "add", "text": "three"}]', "locus": "td-odd"})
AREA.post("batch-odd-item", BATCH, {"ops": ["add"], "locus": "td"})
AREA.post("reassign-dry", REASSIGN, {"from_locus": "td-2", "to_locus": "td-3"})
AREA.post("reassign", REASSIGN, {"from_locus": "td-2", "to_locus": "td-3", "dry_run": False})
AREA.post("reassign-none", REASSIGN, {"from_locus": "td-2", "to_locus": "td-3", "dry_run": False})
AREA.post("reassign-without-to", REASSIGN, {"from_locus": "td-2"})
AREA.post("list-moved", LIST, {"locus": "td-3"})
AREA.post("add-later", ADD, {"text": "newest", "locus": "td-3"}, pause=1.1)
AREA.post("update-older", UPDATE, {"id": "${t}", "note": "touched"}, pause=1.1)
AREA.post("list-newest-first", LIST, {"locus": "td-3", "limit": 1}, ordered=True)
AREA.post("list-by-creation", LIST, {"locus": "td", "status": "doing"}, ordered=True)
