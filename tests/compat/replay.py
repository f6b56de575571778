#!/usr/bin/env python3
"""Replays the same requests to the earlier server and to ours, and compares what they answer.

    replay.py BINARY                 a line for each request: ok NAME / expected NAME why / DIFF NAME what
    replay.py BINARY --only ledger   these areas alone, with commas between
    replay.py --self                 the earlier server against a second copy of itself: nothing may differ
    replay.py --record DIR           what the earlier server answers, as DIR/<area>.jsonl
    replay.py --docs                 writes the table of intended differences into docs/compat.md

Exit status 1 where something differs that `differences.toml` does not list, where something listed no
longer differs, and where docs/compat.md holds another table.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import fakes
from cases import AREAS
from differences import Table
from servers import TOKEN, Earlier, Ours, Server
from shape import Difference, Normal, compare, sorted_rows
from steps import Area, Step
from wire import Reply


def main() -> int:
    """Runs what the command line asks for."""
    asked = _arguments()
    table = Table.load()
    if asked.docs:
        table.write_docs()
        return 0
    areas = [area for area in AREAS if not asked.only or area.name in asked.only]
    station, url = fakes.start()
    servers: list[Server] = []
    try:
        servers.append(Earlier(url))
        if asked.self:
            servers.append(Earlier(url))
        elif asked.binary:
            servers.append(Ours(asked.binary, url))
        for server in servers:
            server.wait()
        if asked.record:
            _record(servers[0], areas, asked.record, url)
            return 0
        return _replay(servers, areas, Table([]) if asked.self else table, url)
    finally:
        for server in servers:
            server.stop()
        station.shutdown()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "binary", nargs="?", type=lambda text: Path(text).resolve(), help="the `adjutant` to test"
    )
    parser.add_argument("--only", type=lambda text: text.split(","), help="areas, with commas between")
    parser.add_argument("--self", action="store_true", help="the earlier server against itself")
    parser.add_argument("--record", type=Path, metavar="DIR", help="write what the earlier server answers")
    parser.add_argument("--docs", action="store_true", help="write the table of docs/compat.md")
    asked = parser.parse_args()
    if not (asked.binary or asked.self or asked.record or asked.docs):
        parser.error("the path of the `adjutant` to test is missing")
    known = {area.name for area in AREAS}
    if unknown := set(asked.only or ()) - known:
        parser.error(f"no such area: {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    return asked


def _replay(servers: list[Server], areas: list[Area], table: Table, fake: str) -> int:
    counts = {"ok": 0, "expected": 0, "DIFF": 0}
    for area in areas:
        for step in area.steps:
            earlier, ours = (_seen(server, step, fake) for server in servers)
            if step.prepares:
                continue
            unlisted, reasons = table.judge(step.name, _compared(earlier, ours))
            verdict = "DIFF" if unlisted else "expected" if reasons else "ok"
            counts[verdict] += 1
            print(
                " ".join([verdict, step.name, "; ".join(map(str, unlisted or reasons))]).rstrip(), flush=True
            )
    stale = table.stale({area.name for area in areas}, complete=len(areas) == len(AREAS))
    for entry in stale:
        print(f"STALE {entry}: listed in differences.toml, and nothing differs there")
    drifted = bool(table.entries) and not table.in_docs()
    if drifted:
        print("DRIFT docs/compat.md holds another table: run `replay.py --docs`")
    alike, expected, different = counts.values()
    print(f"{alike} alike, {expected} as intended, {different} different; {len(stale)} stale entries")
    return 1 if different or stale or drifted else 0


def _compared(earlier: Reply, ours: Reply) -> list[Difference]:
    """All differences. Where one server refuses and the other does not, that is the one difference."""
    heads = [("status", earlier.status, ours.status), ("kind", earlier.kind, ours.kind)]
    found = [Difference(at, str(one), str(other)) for at, one, other in heads if one != other]
    comparable = earlier.kind == ours.kind and (earlier.status < 400) == (ours.status < 400)
    return found + compare(earlier.body, ours.body) if comparable else found


def _seen(server: Server, step: Step, fake: str) -> Reply:
    """What the server answers, in its normal form."""
    reply = server.send(step)
    body = _part(step, reply)
    if not step.ordered and reply.kind == "json":
        body = sorted_rows(body)
    return Reply(reply.status, reply.kind, _normal(server, fake).of(body))


def _part(step: Step, reply: Reply) -> Any:
    """What of the reply is compared: all of it where it is not what the step reads."""
    if not step.only or reply.status != 200:
        return reply.body
    try:
        return step.only(reply.body)
    except (AttributeError, KeyError, TypeError):
        return reply.body


def _normal(server: Server, fake: str) -> Normal:
    return Normal({server.base: "<server>", fake: "<fakes>", str(server.home): "<home>", TOKEN: "<token>"})


def _record(server: Server, areas: list[Area], folder: Path, fake: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for area in areas:
        with (folder / f"{area.name}.jsonl").open("w") as out:
            for step in area.steps:
                path, body = server.asked(step)
                reply = _seen(server, step, fake)
                line = {"name": step.name, "method": step.method, "path": path, "body": _clipped(body)}
                line |= {"status": reply.status, "kind": reply.kind, "reply": _clipped(reply.body)}
                print(json.dumps(line, ensure_ascii=False), file=out)
        print(f"{folder / area.name}.jsonl: {len(area.steps)} requests")


def _clipped(value: Any) -> Any:
    """Long texts are cut, so that a record can be read."""
    if isinstance(value, dict):
        return {key: _clipped(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_clipped(inner) for inner in value[:200]]
    if isinstance(value, str) and len(value) > 4000:
        return f"{value[:200]}… ({len(value)} characters)"
    return value


if __name__ == "__main__":
    sys.exit(main())
