"""How near two models must be where they cannot be equal to the last bit."""

from typing import NamedTuple

import numpy as np

from okspca import OKSPCA, Basis
from okspca.moments.arrays import LEFT_SQUARE, RIGHT_SQUARE
from okspca.numerics.arrays import Floats
from okspca.numerics.subspace import projector_distance
from tests.contracts.fingerprint import fingerprint

EPS = float(np.finfo(np.float64).eps)
RELATIVE = 1e-12
#: Trackers repeat a step per row, each a little sensitive to rounding.
TRACKED = 1e-9
#: A span whose gap allows more than this is not determined well enough to be compared.
UNDETERMINED = 1e-4


def assert_same_standardizers(a: OKSPCA, b: OKSPCA) -> None:
    """Bit for bit."""
    assert fingerprint(a.input_standardizer_) == fingerprint(b.input_standardizer_)
    assert fingerprint(a.target_standardizer_) == fingerprint(b.target_standardizer_)


def assert_same_moment(a: OKSPCA, b: OKSPCA, *, same_weight: bool = True) -> None:
    """Means and dense C̄ to 1e-12, up to the order of the classes."""
    if same_weight:
        assert np.isclose(a.moment_.weight, b.moment_.weight, rtol=RELATIVE, atol=0.0)
    columns = _matching_columns(a, b)
    assert_close(a.moment_.matrix(), b.moment_.matrix()[:, columns], noise_of(a))
    left, right = a.moment_.means()
    other_left, other_right = b.moment_.means()
    assert_close(left, other_left, 0.0)
    assert_close(right, other_right[columns], 0.0)


def assert_close(found: Floats, wanted: Floats, noise: float, relative: float = RELATIVE) -> None:
    """Norm of the difference within ``relative`` of the norm, or at the level of ``noise``."""
    assert found.shape == wanted.shape
    distance = float(np.linalg.norm(found - wanted))
    assert distance <= relative * float(np.linalg.norm(wanted)) + noise


def noise_of(model: OKSPCA) -> float:
    """The size at which the library itself calls a moment zero."""
    totals = model.moment_.arrays.totals
    return 64.0 * EPS * float(np.sqrt(totals[LEFT_SQUARE] * totals[RIGHT_SQUARE]))


class Tolerance(NamedTuple):
    """How far spans, single columns and (absolutely) singular values may be apart."""

    span: float
    column: float
    value: float


def tolerance_for(C: Floats, q: int, noise: float) -> Tolerance:
    """What rounding may do to the leading ``q`` directions of ``C``.

    Rounding perturbs C by about ``eps sigma_1 + noise``, and a perturbation E of C moves a span by
    about ``||E|| sigma_1 / gap``, with gaps between squared singular values.
    """
    sigma = np.append(np.linalg.svd(C, compute_uv=False), 0.0)
    gaps = sigma[:q] ** 2 - sigma[1 : q + 1] ** 2
    moved = (1000.0 * EPS * sigma[0] + noise) * sigma[0]
    span, column = (float(moved / gap) if gap > 0.0 else np.inf for gap in (gaps[-1], gaps.min()))
    return Tolerance(span, column, float(1e-11 * sigma[0] + noise))


def tolerance_of_tracker(C: Floats) -> Tolerance:
    """Trackers are not conditioned by a gap but pass rounding on from step to step."""
    return Tolerance(TRACKED, TRACKED, float(TRACKED * np.linalg.norm(C)))


def assert_same_basis(a: Basis, b: Basis, tolerance: Tolerance) -> None:
    """Same kind of answer and age, same span and singular values within the tolerance."""
    assert (a.status, a.rank, a.built_at, a.age) == (b.status, b.rank, b.built_at, b.age)
    if a.rank:
        if tolerance.span < UNDETERMINED:
            assert projector_distance(a.vectors, b.vectors) <= tolerance.span
        assert np.abs(a.singular_values - b.singular_values).max() <= tolerance.value


def assert_same_embedding(Z: Floats, other: Floats, tolerance: Tolerance) -> None:
    """Same inner products where the span is determined, same columns where each of them is."""
    size = max(float(np.linalg.norm(Z)), 1.0)
    if tolerance.span < UNDETERMINED:
        assert np.linalg.norm(Z @ Z.T - other @ other.T) <= 4.0 * size * size * tolerance.span
    if tolerance.column < UNDETERMINED:
        assert np.linalg.norm(Z - other) <= 4.0 * size * tolerance.column


def _matching_columns(a: OKSPCA, b: OKSPCA) -> list[int]:
    """Columns of ``b`` in the order of the classes of ``a``."""
    if not a.moment_.labels:
        return list(range(b.moment_.matrix().shape[1]))
    order = b.classes_.tolist()
    return [order.index(label) for label in a.classes_.tolist()]
