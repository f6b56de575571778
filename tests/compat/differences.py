"""The table of intended differences, `differences.toml`, and its copy in the documentation."""

import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from shape import Difference

HERE = Path(__file__).parent
DATA = HERE / "differences.toml"
DOCS = HERE.parent.parent / "docs/compat.md"
BEGIN, END = "<!-- differences: begin -->", "<!-- differences: end -->"


@dataclass
class Entry:
    """One intended difference. All of its patterns are shell globs in which `[` stands for itself."""

    cases: list[str]
    at: str
    earlier: str
    ours: str
    reason: str
    met: set[str] = field(default_factory=set)

    def covers(self, case: str, difference: Difference) -> bool:
        """Whether this is the difference meant; the case's pattern is then no longer stale."""
        sides = (self.at, difference.at), (self.earlier, difference.earlier), (self.ours, difference.ours)
        if not all(_matches(pattern, text) for pattern, text in sides):
            return False
        patterns = [pattern for pattern in self.cases if _matches(pattern, case)]
        self.met.update(patterns)
        return bool(patterns)

    def row(self) -> str:
        """This difference as a row of the documentation."""
        named: dict[str, list[str]] = {}
        for case in self.cases:
            area, _, name = case.partition("/")
            named.setdefault(area, []).append(name)
        requests = "; ".join(
            f"{area}: {', '.join(names)}" if names != [""] else "all" for area, names in named.items()
        )
        sides = ("any" if side == "*" else side for side in (self.earlier, self.ours))
        return f"| {' | '.join(sides)} | `{self.at}` | {self.reason} | {requests.replace('*', '…')} |"


class Table:
    """All intended differences."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries

    @classmethod
    def load(cls) -> "Table":
        """Reads the data file."""
        with DATA.open("rb") as file:
            return cls([Entry(**entry) for entry in tomllib.load(file).get("difference", [])])

    def judge(self, case: str, found: list[Difference]) -> tuple[list[Difference], list[str]]:
        """What of a case's differences is not listed, and the reasons of the rest."""
        unlisted, reasons = [], []
        for difference in found:
            entries = [entry for entry in self.entries if entry.covers(case, difference)]
            if entries:
                reasons.append(entries[0].reason)
            else:
                unlisted.append(difference)
        return unlisted, list(dict.fromkeys(reasons))

    def stale(self, areas: set[str], *, complete: bool) -> list[str]:
        """What is listed for these areas and did not occur; a pattern over all areas counts when all ran."""
        return [
            f"`{pattern}` at `{entry.at}`"
            for entry in self.entries
            for pattern in entry.cases
            if pattern not in entry.met
            and (pattern.partition("/")[0] in areas or (complete and pattern == "*"))
        ]

    def markdown(self) -> str:
        """The table as the documentation shows it."""
        head = ["| earlier | here | where | why | requests |", "|---|---|---|---|---|"]
        return "\n".join(head + [entry.row() for entry in self.entries])

    def write_docs(self) -> None:
        """Puts the table between its marks in the documentation."""
        head, rest = DOCS.read_text().split(BEGIN)
        DOCS.write_text(f"{head}{BEGIN}\n\n{self.markdown()}\n\n{END}{rest.split(END)[1]}")

    def in_docs(self) -> bool:
        """Whether the documentation holds this table."""
        return self.markdown() in DOCS.read_text()


def _matches(pattern: str, text: str) -> bool:
    return fnmatchcase(text, pattern.replace("[", "[[]"))
