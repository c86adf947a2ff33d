r"""Frequencies and phases that are trained on the first rows of a stream.

For targets T and features phi(z) = sqrt(2 / D) cos(W z + b), both centred, the best coefficients B
have a closed form, so what is minimised depends on W and b alone (variable projection)::

    L(W, b) = min_B  1/2 mean ||T - Phi B||^2 + 1/2 l v ||B||^2,

with v the mean variance of the features at the start and l a penalty.  At that B, the gradient is
that of the first term with B held fixed::

    dL/dW = G^T Z,   dL/db = G^T 1,   G = sqrt(2 / D) sin(Z W^T + b) * (E B^T) / n,   E = T - Phi B.

Descents (:mod:`okspca.numerics.lbfgs`) fit the first three quarters of the rows, and every fifth
point is tried on the last quarter; the best one met counts.  Two penalties race for some steps, the
better one goes on; and if that is the larger one, the smaller is tried from where it led.  In the
end a few steps are taken on all rows: the last quarter has done its duty.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from okspca.features.cosines import CosineMap
from okspca.features.fourier import FourierMap
from okspca.features.trials import Pilot, Trial, tried
from okspca.numerics.arrays import Floats
from okspca.numerics.cosine import cosine_features
from okspca.numerics.lbfgs import LBFGS
from okspca.numerics.matrix import gram, multiply_into, product
from okspca.numerics.whitening import factored, ridge_coefficients

#: In units of the mean variance of the features.
PENALTIES = (1.0, 0.1)
#: A descent is tried after every so many steps, and ends after so many without a better trial.
EVERY, PATIENCE, RACE_STEPS, MOST_STEPS = 5, 15, 15, 120
#: Steps on all rows in the end; no more than led to the best trial.
LAST_STEPS = 15
#: Operations that a descent may take: a minute or two; where that is less than a race, none begins.
MOST_WORK = 1e12


class Trained(NamedTuple):
    """What training led to: the trial of the map, and the map after the steps on all rows."""

    trial: Trial
    feature_map: FourierMap


class Projection:
    """The loss and its gradient as a function of one vector: W row by row, then b.

    Parameters
    ----------
    pilot : Pilot
        Rows; all of them are fitted to.
    penalty : float
        Multiple of ``unit`` by which coefficients are penalised.
    unit : float
        Mean variance of the features.

    Examples
    --------
    >>> random = np.random.RandomState(0)
    >>> pilot = Pilot(random.normal(size=(50, 2)), random.normal(size=(50, 1)), np.ones(50))
    >>> loss, gradient = Projection(pilot, 0.1, 1.0)(random.normal(size=3 * (2 + 1)))
    >>> loss > 0.0, gradient.shape
    (True, (9,))
    """

    def __init__(self, pilot: Pilot, penalty: float, unit: float) -> None:
        self.Z = np.ascontiguousarray(pilot.Z)
        self.share = pilot.weights / pilot.weights.sum()
        self.root = np.sqrt(self.share)[:, np.newaxis]
        self.T = self.root * (pilot.T - product(self.share, pilot.T))
        self.ridge = penalty * unit

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """Return the loss at a point and its gradient."""
        W, b = unpacked(point, self.Z.shape[1])
        D = b.size
        amplitude = float(np.sqrt(2.0 / D))
        Phi = product(self.Z, W.T)
        slopes = Phi.copy()
        cosine_features(Phi, b, amplitude)
        cosine_features(slopes, b - 0.5 * np.pi, amplitude)  # sines
        Phi -= product(self.share, Phi)
        Phi *= self.root
        S = gram(Phi)
        S.flat[:: D + 1] += self.ridge
        Bt = ridge_coefficients(factored(S), product(self.T.T, Phi))
        E = self.T - product(Phi, Bt.T)
        loss = 0.5 * float((E**2).sum()) + 0.5 * self.ridge * float((Bt**2).sum())
        multiply_into(E, Bt, Phi, 1.0, 0.0, False)
        slopes *= Phi
        slopes *= self.root
        return loss, np.concatenate([product(slopes.T, self.Z).ravel(), slopes.sum(axis=0)])


def unpacked(point: Floats, n_inputs: int) -> tuple[Floats, Floats]:
    """Frequencies (D x d) and phases of a vector.

    Examples
    --------
    >>> [part.tolist() for part in unpacked(np.arange(6.0), 2)]
    [[[0.0, 1.0], [2.0, 3.0]], [4.0, 5.0]]
    """
    D = point.size // (n_inputs + 1)
    return point[: D * n_inputs].reshape(D, n_inputs), point[D * n_inputs :]


def trained(start: Trial, pilot: Pilot, tick: Callable[[], object] = lambda: None) -> Trained:
    """Train the map of a trial; where that leads to no better trial, the map is the same one.

    ``tick`` is called once a step, for whoever shows progress.
    """
    first = Pilot(*(part[: pilot.learn] for part in pilot))
    begun_at = _fourier(start.feature_map)
    most = n_steps(pilot.learn, *begun_at.weights.shape)
    if most < RACE_STEPS:
        return Trained(start, begun_at)
    runs = [_Run.begun(start, first, penalty) for penalty in PENALTIES]
    for run in runs:
        run.go_on(pilot, RACE_STEPS, tick)
    run = max(runs, key=lambda run: run.best.odds)
    run.go_on(pilot, most, tick)
    if run.best_step and run.penalty > PENALTIES[-1]:
        after = _Run.begun(run.best, first, PENALTIES[-1])
        after.go_on(pilot, most, tick)
        run = after if after.best_step else run
    descent = _descent(run.best.feature_map, pilot, run.penalty)
    for _ in range(min(run.best_step, LAST_STEPS)):
        tick()
        descent.step()
    return Trained(run.best, _map_at(descent.x, pilot))


def n_steps(n: int, D: int, d: int) -> int:
    """Steps that a descent may take, for so many rows, features and inputs.

    Examples
    --------
    >>> n_steps(6144, 256, 48), n_steps(6144, 2048, 784), n_steps(6144, 8192, 10)
    (120, 14, 1)
    """
    work = n * D * (D + 4 * d) + D**3 // 3
    return min(MOST_STEPS, int(MOST_WORK / work))


@dataclass
class _Run:
    """A descent on the first rows, and the best trial it has met, after which step."""

    descent: LBFGS
    penalty: float
    best: Trial
    best_step: int = 0

    @classmethod
    def begun(cls, start: Trial, first: Pilot, penalty: float) -> "_Run":
        """Begin a descent from the map of a trial."""
        return cls(_descent(start.feature_map, first, penalty), penalty, start)

    def go_on(self, pilot: Pilot, most: int, tick: Callable[[], object]) -> None:
        """Descend up to so many steps in all, or until trials get no better for some time."""
        while not self.descent.is_stuck and self.descent.steps < most:
            if self.descent.steps - self.best_step >= PATIENCE:
                return
            for _ in range(EVERY):
                tick()
                self.descent.step()
            trial = tried(_map_at(self.descent.x, pilot), pilot, self.best.near_ridges)
            if trial.odds > self.best.odds:
                self.best, self.best_step = trial, self.descent.steps


def _fourier(feature_map: CosineMap) -> FourierMap:
    """The map, which must hold frequencies to be trained."""
    assert isinstance(feature_map, FourierMap)
    return feature_map


def _descent(feature_map: CosineMap, rows: Pilot, penalty: float) -> LBFGS:
    """Begin a descent from a map."""
    Phi = feature_map.transform(rows.Z)
    unit = float(Phi.var(axis=0).mean())
    # Features that do not vary have no unit; any positive one makes the loss defined.
    projection = Projection(rows, penalty, unit if unit > 0.0 else 1.0)
    weights = _fourier(feature_map).weights
    return LBFGS(projection, np.concatenate([weights.ravel(), feature_map.phases]))


def _map_at(point: Floats, pilot: Pilot) -> FourierMap:
    """The map with the frequencies and phases of a vector."""
    return FourierMap(*unpacked(point, pilot.Z.shape[1]))
