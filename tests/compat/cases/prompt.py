"""The operator's inbox: prompts with files, and what becomes of them."""

from steps import Area

AREA = Area("prompt")
SUBMIT, LIST, GET, DONE = "/prompt/submit", "/prompt/list", "/prompt/get", "/prompt/done"
HELLO = "aGVsbG8="


def files(*given: object, locus: str = "pr") -> dict:
    """A prompt with files."""
    return {"locus": locus, "text": "files", "files": list(given)}


AREA.post("submit", SUBMIT, {"locus": "pr", "text": "do it", "by": "me"}, keep={"one": "result.id"})
AREA.post(
    "submit-files",
    SUBMIT,
    files(
        {"name": "a.txt", "type": "text/plain", "b64": HELLO},
        {"name": "b.txt", "dataUrl": f"data:text/plain;base64,{HELLO}"},
        {"name": "", "b64": HELLO},
        {"name": "a.txt", "b64": HELLO},
    )
    | {"session": "s-1", "source": "web"},
    keep={"two": "result.id"},
    pause=1.1,
)
AREA.post("submit-file-alone", SUBMIT, {"locus": "pr", "files": [{"name": "only", "b64": HELLO}]}, pause=1.1)
AREA.post("submit-name-escapes", SUBMIT, files({"name": "../evil.sh", "b64": HELLO}, locus="odd"))
AREA.post("submit-nothing", SUBMIT, {"locus": "pr"})
AREA.post("submit-empty", SUBMIT, {"locus": "pr", "text": ""})
AREA.post("submit-without-locus", SUBMIT, {"text": "x"})
AREA.post("submit-bad-locus", SUBMIT, {"locus": "P R", "text": "x"})
AREA.post("submit-dotted", SUBMIT, {"locus": "p.r", "text": "x"})
AREA.post("submit-no-base64", SUBMIT, files({"name": "x", "b64": "!!!"}, locus="odd"))
AREA.post("submit-file-without-bytes", SUBMIT, files({"name": "x"}, locus="odd"))
AREA.post("submit-file-number", SUBMIT, files(5, locus="odd"))
AREA.post("submit-files-text", SUBMIT, {"locus": "odd", "text": "x", "files": "x"})
AREA.post("submit-url", SUBMIT, files({"name": "x", "dataUrl": "http://x"}))
AREA.post("submit-21-files", SUBMIT, files(*[{"name": "x", "b64": HELLO}] * 21))
AREA.post("submit-large", SUBMIT, {"locus": "odd", "text": "x" * 300_000})
AREA.post("list", LIST, {"locus": "pr"}, ordered=True)
AREA.post("list-limit", LIST, {"locus": "pr", "limit": 1})
AREA.post("list-done", LIST, {"locus": "pr", "status": "done"})
AREA.post("list-status-unknown", LIST, {"status": "gone"})
AREA.post("list-none", LIST, {"locus": "pr-none"})
AREA.post("get", GET, {"id": "${one}"})
AREA.post("get-with-files", GET, {"id": "${two}", "with_files": True})
AREA.post("get-bad-id", GET, {"id": "x2"})
AREA.post("get-unknown", GET, {"id": "p999"})
AREA.post("get-without-id", GET, {})
AREA.post("done", DONE, {"id": "${one}"})
AREA.post("done-again", DONE, {"id": "${one}"})
AREA.post("delivered", DONE, {"id": "${two}", "status": "delivered"})
AREA.post("open-again", DONE, {"id": "${two}", "status": "open"})
AREA.post("done-status-unknown", DONE, {"id": "${two}", "status": "gone"})
AREA.post("done-unknown", DONE, {"id": "p999"})
AREA.post("list-after", LIST, {"locus": "pr", "status": ""}, ordered=True)
AREA.post("board-rows", "/todo/list", {"locus": "pr"})
