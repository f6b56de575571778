"""A station and a model that answer from a script, for both servers alike.

The station answers by the name of the seat that it is asked for, the model by the question. Neither keeps
state.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FEATURES = {"ok": True, "features": ["resume", "fork", "name"], "station": "1.0.150"}


def spawned(asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """The station's answer to a request for a seat."""
    name = asked.get("name") or asked.get("locus") or "seat"
    if "refused" in name:
        return 409, {"ok": False, "error": "a seat of that name runs already"}
    if "broken" in name:
        return 500, {"ok": False, "error": "no terminal"}
    if "vague" in name:
        return 200, {"ok": True, "handle": f"tmux:{name}", "session": "other"}
    if "silent" in name:
        return 200, {"ok": True}
    return 200, {
        "ok": True,
        "handle": f"tmux:{name}",
        "verified": True,
        "session": name,
        "url": f"/seat/{name}",
    }


def answered(asked: dict[str, Any]) -> str:
    """The model's answer to a question about a source."""
    text = asked["messages"][-1]["content"]
    if "in prose" in text:
        return "The cart is red, I think."
    excerpt = next((line for line in text.splitlines() if line.startswith("- ")), "nothing")
    return json.dumps({"answer": "the cart is red", "excerpts": [excerpt]})


class Handler(BaseHTTPRequestHandler):
    """Both fakes behind one port: `/spawn` is the station, `/v1` the model."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        """The station's features, or the model's list."""
        if self.path.startswith("/spawn"):
            self._send(200, FEATURES)
        else:
            self._send(200, {"object": "list", "data": [{"id": "fake", "object": "model"}]})

    def do_POST(self) -> None:
        """A seat, a message for a station, or a completion."""
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if self.path.startswith("/spawn"):
            self._send(*spawned(asked))
        elif self.path.startswith("/api/session/message"):
            self._send(202, {"ok": True})
        else:
            choice = {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": answered(asked)},
            }
            usage = {"prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19}
            self._send(
                200,
                {
                    "id": "c1",
                    "object": "chat.completion",
                    "model": "fake",
                    "choices": [choice],
                    "usage": usage,
                },
            )

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def start() -> tuple[ThreadingHTTPServer, str]:
    """Starts the fakes on a free port: the server and its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"
