"""What goes over the wire: a request and its reply, and the first frames of an event stream."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# A proxy that the environment names is for the network, not for this machine.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
REQUEST_S = 60
FRAMES_S = 15


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    kind: str
    """`json`, `html`, `text` or `events`."""
    body: Any


def _frame(lines: list[str]) -> dict[str, Any]:
    """A frame of an event stream. Keep-alives and the ids that a stream may have are left out."""
    frame: dict[str, Any] = {}
    for line in lines:
        key, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not key:
            if value.startswith("connected"):
                frame["comment"] = "connected"
        elif key == "data":
            frame[key] = json.loads(value)
        elif key != "id":
            frame[key] = value
    return frame


def answer(request: urllib.request.Request) -> Reply:
    """Sends a request and reads the whole reply; a connection that fails is a reply of status 0."""
    try:
        with OPENER.open(request, timeout=REQUEST_S) as reply:
            return _reply(reply.status, reply.headers.get_content_type(), reply.read())
    except urllib.error.HTTPError as error:
        with error:
            return _reply(error.code, error.headers.get_content_type(), error.read())
    except OSError as error:
        return Reply(0, "none", str(error))


def _reply(status: int, kind: str, data: bytes) -> Reply:
    if kind.endswith("json"):
        return Reply(status, "json", json.loads(data))
    return Reply(status, kind.removeprefix("text/").replace("plain", "text"), data.decode(errors="replace"))


class Watch:
    """Reads the first frames of an event stream beside what the caller does meanwhile."""

    def __init__(self, request: urllib.request.Request, count: int) -> None:
        self._request, self._count = request, count
        self._frames: list[dict[str, Any]] = []
        self._refusal: Reply | None = None
        self._opened = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._opened.wait(FRAMES_S)

    def reply(self) -> Reply:
        """The frames, once there are enough of them or the time is over; else how the stream was refused."""
        self._reader.join(FRAMES_S)
        return self._refusal or Reply(200, "events", self._frames)

    def _read(self) -> None:
        try:
            with OPENER.open(self._request, timeout=REQUEST_S) as stream:
                self._gather(stream)
        except urllib.error.HTTPError as error:
            self._refusal = _reply(error.code, error.headers.get_content_type(), error.read())
        except OSError as error:
            self._refusal = Reply(0, "none", str(error))
        self._opened.set()

    def _gather(self, stream: Iterable[bytes]) -> None:
        lines: list[str] = []
        for line in stream:
            if text := line.decode().rstrip("\r\n"):
                lines.append(text)
            elif lines:
                self._add(_frame(lines))
                lines = []
            if len(self._frames) >= self._count:
                return

    def _add(self, frame: dict[str, Any]) -> None:
        """Adds a frame; what comes before the first event makes one frame, however it was cut."""
        if self._frames and "event" not in frame:
            self._frames[0] |= frame
        else:
            self._frames.append(frame)
        self._opened.set()
