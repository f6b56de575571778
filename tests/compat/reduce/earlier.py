"""The earlier server's reducer over JSON lines: a transcript in, the states after its rolls out.

It runs with the Python that has the earlier server: what is imported here is its module alone.
"""

import json
import sys
from typing import Any

from abstract_toolserver.records.rolling_reduce import EMPTY_STATE, reduce


def rolled(transcript: dict[str, Any]) -> list[dict[str, Any]]:
    """The state after each roll; rows are chosen as its own `assess_roll` does."""
    state, upto, states = transcript["prev"] or EMPTY_STATE, 0, []
    for roll in transcript["rolls"]:
        new = [row for row in transcript["rows"][: roll["rows"]] if row["ts"] > upto]
        new = sorted(new, key=lambda row: (row["ts"], row["id"]))[: transcript["most"]]
        if new or roll["force"]:
            state = reduce(state, new, locus=transcript["locus"])
            upto = new[-1]["ts"] if new else upto
        states.append(state)
    return states


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(rolled(json.loads(line))), flush=True)
