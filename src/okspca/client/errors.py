"""What a service can answer besides what was asked for, and what can become of a request."""

import json
from typing import Any

from okspca.client.requests import Answer, Request

#: A body that is no JSON, such as the page of a proxy, is shown so far.
MOST_SHOWN = 2000
#: What a service was not there to say.
NO_ANSWER = 0


class ServiceError(RuntimeError):
    """A service refused a request, or none could be reached; nothing was learned.

    Attributes
    ----------
    status : int
        Code of HTTP; 0 where there was no answer.
    sentence : str
        What was wrong, and what to do.
    row, column : int or None, str or None
        Where in the rows it was wrong, if the service says so.
    expected : int or None
        The number that the service expects from the source, where it expected another.

    Examples
    --------
    >>> print(ServiceError(422, "x contains inf at column 'flow'.", row=3, column="flow"))
    x contains inf at column 'flow'.
    """

    def __init__(
        self,
        status: int,
        sentence: str,
        row: int | None = None,
        column: str | None = None,
        expected: int | None = None,
    ) -> None:
        super().__init__(status, sentence, row, column, expected)
        self.status, self.sentence = status, sentence
        self.row, self.column, self.expected = row, column, expected

    def __str__(self) -> str:
        """The sentence alone."""
        return self.sentence


class UndecidedError(ServiceError):
    """A request that teaches a model was sent, but whether it was learned is not known.

    Examples
    --------
    >>> issubclass(UndecidedError, ServiceError)
    True
    """


def error_of(answer: Answer, request: Request, url: str) -> ServiceError:
    """Make the error that an answer stands for."""
    if 300 <= answer.status < 400:
        sentence = (
            f"{url} redirects to {answer.headers.get('Location')!r}, which is not followed, "
            "since the token would go there; give the address where the service itself answers."
        )
        return ServiceError(answer.status, sentence)
    told = _told(answer)
    sentence = str(told.get("error") or f"{url} answered {answer.status} to {request.name}.")
    if answer.status in (401, 403):
        sentence = f"{sentence} {request.name} needs a token of the role {request.role!r}."
    row, column, expected = (told.get(name) for name in ("row", "column", "expected"))
    return ServiceError(answer.status, sentence[:MOST_SHOWN], row, column, expected)


def contents(answer: Answer, url: str) -> Any:
    """Read the JSON of an answer."""
    try:
        return json.loads(answer.body)
    except ValueError as failure:
        sentence = f"{url} answered with something other than JSON; is it an okspca service?"
        raise ServiceError(answer.status, sentence) from failure


def _told(answer: Answer) -> dict[str, Any]:
    """What the body of an error says; nothing if somebody else has written it."""
    try:
        found = json.loads(answer.body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
