"""What a replay is made of: named requests in order, and the values that they take from earlier replies.

An area is one file under `cases/`. A string `${name}` in a path, a query or a body stands for a value that an
earlier step of the same area kept with `keep`; each server gets its own value.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

PLACEHOLDER = re.compile(r"\$\{([a-z0-9_]+)\}")


@dataclass(frozen=True)
class Step:
    """One request."""

    name: str
    """`<area>/<what it shows>`, unique."""
    method: str
    path: str
    body: Any = None
    keep: dict[str, str] = field(default_factory=dict)
    """What later steps may use: name -> dotted path into the reply, such as `result.messages.0.id`."""
    token: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """The body as it stands, where it is no JSON document of ours."""
    stream: int = 0
    """For an event stream: how many frames to read. `path` is opened, then `body` posted to `poke`."""
    poke: str = ""
    only: Callable[[Any], Any] | None = None
    """Takes from the reply what is compared, where a whole reply lists what only one of the servers has."""
    ordered: bool = False
    """Whether the order of rows counts. Rows of one second have none on the earlier server."""
    pause: float = 0
    """Seconds to wait first, so that the change falls into a second of its own."""
    prepares: bool = False
    """Whether it only readies a server for what follows: its reply is not compared."""


class Area:
    """The steps of one area, in order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.steps: list[Step] = []

    def post(self, name: str, path: str, body: Any = None, **more: Any) -> None:
        """Adds `POST path` with a JSON body."""
        self._add(Step(f"{self.name}/{name}", "POST", path, {} if body is None else body, **more))

    def get(self, name: str, path: str, **more: Any) -> None:
        """Adds `GET path`."""
        self._add(Step(f"{self.name}/{name}", "GET", path, **more))

    def prepare(self, name: str, path: str, body: Any) -> None:
        """Adds `POST path` whose reply is not compared."""
        self._add(Step(f"{self.name}/{name}", "POST", path, body, prepares=True))

    def watch(self, name: str, path: str, frames: int, poke: str, body: Any) -> None:
        """Opens the event stream `path`, posts `body` to `poke` and reads `frames` frames."""
        self._add(Step(f"{self.name}/{name}", "GET", path, body, stream=frames, poke=poke))

    def _add(self, step: Step) -> None:
        if any(step.name == other.name for other in self.steps):
            raise ValueError(f"two steps are called `{step.name}`")
        self.steps.append(step)


def filled(template: Any, kept: dict[str, Any]) -> Any:
    """`template` with every `${name}` replaced. A string that is one placeholder takes the value's type."""
    if isinstance(template, dict):
        return {filled(key, kept): filled(value, kept) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, kept) for value in template]
    if not isinstance(template, str):
        return template
    if whole := PLACEHOLDER.fullmatch(template):
        return kept.get(whole[1], template)
    return PLACEHOLDER.sub(lambda found: str(kept.get(found[1], found[0])), template)


def count(body: Any) -> Any:
    """How many rows a list has: which of the rows of one second it shows is open."""
    return len(body["result"])


def taken(reply: Any, path: str) -> Any:
    """The value at a dotted path, or `None` where the reply has none."""
    for key in path.split("."):
        if isinstance(reply, list) and key.isdigit() and int(key) < len(reply):
            reply = reply[int(key)]
        elif isinstance(reply, dict):
            reply = reply.get(key)
        else:
            return None
    return reply
