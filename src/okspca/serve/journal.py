"""The journal: entries that are on the disk before anybody is told that they are.

A folder of segments, each named by the number of its first entry.  Entries are appended to the last
one, written and synced together; a segment that is long enough is followed by a new one, and those
whose entries are all in a checkpoint are removed (or moved to a folder that keeps them).

What a crash leaves is a last entry that is not whole: it was never acknowledged, and is cut off.
Anything else that cannot be read, such as damage in the middle or a number that is missing, is
refused: what follows it was acknowledged, and may not be dropped in silence.
"""

import contextlib
import errno
import logging
import os
import threading
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from okspca.errors import StateError
from okspca.outputs import NO_ROOM, flush_folder, remove, replacing
from okspca.serve.entries import MAGIC, MOST_BYTES, Entry, entry_of, frame_at, frames

SUFFIX = ".journal"
DIGITS = 12
#: Brings content and length of a file to the disk; times of the file may wait.
_sync = getattr(os, "fdatasync", os.fsync)
LOGGER = logging.getLogger("okspca.serve")


class NoRoomError(OSError):
    """There is no room for an entry; nothing was written.

    Examples
    --------
    >>> str(NoRoomError(errno.ENOSPC, "No space left on device"))
    '[Errno 28] No space left on device'
    """


class BrokenJournalError(OSError):
    """The disk failed, and nobody knows what is on it; the process must be started again.

    Examples
    --------
    >>> isinstance(BrokenJournalError(errno.EIO, "Input/output error"), OSError)
    True
    """


class Journal:
    """Entries of one model on the disk.

    Parameters
    ----------
    folder : path
        Where segments are.
    segment_bytes : int
        A segment with so many bytes is followed by a new one.
    most_bytes : int
        So much is enough for all segments together; see ``is_full``.
    keep : path, optional
        Where segments go that are no longer needed.

    Examples
    --------
    >>> import tempfile
    >>> from okspca.serve.entries import framed
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder))
    ...     _ = list(journal.replay(after=0))
    ...     journal.append(1, framed(1, Entry(forgotten=("line-3",))))
    ...     journal.close()
    ...     [number for number, _ in Journal(Path(folder)).replay(after=0)]
    [1]
    """

    def __init__(
        self,
        folder: Path,
        *,
        segment_bytes: int = 16 << 20,
        most_bytes: int = 1 << 30,
        keep: Path | None = None,
    ) -> None:
        self.folder, self.keep = folder, keep
        self.segment_bytes, self.most_bytes = segment_bytes, most_bytes
        self.is_broken = False
        #: First number and length of every segment, in order; the last one is written to.
        self._segments: list[tuple[int, int]] = []
        self._handle: int | None = None
        #: Length of the last entry for which there was no room.
        self._refused = 0
        self._lock = threading.Lock()

    @property
    def n_bytes(self) -> int:
        """Length of all segments."""
        with self._lock:
            return sum(length for _, length in self._segments)

    @property
    def is_full(self) -> bool:
        """Whether no more should come before a checkpoint lets go of segments."""
        return self.n_bytes >= self.most_bytes

    def replay(self, after: int) -> Iterator[tuple[int, Entry]]:
        """Read all entries after a number, and be ready to append.

        Raises
        ------
        StateError
            The journal is damaged, or entries are missing.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        flush_folder(self.folder.parent)
        paths = sorted(self.folder.glob(f"*{SUFFIX}"))
        expected = after + 1
        for path in paths:
            first, data = _first_of(path), path.read_bytes()
            if first > expected:
                message = f"{path} begins with entry {first}, but entry {expected} is missing."
                raise StateError(message)
            end = 0
            for after_it, number, content in frames(data):
                end = after_it
                if number >= expected:
                    _check_number(path, number, expected)
                    expected = number + 1
                    yield number, entry_of(content)
            if end < len(data):
                self._cut(path, data, end, is_last=path == paths[-1])
            self._segments.append((first, end))
        if self._segments and self._segments[-1][0] < expected:
            self._open(paths[-1])
        else:
            self._drop_empty(paths)
            self._begin(expected)

    def append(self, number: int, frame: bytes) -> None:
        """Write an entry and sync it.

        Raises
        ------
        NoRoomError
            The disk, or the room for the journal, is full; nothing was written.
        BrokenJournalError
            Writing failed in another way.
        ValueError
            The entry is so long that nobody could read it again.
        """
        if len(frame) > MOST_BYTES:
            message = f"An entry has {len(frame)} bytes, more than {MOST_BYTES}; send fewer rows."
            raise ValueError(message)
        if self.is_broken:
            raise BrokenJournalError(errno.EIO, "An earlier entry could not be synced")
        first, length = self._segments[-1]
        try:
            if length + len(frame) > self.segment_bytes and length:
                self._begin(number)
                first, length = self._segments[-1]
            self._write(frame)
        except OSError as failure:
            self._refused = len(frame)
            self._take_back(length, failure)
        try:
            assert self._handle is not None
            _sync(self._handle)
        except OSError as failure:
            self.is_broken = True
            raise BrokenJournalError(failure.errno, failure.strerror, str(self.folder)) from failure
        with self._lock:
            self._segments[-1] = first, length + len(frame)

    def truncate(self, applied: int) -> None:
        """Let go of segments whose entries all have numbers up to this one."""
        with self._lock:
            starts = [first for first, _ in self._segments]
        for first, after in pairwise(starts):
            if after > applied + 1:
                return
            with contextlib.suppress(FileNotFoundError):
                self._let_go(self._path(first))
            with self._lock:
                self._segments.pop(0)

    def has_room(self) -> bool:
        """Whether an entry could be written that is as long as the last one that could not."""
        if self.is_broken:
            return False
        _, length = self._segments[-1]
        try:
            self._write(bytes(self._refused))
        except OSError:
            return False
        finally:
            self._cut_back(length)
        return not self.is_broken

    def close(self) -> None:
        """Close the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _write(self, frame: bytes) -> None:
        """Write all bytes, however many calls it takes."""
        assert self._handle is not None
        rest = memoryview(frame)
        while rest:
            rest = rest[os.write(self._handle, rest) :]

    def _take_back(self, length: int, failure: OSError) -> None:
        """Cut off what was written of an entry, and say what happened."""
        self._cut_back(length)
        if failure.errno in NO_ROOM and not self.is_broken:
            raise NoRoomError(failure.errno, failure.strerror, str(self.folder)) from failure
        self.is_broken = True
        raise BrokenJournalError(failure.errno, failure.strerror, str(self.folder)) from failure

    def _cut_back(self, length: int) -> None:
        """Bring the last segment back to a length."""
        try:
            if self._handle is not None:
                os.ftruncate(self._handle, length)
                os.lseek(self._handle, length, os.SEEK_SET)
        except OSError:
            self.is_broken = True

    def _let_go(self, path: Path) -> None:
        """Remove a segment, or move it to those that are kept."""
        if self.keep is None:
            path.unlink()
            return
        self.keep.mkdir(parents=True, exist_ok=True)
        try:
            os.replace(path, self.keep / path.name)
        except OSError as failure:
            if failure.errno != errno.EXDEV:
                raise
            with replacing(self.keep / path.name, overwrite=True) as copy:
                copy.write(path.read_bytes())
            path.unlink()

    def _begin(self, number: int) -> None:
        """Begin a segment; if that fails, nothing is left of it."""
        path = self._path(number)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            flush_folder(self.folder)
        except OSError:
            os.close(handle)
            remove(path)
            raise
        self.close()
        self._handle = handle
        with self._lock:
            self._segments.append((number, 0))

    def _open(self, path: Path) -> None:
        """Go on with a segment."""
        self._handle = os.open(path, os.O_RDWR)
        os.lseek(self._handle, 0, os.SEEK_END)

    def _drop_empty(self, paths: Sequence[Path]) -> None:
        """Remove a last segment without entries, whose name the next one will have."""
        if self._segments and not self._segments[-1][1]:
            paths[-1].unlink()
            self._segments.pop()

    def _cut(self, path: Path, data: bytes, end: int, *, is_last: bool) -> None:
        """Cut off an entry that is not whole; refuse damage that entries follow."""
        if not is_last or _later_frame(data, end):
            message = (
                f"{path} is damaged at byte {end}, and entries that were acknowledged follow; "
                "restore the folder from a copy."
            )
            raise StateError(message)
        # It was being written when the process died, so nobody was told that it is there.
        LOGGER.warning("%s: %d bytes of an entry that is not whole go", path, len(data) - end)
        os.truncate(path, end)

    def _path(self, first: int) -> Path:
        """File of the segment that begins with an entry."""
        return self.folder / f"{first:0{DIGITS}}{SUFFIX}"


def _first_of(path: Path) -> int:
    """Number of the first entry of a segment, by its name."""
    if not path.stem.isdecimal():
        message = f"{path} is no segment of a journal; move it away."
        raise StateError(message)
    return int(path.stem)


def _check_number(path: Path, number: int, expected: int) -> None:
    """Raise where an entry is missing."""
    if number != expected:
        message = f"{path} goes on with entry {number}, but entry {expected} is missing."
        raise StateError(message)


def _later_frame(data: bytes, start: int) -> bool:
    """Whether a whole frame begins anywhere after a place."""
    place = data.find(MAGIC, start + 1)
    while place >= 0:
        if frame_at(data, place) is not None:
            return True
        place = data.find(MAGIC, place + 1)
    return False
