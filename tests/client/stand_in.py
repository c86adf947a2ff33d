"""A small service that is told what to do wrong, before or after it has learned."""

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

#: Faults before anything was learned, and after it.
BEFORE = ("drop", "stall", "429", "502", "503", "507")
AFTER = ("learn-drop", "learn-stall", "learn-503", "learn-half")


class StandIn(ThreadingHTTPServer):
    """What it has learned, and the faults that the next requests meet."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults: deque[str] = deque()
        self.tables: dict[str, list[tuple[int, Any]]] = {}
        self.unnumbered: list[Any] = []
        self.seen: list[dict[str, Any]] = []
        self.answers: dict[str, tuple[int, str, bytes]] = {}
        self.status: dict[str, Any] = {"name": "plant", "columns": None, "target": "y"}
        self.retry_after = "0"
        self.closes = False
        self.takes = 0.0
        #: How many bytes more than there are an answer claims to have, if it has a length at all.
        self.claims: int | None = None
        self.chunked = False
        self.lock = threading.Lock()
        self.ended = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: object) -> None:
        """Clients that have left are no error here."""

    def next_of(self, source: str) -> int:
        return len(self.tables.get(source, [])) + 1

    def learn(self, body: Any, query: dict[str, str]) -> tuple[int, Any]:
        with self.lock:
            if "refuse" in str(body):
                return 422, {"error": "x is refused.", "row": 0, "column": "flow"}
            if "source" not in query:
                self.unnumbered.append(body)
                return 200, {"learned": 1, "set_aside": 0, "repeated": False}
            source, number = query["source"], int(query["sequence"])
            expected = self.next_of(source)
            if number > expected:
                return 409, {"error": "A number is missing.", "expected": expected}
            if number < expected:
                return 200, {"learned": 0, "set_aside": 0, "repeated": True}
            self.tables.setdefault(source, []).append((number, body))
            return 200, {"learned": 1, "set_aside": 0, "repeated": False}


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: StandIn

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.handled()

    def do_POST(self) -> None:
        self.handled()

    def do_PUT(self) -> None:
        self.handled()

    def do_DELETE(self) -> None:
        self.handled()

    def handled(self) -> None:
        parts = urlsplit(self.path)
        query = {name: value[0] for name, value in parse_qs(parts.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        seen = {"path": parts.path, "query": query, "body": body, "headers": dict(self.headers)}
        self.server.seen.append({"method": self.command, **seen, "peer": self.client_address})
        self.server.ended.wait(self.server.takes)
        teaches = parts.path.endswith(("/learn", "/label"))
        faults = self.server.faults
        fault = faults.popleft() if faults and (teaches or faults[0] == "drop") else ""
        if fault.removeprefix("learn-") in ("drop", "stall") and not fault.startswith("learn"):
            self.fail(fault)
            return
        if fault.isdecimal():
            self.say(int(fault), {"error": f"Fault {fault}."})
            return
        status, told = self.told(parts.path, query, body, teaches)
        if fault:
            self.fail(fault.removeprefix("learn-"))
        elif isinstance(told, tuple):
            self.answer(status, *told)
        else:
            self.say(status, told)

    def told(self, path: str, query: dict[str, str], body: bytes, teaches: bool) -> Any:
        if path in self.server.answers:
            status, kind, content = self.server.answers[path]
            return status, (kind, content)
        if teaches:
            is_json = self.headers["Content-Type"] == "application/json"
            return self.server.learn(json.loads(body) if is_json else body, query)
        if "/sources/" in path:
            source = unquote(path.rpartition("/")[2])
            return 200, {"source": source, "next": self.server.next_of(source)}
        return 200, self.server.status

    def say(self, status: int, told: Any) -> None:
        self.answer(status, "application/json", json.dumps(told).encode())

    def answer(self, status: int, kind: str, content: bytes, *, cut: int = 0) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if status == 302:
            self.send_header("Location", "http://elsewhere.invalid/")
        if status == 429:
            self.send_header("retry-after", self.server.retry_after)
        if self.server.chunked:
            self.send_header("Transfer-Encoding", "chunked")
            content = b"%x\r\n%s\r\n0\r\n\r\n" % (len(content), content)
        else:
            more = cut or self.server.claims or 0
            self.send_header("Content-Length", str(len(content) + more))
        self.end_headers()
        self.close_connection = self.close_connection or self.server.closes
        self.wfile.write(content)

    def fail(self, fault: str) -> None:
        if fault == "503":
            self.say(503, {"error": "The journal cannot be written."})
            return
        if fault == "half":
            self.answer(200, "application/json", b'{"learned"', cut=10)
        if fault == "stall":
            self.server.ended.wait(1.0)
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(SHUT_RDWR)


@contextmanager
def running() -> Iterator[StandIn]:
    """Start a service for as long as a block runs."""
    with StandIn() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.ended.set()
            server.shutdown()
            thread.join()
