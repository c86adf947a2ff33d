"""Connections of HTTP that cost next to nothing, so that a load measures the server and not itself.

Requests are bytes made beforehand; of an answer the status and the length are read, no more.
"""

import asyncio
import json
from typing import Any, NamedTuple, cast

END = b"\r\n\r\n"
LENGTH = b"content-length:"


class Answer(NamedTuple):
    """What came back.

    Examples
    --------
    >>> Answer(200, b'{"learned": 1}').json()
    {'learned': 1}
    """

    status: int
    body: bytes

    def json(self) -> Any:
        """The body, if it is JSON."""
        return json.loads(self.body)


class Connection(asyncio.Protocol):
    """One connection that is kept alive; one request at a time.

    Examples
    --------
    >>> Connection().is_open
    False
    """

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._data = bytearray()
        self._waiting: asyncio.Future[Answer] | None = None

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent."""
        return self._transport is not None

    async def ask(self, request: bytes) -> Answer:
        """Send a request and wait for its answer."""
        if self._transport is None:
            message = "The connection is closed."
            raise ConnectionResetError(message)
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._waiting

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        # Transports of other loops are transports without being of this class.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Take what came, up to a whole answer."""
        self._data += data
        end = self._data.find(END)
        if end < 0:
            return
        head = bytes(self._data[:end]).lower()
        at = head.find(LENGTH)
        n = int(head[at + len(LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(self._data) < end + len(END) + n:
            return
        body = bytes(self._data[end + len(END) : end + len(END) + n])
        del self._data[: end + len(END) + n]
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(Answer(int(head[9:12]), body))

    def connection_lost(self, failure: Exception | None) -> None:
        """End; whoever waits for an answer is told."""
        self._transport = None
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(failure or ConnectionResetError("The server is gone."))

    def close(self) -> None:
        """Close it."""
        if self._transport is not None:
            self._transport.close()


async def connected(host: str, port: int) -> Connection:
    """Open a connection."""
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(Connection, host, port)
    return connection


def request(
    method: str, path: str, body: bytes = b"", kind: str = "application/json", token: str = ""
) -> bytes:
    r"""Make a request.

    Examples
    --------
    >>> request("GET", "/healthz").splitlines()[0]
    b'GET /healthz HTTP/1.1'
    """
    bearer = f"authorization: Bearer {token}\r\n" if token else ""
    typed = f"content-type: {kind}\r\n" if body else ""
    head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n{bearer}{typed}"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
