"""The two servers: each on a port of its own, over a fresh home, stopped at the end."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from steps import Step, filled, taken
from wire import OPENER, Reply, Watch, answer

VERSION = "0.0.111"
TOKEN = "compat-operator-token-0123456789abcdef"
ROSTER = """
[[backend]]
id = "fake"
tier = "local"
kind = "openai"
base_url = "{url}/v1"
model = "fake"
good_at = ["summarization"]
can_delegate = true
stream = false
"""
START_S = 90


class Server:
    """A process that answers on a port of its own."""

    name = ""

    def __init__(self, command: list[str], env: dict[str, str], home: Path, port: int) -> None:
        self.home = home
        self.port = port
        self.base = f"http://127.0.0.1:{port}"
        self.kept: dict[str, Any] = {}
        self._log = (home / "log").open("wb")
        self._process = subprocess.Popen(
            command, env=env, cwd=home, stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT
        )

    def wait(self) -> None:
        """Waits until `/healthz` answers."""
        until = time.monotonic() + START_S
        while time.monotonic() < until:
            if self._process.poll() is not None:
                break
            try:
                with OPENER.open(f"{self.base}/healthz", timeout=2) as reply:
                    if reply.status == 200:
                        return
            except OSError:
                time.sleep(0.1)
        tail = (self.home / "log").read_text(errors="replace")[-2000:]
        sys.exit(f"the {self.name} server does not start:\n{tail}")

    def stop(self) -> None:
        """Ends the process and removes its home."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def send(self, step: Step) -> Reply:
        """Sends one step and keeps what it asks to keep."""
        time.sleep(step.pause)
        path, body = self.asked(step)
        if step.stream:
            watch = Watch(self._request(step, path, None), step.stream)
            answer(self._request(Step(step.name, "POST", step.poke), step.poke, json.dumps(body).encode()))
            return watch.reply()
        data = step.raw if step.raw is not None else None if body is None else json.dumps(body).encode()
        reply = answer(self._request(step, path, data))
        for name, where in step.keep.items():
            self.kept[name] = taken(reply.body, where)
        return reply

    def asked(self, step: Step) -> tuple[str, Any]:
        """The path and the body of a step as this server gets them."""
        return filled(step.path, self.kept), filled(step.body, self.kept)

    def _request(self, step: Step, path: str, data: bytes | None) -> urllib.request.Request:
        headers = {"content-type": "application/json"} if data is not None else {}
        if step.token:
            headers["x-operator-token"] = TOKEN
        headers |= step.headers
        return urllib.request.Request(self.base + path, data=data, headers=headers, method=step.method)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _home() -> Path:
    return Path(tempfile.mkdtemp(prefix="adjutant-compat-"))


def _common(home: Path, fakes: str) -> dict[str, str]:
    """The environment that both servers read: the earlier names, with one fake station and one fake model."""
    return {
        "HOME": str(home),
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "LANG": "C.UTF-8",
        "TOOLSERVER_OPERATOR_TOKEN": TOKEN,
        "TOOLSERVER_DEFAULT_LOCI": "home-box=me@127.0.0.1|the machine itself",
        "TOOLSERVER_B_MODEL": "fake",
        "HANDOFF_SPAWN_URL": f"{fakes}/spawn",
        "HANDOFF_SPAWN_TOKEN": "station-token",
        "HUGPY_BASE": fakes,
    }


class Earlier(Server):
    """`abstract-toolserver` as published, on SQLite."""

    name = "earlier"

    def __init__(self, fakes: str) -> None:
        home, port = _home(), free_port()
        env = _common(home, fakes) | {
            "ABSTRACT_TOOLSERVER_HOME": str(home / "config"),
            "TOOLSERVER_PROMPT_INBOX": str(home / "prompts"),
        }
        command = [
            str(installed() / "bin/abstract-toolserver"),
            "serve",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]
        super().__init__(command, env, home, port)


class Ours(Server):
    """`adjutant serve` on SQLite."""

    name = "our"

    def __init__(self, binary: Path, fakes: str) -> None:
        home, port = _home(), free_port()
        data = home / "data"
        data.mkdir(mode=0o700)
        roster = home / "roster.toml"
        roster.write_text(ROSTER.format(url=fakes))
        env = _common(home, fakes) | {
            "ADJUTANT_DATA_DIR": str(data),
            "ADJUTANT_ROSTER": str(roster),
            "ADJUTANT_OPERATOR_TOKEN": TOKEN,
        }
        super().__init__([str(binary), "serve", "--listen", f"127.0.0.1:{port}"], env, home, port)


def installed() -> Path:
    """The private venv of the earlier server, made once."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "adjutant-ci"
    venv = cache / f"toolserver-{VERSION}"
    if not (venv / "bin/abstract-toolserver").exists():
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        package = f"abstract-toolserver[server]=={VERSION}"
        subprocess.run([venv / "bin/pip", "install", "-q", package], check=True)
    return venv
