"""Streams that never end, sharded: producers learn, a coordinator merges snapshots when asked.

Every producer has a model of its own, begun from the same state of zero rows, and goes on learning
while a thread beside it hands out snapshots.  A snapshot is the state after some block, never one
in between, so a merge of snapshots is exactly the model of the rows they count.

Only bytes travel, in the format of model files, over connections that both ends authenticate with a
shared key (:mod:`multiprocessing.connection`); nothing is unpickled.  They are not encrypted: on a
network that is not your own, tunnel them.
"""

import contextlib
import threading
from collections.abc import Sequence
from multiprocessing.connection import Client, Connection, Listener
from typing import Any, Self

from numpy.typing import ArrayLike

from okspca.errors import NotReadyError
from okspca.estimators import OKSPCA
from okspca.state.container import MAX_FILE

Address = tuple[str, int]
REQUEST = b"snapshot"


class Producer:
    """A model that learns one shard, and answers whoever asks for its state.

    Parameters
    ----------
    model : OKSPCA
        Where to begin, such as the state of zero rows that all producers share.
    authkey : bytes
        Key that whoever asks must know.
    address : (host, port)
        Where to listen; port 0 takes a free one, see ``address``.

    Examples
    --------
    >>> from okspca.distributed import Survey, identity
    >>> settings = OKSPCA(1, n_random_features=8, random_state=0)
    >>> start = identity(settings, Survey(settings).add([[0.0], [1.0]], [0.0, 1.0]))
    >>> with Producer(start, b"key") as producer:
    ...     _ = producer.learn([[1.0], [2.0], [4.0]], [0.5, 1.5, 1.0])
    ...     with Coordinator(OKSPCA, [producer.address], b"key") as coordinator:
    ...         merged = coordinator.merged()
    >>> merged.n_samples_seen_
    3
    """

    def __init__(self, model: OKSPCA, authkey: bytes, address: Address = ("localhost", 0)) -> None:
        self.model = model
        self._listener = Listener(address, authkey=authkey)
        bound: Any = self._listener.address
        #: Where it listens.
        self.address: Address = (str(bound[0]), int(bound[1]))
        self._open = True
        threading.Thread(target=self._accept, daemon=True).start()

    def learn(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "Producer":
        """Learn a block; snapshots show the state before or after it."""
        self.model.partial_fit(X, y, sample_weight=sample_weight)
        return self

    def close(self) -> None:
        """Answer no more."""
        self._open = False
        self._listener.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _accept(self) -> None:
        """Give every connection a thread; a caller without the key is turned away."""
        while self._open:
            try:
                connection = self._listener.accept()
            except Exception:  # a wrong key, a caller that left, or the end
                continue
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: Connection) -> None:
        """Send the present state for every request."""
        with contextlib.suppress(EOFError, OSError), connection:
            while connection.recv_bytes(len(REQUEST)) == REQUEST and self._open:
                connection.send_bytes(self.model.to_bytes())


class Coordinator:
    """Asks producers for their states and merges them, in the order of the addresses.

    Parameters
    ----------
    kind : type
        The estimator of all producers.
    addresses : sequence of (host, port)
        Where they listen.
    authkey : bytes
        Their key.
    """

    def __init__(self, kind: type[OKSPCA], addresses: Sequence[Address], authkey: bytes) -> None:
        self.kind = kind
        self.addresses = list(addresses)
        self._authkey = authkey
        self._connections = {number: self._connected(number) for number in range(len(addresses))}
        self._last: list[bytes | None] = [None] * len(self.addresses)

    def snapshots(self, *, allow_stale: bool = False) -> list[OKSPCA]:
        """Ask all producers at once for their states.

        Parameters
        ----------
        allow_stale : bool
            Take the last snapshot of a producer that is gone; otherwise, and where there is none,
            raise an error that names it.
        """
        try:
            silent = self._ask_all()
        except BaseException:
            # Answers may still be on their way, and would be taken for those to the next request.
            self.close()
            raise
        for number, failure in sorted(silent.items()):
            if not (allow_stale and self._last[number]):
                host, port = self.addresses[number]
                message = f"The producer at {host}:{port} does not answer"
                remedy = "allow_stale=True takes its last snapshot, if there is one"
                raise NotReadyError(f"{message}; {remedy}.") from failure
        return [self.kind.from_bytes(state) for state in self._last if state is not None]

    def _ask_all(self) -> dict[int, Exception]:
        """Send all requests, then take every answer; return why some did not come."""
        silent: dict[int, Exception] = {}
        for number in range(len(self.addresses)):
            try:
                if number not in self._connections:  # closed, by an interruption or by the user
                    self._connections[number] = self._connected(number)
                self._connections[number].send_bytes(REQUEST)
            except OSError as failure:
                silent[number] = failure
        for number in set(self._connections) - set(silent):
            try:
                self._last[number] = self._connections[number].recv_bytes(MAX_FILE)
            except (EOFError, OSError) as failure:
                silent[number] = failure
        return silent

    def _connected(self, number: int) -> Connection:
        """Open the connection to a producer."""
        return Client(self.addresses[number], authkey=self._authkey)

    def merged(self, *, allow_stale: bool = False) -> OKSPCA:
        """Merge the present states of all producers into one model."""
        first, *others = self.snapshots(allow_stale=allow_stale)
        for other in others:
            first.merge(other)
        return first

    def close(self) -> None:
        """Leave the producers alone."""
        for connection in self._connections.values():
            connection.close()
        self._connections = {}

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self.close()
