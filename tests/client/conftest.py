"""A service to talk to, and pauses that do not last."""

from collections.abc import Iterator
from typing import Any

import pytest

from okspca.client import Client
from tests.client import stand_in


@pytest.fixture
def server() -> Iterator[stand_in.StandIn]:
    with stand_in.running() as found:
        yield found


@pytest.fixture
def client(server: stand_in.StandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Make clients of it, which are closed in the end."""
    monkeypatch.setattr("okspca.client.sending.FIRST", 1e-4)
    made = []

    def make(**settings: Any) -> Client:
        made.append(Client(server.url, **{"retries": 3, "random_state": 0, **settings}))
        return made[-1]

    yield make
    for one in made:
        one.close()
