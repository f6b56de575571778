"""Ledgers: whole-document puts, reads, resumption, lists, the template and their limits."""

from steps import Area, count

AREA = Area("ledger")
PUT, GET, RESUME, LIST = "/ledger/put", "/ledger/get", "/ledger/resume", "/ledger/list"
DOC = """# Ledger: cart

before

## Goal
- the cart is red

## Open questions
- how red?

## Goal
- and fast
"""

AREA.post("template", "/ledger/template", {"task": "cart", "goal": "paint the cart"})
AREA.post("template-empty", "/ledger/template", {"task": ""})
AREA.post("get-unknown-locus", GET, {"locus": "lg-none"})
AREA.post(
    "put-new",
    PUT,
    {"locus": "lg", "task": "cart", "doc": DOC, "by": "t", "note": "first", "session_id": "s-1"},
)
AREA.post("get", GET, {"locus": "lg", "task": "cart"})
AREA.post("get-active", GET, {"locus": "lg"})
AREA.post("get-unknown-task", GET, {"locus": "lg", "task": "nothing"})
AREA.post("put-same", PUT, {"locus": "lg", "task": "cart", "doc": DOC, "by": "t", "note": "first"})
AREA.post("put-same-without-by", PUT, {"locus": "lg", "task": "cart", "doc": DOC})
AREA.post("get-after-same", GET, {"locus": "lg", "task": "cart"})
AREA.post("put-changed", PUT, {"locus": "lg", "task": "cart", "doc": DOC + "- more\n", "by": "u"})
AREA.post("put-second-task", PUT, {"locus": "lg", "task": "Big Cart_2", "doc": "plain text, no sections"})
AREA.post("get-without-sections", GET, {"locus": "lg", "task": "big-cart_2"})
AREA.post("put-locus-underscore", PUT, {"locus": "LG_Other", "task": "t", "doc": "x"})
AREA.post("get-locus-normalised", GET, {"locus": "lg-other"})
AREA.post("put-locus-dotted", PUT, {"locus": "lg.dot@host", "task": "t.1", "doc": "x"})
AREA.post("put-done", PUT, {"locus": "lg-other", "task": "t", "doc": "x", "status": "done"})
AREA.post("get-active-none-left", GET, {"locus": "lg-other"})
AREA.post("get-done-by-task", GET, {"locus": "lg-other", "task": "t"})
AREA.post("put-keeps-status", PUT, {"locus": "lg-other", "task": "t", "doc": "y"})
AREA.post("put-abandoned", PUT, {"locus": "lg-other", "task": "t", "doc": "y", "status": "abandoned"})
AREA.post("put-active-again", PUT, {"locus": "lg-other", "task": "t", "doc": "y", "status": "active"})
AREA.post("put-status-unknown", PUT, {"locus": "lg", "task": "cart", "doc": "x", "status": "paused"})
AREA.post("put-blank", PUT, {"locus": "lg", "task": "cart", "doc": "  \n "})
AREA.post("put-without-doc", PUT, {"locus": "lg", "task": "cart"})
AREA.post("put-without-locus", PUT, {"task": "cart", "doc": "x"})
AREA.post("put-empty-body", PUT, {})
AREA.post("put-bad-locus", PUT, {"locus": "-lg", "task": "cart", "doc": "x"})
AREA.post("put-locus-space", PUT, {"locus": "l g", "task": "cart", "doc": "x"})
AREA.post("put-locus-63", PUT, {"locus": "l" * 63, "task": "cart", "doc": "x"})
AREA.post("put-locus-64", PUT, {"locus": "l" * 64, "task": "cart", "doc": "x"})
AREA.post("put-bad-task", PUT, {"locus": "lg", "task": "a/b", "doc": "x"})
AREA.post("put-empty-task", PUT, {"locus": "lg", "task": "", "doc": "x"})
AREA.post("put-task-79", PUT, {"locus": "lg", "task": "t" * 79, "doc": "x"})
AREA.post("put-task-80", PUT, {"locus": "lg", "task": "t" * 80, "doc": "x"})
AREA.post("put-doc-largest", PUT, {"locus": "lg-large", "task": "t", "doc": "é" * 262_144})
AREA.post("put-doc-too-large", PUT, {"locus": "lg-large", "task": "t", "doc": "x" * 262_145})
AREA.post("put-nul", PUT, {"locus": "odd-nul", "task": "t", "doc": "a\0b"})
AREA.post("get-nul", GET, {"locus": "odd-nul"})
AREA.post("put-number-doc", PUT, {"locus": "odd-number", "task": "t", "doc": 12345})
AREA.post("get-number-doc", GET, {"locus": "odd-number"})
AREA.post("put-json-doc", PUT, {"locus": "lg-number", "task": "j", "doc": '{"a": 1}'})
AREA.post("get-json-doc", GET, {"locus": "lg-number", "task": "j"})
AREA.post("put-numeric-task", PUT, {"locus": "lg-number", "task": "007", "doc": "x"})
AREA.post(
    "put-long-by-and-note",
    PUT,
    {"locus": "odd-long", "task": "t", "doc": "x", "by": "b" * 100, "note": "n" * 500},
)
AREA.post("get-long-by-and-note", GET, {"locus": "odd-long"})
AREA.post("put-unknown-key", PUT, {"locus": "lg", "task": "cart", "doc": "x", "nonsense": 1})
AREA.post(
    "put-empty-heading", PUT, {"locus": "lg-heads", "task": "t", "doc": "##\n##  A  \n### B\n##C\n## A\nx\n"}
)
AREA.post("get-empty-heading", GET, {"locus": "lg-heads"})
AREA.post("get-without-locus", GET, {"task": "cart"})
AREA.post("get-bad-locus", GET, {"locus": "l g"})
AREA.post("resume", RESUME, {"locus": "lg", "task": "cart", "session_id": "s-2", "by": "u"})
AREA.post("resume-again", RESUME, {"locus": "lg", "task": "cart", "session_id": "s-2"})
AREA.post("resume-active", RESUME, {"locus": "lg-heads", "session_id": "s-3"})
AREA.post("resume-without-session", RESUME, {"locus": "lg", "task": "cart"})
AREA.post("resume-unknown", RESUME, {"locus": "lg-none", "session_id": "s-2"})
AREA.post("resume-writer", RESUME, {"locus": "lg", "task": "cart", "session_id": "s-1"})
AREA.post("list-locus", LIST, {"locus": "lg"})
AREA.post("list-locus-normalised", LIST, {"locus": "LG_other"})
AREA.post("list-status", LIST, {"locus": "lg-other", "status": "active"})
AREA.post("list-status-none", LIST, {"locus": "lg-other", "status": "done"})
AREA.post("list-status-unknown", LIST, {"locus": "lg", "status": "paused"})
AREA.post(
    "list-all", LIST, {}, only=lambda body: [row for row in body["result"] if row["locus"].startswith("lg")]
)
AREA.post("list-limit", LIST, {"locus": "lg", "limit": 1}, only=count)
AREA.post("list-limit-zero", LIST, {"locus": "lg", "limit": 0})
AREA.post("list-limit-large", LIST, {"locus": "lg", "limit": 100_000})
AREA.post("list-limit-text", LIST, {"locus": "lg", "limit": "2"}, only=count)
AREA.post("list-limit-word", LIST, {"locus": "lg", "limit": "many"})
AREA.post("list-unknown-locus", LIST, {"locus": "lg-none"})
AREA.get("get-by-query", "/ledger/get?locus=lg&task=cart")
AREA.get("put-by-query", "/ledger/put?locus=odd-get&task=t&doc=x")
AREA.post("get-trailing-slash", "/ledger/get/", {"locus": "lg", "task": "cart"})
AREA.post("put-later", PUT, {"locus": "lg-order", "task": "a", "doc": "x"}, pause=1.1)
AREA.post("put-latest", PUT, {"locus": "lg-order", "task": "b", "doc": "x"}, pause=1.1)
AREA.post("list-newest-first", LIST, {"locus": "lg-order"}, ordered=True)
AREA.post("get-newest-active", GET, {"locus": "lg-order"})
AREA.post("put-older-again", PUT, {"locus": "lg-order", "task": "a", "doc": "y"}, pause=1.1)
AREA.post("list-after-put", LIST, {"locus": "lg-order", "limit": 1}, ordered=True)
