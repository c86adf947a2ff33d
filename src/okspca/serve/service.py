"""Everything that requests share: the models, who may ask, what is counted, who listens."""

import asyncio
from typing import Any

from okspca.serve.deciding import Change
from okspca.serve.events import Events
from okspca.serve.hosted import Hosted
from okspca.serve.hosts import Hosts
from okspca.serve.metrics import Metrics
from okspca.serve.recorder import Outcome
from okspca.serve.room import Room
from okspca.serve.security import ROLES, Guesses, Places, Rates, Sessions, Tokens
from okspca.serve.settings import Settings


class Service:
    """A service, between its start and its end.

    Parameters
    ----------
    settings : Settings
        All that can be set.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.tokens = Tokens({role: getattr(settings.tokens, role) for role in ROLES})
        self.sessions, self.places = Sessions(), Places(settings)
        self.rates, self.guesses = Rates(settings.requests_per_second), Guesses()
        self.room = Room(settings.max_waiting_bytes)
        self.hosts = Hosts(settings, self._settle)
        self.metrics = Metrics(self.hosts.statuses)
        self.events = Events(self.metrics.recent)
        self.hosts.met.append(self.events.begin)
        self._loop: asyncio.AbstractEventLoop | None = None
        self.is_ending = False

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Open the models; outcomes come to futures of this loop."""
        self._loop = loop
        self.events.start(loop)
        self.hosts.open()

    def begin_to_end(self) -> None:
        """Let go of those who would listen for ever; requests underway are answered."""
        self.is_ending = True
        self.events.end()

    def end(self) -> None:
        """End all models, each with a checkpoint."""
        self.hosts.end()

    async def ask(self, hosted: Hosted, change: Change, *, learned: bool = False) -> dict[str, Any]:
        """Ask for a change and wait until it is on the disk, or learned."""
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        hosted.ask(change, future, waits_for_learner=learned)
        return await future

    async def checkpoint(self, hosted: Hosted) -> dict[str, Any]:
        """Write a checkpoint and wait for it."""
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        hosted.learner.ask_checkpoint(future)
        return await future

    @property
    def reasons(self) -> dict[str, str]:
        """Why the service is not ready, by model; empty when it is."""
        return {"service": "It is ending."} if self.is_ending else self.hosts.troubles

    def _settle(self, told: list[tuple[Any, Outcome]]) -> None:
        """Bring outcomes to those who wait, in the thread of the loop; once for all of a group."""
        waiting = [(future, outcome) for future, outcome in told if future is not None]
        if waiting and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_tell, waiting)


def _tell(waiting: list[tuple[asyncio.Future[dict[str, Any]], Outcome]]) -> None:
    """Set the outcomes of futures; some were given up meanwhile."""
    for future, outcome in waiting:
        if future.done():
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
