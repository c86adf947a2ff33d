"""Bytes of an input, unpacked, in pieces: a file, a packed file, or a pipe.

What is packed (gzip, bzip2, xz, Zstandard) is known by its first bytes, not by its name, so a pipe
may be packed too.  A piece may be shorter than was asked for: a pipe hands out what has come, and
unpacks that without waiting for more.
"""

import bz2
import gzip
import io
import lzma
import sys
import tempfile
import time
from collections.abc import Callable
from typing import IO, Any

import pyarrow as pa

from okspca.errors import DataError
from okspca.files.live import Arriving, Live, arriving, is_pipe
from okspca.files.position import Position
from okspca.outputs import STANDARD

#: How much of an input is read at a time, and how much of a file is looked at beforehand.
PIECE = 1 << 20
UNREADABLE = (EOFError, gzip.BadGzipFile, lzma.LZMAError, pa.ArrowInvalid)


class Counted(io.RawIOBase):
    """A file that notes how much of it was read.

    Examples
    --------
    >>> position = Position()
    >>> Counted(io.BytesIO(b"abc"), position).read(2), position.done
    (b'ab', 2)
    """

    def __init__(self, file: Any, position: Position, *, keep_open: bool = False) -> None:
        self._file, self._position, self._keep_open = file, position, keep_open

    def readable(self) -> bool:
        """It can be read, and nothing else."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer from the file."""
        piece = self._file.read(len(buffer))
        buffer[: len(piece)] = piece
        self._position.done += len(piece)
        return len(piece)

    def close(self) -> None:
        """Close the file as well, unless it is everybody's."""
        if not self._keep_open:
            self._file.close()
        super().close()


class Prefixed(io.RawIOBase):
    """A file of which the beginning was read already and is handed out again.

    Examples
    --------
    >>> Prefixed(b"ab", io.BytesIO(b"cd")).read()
    b'abcd'
    """

    def __init__(self, beginning: bytes, rest: Any) -> None:
        self._beginning, self._rest = beginning, rest

    def readable(self) -> bool:
        """It can be read, and nothing else."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer from the beginning, then from the rest."""
        piece, self._beginning = self._beginning[: len(buffer)], self._beginning[len(buffer) :]
        piece = piece or self._rest.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


class Source:
    """Unpacked bytes of one input, with a look ahead.

    Examples
    --------
    >>> source = Source(io.BytesIO(b"abcd").read, "rows.csv")
    >>> source.ahead(2), source.read(3)
    (b'ab', b'abc')
    """

    def __init__(
        self,
        read: Callable[[int], bytes],
        name: str,
        close: Callable[[], None] = lambda: None,
        coming: Arriving | None = None,
    ) -> None:
        self.name, self._read, self._close, self._coming = name, read, close, coming
        self._held, self.has_ended = b"", False
        #: Whether rows may come slowly, and only once.
        self.is_pipe = coming is not None or name == STANDARD or is_pipe(name)

    @property
    def is_live(self) -> bool:
        """Whether bytes are still on their way, and nobody waits for more than is needed."""
        return self._coming is not None

    @property
    def is_cut(self) -> bool:
        """Whether it was left before its end, so that the last line may lack something."""
        return self._coming is not None and self._coming.live.is_cut

    def ahead(
        self,
        size: int,
        lines: int | None = None,
        is_enough: Callable[[bytes], bool] = lambda _: False,
    ) -> bytes:
        """Look at the first bytes, which are kept; so many ``lines`` of them are enough.

        Of what is still on its way, less is enough as well: ``is_enough`` tells once there is
        something to go by, and from then on only what comes soon is waited for.
        """
        deadline = None if self._coming is None else time.monotonic() + self._coming.live.settle
        while not self.has_ended and len(self._held) < size:
            if lines is not None and self._held.count(b"\n") >= lines:
                break
            if deadline is not None and is_enough(self._held) and not self._comes_by(deadline):
                break
            self._held += self._unpacked(size - len(self._held))
        return self._held[:size]

    def read(self, size: int) -> bytes:
        """Up to so many bytes, as many as there are in a file; none at the end."""
        piece, self._held = self._held[:size], self._held[size:]
        while not self.has_ended and len(piece) < size and not (piece and self.is_pipe):
            piece += self._unpacked(size - len(piece))
        return piece

    def file(self) -> io.BufferedReader:
        """The same as a file."""
        return io.BufferedReader(_Unread(self), PIECE)

    def close(self) -> None:
        """Close the file."""
        self._close()

    def _comes_by(self, deadline: float) -> bool:
        """Whether something will have come by then."""
        assert self._coming is not None
        return self._coming.comes_within(max(deadline - time.monotonic(), 0.0))

    def _unpacked(self, size: int) -> bytes:
        try:
            piece = bytes(self._read(size))
        except (*UNREADABLE, OSError) as failure:
            if isinstance(failure, OSError) and failure.errno is not None:
                raise  # it is the disk, not what is on it
            if not self.is_cut:
                told = f"is packed, but cannot be unpacked: {reason(failure)}"
                message = f"{called(self.name)} {told}"
                raise DataError(message) from failure
            piece = b""  # in the middle of something
        self.has_ended = not piece
        return piece


class _Unread(io.RawIOBase):
    """What a source has not handed out, as a file."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._source.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def open_source(name: str, position: Position, live: Live | None = None) -> Source:
    """Open an input; bytes are counted as they are in the file."""
    coming = arriving(name, live)
    file: Any = coming
    if coming is None:
        file = _standard_input() if name == STANDARD else io.FileIO(name)
    raw = Counted(file, position, keep_open=coming is None and name == STANDARD)
    first = b""
    while any(len(first) < len(magic) and magic.startswith(first) for magic in _PACKED):
        piece = raw.read(MOST_MAGIC - len(first))
        if not piece:
            break
        first += piece
    whole = Prefixed(first, raw)
    for magic, unpacked in _PACKED.items():
        if first.startswith(magic):
            # What is still on its way is unpacked without waiting for a full buffer.
            packed = whole if coming is not None else io.BufferedReader(whole, PIECE)
            return Source(unpacked(packed), name, raw.close, coming)
    return Source(whole.read, name, raw.close, coming)


def copied(read: Callable[[int], bytes]) -> IO[bytes]:
    """A file with a copy of all that can be read."""
    copy: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
    while piece := read(PIECE):
        copy.write(piece)
    copy.seek(0)
    return copy


def called(name: str) -> str:
    """What people call an input."""
    return "Standard input" if name == STANDARD else name


def reason(failure: BaseException) -> str:
    """The first line of an error, as a sentence."""
    return f"{(str(failure).splitlines() or ['it ends too early'])[0].rstrip(': .')}."


def _standard_input() -> Any:
    """Standard input without a buffer: a thread that waits in one would block the exit."""
    return getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)


def _gzip(file: Any) -> Callable[[int], bytes]:
    return gzip.GzipFile(fileobj=file).read1


def _bzip2(file: Any) -> Callable[[int], bytes]:
    return bz2.BZ2File(file).read1


def _xz(file: Any) -> Callable[[int], bytes]:
    return lzma.LZMAFile(file).read1


def _zstd(file: Any) -> Callable[[int], bytes]:
    """Unpack by pyarrow, in this thread; it waits for full buffers, so a pipe is copied first."""
    whole = file if isinstance(file, io.BufferedReader) else copied(file.read)
    read: Callable[[int], bytes] = pa.CompressedInputStream(pa.PythonFile(whole, "r"), "zstd").read
    return read


#: How packed bytes begin.
_PACKED = {b"\x1f\x8b": _gzip, b"BZh": _bzip2, b"\xfd7zXZ\x00": _xz, b"\x28\xb5\x2f\xfd": _zstd}
MOST_MAGIC = max(map(len, _PACKED))
