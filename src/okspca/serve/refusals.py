"""Why a request is refused, as the web and people understand it."""

from http import HTTPStatus
from typing import Any

from okspca.outputs import NO_ROOM


class RefusalError(Exception):
    """A request that changes nothing.

    Parameters
    ----------
    status : HTTPStatus
        What kind of refusal it is.
    sentence : str
        What is wrong, and what to do.
    told : object
        More for programs: ``row``, ``column``, ``expected``.

    Examples
    --------
    >>> refusal = RefusalError(HTTPStatus.CONFLICT, "Number 7 is expected.", expected=7)
    >>> refusal.body()
    {'error': 'Number 7 is expected.', 'expected': 7}
    """

    def __init__(self, status: HTTPStatus, sentence: str, **told: Any) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence
        self.told = {name: value for name, value in told.items() if value is not None}

    @property
    def headers(self) -> dict[str, str]:
        """Headers that go with it."""
        wait = self.told.get("retry_after")
        return {} if wait is None else {"Retry-After": str(wait)}

    def body(self) -> dict[str, Any]:
        """What it tells a program."""
        return {"error": self.sentence, **self.told}


def malformed(sentence: str) -> RefusalError:
    """What was sent is not what it says it is."""
    return RefusalError(HTTPStatus.BAD_REQUEST, sentence)


def unlearnable(sentence: str, row: int | None = None, column: Any = None) -> RefusalError:
    """Rows that cannot be learned, or asked about."""
    return RefusalError(HTTPStatus.UNPROCESSABLE_ENTITY, sentence, row=row, column=column)


def busy(sentence: str, retry_after: int = 1) -> RefusalError:
    """There is too much to do."""
    return RefusalError(HTTPStatus.TOO_MANY_REQUESTS, sentence, retry_after=retry_after)


def broken(sentence: str) -> RefusalError:
    """The service cannot do it now, and cannot tell when it can."""
    return RefusalError(HTTPStatus.SERVICE_UNAVAILABLE, sentence)


def no_room(sentence: str) -> RefusalError:
    """The disk is full."""
    return RefusalError(HTTPStatus.INSUFFICIENT_STORAGE, sentence, retry_after=10)


def unwritten(failure: Exception, what: str) -> RefusalError:
    """Something could not be written: for lack of room, or because of something else."""
    cause = failure.__cause__ if isinstance(failure.__cause__, OSError) else failure
    if getattr(cause, "errno", None) in NO_ROOM:
        return no_room(f"The disk is full: {what}.")
    return broken(f"{what[:1].upper()}{what[1:]}: {failure}")


def unknown(sentence: str) -> RefusalError:
    """There is no such thing."""
    return RefusalError(HTTPStatus.NOT_FOUND, sentence)


def conflict(sentence: str, **told: Any) -> RefusalError:
    """Not as things stand."""
    return RefusalError(HTTPStatus.CONFLICT, sentence, **told)
