"""Requests are repeated where that is safe: after a pause that doubles, with some chance in it."""

import time
from random import Random
from typing import Any, NamedTuple

from okspca.client.connections import MOST, Connections, Look, LostError, NotSentError
from okspca.client.errors import NO_ANSWER, ServiceError, UndecidedError, contents, error_of
from okspca.client.requests import Answer, Request

#: Answers after which the same request may succeed, and the one that says it was not looked at.
PASSING, TOO_MANY = (408, 429, 502, 503, 504, 507), 429
#: Answers that leave open what became of a request.
UNSURE = (408, 500, 502, 503, 504, 507)
#: Seconds of the first pause, of the longest one, and at most where the service says how long.
FIRST, LONGEST, LONGEST_ASKED = 0.1, 10.0, 300.0


class Sent(NamedTuple):
    """An answer, and whether the same request may have arrived earlier.

    Examples
    --------
    >>> Sent._fields
    ('answer', 'before')
    """

    answer: Answer
    before: bool


class Sender:
    """Sends requests, again and again where need be.

    Parameters
    ----------
    connections : Connections
        What they go over.
    retries : int
        How often a request is repeated.
    random : Random
        Where the chance in pauses comes from, so that not all clients come back at once.
    """

    def __init__(self, connections: Connections, retries: int, random: Random) -> None:
        self.connections, self.retries, self.random = connections, retries, random

    @property
    def url(self) -> str:
        """Address of the service."""
        return self.connections.url

    def ask(self, request: Request, *, most: int = MOST, look: Look | None = None) -> Answer:
        """Send what may be sent twice, and return a good answer."""
        return self.good(self.send(request, most=most, look=look).answer, request)

    def once(self, request: Request) -> Answer:
        """Send what must not be done twice; it is repeated only if it surely did not arrive."""
        return self.good(self.send(request, is_safe=False).answer, request)

    def told(self, request: Request, *, is_safe: bool = True) -> dict[str, Any]:
        """Send a request and read the JSON object of the answer."""
        answer = self.ask(request) if is_safe else self.once(request)
        found: dict[str, Any] = contents(answer, self.url)
        return found

    def good(self, answer: Answer, request: Request) -> Answer:
        """Return an answer that is what was asked for, or raise what it says."""
        if not answer.is_good:
            raise error_of(answer, request, self.url)
        return answer

    def send(
        self,
        request: Request,
        *,
        is_safe: bool = True,
        most: int = MOST,
        look: Look | None = None,
    ) -> Sent:
        """Send a request until it is answered; the last answer counts, good or bad.

        Raises
        ------
        UndecidedError
            There was no answer, and the request may have arrived.
        ServiceError
            There was no connection.
        """
        before = False
        for attempt in range(self.retries + 1):
            wait = 0.0
            try:
                answer = self.connections.exchange(request, most, look)
            except (NotSentError, LostError) as failure:
                is_lost = isinstance(failure, LostError)
                before = before or is_lost
                if attempt == self.retries or (is_lost and not is_safe):
                    kind = UndecidedError if before and request.changes else ServiceError
                    raise kind(NO_ANSWER, f"{failure}.") from failure
            else:
                passes = PASSING if is_safe else (TOO_MANY,)
                if answer.status not in passes or attempt == self.retries:
                    return Sent(answer, before)
                before = before or answer.status in UNSURE
                wait = _asked_wait(answer)
            time.sleep(max(wait, self.pause(attempt)))
        raise AssertionError  # the last attempt returns or raises

    def pause(self, attempt: int) -> float:
        """Seconds before the next attempt."""
        return min(LONGEST, FIRST * 2.0**attempt) * self.random.uniform(0.5, 1.0)


def _asked_wait(answer: Answer) -> float:
    """Seconds that the service asks to wait, if it says a number."""
    said = answer.headers.get("Retry-After") or ""
    return min(LONGEST_ASKED, float(said)) if said.isdecimal() else 0.0
