"""Pieces of text end with a line, and never inside a quoted value."""

import csv
import io
from itertools import pairwise

import pytest
from numpy.random import RandomState

from okspca.files.lines import end_of_lines, readable_part, whole_lines


def text_of(seed: int) -> bytes:
    """A CSV with line ends, delimiters and quotation marks in its values."""
    random, file = RandomState(seed), io.StringIO()
    signs = ["a", ",", "\n", '"', "5", " "]
    writer = csv.writer(file, lineterminator="\n")
    for _ in range(30):
        writer.writerow(["".join(random.choice(signs, random.randint(1, 5))) for _ in range(3)])
    return file.getvalue().encode()


@pytest.mark.parametrize("seed", range(20))
def test_pieces_hold_whole_records(seed: int) -> None:
    text = text_of(seed)
    cuts = sorted({0, len(text), *RandomState(seed).randint(0, len(text), 12).tolist()})
    coming = iter([*(text[a:b] for a, b in pairwise(cuts)), b""])
    pieces = list(whole_lines(lambda: next(coming), lambda: False, b","))
    assert b"".join(pieces) == text
    records = [row for piece in pieces for row in csv.reader(io.StringIO(piece.decode()))]
    assert records == list(csv.reader(io.StringIO(text.decode())))


def test_a_mark_inside_a_value_that_is_not_quoted_means_nothing() -> None:
    text = b'1,5" disk\n2,x\n3'
    assert end_of_lines(text, b",") == len(text) - 1


def test_a_last_line_counts_unless_it_was_cut_off() -> None:
    for is_cut, wanted in ((False, [b"1\n", b"2"]), (True, [b"1\n"])):
        coming = iter([b"1\n2", b""])
        assert list(whole_lines(lambda c=coming: next(c), lambda cut=is_cut: cut)) == wanted  # type: ignore[misc]


@pytest.mark.parametrize("bad", range(9))
def test_the_first_line_that_cannot_be_read_is_found(bad: int) -> None:
    lines = [b"1\n"] * 9
    lines[bad] = b"x\n"
    found = readable_part(b"".join(lines), lambda text: list(map(int, text.split())), ValueError)
    assert found == 2 * bad
