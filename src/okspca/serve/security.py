"""Who may ask for what: tokens with roles, sessions of the page, and where requests come from.

Tokens are compared in constant time, and all of them each time.  A session is what the page gets
for a token: a cookie that scripts cannot read and other sites cannot send, and a second secret that
changes must carry in a header.  Host and Origin are checked on every request, so that a page of
another site cannot reach a service on the loopback by another name for it.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from okspca.serve.settings import Settings, is_loopback

#: Each may do what those before it may.
ROLES = ("ask", "learn", "admin")
COOKIE, CSRF_HEADER = "okspca_session", "x-csrf-token"
SESSION_SECONDS, MOST_SESSIONS = 12 * 3600.0, 1000
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
SAFE = ("GET", "HEAD", "OPTIONS")


def may(role: str | None, needed: str) -> bool:
    """Whether a role suffices.

    Examples
    --------
    >>> may("admin", "learn"), may("ask", "learn"), may(None, "ask")
    (True, False, False)
    """
    return role is not None and ROLES.index(role) >= ROLES.index(needed)


class Session(NamedTuple):
    """What the page has been given for a token."""

    role: str
    csrf: str
    until: float


class Tokens:
    """The tokens of a service, by role; without any, everybody may do everything.

    Examples
    --------
    >>> tokens = Tokens({"ask": ("a-token-to-ask-with",), "learn": (), "admin": ()})
    >>> tokens.role_of("a-token-to-ask-with"), tokens.role_of("another")
    ('ask', None)
    """

    def __init__(self, tokens: Mapping[str, Sequence[str]]) -> None:
        # Digests have one length, so comparing them tells nothing about that of a token.
        self._digests = [(_digest(token), role) for role in ROLES for token in tokens.get(role, ())]

    @property
    def are_set(self) -> bool:
        """Whether a token is needed."""
        return bool(self._digests)

    def role_of(self, token: str) -> str | None:
        """The highest role of a token; None if it is none of ours."""
        digest, found = _digest(token), None
        for known, role in self._digests:
            if hmac.compare_digest(digest, known):
                found = role
        return found


def _digest(token: str) -> bytes:
    """What stands for a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


class Sessions:
    """Sessions of the page; they end with the process.

    There are so many of each role: whoever may only ask ends no session of those who may more.

    Examples
    --------
    >>> sessions = Sessions()
    >>> name, session = sessions.begin("ask")
    >>> sessions.find(name) == session, sessions.find("another")
    (True, None)
    """

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def begin(self, role: str) -> tuple[str, Session]:
        """Begin a session; where there are too many, the oldest ends."""
        alike = [name for name, session in self._sessions.items() if session.role == role]
        if len(alike) >= MOST_SESSIONS:
            del self._sessions[alike[0]]
        name = secrets.token_urlsafe(32)
        session = Session(role, secrets.token_urlsafe(32), time.monotonic() + SESSION_SECONDS)
        self._sessions[name] = session
        return name, session

    def find(self, name: str) -> Session | None:
        """The session of a cookie, if it has not ended."""
        session = self._sessions.get(name)
        if session is not None and session.until < time.monotonic():
            del self._sessions[name]
            return None
        return session

    def end(self, name: str) -> None:
        """End a session."""
        self._sessions.pop(name, None)


class Places:
    """Names under which the service may be called, and sites that may call it.

    Parameters
    ----------
    settings : Settings
        Where it listens, and under what names it is known.
    """

    def __init__(self, settings: Settings) -> None:
        names = {_without_port(name) for name in settings.allowed_hosts}
        self._is_open = not is_loopback(settings.host) and not names
        own = f"[{settings.host}]" if ":" in settings.host else settings.host.lower()
        # Who calls the loopback by its own names is on this machine.
        self._hosts = names | {own} | set(LOOPBACK_NAMES)

    def is_ours(self, host: str | None) -> bool:
        """Whether the Host of a request is one of our names."""
        if not host:
            return False
        return self._is_open or _without_port(host) in self._hosts

    def is_sent_by_others(self, site: str | None, mode: str | None) -> bool:
        """Whether a page of another site asks, as browsers say; people may follow a link."""
        return site in ("cross-site", "same-site") and mode != "navigate"

    def is_same(self, origin: str | None, host: str | None) -> bool:
        """Whether a request comes from our own page, or from no page."""
        if origin is None:
            return True
        try:
            return urlsplit(origin).netloc.lower() == (host or "").lower()
        except ValueError:
            return False


def _without_port(host: str) -> str:
    """A name without its port."""
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdecimal() else host.lower()


class Rates:
    """How often each may ask: so many requests a second, with a second's worth in store.

    Examples
    --------
    >>> rates = Rates(2.0)
    >>> [rates.allows("line-3", now=0.0) for _ in range(3)]
    [True, True, False]
    """

    MOST = 10_000

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._known: dict[str, tuple[float, float]] = {}

    def allows(self, who: str, now: float) -> bool:
        """Whether one more request is allowed."""
        if not self._per_second:
            return True
        # Whoever may ask once in a while may ask once.
        most = max(self._per_second, 1.0)
        store, then = self._known.pop(who, (most, now))
        store = min(most, store + (now - then) * self._per_second)
        if len(self._known) >= self.MOST:
            del self._known[next(iter(self._known))]
        self._known[who] = max(store - 1.0, 0.0) if store >= 1.0 else store, now
        return store >= 1.0


class Guesses:
    """Wrong tokens on the login page: after some, an address has to wait before each further one.

    Programs with a token are not affected, nor are people at other addresses.

    Examples
    --------
    >>> guesses = Guesses(most=2)
    >>> for now in (0.0, 0.0):
    ...     guesses.note("10.0.0.7", now)
    >>> guesses.seconds_left("10.0.0.7", 0.0), guesses.seconds_left("10.0.0.8", 0.0)
    (2.0, 0.0)
    """

    MOST = 10_000

    def __init__(self, most: int = 10, seconds: float = 2.0) -> None:
        self._most, self._seconds = most, seconds
        #: When all guesses of an address are forgotten: each one adds some seconds.
        self._until: dict[str, float] = {}

    def note(self, address: str, now: float) -> None:
        """Note a wrong token."""
        until = self._until.pop(address, now)
        if len(self._until) >= self.MOST:
            del self._until[next(iter(self._until))]
        self._until[address] = max(until, now) + self._seconds

    def seconds_left(self, address: str, now: float) -> float:
        """How long an address has to wait."""
        owed = self._until.get(address, now) - now
        return max(owed - (self._most - 1) * self._seconds, 0.0)
