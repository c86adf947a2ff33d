"""Connections that are slow, endless or no HTTP at all."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from okspca.serve import connections, web
from okspca.serve.settings import Tokens
from tests.serve.live import PATIENCE, PLANT, Live, running

LEARN = (
    b"POST /models/plant/learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
)
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
ROW = b'{"x": [1, 2], "y": 1}'


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    """A server that is not patient."""
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.5)
    monkeypatch.setattr(connections, "MESSAGE_SECONDS", 1.5)
    monkeypatch.setattr(connections, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(connections, "UNREAD_SECONDS", 0.5)
    monkeypatch.setattr(web, "BODY_SECONDS", 1.0)
    with running(tmp_path) as server:
        server.ask("PUT", "/models/plant", PLANT)
        yield server


def opened(live: Live) -> socket.socket:
    return socket.create_connection(("127.0.0.1", live.port), timeout=PATIENCE)


def rest(connection: socket.socket) -> bytes:
    """All that comes until the server hangs up."""
    parts = []
    try:
        while part := connection.recv(1 << 16):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def dripped(connection: socket.socket, drops: Iterator[bytes]) -> bytes:
    """What comes back to somebody who sends a little from time to time, until nobody listens."""
    connection.settimeout(0.05)
    deadline, back = time.monotonic() + PATIENCE, b""
    for drop in drops:
        assert time.monotonic() < deadline, "the connection is held"
        try:
            connection.sendall(drop)
            part = connection.recv(1 << 16)
        except TimeoutError:
            continue
        except ConnectionError:
            return back
        if not part:
            return back
        back += part
    raise AssertionError


def forever(piece: bytes) -> Iterator[bytes]:
    while True:
        yield piece


def test_a_slow_head_is_not_waited_for(live: Live) -> None:
    with opened(live) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        assert b" 408 " in dripped(connection, forever(b"X: y\r\n"))


def test_a_silent_connection_is_not_kept(live: Live) -> None:
    with opened(live) as connection:
        assert b" 408 " in rest(connection)


def test_a_slow_body_is_not_waited_for(live: Live) -> None:
    with opened(live) as connection:
        connection.sendall(LEARN + b"Content-Length: 100000\r\n\r\n")
        back = dripped(connection, forever(b" "))
    assert b" 408 " in back
    assert "did not come in time" in json.loads(back.partition(b"\r\n\r\n")[2])["error"]


def test_a_slow_body_that_nobody_reads_is_not_waited_for(live: Live) -> None:
    unknown = b"POST /no/such/place HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"
    with opened(live) as connection:
        connection.sendall(unknown)
        assert b" 404 " in dripped(connection, forever(b" "))


def test_ends_of_lines_between_requests_keep_nothing_open(live: Live) -> None:
    with opened(live) as connection:
        connection.sendall(HEALTH)
        assert b" 200 " in dripped(connection, forever(b"\r\n"))


def test_a_slow_request_holds_no_other(live: Live) -> None:
    with opened(live) as slow:
        slow.sendall(LEARN + b"Content-Length: 100000\r\n\r\n ")
        assert live.ask("GET", "/healthz").status == 200
        assert live.service.room.taken == 1
        rest(slow)
    assert live.ask("GET", "/healthz").status == 200
    assert live.service.room.taken == 0


@pytest.mark.parametrize(
    "endless",
    [b"f" * 10_000, b"\r\nX: " + b"f" * 10_000, b"X: y\r\n" * 1000],
    ids=["a value", "long headers", "many headers"],
)
def test_an_endless_head_is_cut_off(
    live: Live, endless: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 1e6)
    with opened(live) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ")
        try:
            for _ in range(10_000):
                connection.sendall(endless)
        except ConnectionError:
            return
    raise AssertionError


def test_a_long_head_is_refused_in_json(live: Live) -> None:
    for head in (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n", HEALTH[:-2] + b"X: y\r\n" * 12_000):
        with opened(live) as connection:
            connection.sendall(head + b"Connection: close\r\n\r\n")
            back = rest(connection)
        # Where the server hangs up before all is read, its answer may be lost on the way.
        assert not back or b" 431 " in back


def test_trailers_are_no_headers(tmp_path: Path) -> None:
    token = "admin-0123456789abcdef"
    with running(tmp_path, tokens=Tokens(admin=(token,))) as live, opened(live) as connection:
        path = b"POST /models/plant/learn HTTP/1.1\r\nHost: localhost\r\n"
        chunks = b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
        trailer = f"Authorization: Bearer {token}\r\n\r\n".encode()
        connection.sendall(path + chunks + trailer)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 401 ")


def test_endless_trailers_are_cut_off(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MESSAGE_SECONDS", 1e6)
    with opened(live) as connection:
        connection.sendall(LEARN + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: ")
        try:
            for _ in range(10_000):
                connection.sendall(b"f" * 10_000)
        except ConnectionError:
            return
    raise AssertionError


def test_a_body_in_the_smallest_chunks_is_read(live: Live) -> None:
    row = ROW + b" " * 30_000
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in row) + b"0\r\n\r\n"
    with opened(live) as connection:
        connection.sendall(LEARN + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        LEARN + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        LEARN + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused_in_json(live: Live, data: bytes) -> None:
    with opened(live) as connection:
        connection.sendall(data)
        head, _, body = rest(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["error"] == "This is no valid HTTP request."


def test_what_comes_before_nonsense_is_answered(live: Live) -> None:
    whole = LEARN + b"Content-Length: %d\r\n\r\n" % len(ROW) + ROW
    with opened(live) as connection:
        connection.sendall(whole + b"\x00\x01\x02\r\n\r\n")
        assert b'"learned":1' in rest(connection)


def test_old_requests_without_a_host_are_refused(live: Live) -> None:
    for version in (b"1.0", b"1.1"):
        with opened(live) as connection:
            connection.sendall(b"GET /healthz HTTP/" + version + b"\r\nConnection: close\r\n\r\n")
            assert rest(connection).startswith(b"HTTP/1.1 421 ")


def test_requests_in_a_row_are_all_answered(live: Live) -> None:
    with opened(live) as connection:
        connection.sendall(HEALTH * 49 + HEALTH[:-2] + b"Connection: close\r\n\r\n")
        assert rest(connection).count(b"HTTP/1.1 200 ") == 50


def test_an_answer_that_nobody_reads_is_not_kept(live: Live) -> None:
    script = b"GET /static/uplot/uPlot.iife.min.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
    while live.connections:
        time.sleep(0.01)
    with opened(live) as connection:
        connection.settimeout(0.2)
        try:
            for _ in range(2000):
                connection.sendall(script)
        except (TimeoutError, ConnectionError):
            pass
        assert live.connections
        deadline = time.monotonic() + PATIENCE
        while live.connections:
            assert time.monotonic() < deadline, "the connection is held"
            time.sleep(0.01)
