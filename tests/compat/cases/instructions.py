"""The tree of instructions: paths, contributions and their routes."""

from steps import Area

AREA = Area("instructions")
TREE, READ, ADD = "/instructions/tree", "/instructions/read", "/instructions/add"


def contributed(body: dict) -> list:
    """The contributed documents: each server has documents of its own."""
    return [row for row in body["result"]["documents"] if row["source"] == "contributed"]


def about(body: dict) -> dict:
    """What is known of a document, without its text."""
    return {key: value for key, value in body["result"].items() if key != "text"}


AREA.post("tree-none", TREE, {}, only=contributed)
AREA.post("read-default", READ, {}, only=about)
for name, path in {
    "slashes": "/tools/toolserver/",
    "unknown": "none",
    "up": "../x",
    "absolute": "/etc/passwd",
}.items():
    AREA.post(f"read-{name}", READ, {"path": path}, only=about)
AREA.post("add", ADD, {"path": "instructions/my/doc", "text": "# My\nhello", "title": "T", "created_by": "me"})
AREA.post("add-again", ADD, {"path": "instructions/my/doc", "text": "again"})
AREA.post("add-heading", ADD, {"path": "instructions/my/two", "text": "# Heading\nhello"})
AREA.post("add-capitals", ADD, {"path": "/Instructions/My/Three/", "text": "plain"})
AREA.post("add-eight-parts", ADD, {"path": "instructions/a/b/c/d/e/f/g/h", "text": "x"})
for name, path in {
    "root": "instructions/",
    "elsewhere": "my/doc",
    "own": "tools/toolserver",
    "up": "instructions/a/../b",
    "encoded": "instructions/%2e%2e/a",
    "empty-part": "instructions/a//b",
    "dot": "instructions/.a",
    "blank": "instructions/a b",
    "nine-parts": "instructions/a/b/c/d/e/f/g/h/i",
}.items():
    AREA.post(f"refused-{name}", ADD, {"path": path, "text": "x"})
AREA.post("refused-empty", ADD, {"path": "instructions/e", "text": " "})
AREA.post("refused-without-text", ADD, {"path": "instructions/e"})
AREA.post("refused-without-path", ADD, {"text": "x"})
AREA.post("refused-large", ADD, {"path": "instructions/e", "text": "x" * 262_145})
AREA.post("add-largest", ADD, {"path": "instructions/largest", "text": "title\n" + "x" * 262_138})
AREA.post("add-nul", ADD, {"path": "instructions/odd-nul", "text": "a\0b"})
AREA.post("add-long-names", ADD, {"path": "instructions/odd-long", "text": "x", "title": "t" * 500})
AREA.post("read", READ, {"path": "instructions/my/doc"})
AREA.post("read-slash", READ, {"path": "/instructions/my/doc/"})
AREA.post(
    "tree",
    TREE,
    {},
    only=lambda body: [row for row in contributed(body) if "odd" not in row["path"]],
)
AREA.get("page", "/instructions/my/doc")
AREA.get("page-slash", "/instructions/my/doc/")
AREA.get("page-guide", "/tools/toolserver")
AREA.get("page-guide-slash", "/tools/toolserver/")
AREA.get("page-unknown", "/instructions/none")
AREA.get("page-encoded", "/instructions/%2e%2e/x")
AREA.get("page-root", "/instructions")
