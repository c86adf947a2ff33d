"""Bytes that are still on their way: from a pipe, or from a file that is followed as it grows.

Nobody waits in a read that cannot be woken: a source waits for its descriptor and for a request to
stop at once (:class:`Stop`), so that a signal ends an idle pipe without delay and every thread that
reads can be joined.  On request a pipe still hands out what had arrived by then, since nobody can
send that again; a file does not, since it can be read again.

Where pipes cannot be waited for (Windows), a request is noticed after the next bytes.
"""

import contextlib
import io
import os
import select
import stat
import sys
import time
from collections.abc import Sequence
from typing import Any

from okspca.errors import DataError
from okspca.outputs import STANDARD

#: Whether the system can wait for several pipes at once.
CAN_WAIT = sys.platform != "win32"
if sys.platform != "win32":
    import fcntl
    import termios

#: Seconds between two looks at a file that may grow.
LOOK = 0.1
#: Bytes are handed out together if they follow one another so closely, for so many seconds and up
#: to such a size: large pieces are parsed faster, but all that was read must be learned at the end.
GAP, GATHER, MOST = 0.002, 0.05, 1 << 18


class Stop:
    """A request to stop reading, which wakes whoever waits for input.

    Examples
    --------
    >>> with Stop() as stop:
    ...     stop.request()
    ...     stop.wanted, stop.awaited((), None)
    (True, False)
    """

    def __init__(self) -> None:
        self.wanted = False
        self._woken, self._waker = os.pipe()
        if CAN_WAIT:
            os.set_blocking(self._waker, False)

    def __enter__(self) -> "Stop":
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def request(self) -> None:
        """Ask to stop; safe in a signal handler, in any thread, and again."""
        if not self.wanted:
            self.wanted = True
            with contextlib.suppress(OSError):  # nobody is there any more
                os.write(self._waker, b"!")

    def awaited(self, handles: Sequence[int], patience: float | None) -> bool:
        """Wait until one of the descriptors can be read; False if that took too long, or stop."""
        if self.wanted:
            return False
        if not CAN_WAIT:
            return _unwatched(handles, patience)
        ready = select.select([*handles, self._woken], [], [], patience)[0]
        return bool(ready) and self._woken not in ready

    def close(self) -> None:
        """Give the descriptors back."""
        for handle in (self._woken, self._waker):
            with contextlib.suppress(OSError):
                os.close(handle)


def _unwatched(handles: Sequence[int], patience: float | None) -> bool:
    """Wait where pipes cannot be waited for: reading itself has to."""
    if not handles:
        time.sleep(LOOK if patience is None else patience)
    return bool(handles)


class Live:
    """How to read what is still on its way.

    Parameters
    ----------
    stop : Stop
        Ends the reading.
    follow : bool
        Whether files are read on as they grow.
    idle_timeout : float, optional
        Reading ends if nothing came for so many seconds.
    settle : float
        Seconds in which first rows are gathered, so that they show what their columns hold.
    """

    def __init__(
        self,
        stop: Stop,
        *,
        follow: bool = False,
        idle_timeout: float | None = None,
        settle: float = 0.0,
    ) -> None:
        self.stop, self.follow, self.idle_timeout = stop, follow, idle_timeout
        self.settle = settle
        #: Whether an input was left before its end, so that its last line may lack something.
        self.is_cut = False


class Arriving(io.RawIOBase):
    """Bytes as they come: reading waits until there are some, and returns those."""

    def __init__(self, live: Live) -> None:
        self.live, self._heard = live, time.monotonic()

    def readable(self) -> bool:
        """It can be read, and nothing else."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what is there."""
        piece = self._taken(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def comes_within(self, seconds: float) -> bool:
        """Whether there will be something to read, the end included, within some time."""
        raise NotImplementedError

    def _taken(self, most: int) -> bytes:
        """Wait for bytes and return them; none at the end."""
        raise NotImplementedError

    def _silence_left(self) -> float | None:
        """Seconds that may still pass without a byte; None if any number may."""
        limit = self.live.idle_timeout
        return None if limit is None else max(self._heard + limit - time.monotonic(), 0.0)

    def _is_over(self) -> bool:
        """Whether nothing more is waited for: on request, or after too long a silence."""
        return self.live.stop.wanted or self._silence_left() == 0.0


class Pipe(Arriving):
    r"""A pipe, a socket or a terminal.

    Examples
    --------
    >>> out, into = os.pipe()
    >>> with Stop() as stop, Pipe(out, Live(stop)) as pipe:
    ...     _ = os.write(into, b"a,b")
    ...     pipe.read(100), pipe.comes_within(0.0)
    ...     _ = os.write(into, b"\n1,2")
    ...     stop.request()
    ...     pipe.read(100), pipe.read(100), pipe.live.is_cut
    (b'a,b', False)
    (b'\n1,2', b'', True)
    >>> os.close(into)
    """

    def __init__(self, handle: int, live: Live, *, is_own: bool = True) -> None:
        super().__init__(live)
        self._handle, self._is_own = handle, is_own
        #: Bytes that had arrived when a stop was asked for and were not taken yet.
        self._left: int | None = None

    def close(self) -> None:
        """Close the descriptor, unless it is somebody else's."""
        if self._is_own and not self.closed:
            os.close(self._handle)
        super().close()

    def comes_within(self, seconds: float) -> bool:
        """Whether there will be something to read, the end included, within some time."""
        return self._is_over() or self.live.stop.awaited([self._handle], seconds)

    def _taken(self, most: int) -> bytes:
        if self._left is None:
            while not self._is_over():
                if self.live.stop.awaited([self._handle], self._silence_left()):
                    return self._gathered(min(most, MOST))
            self._left, self.live.is_cut = _arrived(self._handle), True
        piece = os.read(self._handle, min(most, self._left)) if self._left else b""
        self._left -= len(piece)
        return piece

    def _gathered(self, most: int) -> bytes:
        """Take what is there and what follows at once."""
        began = time.monotonic()
        pieces = [os.read(self._handle, most)]
        size = len(pieces[0])
        while CAN_WAIT and pieces[-1] and size < most and time.monotonic() - began < GATHER:
            if not self.live.stop.awaited([self._handle], GAP):
                break
            pieces.append(os.read(self._handle, most - size))
            size += len(pieces[-1])
        self._heard = time.monotonic()
        return b"".join(pieces)


def _arrived(handle: int) -> int:
    """Bytes that lie in a pipe."""
    if sys.platform == "win32":
        return 0
    with contextlib.suppress(OSError):
        return int.from_bytes(fcntl.ioctl(handle, termios.FIONREAD, bytes(4)), sys.byteorder)
    return 0


class GrowingFile(Arriving):
    """A file to which others append, read on for ever as by ``tail -f``."""

    def __init__(self, name: str, live: Live) -> None:
        super().__init__(live)
        self._name, self._file = name, io.FileIO(name)

    def close(self) -> None:
        """Close the file as well."""
        self._file.close()
        super().close()

    def comes_within(self, seconds: float) -> bool:
        """Whether there will be something to read, the end included, within some time."""
        deadline = time.monotonic() + seconds
        while not (self._is_over() or os.fstat(self._file.fileno()).st_size > self._file.tell()):
            if time.monotonic() >= deadline:
                return False
            self.live.stop.awaited((), min(LOOK, seconds))
        return True

    def _taken(self, most: int) -> bytes:
        while not self._is_over():
            piece = self._file.read(most)
            if piece:
                self._heard = time.monotonic()
                return piece
            self._check_same()
            self.live.stop.awaited((), LOOK)
        self.live.is_cut = True
        return b""

    def _check_same(self) -> None:
        """Raise where the file is no longer the one that was begun."""
        known = os.fstat(self._file.fileno())
        try:
            found = os.stat(self._name)
        except FileNotFoundError:
            found = None
        if found is None or not os.path.samestat(known, found):
            message = f"{self._name} was moved or replaced while it was followed."
            raise DataError(message)
        if found.st_size < self._file.tell():
            message = f"{self._name} became shorter while it was followed."
            raise DataError(message)


def is_pipe(name: str) -> bool:
    """Whether an input is a pipe or the like, so that its rows come once and when they like.

    Standard input that was redirected from a file is no pipe.

    Examples
    --------
    >>> is_pipe("rows.csv")
    False
    """
    try:
        status = os.fstat(sys.stdin.fileno()) if name == STANDARD else os.stat(name)
    except (OSError, ValueError, AttributeError):  # there is none, or it is in memory
        return False
    return not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode)


def arriving(name: str, live: Live | None) -> Arriving | None:
    """Open an input whose bytes are still on their way; None if it is a plain file."""
    if live is None:
        return None
    if is_pipe(name):
        if name == STANDARD:
            return Pipe(sys.stdin.fileno(), live, is_own=False)
        return Pipe(os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), live)
    return GrowingFile(name, live) if live.follow and name != STANDARD else None
