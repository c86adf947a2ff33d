"""When something other than learning is due: pure functions of row numbers.

Each returns the first row number after ``t``.  Row numbers alone decide, never the way in which the
stream was cut into calls.
"""

#: Rows that are learned at once, at most; features of so many rows fit into fast memory.
CHUNK_ROWS = 512
#: Waiting rows are folded at every multiple of this ...
FOLD_ROWS = 256
#: ... and at every power of two from here on, where the choice of a ridge begins a round.
FIRST_FOLD = 64
#: Answers between folds rest on a factor made at a multiple of this, or of a power of two below ...
REBUILD_ROWS = 128
#: ... where the past fades: by no more than to this share until the next.
LEAST_FADED = 0.875
FIRST_TURN = 192
FIRST_ANCHOR = 64
ANCHOR_RETRY = 8


def next_multiple(t: int, period: int) -> int:
    """Row number after ``t`` that is a multiple of a period.

    Examples
    --------
    >>> next_multiple(0, 10), next_multiple(9, 10), next_multiple(10, 10)
    (10, 10, 20)
    """
    return (t // period + 1) * period


def next_power(t: int, first: int) -> int:
    """Row number after ``t`` that is ``first``, a power of two, or one of those after it.

    Examples
    --------
    >>> next_power(0, 64), next_power(63, 64), next_power(64, 64), next_power(300, 64)
    (64, 64, 128, 512)
    """
    return max(first, 1 << t.bit_length())


def next_fold(t: int) -> int:
    """Row number after ``t`` at which waiting rows are folded into the moment.

    Examples
    --------
    >>> next_fold(0), next_fold(64), next_fold(255), next_fold(256), next_fold(700)
    (64, 128, 256, 512, 768)
    """
    return min(next_power(t, FIRST_FOLD), next_multiple(t, FOLD_ROWS))


def last_rebuild(t: int, forgetting: float) -> int:
    """Row number up to ``t`` at which a factor is made for answers until the next; ``t`` at first.

    Examples
    --------
    >>> [last_rebuild(t, 1.0) for t in (63, 64, 127, 128, 1000)], last_rebuild(1000, 0.99)
    ([63, 64, 64, 128, 896], 1000)
    >>> last_rebuild(1007, 0.99), last_rebuild(1007, 0.5)
    (1000, 1007)
    """
    period = REBUILD_ROWS
    while period > 1 and forgetting**period < LEAST_FADED:
        period //= 2
    return t if t < FIRST_FOLD else max(t // period * period, FIRST_FOLD)


def next_turn(t: int) -> int:
    """Row number after ``t`` at which compressed targets are concentrated.

    More often than at every doubling would cost as much as it spares.

    Examples
    --------
    >>> next_turn(0), next_turn(192), next_turn(500)
    (192, 384, 768)
    """
    turn = FIRST_TURN
    while turn <= t:
        turn *= 2
    return turn


def next_anchor(t: int, *, lacks_directions: bool = False) -> int:
    """Row number after ``t`` at which an alignment gets a new anchor.

    That is at every doubling, and at every multiple of 8 while the anchor lacks directions that the
    target may have by now (a class that came late).

    Examples
    --------
    >>> next_anchor(0), next_anchor(64), next_anchor(70, lacks_directions=True)
    (64, 128, 72)
    """
    doubled = next_power(t, FIRST_ANCHOR)
    return min(doubled, next_multiple(t, ANCHOR_RETRY)) if lacks_directions else doubled
