"""Questions over a document."""

from steps import Area

AREA = Area("b")
ASK = "/b/ask"
DOC = "# Ledger: cart\n\n## Goal\n- the cart is red\n"

AREA.post("ask-text", ASK, {"question": "which colour?", "text": DOC})
AREA.post("ledger", "/ledger/put", {"locus": "bq", "task": "cart", "doc": DOC})
AREA.post("ask-ledger", ASK, {"question": "which colour?", "ledger_locus": "bq"})
AREA.post("ask-ledger-task", ASK, {"question": "which colour?", "ledger_locus": "bq", "ledger_task": "cart"})
AREA.post("ask-unknown-ledger", ASK, {"question": "which colour?", "ledger_locus": "bq-none"})
AREA.post("ask-model", ASK, {"question": "which colour?", "text": DOC, "model": "fake"})
AREA.post("ask-no-source", ASK, {"question": "which colour?"})
AREA.post("ask-no-question", ASK, {"text": DOC})
AREA.post("ask-path", ASK, {"question": "which colour?", "path": "/nonexistent/file"})
AREA.post("ask-prose", ASK, {"question": "which colour, in prose?", "text": DOC})
