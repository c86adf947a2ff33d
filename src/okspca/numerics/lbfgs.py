r"""Minimising a smooth function of many numbers by its gradients: L-BFGS, one step at a time.

The direction of a step is ``-H g`` with the gradient g and an estimate H of the inverse Hessian
that is rebuilt from the last steps ``s_i`` and changes of the gradient ``y_i`` (Nocedal and Wright,
*Numerical Optimization*, chapter 7).  Its length is one, or is cut until the function falls by a
share of what the slope promises.

SciPy's form of it calls a linear-algebra library, whose threads change how sums are rounded; and an
optimiser amplifies rounding.  Here sums are NumPy's own, in one order.
"""

from collections.abc import Callable

import numpy as np

from okspca.numerics.arrays import Floats

#: How many steps the estimate of the Hessian is made from.
MEMORY = 10
#: Share of the promised decrease that a step must bring.
SUFFICIENT = 1e-4
MOST_CUTS = 12
#: Length of the first step, before anything is known about the curvature.
FIRST_LENGTH = 0.1
#: Changes that are more orthogonal than this to the step say nothing reliable about curvature.
LEAST_COSINE = 1e-10


class LBFGS:
    """A descent that stands at some point.

    Parameters
    ----------
    objective : callable
        From a point (a vector) to the value there and the gradient.
    start : ndarray of shape (n,)
        The first point.

    Attributes
    ----------
    x, value, gradient : ndarray, float, ndarray
        The point, and what the objective is there.
    steps : int
        How many steps were taken.
    is_stuck : bool
        Whether no step leads further down.

    Examples
    --------
    >>> descent = LBFGS(lambda x: (float((x**4).sum()), 4.0 * x**3), np.array([1.0, -2.0]))
    >>> for _ in range(40):
    ...     descent.step()
    >>> bool(np.abs(descent.x).max() < 1e-2)
    True
    """

    def __init__(self, objective: Callable[[Floats], tuple[float, Floats]], start: Floats) -> None:
        self.objective = objective
        self.x = start
        self.value, self.gradient = objective(start)
        self.steps = 0
        self.is_stuck = False
        self._changes: list[tuple[Floats, Floats, float]] = []

    def step(self) -> None:
        """Take one step down, if there is one."""
        direction = -self._newton(self.gradient)
        slope = _inner(direction, self.gradient)
        found = self._searched(direction, slope) if slope < 0.0 else None
        if found is None:
            self.is_stuck = True
            return
        x, value, gradient = found
        self._remember(x - self.x, gradient - self.gradient)
        self.x, self.value, self.gradient = x, value, gradient
        self.steps += 1

    def _newton(self, gradient: Floats) -> Floats:
        """``H g`` by the two loops over what is remembered."""
        if not self._changes:
            length = np.sqrt(_inner(gradient, gradient))
            return gradient * (FIRST_LENGTH / length if length > 0.0 else 0.0)
        q, shares = gradient.copy(), []
        for s, y, curvature in reversed(self._changes):
            shares.append(_inner(s, q) / curvature)
            q -= shares[-1] * y
        _, y, curvature = self._changes[-1]
        q *= curvature / _inner(y, y)
        for (s, y, curvature), share in zip(self._changes, reversed(shares), strict=True):
            q += (share - _inner(y, q) / curvature) * s
        return q

    def _searched(self, direction: Floats, slope: float) -> tuple[Floats, float, Floats] | None:
        """Cut the step until the value falls enough; None where it never does."""
        length = 1.0
        for _ in range(MOST_CUTS):
            x = self.x + length * direction
            value, gradient = self.objective(x)
            rise = value - self.value
            if rise <= SUFFICIENT * length * slope:
                return x, value, gradient
            # Where a parabola through both values and the slope is lowest, within limits.
            lowest = -slope * length / (2.0 * (rise - slope * length))
            length *= min(max(lowest, 0.1), 0.5) if np.isfinite(rise) else 0.1
        return None

    def _remember(self, s: Floats, y: Floats) -> None:
        """Keep a step, if the gradient grew along it."""
        curvature = _inner(s, y)
        if curvature > LEAST_COSINE * np.sqrt(_inner(s, s) * _inner(y, y)):
            self._changes = [*self._changes, (s, y, curvature)][-MEMORY:]


def _inner(a: Floats, b: Floats) -> float:
    """Inner product; a library's could depend on the number of its threads."""
    return float((a * b).sum())
