"""What is wrong in a file, with the place, so that the rows before it can still be had."""

from okspca.errors import DataError


class LineError(DataError):
    """A record of a text file that is refused, and the line on which it begins.

    Examples
    --------
    >>> LineError("rows.csv, line 3 has 1 value, but there are 2 columns.", 3).line
    3
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line
