"""Connections that nobody can hold by being slow, or fill by going on for ever.

What a server keeps for a request before it knows who sends it is bounded in time and in bytes: its
head must come soon and be short, the whole of it must come within a time in which any body comes.
Bodies are bounded where they are read.
"""

import asyncio
import json
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from okspca.serve.bodies import JSON
from okspca.serve.web import BODY_SECONDS

#: Line and headers of a request must come within this time, and have no more bytes.
HEAD_SECONDS, MOST_HEAD_BYTES = 20.0, 1 << 16
#: A whole request must come within this time, whether or not anybody reads it.
MESSAGE_SECONDS = BODY_SECONDS + 15.0
LOOK_SECONDS = 5.0
#: Somebody who reads nothing of an answer for this long is not waited for.
UNREAD_SECONDS = 60.0
#: Bytes around each byte of a body that comes in the smallest chunks.
AROUND = 8
AROUND_HEADER = len(": \r\n")


class Bounded(HttpToolsProtocol):
    """One connection."""

    #: When a request began to come; None between requests.
    _since: float | None = None
    _is_head = True
    #: Bytes of its head, of its body, and of all that came since its head.
    _n_head = _n_body = _n_bytes = 0
    _refusal = HTTPStatus.BAD_REQUEST
    #: Bytes of answers that were not taken at the last look, and since when none was.
    _unread, _unread_since = 0, 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._await_head()
        self._unread_since = self.loop.time()
        self._timer = self.loop.call_later(LOOK_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take some bytes."""
        self._n_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        is_idle = self.cycle is None or self.cycle.response_complete
        if self._since is None and is_idle:
            # What comes between requests and begins none stops the clock of idle connections.
            self._await_head()
        elif self._since is not None and self._n_bytes > MOST_HEAD_BYTES + AROUND * self._n_body:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._await_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those that come after a body are dropped, since nobody asks for them."""
        if self._is_head:
            self._n_head += len(name) + len(value) + AROUND_HEADER
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Let a request begin, if its head is not too long."""
        if self._n_head + len(self.url) > MOST_HEAD_BYTES:
            self._refusal = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            message = "The head of the request is too long."
            raise ValueError(message)
        super().on_headers_complete()
        self._is_head, self._n_bytes = False, 0

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._n_body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._since, self._is_head = None, True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, and hang up."""
        self._refuse(self._refusal)

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: the request is answered as any other."""

    def _await_head(self) -> None:
        """Begin to count time and bytes."""
        self._since = self.loop.time()
        self._is_head, self._n_head, self._n_body, self._n_bytes = True, 0, 0, 0

    def _look(self) -> None:
        """Hang up where a request takes too long to come, or its answer to be read."""
        self._timer = self.loop.call_later(LOOK_SECONDS, self._look)
        unread, now = self.transport.get_write_buffer_size(), self.loop.time()
        if not unread or unread < self._unread:
            self._unread_since = now
        self._unread = unread
        if unread and now - self._unread_since > UNREAD_SECONDS:
            self.transport.abort()
            return
        if self._since is None or self.transport.is_closing():
            return
        allowed = HEAD_SECONDS if self._is_head else MESSAGE_SECONDS
        if now - self._since > allowed:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)

    def _refuse(self, status: HTTPStatus) -> None:
        """Say why, where no other answer is on its way, and hang up."""
        cycle = self.cycle
        is_free = cycle is None or cycle.response_complete
        if not is_free and not cycle.more_body:
            # What came before is answered; after that the connection ends.
            cycle.keep_alive = False
            return
        is_asked = self._is_head if is_free else not (cycle.response_started or self.pipeline)
        if is_asked:
            self.transport.write(refusal(status))
        self.transport.close()


#: What is told of connections that end early.
SENTENCES: dict[HTTPStatus, str] = {
    HTTPStatus.BAD_REQUEST: "This is no valid HTTP request.",
    HTTPStatus.REQUEST_TIMEOUT: "The request did not come in time.",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: (
        f"The head of a request may have {MOST_HEAD_BYTES} bytes."
    ),
}


def refusal(status: HTTPStatus) -> bytes:
    """An answer that ends a connection.

    Examples
    --------
    >>> refusal(HTTPStatus.BAD_REQUEST).splitlines()[0]
    b'HTTP/1.1 400 Bad Request'
    """
    body = json.dumps({"error": SENTENCES[status]}).encode()
    lines: list[Any] = [f"HTTP/1.1 {status.value} {status.phrase}", f"content-type: {JSON}"]
    lines += [f"content-length: {len(body)}", "connection: close", "cache-control: no-store"]
    return "\r\n".join([*lines, "", ""]).encode() + body
