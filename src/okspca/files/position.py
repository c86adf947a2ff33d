"""How far reading has come, and where in which file a row stands."""

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from okspca.outputs import STANDARD

#: Places of so many pieces are remembered; an error is about rows that were read just now.
REMEMBERED = 512


class Piece(NamedTuple):
    """Rows that follow each other in a file: the first one's number, and their lines."""

    first_row: int
    name: str
    first_line: int
    #: The line of every row, where rows and lines do not keep step.
    lines: NDArray[Any] | None = None

    def place(self, row: int) -> str:
        """Say where a row stands."""
        ahead = row - self.first_row
        if not self.first_line:
            return f"{self.name}, row {ahead + 1:,}"
        line = self.first_line + ahead if self.lines is None else int(self.lines[ahead])
        return f"{self.name}, line {line:,}"


class Position:
    """How far reading has come: bytes of all inputs, bytes taken so far, and places of rows.

    Examples
    --------
    >>> position = Position(["-"])
    >>> position.total is None  # nobody knows how much will come
    True
    >>> position.note("rows.csv", 3, first_line=2)
    >>> position.place(2)
    'rows.csv, line 4'
    """

    def __init__(self, inputs: Sequence[str] = ()) -> None:
        known = STANDARD not in inputs and all(Path(name).is_file() for name in inputs)
        self.total = sum(Path(name).stat().st_size for name in inputs) if known else None
        self.done = self.rows = 0
        self._pieces: deque[Piece] = deque(maxlen=REMEMBERED)

    def note(
        self, name: str, rows: int, first_line: int = 0, lines: NDArray[Any] | None = None
    ) -> None:
        """Note that so many more rows were read; a file without lines counts its rows."""
        piece = Piece(self.rows, name, first_line, lines)
        if not self._goes_on(piece):
            self._pieces.append(piece)
        self.rows += rows

    def place(self, row: int) -> str:
        """Say in which file and line a row stands; rows of all inputs count from 0."""
        at = bisect_right(self._pieces, row, key=lambda piece: piece.first_row) - 1
        return self._pieces[at].place(row) if at >= 0 else f"Row {row + 1:,} of the input"

    def place_after(self, rows: int, row: int) -> str:
        """The same for a row that is counted after so many others."""
        return self.place(rows + row)

    def _goes_on(self, piece: Piece) -> bool:
        """Whether the last piece already tells the place of these rows."""
        if not self._pieces or self._pieces[-1].name != piece.name or piece.lines is not None:
            return False
        last = self._pieces[-1]
        ahead = piece.first_row - last.first_row
        return last.lines is None and (
            last.first_line + ahead == piece.first_line if last.first_line else not piece.first_line
        )
