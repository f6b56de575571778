"""The board of a locus, kept by item id."""

from steps import Area, count

AREA = Area("board")
PUT, UPDATE, ARCHIVE, LIST = "/board/put", "/board/update", "/board/archive", "/board/list"

AREA.post(
    "put", PUT, {"locus": "bd", "item_id": "i-1", "text": "paint it", "by": "t", "note": "n", "source": "s"}
)
AREA.post("put-again", PUT, {"locus": "bd", "item_id": "i-1", "text": "paint it", "by": "t"})
AREA.post(
    "put-changed",
    PUT,
    {"locus": "bd", "item_id": "i-1", "text": "wash it", "status": "doing", "priority": "high"},
)
AREA.post("put-derived-id", PUT, {"locus": "bd", "text": "derived"}, keep={"derived": "result.item_id"})
AREA.post("put-derived-again", PUT, {"locus": "bd", "text": "derived"})
AREA.post("put-data", PUT, {"locus": "bd", "item_id": "i-2", "text": "x", "data": {"a": 1, "b": ["c"]}})
AREA.post("put-data-no-object", PUT, {"locus": "bd-odd", "item_id": "i-3", "data": "words"})
AREA.post("put-empty", PUT, {"locus": "bd"})
AREA.post("put-without-locus", PUT, {"item_id": "i-1", "text": "x"})
AREA.post("put-bad-locus", PUT, {"locus": "b d", "item_id": "i-1", "text": "x"})
AREA.post("put-status-unknown", PUT, {"locus": "bd-odd", "item_id": "i-4", "text": "x", "status": "bogus"})
AREA.post(
    "put-priority-unknown", PUT, {"locus": "bd-odd", "item_id": "i-4", "text": "x", "priority": "urgent"}
)
AREA.post("put-type-unknown", PUT, {"locus": "bd-odd", "item_id": "i-4", "text": "x", "type": "chore"})
AREA.post("update", UPDATE, {"locus": "bd", "item_id": "i-2", "status": "done", "note": "ok"})
AREA.post("update-data", UPDATE, {"locus": "bd", "item_id": "i-2", "data": {"a": 2}})
AREA.post("update-nothing", UPDATE, {"locus": "bd", "item_id": "i-2"})
AREA.post("update-unknown", UPDATE, {"locus": "bd", "item_id": "i-99", "status": "done"})
AREA.post("update-without-id", UPDATE, {"locus": "bd", "status": "done"})
AREA.post("list", LIST, {"locus": "bd"})
AREA.post("list-status", LIST, {"locus": "bd", "status": "doing"})
AREA.post("list-status-unknown", LIST, {"locus": "bd", "status": "bogus"})
AREA.post("list-limit", LIST, {"locus": "bd", "limit": 1}, only=count)
AREA.post("list-unknown-locus", LIST, {"locus": "bd-none"})
AREA.post("archive", ARCHIVE, {"locus": "bd", "item_id": "${derived}"})
AREA.post("archive-again", ARCHIVE, {"locus": "bd", "item_id": "${derived}"})
AREA.post("archive-unknown", ARCHIVE, {"locus": "bd", "item_id": "i-99"})
AREA.post("archive-without-id", ARCHIVE, {"locus": "bd"})
AREA.post("list-archived", LIST, {"locus": "bd", "status": "archived"})
AREA.post("list-after-archive", LIST, {"locus": "bd"})
AREA.post("register-locus", "/loci/register", {"locus": "bd", "goal": "a board"})
AREA.post(
    "summary",
    "/board/summary",
    {},
    only=lambda body: [row for row in body["result"] if row.get("locus") == "bd"],
)
AREA.post("update-later", UPDATE, {"locus": "bd", "item_id": "i-2", "note": "x"}, pause=1.1)
AREA.post("list-newest-first", LIST, {"locus": "bd", "limit": 1}, ordered=True)
