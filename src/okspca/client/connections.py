"""Connections to one service: one is kept per thread, and a request at a time goes over it."""

import re
import selectors
import ssl
import threading
import weakref
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import NamedTuple
from urllib.parse import urlsplit

from okspca import __version__
from okspca.client.errors import NO_ANSWER, ServiceError
from okspca.client.requests import Answer, Request

#: An answer is read so much at a time, and at most so far, unless something else is said.
PIECE, MOST = 1 << 20, 1 << 30
#: What stands in a header must be one line of signs that print.
TOKEN = re.compile(r"[!-~]+")
#: Called with the first bytes of a good answer and its size.
Look = Callable[[bytes, int], None]


class NotSentError(OSError):
    """There was no connection, so the service knows nothing of the request."""


class LostError(OSError):
    """The connection was lost on the way; the service may have done what was asked."""


class Place(NamedTuple):
    """Where a service is.

    Examples
    --------
    >>> Place.of("https://host/okspca/")
    Place(is_safe=True, host='host', port=443, prefix='/okspca')
    """

    is_safe: bool
    host: str
    port: int
    prefix: str

    @classmethod
    def of(cls, url: str) -> "Place":
        """Take an address apart."""
        parts = urlsplit(url)
        if "@" in parts.netloc:
            message = "The url holds a name or a password; give a token instead."
            raise ValueError(message)
        try:
            port = parts.port
        except ValueError:
            port = -1
        schemes = {"http": 80, "https": 443}
        if (
            parts.scheme not in schemes
            or not parts.hostname
            or port == -1
            or parts.query
            or parts.fragment
            or not TOKEN.fullmatch(url)
        ):
            message = f"url={url!r} is no address of a service, such as http://127.0.0.1:8787."
            raise ValueError(message)
        port = schemes[parts.scheme] if port is None else port
        return cls(parts.scheme == "https", parts.hostname, port, parts.path.rstrip("/"))


class _Kept:
    """The connection of one thread; it ends with the thread."""

    def __init__(self, connection: HTTPConnection) -> None:
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


class Connections:
    """Kept connections to one service, one per thread, and the token that goes with requests.

    Parameters
    ----------
    url : str
        Address of the service.
    token : str, optional
        It is shown nowhere.
    timeout : float
        Seconds to wait for a connection, and for each piece of an answer.
    context : ssl.SSLContext, optional
        Whose certificates are trusted; by default, those that the system trusts.
    """

    def __init__(
        self, url: str, token: str | None, timeout: float, context: ssl.SSLContext | None
    ) -> None:
        self.url, self.place, self.timeout = url.rstrip("/"), Place.of(url), timeout
        if token is not None and not TOKEN.fullmatch(token):
            message = "The token holds a sign that no token has, such as a space or a line's end."
            raise ValueError(message)
        self._authorization = (lambda: {}) if token is None else _bearer(token)
        self._context = context
        self._own = threading.local()
        self._all: weakref.WeakSet[_Kept] = weakref.WeakSet()

    def open(self, timeout: float | None = None) -> HTTPConnection:
        """Make a connection of its own, which the caller closes."""
        host, port = self.place.host, self.place.port
        wait = self.timeout if timeout is None else timeout
        if not self.place.is_safe:
            return HTTPConnection(host, port, timeout=wait)
        context = self._context or ssl.create_default_context()
        return HTTPSConnection(host, port, timeout=wait, context=context)

    def exchange(self, request: Request, most: int = MOST, look: Look | None = None) -> Answer:
        """Send a request over the connection of this thread and read the answer.

        Raises
        ------
        NotSentError, LostError
            There was no connection, or it was lost on the way.
        """
        connection = self._connection()
        try:
            self.connect(connection)
            answer, is_last = self._exchanged(connection, request, most, look)
        except BaseException:
            connection.close()  # what comes next must not read the rest of this answer
            raise
        if is_last:
            connection.close()
        return answer

    def connect(self, connection: HTTPConnection) -> None:
        """Connect if need be."""
        if connection.sock is not None:
            return
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as failure:
            sentence = f"The certificate of {self.url} is not trusted: {failure.verify_message}."
            raise ServiceError(NO_ANSWER, sentence) from failure
        except OSError as failure:
            raise NotSentError(self._reason(failure)) from failure

    def begin(self, connection: HTTPConnection, request: Request, **headers: str) -> HTTPResponse:
        """Send a request and return the answer that begins."""
        said = {"Accept": request.accept, "User-Agent": f"okspca/{__version__}"}
        said |= self._authorization() | headers
        if request.kind:
            said["Content-Type"] = request.kind
        try:
            self._send(connection, request, said)
            return connection.getresponse()
        except (OSError, HTTPException) as failure:
            raise LostError(self._reason(failure)) from failure

    def close(self) -> None:
        """Close the connections of all threads; each opens a new one when it needs it."""
        for kept in list(self._all):
            kept.connection.close()

    def _send(self, connection: HTTPConnection, request: Request, headers: dict[str, str]) -> None:
        """Send all of a request, or so much of it that it is answered."""
        body = request.body if request.body or request.method in ("POST", "PUT") else None
        path = self.place.prefix + request.target
        try:
            connection.request(request.method, path, body, headers)
        except (BrokenPipeError, ConnectionResetError):
            # What is too large is refused before all of it was read: the answer may be there.
            if not body:
                raise

    def _exchanged(
        self, connection: HTTPConnection, request: Request, most: int, look: Look | None
    ) -> tuple[Answer, bool]:
        """Answer and whether the connection ends with it."""
        response = self.begin(connection, request)
        try:
            body = self._body(response, most, look)
        except (OSError, HTTPException) as failure:
            raise LostError(self._reason(failure)) from failure
        return Answer(response.status, response.headers, body), response.will_close

    def _body(self, response: HTTPResponse, most: int, look: Look | None) -> bytes:
        """Read an answer piece by piece, however long it claims to be."""
        length, pieces, n = response.length, [], 0
        self._check_size(response, length or 0, most)
        while piece := response.read(PIECE):
            if not n and look is not None and response.status == 200:
                look(piece, most if length is None else length)
            pieces.append(piece)
            n += len(piece)
            self._check_size(response, n, most)
        if length is not None and n < length:
            message = f"the answer ended after {n} of {length} bytes"
            raise ConnectionError(message)
        return b"".join(pieces)

    def _check_size(self, response: HTTPResponse, n: int, most: int) -> None:
        """Refuse an answer that is longer than may be."""
        if n > most:
            sentence = f"The answer of {self.url} is too large: more than {most} bytes."
            raise ServiceError(response.status, sentence)

    def _connection(self) -> HTTPConnection:
        """The connection of this thread; one that the service has closed meanwhile is dropped."""
        kept: _Kept | None = getattr(self._own, "kept", None)
        if kept is None:
            kept = self._own.kept = _Kept(self.open())
            self._all.add(kept)
        sock = kept.connection.sock
        if sock is not None and _has_news(sock):
            kept.connection.close()
        return kept.connection

    def _reason(self, failure: Exception) -> str:
        """Why there was no answer."""
        if isinstance(failure, TimeoutError):
            return f"{self.url} did not answer within {self.timeout:g} s"
        reason = getattr(failure, "strerror", None) or str(failure) or type(failure).__name__
        return f"{self.url} cannot be reached ({reason})"


def _bearer(token: str) -> Callable[[], dict[str, str]]:
    """Keep a token where looking at an object does not show it."""
    return lambda: {"Authorization": f"Bearer {token}"}


def _has_news(sock: object) -> bool:
    """Whether an idle connection can be read: nothing was asked, so it is the end."""
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)  # type: ignore[arg-type]
        return bool(selector.select(0))
