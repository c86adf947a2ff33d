"""One pass over a stream in the order of Algorithm 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .features import fourier, one_hot
from .moments import RawMoment
from .standardizer import ReferenceStandardizer, ScaleRule

Array: TypeAlias = NDArray[np.float64]
Targets: TypeAlias = NDArray[np.float64] | NDArray[np.int64]


@dataclass(frozen=True)
class Observation:
    """Realised features of one observation and a snapshot of the moment including it."""

    phi: Array
    psi: Array
    moment: RawMoment


def _target_features(
    target_weights: Array | None, target_phases: Array | None, n_classes: int | None
) -> tuple[int, Callable[[Array], Array]]:
    """Return the number of target features and the map from a (standardised) target row to them."""
    if n_classes is not None:
        if target_weights is not None or target_phases is not None:
            raise ValueError("give target maps or n_classes, not both")
        return n_classes, lambda row: one_hot(int(row[0]), n_classes)
    if target_weights is None or target_phases is None:
        raise ValueError("regression needs both target weights and target phases")
    return target_weights.shape[0], lambda row: fourier(row, target_weights, target_phases)


def run(
    X: Array,
    y: Targets,
    *,
    input_weights: Array,
    input_phases: Array,
    target_weights: Array | None = None,
    target_phases: Array | None = None,
    n_classes: int | None = None,
    scale_rule: ScaleRule | None = None,
    clamp: float = 1e-8,
) -> Iterator[Observation]:
    """Yield one observation at a time: features, moment, then (on resuming) standardisers.

    The caller maintains its services between two yields. Class targets are never standardised.
    """
    n_psi, to_psi = _target_features(target_weights, target_phases, n_classes)
    scale_x = ReferenceStandardizer(clamp=clamp, scale_rule=scale_rule)
    scale_y = ReferenceStandardizer(clamp=clamp, scale_rule=scale_rule)
    moment = RawMoment(input_weights.shape[0], n_psi)
    for i in range(len(X)):
        target = np.atleast_1d(np.asarray(y[i], dtype=np.float64))
        phi = fourier(scale_x.transform(X[i]), input_weights, input_phases)
        psi = to_psi(target if n_classes is not None else scale_y.transform(target))
        moment.update(phi, psi)
        yield Observation(phi, psi, moment.copy())
        scale_x.learn(X[i])
        if n_classes is None:
            scale_y.learn(target)
