#!/usr/bin/env python3
"""Compares the rolling reduction with the earlier server's over generated transcripts.

    reduce.py BINARY              BINARY is the example `reduce_lines`, such as target/release/examples/reduce_lines
    reduce.py BINARY --docs       writes the table of the fixes into docs/compat.md
    reduce.py BINARY --show 17    what differs in transcript 17, and where
    reduce.py BINARY --seed 2 --count 20000

With every fix switched off ours is equal to theirs on each transcript. With all of them on, each transcript that
differs names the smallest set of fixes that makes up the difference: without these it is equal again.

Exit status 1 where one is not equal, where a fix makes no difference in any transcript, and where docs/compat.md
holds another table.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

from reduce.transcripts import transcripts
from servers import VERSION, installed

HERE = Path(__file__).parent
DOCS = HERE.parent.parent / "docs/compat.md"
BEGIN, END = "<!-- reduction: begin -->", "<!-- reduction: end -->"
SEED, COUNT = 1, 1000
FIXES = {
    "counts": "the counts of a test run are read as numbers: `0 failed, 12 passed` has passed",
    "acknowledgements": "several acknowledgements in a row are one: `yes, go ahead` is no objective",
    "calls": "what looks like a call inside the argument of another is none",
    "errors": "`Error:` in the middle of a sentence is no failure",
    "lines": "a blocker shows the line that says what failed, not the exit code before it",
    "positions": "a roll goes on behind its last row, not behind the second of it: rows of one second are not left out",
    "fixed_point": "a roll without new rows changes nothing",
}


def main() -> int:
    """Runs what the command line asks for."""
    asked = _arguments()
    made = list(transcripts(asked.seed, asked.count))
    earlier = _lines([installed() / "bin/python", HERE / "reduce/earlier.py"], made)
    if asked.show is not None:
        return _show(asked.binary, made[asked.show], earlier[asked.show])
    both = _ours(asked.binary, made, [[], list(FIXES)])
    unequal = [number for number, (off, _) in enumerate(both) if off != earlier[number]]
    differing = [number for number, (_, on) in enumerate(both) if on != earlier[number]]
    causes = _causes(asked.binary, made, earlier, differing)
    for number in differing:
        print(f"differs {number}: {' + '.join(causes.get(number, ('no set of fixes',)))}")
    for number in unequal:
        print(f"UNEQUAL {number}: with every fix switched off it is not what the earlier reducer gives")
    table = _table(asked.seed, asked.count, len(unequal), len(differing), causes)
    print(table)
    if asked.docs:
        head, rest = DOCS.read_text().split(BEGIN)
        DOCS.write_text(f"{head}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[1]}")
    idle = set(FIXES) - {fix for causing in causes.values() for fix in causing}
    if idle:
        print(f"IDLE {', '.join(sorted(idle))}: no transcript differs by it")
    drifted = (asked.seed, asked.count) == (SEED, COUNT) and table not in DOCS.read_text()
    if drifted:
        print("DRIFT docs/compat.md holds another table: run `reduce.py BINARY --docs`")
    unexplained = len(differing) - len(causes)
    print(
        f"{asked.count} transcripts: {asked.count - len(unequal)} equal with every fix off; "
        f"{len(differing)} differ with all on, {unexplained} of them unexplained"
    )
    return 1 if unequal or unexplained or idle or drifted else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "binary", type=lambda text: Path(text).resolve(), help="the example `reduce_lines` to test"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--count", type=int, default=COUNT, help="how many transcripts")
    parser.add_argument("--show", type=int, metavar="NUMBER", help="what differs in one of them")
    parser.add_argument("--docs", action="store_true", help="write the table of docs/compat.md")
    return parser.parse_args()


def _lines(command: list[Path], inputs: list[Any]) -> list[Any]:
    """What a program answers to JSON lines."""
    text = "".join(json.dumps(one) + "\n" for one in inputs)
    done = subprocess.run([str(part) for part in command], input=text.encode(), stdout=subprocess.PIPE, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(inputs):
        sys.exit(f"{command[-1]} answers {len(answers)} of {len(inputs)} lines")
    return answers


def _ours(binary: Path, made: list[dict[str, Any]], sets: list[list[str]]) -> list[Any]:
    return _lines([binary], [one | {"fixes": sets} for one in made])


def _causes(
    binary: Path, made: list[dict[str, Any]], earlier: list[Any], differing: list[int]
) -> dict[int, tuple[str, ...]]:
    """For each transcript that differs the smallest set of fixes without which it does not."""
    causes: dict[int, tuple[str, ...]] = {}
    for size in range(1, len(FIXES) + 1):
        left = [number for number in differing if number not in causes]
        if not left:
            break
        removed = list(combinations(FIXES, size))
        kept = [[fix for fix in FIXES if fix not in without] for without in removed]
        for number, answers in zip(left, _ours(binary, [made[number] for number in left], kept), strict=True):
            for without, states in zip(removed, answers, strict=True):
                if states == earlier[number]:
                    causes.setdefault(number, without)
    return causes


def _table(seed: int, count: int, unequal: int, differing: int, causes: dict[int, tuple[str, ...]]) -> str:
    alone = Counter(causing[0] for causing in causes.values() if len(causing) == 1)
    joined = Counter(fix for causing in causes.values() if len(causing) > 1 for fix in causing)
    rows = [
        "| fix | how it reads here | transcripts that differ by it alone | and by it with others |",
        "|---|---|---|---|",
        *(f"| `{fix}` | {words} | {alone[fix]} | {joined[fix]} |" for fix, words in FIXES.items()),
    ]
    words = (
        f"Of {count} generated transcripts (seed {seed}), {count - differing} give the same states here as with the "
        f"reducer of {VERSION}, and {differing} differ. With every fix switched off {count - unequal} are the same."
    )
    return "\n".join([words, "", *rows])


def _show(binary: Path, transcript: dict[str, Any], earlier: list[Any]) -> int:
    off, on = _ours(binary, [transcript], [[], list(FIXES)])[0]
    print(json.dumps(transcript, indent=1, ensure_ascii=False))
    for name, ours in (("off", off), ("on", on)):
        for at, (one, other) in enumerate(zip(earlier, ours, strict=True)):
            for key in one:
                if one[key] != other[key]:
                    print(f"fixes {name}, roll {at}, {key}:\n  earlier {one[key]!r}\n  ours    {other[key]!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
