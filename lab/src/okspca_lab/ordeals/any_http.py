"""Connections of HTTP that take any request, and notice every byte that comes back.

:mod:`okspca_lab.ordeals.raw_http` is for speed; here nothing is taken for granted: what comes that
nobody asked for is a failure.
"""

import asyncio
import json
from typing import Any, NamedTuple, cast

#: How long an answer may take, and how long one that is not due is waited for, in seconds.
PATIENCE, GLANCE = 60.0, 0.02
END = b"\r\n\r\n"


class Reply(NamedTuple):
    """What came back.

    Examples
    --------
    >>> Reply(200, "application/json", b'{"rows": 3}').json()
    {'rows': 3}
    """

    status: int
    kind: str
    body: bytes

    def json(self) -> Any:
        """The body, if it is JSON."""
        return json.loads(self.body)


class Wire(asyncio.Protocol):
    """Bytes as they come."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.is_over = False
        self.changed = asyncio.Event()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        # Transports of other loops are transports without being of this class.
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Keep what came."""
        self.data += data
        self.changed.set()

    def connection_lost(self, failure: Exception | None) -> None:
        """End."""
        self.is_over = True
        self.changed.set()

    async def until(self, n: int, mark: bytes = b"") -> bytes:
        """Take so many bytes, or all up to a mark."""
        while len(self.data) < n or (mark and mark not in self.data):
            if self.is_over:
                message = f"The server hung up after {bytes(self.data[:80])!r}."
                raise ConnectionResetError(message)
            self.changed.clear()
            await self.changed.wait()
        end = self.data.find(mark) + len(mark) if mark else n
        taken = bytes(self.data[:end])
        del self.data[:end]
        return taken


class Client:
    """One connection at a time, kept alive where that is possible."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._wire: Wire | None = None
        self._last = b""

    async def ask(self, data: bytes, *, is_head: bool = False) -> Reply:
        """Send a whole request and wait for its answer."""
        wire = await self._connected()
        if wire.data:
            message = f"{bytes(wire.data[:80])!r} came that nobody asked for after {self._last!r}."
            self.close()
            raise RuntimeError(message)
        assert wire.transport is not None
        wire.transport.write(data)
        self._last = data[:300]
        try:
            return await asyncio.wait_for(self._reply(wire, is_head), PATIENCE)
        except BaseException:
            self.close()
            raise

    async def glance(self, data: bytes) -> bytes:
        """Send anything, on a connection of its own; return what comes back soon."""
        self.close()
        wire = await self._connected()
        assert wire.transport is not None
        wire.transport.write(data)
        try:
            return await asyncio.wait_for(wire.until(0, END), GLANCE)
        except (TimeoutError, OSError):
            return bytes(wire.data)
        finally:
            self.close()

    def close(self) -> None:
        """Hang up."""
        if self._wire is not None and self._wire.transport is not None:
            self._wire.transport.close()
        self._wire = None

    async def _connected(self) -> Wire:
        """The connection, or a new one."""
        if self._wire is None or self._wire.is_over:
            loop = asyncio.get_running_loop()
            _, self._wire = await loop.create_connection(Wire, "127.0.0.1", self._port)
        return self._wire

    async def _reply(self, wire: Wire, is_head: bool) -> Reply:
        """Read an answer."""
        status, headers = read_head(await wire.until(0, END))
        if is_head:
            body = b""
        elif "content-length" in headers:
            body = await wire.until(int(headers["content-length"]))
        else:
            body = await _chunks(wire)
        if headers.get("connection") == "close":
            self.close()
        return Reply(status, headers.get("content-type", ""), body)


async def _chunks(wire: Wire) -> bytes:
    """Read a body that comes in chunks."""
    parts = []
    while length := int(await wire.until(0, b"\r\n"), 16):
        parts.append(await wire.until(length))
        await wire.until(2)
    await wire.until(2)
    return b"".join(parts)


def read_head(data: bytes) -> tuple[int, dict[str, str]]:
    r"""Read status and headers of an answer.

    Examples
    --------
    >>> read_head(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
    (200, {'content-length': '2'})
    """
    first, *lines = data.decode("latin-1").strip().split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    return int(first.split()[1]), {name.lower(): value for name, _, value in pairs}
