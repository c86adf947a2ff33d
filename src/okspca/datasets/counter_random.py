r"""Gaussian rows by number: any row of a stream can be drawn alone, in any order.

Row i of width w takes the next even number of 64-bit words, rounded up to whole blocks of four, of
the counter-based generator Philox 4x64, from block ``i ceil(w / 4)`` on.  The key is (seed, part):
parts of a study that must not share draws have different part numbers.  A word u gives ``(u >> 11
+ 1/2) / 2^53``, strictly between 0 and 1; two of these give two Gaussians (Box and Muller)::

    r = sqrt(-2 log u_1),   r cos(2 pi u_2),   r sin(2 pi u_2).

Nothing is rejected, so the words of a row are always in the same place.
"""

import numpy as np
from numpy.random import Philox
from numpy.typing import NDArray

WORDS_PER_BLOCK = 4


def gaussian_rows(
    start: int, stop: int, width: int, *, seed: int, part: int = 0
) -> NDArray[np.float64]:
    """Draw rows ``start`` to ``stop - 1`` of a stream of standard normal rows.

    Parameters
    ----------
    start, stop : int
        Numbers of the first row and of the one after the last.
    width : int
        Number of columns.
    seed : int
        Seed of the stream.
    part : int
        Which of the independent streams of that seed.

    Returns
    -------
    ndarray of shape (stop - start, width)
        The rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = gaussian_rows(0, 1000, 3, seed=7)
    >>> np.array_equal(gaussian_rows(500, 501, 3, seed=7)[0], rows[500])
    True
    """
    if not 0 <= start <= stop:
        message = (
            f"start={start}, stop={stop} is not a range of row numbers; let 0 <= start <= stop."
        )
        raise ValueError(message)
    blocks = -(-width // WORDS_PER_BLOCK)
    counter = start * blocks
    random = Philox(key=np.array([seed, part], dtype=np.uint64)).advance(counter)
    n = stop - start
    words = random.random_raw(n * blocks * WORDS_PER_BLOCK).reshape(n, -1)
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
    radius = np.sqrt(-2.0 * np.log(uniform[:, 0::2]))
    angle = 2.0 * np.pi * uniform[:, 1::2]
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=2)
    return np.ascontiguousarray(pairs.reshape(n, -1)[:, :width])
