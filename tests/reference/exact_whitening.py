"""The whitened objective of stored sums, and the truth about given weights, in 80 digits."""

from typing import Any, NamedTuple

import numpy as np
from flint import acb_mat, arb, arb_mat, ctx
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DIGITS = 80


class Stored(NamedTuple):
    """The stored numbers that define the objective, each of them exact.

    ``squares``: sums of squares of the D input features, of which the upper triangle counts;
    ``sums``: their products with the w target features (w x D); ``weight``; the ``shift``, what
    the ridge adds to the variances; what input and target features are divided by (``left``,
    ``right``); and the ``shares`` of classes, whose columns are divided by that ``power`` of them.
    """

    squares: Floats
    sums: Floats
    weight: float
    shift: float
    left: Floats
    right: Floats
    shares: Floats
    power: float = 0.0


class Truth(NamedTuple):
    """What is true of weights W: how far they are from the best, and how well that is defined.

    ``loss``: the share of the best objective that they do not capture.
    """

    angle: float
    distance: float
    loss: float
    gap: float
    relative_gap: float
    condition: float


def truth_about(W: Floats, stored: Stored) -> Truth:
    """Compare weights of the features (D x q) with the exact ones, in whitened coordinates."""
    previous, ctx.dps = ctx.dps, DIGITS
    try:
        return _truth(_exact(W), *_problem(stored), _condition(stored))
    finally:
        ctx.dps = previous


def _problem(stored: Stored) -> tuple[Any, Any]:
    """N (D x D) and the columns C (D x w) of the matrix that is whitened."""
    D, w = stored.squares.shape[0], stored.sums.shape[0]
    weight, left, right = arb(stored.weight), _exact_list(stored.left), _exact_list(stored.right)
    factors = [
        _weight(share, stored.power) / f for share, f in zip(stored.shares, right, strict=True)
    ]
    S = [[arb(float(stored.squares[min(i, j), max(i, j)])) for j in range(D)] for i in range(D)]
    N = arb_mat([[S[i][j] / left[i] / left[j] / weight for j in range(D)] for i in range(D)])
    for i in range(D):
        N[i, i] = N[i, i] + arb(stored.shift)
    C = [
        [arb(float(stored.sums[j, i])) * factors[j] / left[i] / weight for j in range(w)]
        for i in range(D)
    ]
    return N.mid(), arb_mat(C).mid()


def _truth(W: Any, N: Any, C: Any, condition: float) -> Truth:
    """Compare W with N^-1 C X, X the leading eigenvectors of C^T N^-1 C."""
    q = W.ncols()
    solved = N.solve(C, algorithm="approx").mid()
    values, X = _leading((C.transpose() * solved).mid(), q)
    best = (solved * X).mid()
    inner = (best.transpose() * N * W).mid()
    shared = (best * (best.transpose() * N * best).mid().solve(inner, algorithm="approx")).mid()
    rest, gram = W - shared, (W.transpose() * N * W).mid()
    sines = _relative(gram, (rest.transpose() * N * rest).mid())
    captured = _relative(gram, (W.transpose() * C * C.transpose() * W).mid())
    largest = max((value.real for value in acb_mat(sines).eig(algorithm="approx")), key=float)
    gap = values[q - 1] - (values[q] if q < len(values) else arb(0))
    return Truth(
        _degrees(largest),
        float((2 * abs(_trace(sines))).sqrt()),
        float((1 - _trace(captured) / sum(values[:q], arb(0))).mid()),
        float(gap),
        float(gap / values[0]),
        condition,
    )


def _leading(G: Any, q: int) -> tuple[list[Any], Any]:
    """All eigenvalues of a symmetric matrix, in descending order, and the leading eigenvectors."""
    w, unit = G.nrows(), _trace(G)
    found, vectors = acb_mat(G / unit).eig(right=True, algorithm="approx")
    order = sorted(range(w), key=lambda j: found[j].real.mid(), reverse=True)
    values = [(found[j].real * unit).mid() for j in order]
    columns = [_unit_vector([vectors[i, j].real for i in range(w)]) for j in order[:q]]
    X = arb_mat(columns).transpose()
    _check(G, X, values)
    return values, X


def _unit_vector(entries: list[Any]) -> list[Any]:
    length = sum((entry * entry for entry in entries), arb(0)).sqrt()
    return [(entry / length).mid() for entry in entries]


def _check(G: Any, X: Any, values: list[Any]) -> None:
    """The decomposition must be good to 50 digits of the largest eigenvalue."""
    for j in range(X.ncols()):
        x = arb_mat([[X[i, j]] for i in range(X.nrows())])
        rest = G * x - x * values[j]
        square = (rest.transpose() * rest)[0, 0] / values[0] ** 2
        assert float(square.mid()) < 1e-100


def _relative(gram: Any, other: Any) -> Any:
    """``gram^-1 other``."""
    return gram.solve(other, algorithm="approx").mid()


def _trace(matrix: Any) -> Any:
    return sum((matrix[i, i] for i in range(matrix.nrows())), arb(0)).mid()


def _degrees(square: Any) -> float:
    """The angle whose squared sine is given."""
    sine = min(max(square.mid(), arb(0)), arb(1)).sqrt()
    return float(sine.asin() * 180 / arb.pi())


def _weight(share: float, power: float) -> Any:
    """What the column of a class is multiplied by."""
    if power == 0.0:
        return arb(1)
    return arb(float(share)) ** -arb(power) if share > 0.0 else arb(0)


def _condition(stored: Stored) -> float:
    """Condition number of N, to a few digits."""
    upper = np.triu(stored.squares / stored.left / stored.left[:, np.newaxis] / stored.weight)
    unit = np.abs(upper).max()
    upper /= unit
    N = upper + np.triu(upper, 1).T
    values = np.linalg.eigvalsh(N + stored.shift / unit * np.eye(len(N)))
    return float(values[-1] / max(values[0], 1e-300))


def _exact(matrix: Floats) -> Any:
    return arb_mat([_exact_list(row) for row in matrix])


def _exact_list(row: Floats) -> list[Any]:
    return [arb(float(value)) for value in row]
