r"""The sum over the last n blocks of a stream, when blocks can be merged but not subtracted.

Blocks are put on a back stack, together with their running merge.  When the oldest block has to go
and the front stack is empty, the back stack is turned over: from the newest block to the oldest,
each is merged with what came after it.  The top of the front stack is then the merge of all its
blocks, and removing the oldest block is taking the top off.  Every block is merged at most twice,
and a block that has left has left no trace: nothing was ever subtracted.
"""

from typing import Any, Generic, TypeVar

from okspca.numerics.arrays import copied

PartT = TypeVar("PartT")


class TwoStacks(Generic[PartT]):
    """Merges of the last blocks.

    What is stored is never changed in place, so a copy may share it.

    Parameters
    ----------
    n_blocks : int
        Number of blocks that are kept.

    Examples
    --------
    >>> class Total:
    ...     def __init__(self, value):
    ...         self.value = value
    ...     def merge(self, other):
    ...         self.value += other.value
    >>> stacks = TwoStacks(2)
    >>> for value in (1, 10, 100):
    ...     stacks.push(Total(value))
    >>> stacks.total().value
    110
    """

    def __init__(self, n_blocks: int) -> None:
        self.n_blocks = n_blocks
        #: Merges of a block with all newer ones of the front; the oldest block is in the last.
        self.front: tuple[PartT, ...] = ()
        self.back: tuple[PartT, ...] = ()
        self.back_total: PartT | None = None

    def __len__(self) -> int:
        """Number of blocks held."""
        return len(self.front) + len(self.back)

    def push(self, block: PartT) -> None:
        """Add the newest block; the oldest leaves where there are too many."""
        self.back = (*self.back, block)
        self.back_total = merged(self.back_total, block)
        if len(self) > self.n_blocks:
            # Only when the front is used up: so no block is merged more than twice.
            if not self.front:
                self._turn_over()
            self.front = self.front[:-1]

    def total(self) -> PartT | None:
        """Merge of all blocks held, in a new object; None where there are none."""
        if not self.front:
            return None if self.back_total is None else copied(self.back_total)
        return merged(self.front[-1], self.back_total)

    def parts(self) -> dict[str, tuple[PartT, ...]]:
        """Everything held, by name."""
        total = () if self.back_total is None else (self.back_total,)
        return {"front": self.front, "back": self.back, "back_total": total}

    def replace(self, parts: dict[str, tuple[PartT, ...]]) -> None:
        """Hold other parts instead, named as :meth:`parts` names them."""
        self.front, self.back = parts["front"], parts["back"]
        self.back_total = parts["back_total"][0] if parts["back_total"] else None

    def _turn_over(self) -> None:
        """Move the back stack to the front."""
        front: list[PartT] = []
        for block in reversed(self.back):
            front.append(merged(block, front[-1] if front else None))
        self.front, self.back, self.back_total = tuple(front), (), None


def merged(first: Any, second: Any) -> Any:
    """Merge two parts, of which one may be None, in a new object."""
    if first is None or second is None:
        return copied(second if first is None else first)
    together = copied(first)
    together.merge(second)
    return together
