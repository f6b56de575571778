"""How two replies compare: every key, the type of every value, and the values that are words.

A sentence is a server's own, so its text is not compared. Times, random ids and addresses are replaced first.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

HEX = re.compile(r"\b[0-9a-f]{32}\b")
UTC = re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?( ?UTC|Z)?")
MOMENT = re.compile(r"\b(1[6-9]|2\d)\d{8}\b")
ELAPSED = re.compile(r"_ago_s$")
ID = re.compile(r"[trbopdmfhx]?\d+")
LEASE = re.compile(r"\blease-[0-9a-f]{16}\b")
IDENTITIES = ("instance", "node_id")
"""Keys of what a server is called: random for each."""
DAY_S = 86_400
IDS = ("id", "handoff_id", "focus_item_id", "removed", "notified", "board_id")
"""Keys of ids: their letter counts, and not their number, since gaps in a sequence mean nothing."""
WORD = re.compile(r"\S{0,80}")


@dataclass(frozen=True)
class Difference:
    """One place where the replies differ."""

    at: str
    """`status`, `kind`, or a path into the body such as `result.rows[].id`."""
    earlier: str
    ours: str

    def __str__(self) -> str:
        return f"{self.at}: earlier {self.earlier}, ours {self.ours}"


class Normal:
    """The normal form of one server's replies."""

    def __init__(self, literals: dict[str, str]) -> None:
        self._literals = literals

    def of(self, value: Any, key: str = "") -> Any:
        """`value` without what changes from run to run."""
        if isinstance(value, dict):
            return {self._text(name): self.of(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.of(inner, key) for inner in value]
        if isinstance(value, str):
            return "<identity>" if key in IDENTITIES else self._text(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if ELAPSED.search(key):
                return 0
            if abs(value - time.time()) < DAY_S:
                return 1_700_000_000
        return value

    def _text(self, text: str) -> str:
        for literal, name in self._literals.items():
            text = text.replace(literal, name)
        return MOMENT.sub("<time>", LEASE.sub("<lease>", HEX.sub("<hex>", UTC.sub("<utc>", text))))


def sorted_rows(value: Any) -> Any:
    """`value` with the rows of every list in the order of what names them."""
    if isinstance(value, dict):
        return {key: sorted_rows(inner) for key, inner in value.items()}
    if not isinstance(value, list):
        return value
    rows = [sorted_rows(inner) for inner in value]
    return sorted(rows, key=_name_of) if all(isinstance(row, dict) for row in rows) else rows


def _name_of(row: dict[str, Any]) -> tuple[Any, ...]:
    id = str(row.get("id", ""))
    number = int("".join(filter(str.isdigit, id)) or 0)
    names = (str(row.get(key, "")) for key in ("locus", "task", "item_id", "name", "url"))
    return (row.get("i", 0), number, *names)


def compare(earlier: Any, ours: Any, at: str = "") -> list[Difference]:
    """All differences of two normal forms, each place once."""
    return list(dict.fromkeys(_walk(earlier, ours, at)))


def _walk(earlier: Any, ours: Any, at: str) -> list[Difference]:
    kinds = _kind(earlier), _kind(ours)
    if kinds[0] != kinds[1]:
        return [Difference(at, *kinds)]
    if isinstance(earlier, dict):
        return _members(earlier, ours, lambda key: f"{at}.{key}" if at else key)
    if isinstance(earlier, list):
        return _rows(earlier, ours, at)
    if isinstance(earlier, (str, int)) and at.rpartition(".")[2] in IDS:
        earlier, ours = (
            ID.sub(lambda id: id[0].rstrip("0123456789") + "1", str(side)) for side in (earlier, ours)
        )
    if isinstance(earlier, str) and not (WORD.fullmatch(earlier) and WORD.fullmatch(ours)):
        return []
    return [] if earlier == ours else [Difference(at, _shown(earlier), _shown(ours))]


def _members(earlier: dict[str, Any], ours: dict[str, Any], where: Callable[[str], str]) -> list[Difference]:
    found = []
    for key in dict.fromkeys([*earlier, *ours]):
        if key not in ours:
            found.append(Difference(where(key), _kind(earlier[key]), "absent"))
        elif key not in earlier:
            found.append(Difference(where(key), "absent", _kind(ours[key])))
        else:
            found += _walk(earlier[key], ours[key], where(key))
    return found


def _rows(earlier: list[Any], ours: list[Any], at: str) -> list[Difference]:
    """The differences of two lists: of rows that have names by their names, of others place by place."""
    named = _by_name(earlier), _by_name(ours)
    if named[0] and named[1]:
        return _members(*named, lambda name: f"{at}[{name}]")
    found = []
    if len(earlier) != len(ours):
        found.append(Difference(f"{at}.length", str(len(earlier)), str(len(ours))))
    for pair in zip(earlier, ours, strict=False):
        found += _walk(*pair, f"{at}[]")
    return found


def _by_name(rows: list[Any]) -> dict[str, Any]:
    """Rows by their names; empty where one has no name or shares it."""
    named = {row["name"]: row for row in rows if isinstance(row, dict) and isinstance(row.get("name"), str)}
    return named if len(named) == len(rows) else {}


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return names[type(value)]


def _shown(value: Any) -> str:
    return f"`{value}`" if isinstance(value, str) else str(value).lower()
