"""Cut text into pieces of whole records, and tell on which line each record begins.

A quotation mark at the start of a value opens a text that may hold line ends; elsewhere it is a
sign like any other.
"""

import codecs
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from okspca.errors import DataError
from okspca.files.dialect import wrong_bytes
from okspca.files.sources import PIECE, Source, called

#: A piece of a wide file is larger, so that it holds some rows, but no larger than the second.
ROWS, LARGEST = 1024, 1 << 26
LINE_END = re.compile(rb"\r\n|\n|\r")
SAME_BYTES = ("utf-8", "utf-8-sig", "ascii")


def pieces(source: Source, encoding: str, quotes: "Quotes | None") -> Iterator[tuple[bytes, int]]:
    """Whole records as UTF-8, and the line on which each piece begins.

    A last record that was cut off is left out.  Bytes that have no meaning are named after the
    records before them were handed out.
    """
    held, line, size = b"", 1, PIECE
    utf8 = _Recoded(encoding)
    while piece := source.read(size):
        text = held + utf8.take(piece)
        end = records_end(text, quotes)
        if end:
            yield text[:end], line
            lines = n_lines(text[:end])
            line += lines
            if not source.is_pipe:
                size = min(max(PIECE, ROWS * end // lines), LARGEST)
        held = text[end:]
        if utf8.has_failed:
            raise DataError(wrong_bytes(called(source.name), line + n_lines(held), encoding))
    if held.strip() and not source.is_cut:
        yield held, line


class Quotes:
    r"""Quoted values in a text with a given delimiter.

    Examples
    --------
    >>> Quotes(",").spans(b'1,"a"' + b'\n2,5" wide')
    [(2, 5)]
    """

    def __init__(self, delimiter: str) -> None:
        before = rb"(?:[\r\n]|\A|" + re.escape(delimiter.encode()) + rb") *"
        self._pattern = re.compile(before + rb'("[^"]*(?:""[^"]*)*(?:"|\Z))')

    def spans(self, text: bytes) -> list[tuple[int, int]]:
        """Where quoted values begin and end."""
        return [found.span(1) for found in self._pattern.finditer(text)] if b'"' in text else []


def n_lines(text: bytes) -> int:
    r"""Line ends in a text, of whatever kind.

    Examples
    --------
    >>> n_lines(b"a\r\nb\rc\n"), n_lines(b"a\nb")
    (3, 1)
    """
    # Pairs are looked for only where there are any: it takes ten times as long as single signs.
    returns = text.count(b"\r")
    return text.count(b"\n") + (returns - text.count(b"\r\n") if returns else 0)


def first_lines(text: bytes, lines: int) -> int:
    """Where so many lines end."""
    at = 0
    for _ in range(lines):
        found = LINE_END.search(text, at)
        at = len(text) if found is None else found.end()
    return at


def row_lines(text: bytes, first: int, quotes: Quotes | None) -> NDArray[np.int64]:
    """The line on which each record begins that is not empty."""
    ends = [found.span() for found in LINE_END.finditer(text)]
    starts = np.array([0, *(end for _, end in ends)])
    stops = np.array([*(begin for begin, _ in ends), len(text)])
    lines = first + np.arange(len(starts))
    outside = np.ones(len(starts), dtype=np.bool_)
    spans = [] if quotes is None else quotes.spans(text)
    if spans:
        opened, closed = np.array(spans).T
        span = np.searchsorted(opened, starts, side="left") - 1
        outside = (span < 0) | (starts > closed[span])
    is_empty = (stops == starts) & outside
    return np.asarray(lines[outside & ~is_empty], dtype=np.int64)


def records_end(text: bytes, quotes: Quotes | None) -> int:
    """Where the last whole record ends, or 0."""
    sign = b"\n" if b"\n" in text else b"\r"
    # A carriage return at the very end may be the first half of a line end.
    end = text.rfind(sign, 0, len(text) - (sign == b"\r"))
    spans = [] if quotes is None else quotes.spans(text)
    for opened, closed in reversed(spans):
        if closed <= end:
            break
        if opened < end:
            end = text.rfind(sign, 0, opened)
    return end + 1


class _Recoded:
    """Bytes of any encoding as UTF-8."""

    def __init__(self, encoding: str) -> None:
        self._encoding, self._is_first = encoding, True
        self._decoder = codecs.getincrementaldecoder(encoding)()
        #: Whether bytes came that have no meaning; what came before them was taken.
        self.has_failed = False

    def take(self, piece: bytes) -> bytes:
        """Recode the next bytes."""
        is_first, self._is_first = self._is_first, False
        if self._encoding in SAME_BYTES:
            return piece.removeprefix(codecs.BOM_UTF8) if is_first else piece
        before = self._decoder.getstate()
        try:
            return self._decoder.decode(piece).encode()
        except UnicodeError as failure:
            self.has_failed, self._decoder = True, codecs.getincrementaldecoder(self._encoding)()
            self._decoder.setstate(before)
            good = getattr(failure, "start", 0) - len(before[0])
            return self._decoder.decode(piece[: max(good, 0)]).encode()
