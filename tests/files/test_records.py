"""Pieces of text end with a record, never inside a quoted value, and a cut one is left out."""

import csv
import io
import os
from itertools import pairwise

import pytest
from numpy.random import RandomState

from okspca.errors import DataError
from okspca.files.live import Live, Pipe, Stop
from okspca.files.records import Quotes, pieces, records_end
from okspca.files.sources import Source


def text_of(seed: int) -> bytes:
    """A CSV with line ends, delimiters and quotation marks in its values."""
    random, file = RandomState(seed), io.StringIO()
    signs = ["a", ",", "\n", '"', "5", " "]
    writer = csv.writer(file, lineterminator="\n")
    for _ in range(30):
        writer.writerow(["".join(random.choice(signs, random.randint(1, 5))) for _ in range(3)])
    return file.getvalue().encode()


def handing_out(parts: list[bytes]) -> Source:
    """A source that hands out its bytes in given parts, as a pipe does."""
    coming = iter([*parts, b""])
    return Source(lambda _: next(coming), "-")


@pytest.mark.parametrize("seed", range(20))
def test_pieces_hold_whole_records(seed: int) -> None:
    text = text_of(seed)
    cuts = sorted({0, len(text), *RandomState(seed).randint(0, len(text), 12).tolist()})
    parts = [text[a:b] for a, b in pairwise(cuts)]
    found = list(pieces(handing_out(parts), "utf-8", Quotes(",")))
    assert b"".join(piece for piece, _ in found) == text
    records = [row for piece, _ in found for row in csv.reader(io.StringIO(piece.decode()))]
    assert records == list(csv.reader(io.StringIO(text.decode())))
    before = 0
    for piece, line in found:
        assert line == 1 + text[:before].count(b"\n")
        before += len(piece)


def test_a_mark_inside_a_value_that_is_not_quoted_means_nothing() -> None:
    text = b'1,5" disk\n2,x\n3'
    assert records_end(text, Quotes(",")) == len(text) - 1


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_last_record_counts_unless_it_was_cut_off(is_cut: bool) -> None:
    out, into = os.pipe()
    os.write(into, b"1\n2")
    with Stop() as stop, Pipe(out, Live(stop)) as pipe:
        if is_cut:
            stop.request()
        else:
            os.close(into)
        found = list(pieces(Source(pipe.read, "-", coming=pipe), "utf-8", None))
    if is_cut:
        os.close(into)
    assert found == ([(b"1\n", 1)] if is_cut else [(b"1\n", 1), (b"2", 2)])


def test_records_before_bytes_without_a_meaning_are_handed_out() -> None:
    parts = ["a;b\n1;ü".encode("cp1252"), b"\n2;o\n3;\x81\n4;o\n"]
    coming = pieces(handing_out(parts), "cp1252", Quotes(";"))
    assert next(coming) == (b"a;b\n", 1)
    assert next(coming) == ("1;ü\n2;o\n".encode(), 2)
    with pytest.raises(DataError, match="line 4: this is not cp1252"):
        next(coming)


def test_records_that_end_with_a_quoted_value_are_not_held_back() -> None:
    text = b'1,"a"\n2,"b"\n'
    assert records_end(text, Quotes(",")) == len(text)
    assert records_end(text + b'3,"c', Quotes(",")) == len(text)
