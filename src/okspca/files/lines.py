"""Text in pieces of whole lines, so that each can be parsed by itself.

Pieces are parsed where they are read.  A parser that reads by itself, in a thread of its own, would
call into Python from there: it waits for full blocks of bytes, which a slow pipe does not send, and
it may still run when the interpreter ends, which aborts the process.
"""

import re
from collections.abc import Callable, Iterator

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
