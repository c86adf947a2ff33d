"""What goes to a service and what comes back, as plain values."""

from email.message import Message
from typing import NamedTuple
from urllib.parse import urlencode

JSON, NDJSON = "application/json", "application/x-ndjson"
ARROW, OCTETS = "application/vnd.apache.arrow.stream", "application/octet-stream"
ASK, LEARN, ADMIN = "ask", "learn", "admin"


class Request(NamedTuple):
    """One request; two of them are the same if they would teach the same.

    Attributes
    ----------
    method, path : str
        Of HTTP; the path is quoted, without what the address of the service begins with.
    role : {"ask", "learn", "admin"}
        Who may.
    kind, body : str, bytes
        What is sent, and as what.
    query : tuple of pairs
        Parameters after the path.
    accept : str
        What is wanted.

    Examples
    --------
    >>> Request("POST", "/models/a/learn", LEARN, query=(("wait", "learned"),)).target
    '/models/a/learn?wait=learned'
    """

    method: str
    path: str
    role: str = ASK
    kind: str = ""
    body: bytes = b""
    query: tuple[tuple[str, str], ...] = ()
    accept: str = JSON

    @property
    def target(self) -> str:
        """Path and parameters."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.method} {self.path}"

    @property
    def changes(self) -> bool:
        """Whether something is different once it was done."""
        return self.method != "GET" and self.role != ASK

    def asking(self, **query: str | int | None) -> "Request":
        """The same with further parameters; None stands for one that is not said."""
        said = ((name, str(value)) for name, value in query.items() if value is not None)
        return self._replace(query=(*self.query, *said))


class Answer(NamedTuple):
    """What a service has answered.

    Examples
    --------
    >>> Answer(200, Message(), b"{}").is_good
    True
    """

    status: int
    headers: Message
    body: bytes

    @property
    def is_good(self) -> bool:
        """Whether it is what was asked for."""
        return 200 <= self.status < 300
