"""How much all requests together may bring at a time."""

from okspca.serve.refusals import busy


class Room:
    """Bytes of bodies that are being read, or worked on; more must come later.

    Parameters
    ----------
    most : int
        How many there may be.

    Examples
    --------
    >>> room = Room(10)
    >>> room.take(8)
    >>> room.take(8)
    Traceback (most recent call last):
    okspca.serve.refusals.RefusalError: Others send so much that this does not fit in; ...
    >>> room.give(8)
    >>> room.taken
    0
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.taken = 0

    def take(self, n: int) -> None:
        """Take room for so many bytes, or refuse."""
        if self.taken + n > self._most:
            message = "Others send so much that this does not fit in; send it again in a moment."
            raise busy(message)
        self.taken += n

    def give(self, n: int) -> None:
        """Give it back."""
        self.taken -= n
