"""Requests of one source, numbered: each is learned once, whatever is lost on the way.

The service expects the numbers of a source one after the other and learns each of them once.  So a
request that may have arrived is sent again with its number, and counts as answered when the service
says that it is there.  A request whose fate stays open keeps its number: the same rows go on with
it, and other rows let it go first.
"""

import threading
from typing import Any

from okspca.client.errors import ServiceError, UndecidedError, contents, error_of
from okspca.client.requests import LEARN, Answer, Request
from okspca.client.sending import TOO_MANY, UNSURE, Sender

CONFLICT, GONE = 409, 404
#: What these answers say depends on who asks or when, not on what was sent.
PERSONAL = (401, 403, TOO_MANY, *UNSURE)


class Sequence:
    """The numbers of one source at one model; one request at a time.

    Parameters
    ----------
    sender : Sender
        Who sends.
    path : str
        Path of the source, where its next number is asked for.
    source : str
        Its name.
    """

    def __init__(self, sender: Sender, path: str, source: str) -> None:
        self.sender, self.path, self.source = sender, path, source
        self._lock = threading.Lock()
        self._next: int | None = None
        self._undecided: Request | None = None

    def next_number(self) -> int:
        """The number of the next request, as the service tells it."""
        return int(self.sender.told(Request("GET", self.path, LEARN))["next"])

    def learn(self, request: Request) -> dict[str, Any]:
        """Send a request with its number until its fate is known."""
        with self._lock:
            if self._undecided is not None and self._undecided != request:
                self._settle(self._undecided)
            return self._through(request)

    def _settle(self, earlier: Request) -> None:
        """Let the request before go first; an error says that it is about that one."""
        try:
            self._through(earlier)
        except ServiceError as failure:
            failure.add_note("This is about the request before, whose fate was open.")
            raise

    def _through(self, request: Request) -> dict[str, Any]:
        """Send one request, and find out what the answer says about its number."""
        if self._next is None:
            self._next = self.next_number()
        number, before = self._next, self._undecided is not None
        self._undecided = request  # from here on, also if Ctrl-C comes
        try:
            sent = self.sender.send(request.asking(source=self.source, sequence=number))
        except UndecidedError as failure:
            raise self._open(failure) from failure
        except ServiceError:
            self._undecided = request if before else None
            raise
        return self._decided(request, sent.answer, before or sent.before)

    def _decided(self, request: Request, answer: Answer, before: bool) -> dict[str, Any]:
        """Count a request that is in; forget one that is not; otherwise its fate stays open."""
        told = contents(answer, self.sender.url) if answer.is_good else {}
        failure = None if answer.is_good else error_of(answer, request, self.sender.url)
        if failure is not None and failure.status == CONFLICT and failure.expected == self._after():
            told, failure = {"learned": 0, "set_aside": 0, "repeated": True}, None
        if failure is None and (before or not told.get("repeated")):
            self._next, self._undecided = self._after(), None
            return dict(told)
        if failure is None or failure.status == CONFLICT:
            failure = self._misnumbered(failure)
        elif failure.status in UNSURE or (before and failure.status in PERSONAL):
            raise self._open(failure)
        self._undecided = None
        if failure.status in (CONFLICT, GONE):
            self._next = None
        raise failure

    def _after(self) -> int:
        """The number after the one that is under way."""
        assert self._next is not None
        return self._next + 1

    def _misnumbered(self, told: ServiceError | None) -> ServiceError:
        """The service and we do not count alike."""
        if told is not None and told.expected is None:
            return told
        expected = None if told is None else told.expected
        found = "has it already" if expected is None else f"expects {expected}"
        sentence = (
            f"Request {self._next} of source {self.source!r} was not learned: the service {found}. "
            "Another producer uses the same source, or the service was set back; give every "
            "producer a source of its own, and call again to go on with the number it expects."
        )
        return ServiceError(CONFLICT, sentence, expected=expected)

    def _open(self, failure: ServiceError) -> UndecidedError:
        """Say that the fate of a request is open, and that calling again settles it."""
        sentence = (
            f"{failure.sentence} Whether request {self._next} of source {self.source!r} was "
            "learned is not known; call again with the same rows, which are learned once."
        )
        return UndecidedError(failure.status, sentence)


def unnumbered(sender: Sender, request: Request) -> dict[str, Any]:
    """Send a request without a source, which nobody could tell from its repetition."""
    remedy = (
        "It may have been learned, so it was not sent again; with Client(..., source='name') "
        "requests are numbered, and repeated without being learned twice."
    )
    try:
        found: dict[str, Any] = contents(sender.once(request), sender.url)
    except ServiceError as failure:
        if isinstance(failure, UndecidedError) or failure.status in UNSURE:
            sentence = f"{failure.sentence} {remedy}"
            raise UndecidedError(failure.status, sentence) from failure
        raise
    return found
