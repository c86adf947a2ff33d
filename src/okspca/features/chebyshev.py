r"""Polynomial features of a response: itself, and Chebyshev polynomials of it.

A standardised response y becomes::

    y, w T_2(c), ..., w T_n(c),      c = y / 3 clipped to [-1, 1],

for each output.  The first feature is the response itself, so a regression on it predicts it; the
others tell apart responses that differ in more than their mean, and are bounded by one.

With a small weight w, directions that predict y come first, and those that predict what is left of
its distribution follow.  The leading singular vector then tilts away from the best predictor of y
by an angle of the order of w^2, and loses a share of the order of w^4 of what that explains.  (Only
where y itself can hardly be predicted, with R^2 below about w^2, may another function of it lead.)
"""

import numpy as np

from okspca.features.base import FeatureMap
from okspca.numerics.arrays import Floats

RADIUS = 3.0
#: Highest degree, unless another is asked for.
DEGREE = 6
#: Weight of the polynomials where the response itself is to lead.
LEADING = 0.01


class ChebyshevMap(FeatureMap):
    """The response and Chebyshev polynomials of it, for each output.

    Parameters
    ----------
    n_inputs : int
        Number of outputs of the response.
    degree : int
        Highest degree; the number of features per output.
    weight : float, at most 1
        What the polynomials count beside the response.

    Examples
    --------
    >>> ChebyshevMap(1, degree=3).transform(np.array([[6.0], [0.0]])).tolist()
    [[6.0, 1.0, 1.0], [0.0, -1.0, -0.0]]
    """

    def __init__(self, n_inputs: int, degree: int = DEGREE, weight: float = 1.0) -> None:
        if degree < 1:
            message = f"degree={degree} must be at least 1."
            raise ValueError(message)
        if not 0.0 < weight <= 1.0:
            message = f"weight={weight} must be above 0 and at most 1."
            raise ValueError(message)
        self._n_inputs = n_inputs
        self.degree = degree
        self.weight = float(weight)

    @property
    def n_inputs(self) -> int:
        """Number of columns it takes."""
        return self._n_inputs

    @property
    def n_features(self) -> int:
        """Number of columns it returns."""
        return self._n_inputs * self.degree

    @property
    def linear(self) -> slice | None:
        """The first feature of each output."""
        return slice(0, None, self.degree)

    def transform(self, Z: Floats) -> Floats:
        """Map rows to features; those of an output are next to each other."""
        if Z.shape == (1, 1):
            return np.array([self._of_number(float(Z[0, 0]))])
        clipped = np.clip(Z / RADIUS, -1.0, 1.0)
        features = np.empty((*Z.shape, self.degree))
        # The response itself is not clipped: a regression on it must be able to reach it.
        features[..., 0] = Z
        before, last = np.ones_like(clipped), clipped
        for n in range(1, self.degree):
            before, last = last, 2.0 * clipped * last - before
            features[..., n] = self.weight * last
        return features.reshape(Z.shape[0], -1)

    def _of_number(self, z: float) -> list[float]:
        """Do the same for one number; arrays would take ten times longer."""
        c = min(max(z / RADIUS, -1.0), 1.0)
        found, before, last = [z], 1.0, c
        for _ in range(1, self.degree):
            before, last = last, 2.0 * c * last - before
            found.append(self.weight * last)
        return found

    def equals(self, other: FeatureMap) -> bool:
        """Tell whether the other map has the same width, degree and weight."""
        return isinstance(other, ChebyshevMap) and (
            other.n_inputs,
            other.degree,
            other.weight,
        ) == (self.n_inputs, self.degree, self.weight)
