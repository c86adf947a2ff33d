"""Text in pieces of whole lines, so that each can be parsed by itself.

Pieces are parsed where they are read.  A parser that reads by itself, in a thread of its own, would
call into Python from there: it waits for full blocks of bytes, which a slow pipe does not send, and
it may still run when the interpreter ends, which aborts the process.
"""

import re
import time
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import pyarrow as pa

from okspca.files.live import Arriving, Live

#: pyarrow counts rows from the start of a piece.
ROW_NUMBER = re.compile(r"Row #\d+: ")
NEWLINE, QUOTE = b"\n", b'"'


def end_of_lines(text: bytes, delimiter: bytes | None = None) -> int:
    r"""Where the last whole line ends; with a delimiter, quoted values may hold line ends.

    Examples
    --------
    >>> end_of_lines(b"1,2\n3,")
    4
    >>> end_of_lines(b'1,"a\nb', b","), end_of_lines(b'1,"a\nb"\n2', b",")
    (0, 8)
    """
    end = text.rfind(NEWLINE) + 1
    # A quotation mark inside a value that is not quoted means nothing, but is rare.
    if delimiter is None or not text.count(QUOTE, 0, end) % 2:
        return end
    return _end_outside_quotes(text, delimiter)


def _end_outside_quotes(text: bytes, delimiter: bytes) -> int:
    """Where the last line ends that does not end inside a quoted value."""
    quoted = re.compile(rb'(?:\A|(?<=[\r\n%s]))"(?:[^"]|"")*(?:"|\Z)' % re.escape(delimiter))
    limit = len(text)
    for found in reversed([match.span() for match in quoted.finditer(text)]):
        end = text.rfind(NEWLINE, found[1], limit) + 1
        if end:
            return end
        limit = found[0]
    return text.rfind(NEWLINE, 0, limit) + 1


def whole_lines(
    read: Callable[[], bytes], is_cut: Callable[[], bool], delimiter: bytes | None = None
) -> Iterator[bytes]:
    r"""Pieces of whole lines of what is read; a last line that was cut off is left out.

    Examples
    --------
    >>> pieces = iter([b"1,2\n3", b",4\n5,", b""])
    >>> list(whole_lines(lambda: next(pieces), lambda: True))
    [b'1,2\n', b'3,4\n']
    """
    held = b""
    while piece := read():
        held += piece
        end = end_of_lines(held, delimiter) if NEWLINE in piece else 0
        if end:
            yield held[:end]
            held = held[end:]
    if held and not is_cut():
        yield held


def readable_part(
    text: bytes,
    parse: Callable[[bytes], object],
    error: type[Exception],
    delimiter: bytes | None = None,
) -> int:
    r"""Where the first line begins that cannot be parsed, in a text that cannot be.

    Examples
    --------
    >>> readable_part(b"1\n2\nx\n4\n", lambda text: list(map(int, text.split())), ValueError)
    4
    """
    ends = [0, *(match.end() for match in re.finditer(NEWLINE, text))]
    good, bad = 0, len(ends) - (text.endswith(NEWLINE) or not text)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            parse(text[: ends[middle]])
            good = middle
        except error:
            bad = middle
    return end_of_lines(text[: ends[good]], delimiter)


class Lines:
    """The whole lines of a text, piece by piece, and how many there were."""

    def __init__(
        self, file: Any, live: Live | None, size: int, count: Callable[[int], None]
    ) -> None:
        self._file, self._live, self._size, self._count = file, live, size, count
        #: Lines of all pieces before the present one.
        self.before = 0

    def pieces(self, delimiter: bytes | None = None) -> Iterator[bytes]:
        """Pieces that end with a line; the first one shows what the columns hold."""
        read = self._file.read
        if self._live is not None and hasattr(self._file, "read1"):
            read = self._file.read1  # what unpacks would wait for as much as was asked for
        found = whole_lines(lambda: read(self._size), self._is_cut, delimiter)
        first = self._settled(found)
        for piece in chain([first] if first else [], found):
            if not piece.isspace():
                yield piece
            self.before += piece.count(b"\n")
            self._count(len(piece))

    def _settled(self, found: Iterator[bytes]) -> bytes:
        """The first piece: of what is still on its way, as much as comes within some time."""
        first = next(found, b"")
        if isinstance(self._file, Arriving):
            deadline = time.monotonic() + self._file.live.settle
            while len(first) < self._size:
                is_enough = first.count(b"\n") > 1
                if is_enough and not self._file.comes_within(max(deadline - time.monotonic(), 0.0)):
                    break
                piece = next(found, b"")
                if not piece:
                    break
                first += piece
        return first

    def _is_cut(self) -> bool:
        """Whether the input was left before its end."""
        return self._live is not None and self._live.is_cut

    def parsed(
        self, piece: bytes, parse: Callable[[bytes], pa.Table], delimiter: bytes | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Parse a piece; where a line cannot be, hand out those before it and name its number."""
        try:
            table = parse(piece)
        except pa.ArrowInvalid as failure:
            good = readable_part(piece, parse, pa.ArrowInvalid, delimiter)
            if good:
                yield from parse(piece[:good]).to_batches()
            line = self.before + piece.count(b"\n", 0, good) + 1
            message = f"line {line}: {ROW_NUMBER.sub('', str(failure))}"
            raise pa.ArrowInvalid(message) from failure
        yield from table.to_batches()
