r"""Bounded pairs with a known cross-covariance, for studies that must know the truth.

With independent Gaussian g_x and g_e and a d_x x d_y matrix C whose norm is at most 1::

    x = sqrt(d_x) g_x / ||g_x||,   e = sqrt(d_y) g_e / ||g_e||,   y = C^T x + B e,

where ``B = (I - C^T C)^{1/2}`` is the symmetric root.  Then x and y have mean zero, ``cov(x) = I``,
``cov(y) = I`` and ``cov(x, y) = C`` exactly, and both are bounded: ``||x|| = sqrt(d_x)`` and
``||y|| <= ||C|| sqrt(d_x) + ||B|| sqrt(d_y)``.

Every row can be drawn alone (see :mod:`okspca.datasets.counter_random`).
"""

import numpy as np
from numpy.typing import NDArray

from okspca.datasets.counter_random import gaussian_rows

STREAM = 1


def spherical_pairs(
    n: int, cross_covariance: NDArray[np.float64], seed: int = 0, *, start: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw rows ``start`` to ``start + n - 1`` of the stream of a seed.

    Parameters
    ----------
    n : int
        Number of rows.
    cross_covariance : ndarray of shape (d_x, d_y)
        The matrix C; its norm must not exceed 1.
    seed : int, default=0
        Seed of the stream.
    start : int, default=0
        Number of the first row.

    Returns
    -------
    X : ndarray of shape (n, d_x)
        Inputs, on a sphere.
    Y : ndarray of shape (n, d_y)
        Responses.

    Examples
    --------
    >>> import numpy as np
    >>> C = np.array([[0.6], [0.0]])
    >>> X, Y = spherical_pairs(100_000, C)
    >>> (X.T @ Y / 100_000).round(2).ravel().tolist()
    [0.6, 0.0]
    >>> np.array_equal(spherical_pairs(1, C, start=99_999)[1][0], Y[-1])
    True
    """
    d_x, d_y = cross_covariance.shape
    B = noise_root(cross_covariance)
    g = gaussian_rows(start, start + n, d_x + d_y, seed=seed, part=STREAM)
    X, E = _on_sphere(g[:, :d_x]), _on_sphere(g[:, d_x:])
    return X, _row_products(X, cross_covariance) + _row_products(E, B)


def noise_root(cross_covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return B, the symmetric root of ``I - C^T C``.

    Examples
    --------
    >>> import numpy as np
    >>> noise_root(np.array([[0.6], [0.0]])).tolist()
    [[0.8]]
    """
    values, vectors = np.linalg.eigh(
        np.eye(cross_covariance.shape[1]) - cross_covariance.T @ cross_covariance
    )
    if values[0] < -1e-12:
        norm = np.linalg.norm(cross_covariance, 2)
        message = f"cross_covariance has norm {norm:.6g}; it must not exceed 1."
        raise ValueError(message)
    root: NDArray[np.float64] = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return root


def response_bound(cross_covariance: NDArray[np.float64]) -> float:
    """Return the bound on ``||y||``.

    Examples
    --------
    >>> import numpy as np
    >>> round(response_bound(np.array([[0.6], [0.0]])), 6)
    1.648528
    """
    d_x, d_y = cross_covariance.shape
    norms = (float(np.linalg.norm(M, 2)) for M in (cross_covariance, noise_root(cross_covariance)))
    return float(np.dot(list(norms), np.sqrt([d_x, d_y])))


def _on_sphere(g: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale rows to the norm sqrt(d)."""
    scaled: NDArray[np.float64] = (
        g * (np.sqrt(g.shape[1]) / np.linalg.norm(g, axis=1))[:, np.newaxis]
    )
    return scaled


def _row_products(rows: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Multiply row by row in a fixed order of sums, so that a row drawn alone has the same bits."""
    product: NDArray[np.float64] = np.einsum("ij,jk->ik", rows, matrix, optimize=False)
    return product
