"""Requests that no service should trip over, each made from a seed and its number.

Most are whole requests of HTTP with something wrong inside: in the body, in the query, in headers,
in who asks.  To these an answer is due.  Others are no whole requests, or none that HTTP allows; a
service may answer them or hang up.
"""

import json
from random import Random
from typing import Any, NamedTuple

from okspca_lab.ordeals.fuzzing import seeds, spoiled
from okspca_lab.ordeals.serve_bodies import arrow_body, json_body, lines_body

ROLES = ("ask", "learn", "admin")
TOKENS = {role: f"{role}-token-0123456789" for role in ROLES}
#: Models whose rows are counted; nothing here removes them.
COUNTED = ("plant", "labels", "open")
JSON, LINES = "application/json", "application/x-ndjson"
ARROW, STATE = "application/vnd.apache.arrow.stream", "application/octet-stream"
BODIES = {JSON: json_body, LINES: lines_body, ARROW: arrow_body}
KINDS = (
    JSON,
    LINES,
    ARROW,
    STATE,
    "text/csv",
    "",
    "application/json; charset=utf-16",
    "é",
    "a" * 999,
)
ROWS = ("learn", "learn", "learn", "transform", "predict", "label", "explain", "monitor")
READ = ("", "/basis", "/stability", "/drift", "/set-aside", "/sources/a", "/state")
#: Paths without a role.
OPEN = ("/healthz", "/readyz", "/login", "/static/")
QUERIES = (
    *(
        "source=a&sequence=1",
        "source=a&sequence=2",
        "source=b&sequence=0",
        "sequence=1",
        "source=a",
    ),
    *(
        "source=&sequence=1",
        "source=%00&sequence=1",
        "source=%ff&sequence=1",
        "source=a&sequence=-1",
    ),
    *("source=a&sequence=9999999999999999999", "source=a&sequence=%D9%A1", "source=a&sequence=1e3"),
    *("on_error=set-aside", "on_error=", "on_error=refuse", "on_error=set-aside&on_error=none"),
    *(
        "wait=learned",
        "wait=durable",
        "wait=forever",
        "vectors=true",
        "vectors=1",
        "=&=&",
        "%",
        "?",
    ),
    *("source=" + "a" * 129 + "&sequence=1", "a" * 3000, "&" * 2000, "source=%0d%0aX:1&sequence=1"),
)
HEADERS = (
    *(
        "Host: evil.example",
        "Host: localhost:99999999",
        "Host:",
        "Host: [::1",
        "Host: 127.0.0.1:80:80",
    ),
    *(
        "Origin: https://evil.example",
        "Origin: null",
        "Origin: http://[",
        "Origin:",
        "Origin: \xff",
    ),
    *(
        "Cookie: okspca_session=x",
        'Cookie: a={"b": 1}; okspca_session=y',
        "Cookie: =;=;\xe9",
        "Cookie:",
    ),
    *(
        "Authorization: Bearer",
        "Authorization: Basic eDp5",
        "Authorization: Bearer \xff",
        "Authorization:",
    ),
    *(
        "X-CSRF-Token: \xff",
        "Accept: " + ARROW,
        "Accept: */*",
        "Content-Encoding: gzip",
        "Expect: 1",
    ),
    *(
        "X-Forwarded-For: 10.0.0.1",
        "Range: bytes=0-1",
        "If-None-Match: *",
        "TE: trailers",
        "Via: \xe9",
    ),
    *("Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-origin", "Cookie: " + "a=b; " * 800),
)
PATHS = (
    *("/", "/models", "/nothing", "/openapi.json", "/metrics", "/session", "/static/", "/readyz"),
    *("/static/../app.py", "/static/%2e%2e%2fapp.py", "/static/..%5capp.py", "/static/%00.js"),
    *(
        "/static/" + "a" * 300 + ".js",
        "/static//etc/passwd.js",
        "/models/..",
        "/models/%2e%2e/learn",
    ),
    *("/static/uplot/uPlot.min.css", "/static/app.js", "/static/app.js/app.js", "/static/uplot"),
    *(
        "/models/plant/",
        "/models//learn",
        "/models/" + "m" * 5000,
        "/models/pl%61nt",
        "/models/%ff",
    ),
    *(
        "/models/%0d%0aX:%201",
        "//evil.example/",
        "/models/plant%00/learn",
        "/models/plant;a=b",
        "/%",
    ),
    *("/models/\u00e9".encode().decode("latin-1"), "/models/plant/events/", "/login/", "/logout/"),
)
METHODS = (
    "GET",
    "HEAD",
    "OPTIONS",
    "TRACE",
    "PUT",
    "POST",
    "DELETE",
    "PATCH",
    "PROPFIND",
    "CONNECT",
)


class Shot(NamedTuple):
    """One request.

    Attributes
    ----------
    kind : str
        What is wrong with it.
    data : bytes
        What goes over the wire.
    role : str
        Whose token it carries; empty where it has none that counts.
    path : str
        What it asks for.
    is_due : bool
        Whether it must be answered.
    is_head : bool
        Whether its answer has no body.
    counts : str
        The model that learns from it, if it is one whose rows are counted.
    made : str
        The model that it makes, if it makes one.
    """

    kind: str
    data: bytes
    role: str = ""
    path: str = "/"
    is_due: bool = True
    is_head: bool = False
    counts: str = ""
    made: str = ""


class Shots:
    """All requests of a seed.

    Examples
    --------
    >>> shots = Shots(0)
    >>> shots.shot(7) == Shots(0).shot(7)
    True
    """

    def __init__(self, seed: int) -> None:
        self._seed, self._files = seed, seeds()

    def shot(self, number: int) -> Shot:
        """Make a request."""
        random = Random(f"{self._seed}/{number}")
        what = random.random()
        if what < 0.62:
            return _rows(random)
        if what < 0.70:
            return _asked(random)
        if what < 0.76:
            return self._state(random, number)
        if what < 0.80:
            return _made(random, number)
        if what < 0.82:
            return _login(random)
        return _strange(random) if what < 0.92 else _broken(random)

    def _state(self, random: Random, number: int) -> Shot:
        """A file of a model: one with a fault, damaged or lying, or a whole one."""
        is_whole = random.random() < 0.03
        kind, body = ("whole", random.choice(self._files))
        if not is_whole:
            kind, body = spoiled(random.randrange(1 << 40), self._files)
        head = Head("PUT", f"/models/s{number}", "admin")
        made = f"s{number}"
        return Shot(f"state: {kind}", head.sent(body, STATE), "admin", head.path, made=made)


class Head(NamedTuple):
    """The beginning of a request."""

    method: str
    path: str
    role: str = ""
    query: str = ""
    more: tuple[str, ...] = ()

    def sent(self, body: bytes = b"", kind: str = "", *, chunks: bool = False) -> bytes:
        """The request as a whole."""
        lines = [f"{self.method} {self.path}{'?' * bool(self.query)}{self.query} HTTP/1.1"]
        if not any(line.startswith("Host:") for line in self.more):
            lines.append("Host: localhost")
        if self.role:
            lines.append(f"Authorization: Bearer {TOKENS[self.role]}")
        lines += [f"Content-Type: {kind}"] * bool(kind)
        lines += ["Transfer-Encoding: chunked" if chunks else f"Content-Length: {len(body)}"]
        head = "\r\n".join([*lines, *self.more]).encode("latin-1") + b"\r\n\r\n"
        return head + (chunked(body) if chunks else body)


def chunked(body: bytes, size: int = 700) -> bytes:
    """A body in chunks."""
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def _rows(random: Random) -> Shot:
    """Rows to learn or to ask about."""
    kind = random.choice((JSON, JSON, LINES, ARROW))
    body = BODIES[kind](random)
    model, what = random.choice((*COUNTED, *COUNTED, "nobody")), random.choice(ROWS)
    role = random.choice(("admin", "learn", "learn", "ask", ""))
    query = random.choice((*QUERIES, *["on_error=set-aside"] * 30)) if random.random() < 0.6 else ""
    more = (random.choice(HEADERS[-11:]),) if random.random() < 0.2 else ()
    head = Head("POST", f"/models/{model}/{what}", role, query, more)
    sent = head.sent(body, kind, chunks=random.random() < 0.2)
    counts = model if what in ("learn", "label") and model in COUNTED else ""
    return Shot(f"{what}: {kind.rpartition('/')[2]}", sent, role, head.path, counts=counts)


def _asked(random: Random) -> Shot:
    """Something to be told."""
    path = random.choice(
        ("/models", "/metrics", "/openapi.json", "/session", "/readyz", "/healthz")
    )
    if random.random() < 0.7:
        path = f"/models/{random.choice((*COUNTED, 'nobody'))}{random.choice(READ)}"
    role, query = random.choice((*ROLES, "")), random.choice((*QUERIES, "", ""))
    method = "HEAD" if random.random() < 0.1 else "GET"
    head = Head(method, path, role, query)
    return Shot("asked", head.sent(), role, path, is_head=method == "HEAD")


def _made(random: Random, number: int) -> Shot:
    """A model to be made, or a route of one that changes it."""
    role = random.choice(("admin", "admin", "learn", ""))
    if random.random() < 0.7:
        head = Head("PUT", f"/models/m{number}", role)
        body = json_body(random)
        return Shot("create", head.sent(body, JSON), role, head.path, made=f"m{number}")
    routes = ("POST checkpoint", "POST relearn", "DELETE sources/a", "DELETE sources/%00")
    method, _, what = random.choice(routes).partition(" ")
    head = Head(method, f"/models/{random.choice(COUNTED)}/{what}", role)
    return Shot("change", head.sent(), role, head.path)


def _login(random: Random) -> Shot:
    """Tokens and sessions."""
    path = random.choice(("/login", "/login", "/logout"))
    tokens: tuple[Any, ...] = (*TOKENS.values(), "x" * 20, "", 7, None, [], "\ud800", "a" * 50_000)
    body = json.dumps({"token": random.choice(tokens)}).encode()
    body = json_body(random) if random.random() < 0.4 else body
    head = Head("POST", path, "", "", (random.choice(HEADERS[10:21]),))
    return Shot("login", head.sent(body, JSON), "", path)


def _strange(random: Random) -> Shot:
    """A whole request that nobody would send."""
    method, path = random.choice(METHODS[:-1]), random.choice(PATHS)
    # One that may remove models is not let near those that are counted.
    roles = ("ask", "learn", "") if method == "DELETE" else (*ROLES, "")
    role, kind = random.choice(roles), random.choice(KINDS)
    more = tuple(random.choice(HEADERS) for _ in range(random.randrange(4)))
    if random.random() < 0.3:
        path, method = random.choice(PATHS[:4]), "GET"
        more += tuple(f"X-Flood-{i}: {'f' * 40}" for i in range(random.choice((10, 100, 300))))
    body = random.choice((b"", b"", json_body(random)[:2000]))
    is_whole = all(ord(letter) < 128 for letter in path) and path[-1:] != "%"
    hosts = sum(line.startswith("Host") for line in more) < 2
    head = Head(method, path, role, "", more)
    sent = head.sent(body, kind)
    is_known = not any(line.startswith("Authorization") for line in more)
    due = is_whole and hosts and is_known
    return Shot("strange", sent, role, path, is_due=due, is_head=method == "HEAD")


def _broken(random: Random) -> Shot:
    """What is no request, or only the beginning of one; nothing in it may count."""
    head = Head("POST", "/models/nobody/transform", "admin")
    whole = head.sent(b'{"x": [1, 2]}', JSON)
    top = whole.partition(b"\r\n\r\n")[0] + b"\r\n"
    length = b"Content-Length: 13\r\n"
    made = (
        whole[: random.randrange(len(whole))],
        random.randbytes(random.randint(1, 3000)),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + random.randbytes(200),
        top + length + b"\r\n{}",
        top + b"Content-Length: 5\r\n\r\n{}",
        top + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        top.replace(length, b"") + b"Transfer-Encoding: chunked\r\n\r\n" + random.choice(CHUNKS),
        top.replace(length, b"Content-Length: 9" + b"9" * 30 + b"\r\n") + b"\r\n",
        top.replace(length, b"Content-Length: -1\r\n") + b"\r\n",
        top.replace(length, b"Transfer-Encoding: gzip, chunked\r\n") + b"\r\n",
        whole.replace(b"Host: localhost\r\n", b""),
        whole.replace(
            b"HTTP/1.1", random.choice((b"HTTP/1.0", b"HTTP/9.9", b"HTTP/0.9", b"", b"ICY"))
        ),
        whole.replace(
            b"POST", random.choice((b"CONNECT", b"post", b"P" * 999, b"", b"SOURCE", b"PRI"))
        ),
        whole.replace(
            b"/models", random.choice((b"*", b"http://evil/models", b" ", b"\x00", b"#"))
        ),
        whole.replace(b"\r\n", b"\n"),
        whole.replace(b": ", random.choice((b" : ", b":\x00", b"", b":\r\n "))),
        whole * random.choice((2, 20)),
        whole + top,
        top + b"X: " + b"f" * random.choice((70_000, 400_000)),
        top + b"".join(b"X-%d: y\r\n" % i for i in range(random.choice((2000, 9000)))) + b"\r\n",
        b"GET /"
        + b"a" * random.choice((70_000, 300_000))
        + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        Head("GET", "/models/plant/events", "ask").sent(),
        Head("HEAD", "/models/plant/events", "ask").sent(),
        Head("GET", "/", "ask", "", ("Connection: Upgrade", "Upgrade: websocket")).sent(),
        Head("POST", "/models/plant/learn", "", "", ("Expect: 100-continue",)).sent(b"{}", JSON),
    )
    return Shot("broken", random.choice(made), "admin", is_due=False)


CHUNKS = (
    *(b"zz\r\n{}\r\n0\r\n\r\n", b"2\r\n{}", b"ffffffffffffffff\r\n{}", b"2;a=b\r\n{}\r\n0\r\n\r\n"),
    *(
        b"-2\r\n{}\r\n0\r\n\r\n",
        b"2\n{}\n0\n\n",
        b"2\r\n{}XX0\r\n\r\n",
        b"0\r\nX: 1\r\n\r\n",
        b"\r\n",
    ),
)
