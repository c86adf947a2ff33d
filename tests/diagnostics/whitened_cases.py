"""Whitened moments of many kinds, easy and hard, for certificates to be checked on."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.features import IdentityMap
from okspca.moments import WhitenedMoment
from okspca.moments.whitened_moment import CLASS_WEIGHTING
from okspca.numerics.arrays import Floats
from tests.reference.exact_whitening import Stored

RIDGES = tuple(float(10.0**power) for power in range(-10, 3))
SCALES = (1.0, 1.0, 1e-100, 1e100, 1e-7)


class Case(NamedTuple):
    """A moment, and the number of directions asked for."""

    kind: str
    moment: WhitenedMoment
    k: int


def stored_numbers(moment: WhitenedMoment) -> Stored:
    """What a moment stores, as the reference takes it."""
    D, width, units = moment.arrays.sums.shape[1], moment.width, moment.units
    return Stored(
        moment.covariance.sums,
        moment.arrays.sums,
        moment.weight,
        moment.shift(moment.variances()),
        np.ones(D) if units.left is None else units.left.divisor,
        np.ones(width) if units.right is None else units.right.divisor[:width],
        moment.arrays.right_mean,
        CLASS_WEIGHTING[moment.class_weighting] if moment.labels else 0.0,
    )


def orthonormal(random: RandomState, n: int, q: int) -> Floats:
    return np.asarray(np.linalg.qr(random.normal(size=(n, q)))[0])


def size(random: RandomState, D: int | None) -> int:
    return D or int(random.randint(3, 25))


def variances(random: RandomState, D: int) -> Floats:
    """Eigenvalues of S over a drawn number of decades: spread out, or all alike but one."""
    decades = float(random.choice([1.0, 5.0, 6.0, 8.0, 12.0]))
    if random.randint(3):
        return np.asarray(10.0 ** -random.uniform(0, decades, D))
    return np.append(random.uniform(0.9, 1.0, D - 1), 10.0**-decades)


def squared_spectrum(random: RandomState, k: int, width: int) -> Floats:
    """Squared singular values with a drawn gap after the k-th, down to a tie."""
    gap = float(random.choice([0.5, 1e-1, 1e-2, 1.1e-3, 1.1e-3, 1e-5, 1e-9, 1e-15, 0.0]))
    inside = np.sort(random.uniform(0.9, 1.0, k))[::-1]
    outside = (inside[-1] - gap) * np.sort(random.uniform(0, 1, width - k))[::-1]
    outside[:1] = inside[-1] - gap
    return np.concatenate([inside, outside])


def prescribed(random: RandomState, D: int | None) -> Case:
    """Condition of S and relative gap after the k-th direction as drawn."""
    D, k = size(random, D), int(random.choice([1, 1, 2, 3, 8]))
    width = k + int(random.randint(1, 5))
    moment = WhitenedMoment(D, width, ridge=float(random.choice(RIDGES)))
    moment.is_steady = False  # so that the ridge is in units of the variances below
    spread, axes, rank = variances(random, D), orthonormal(random, D, D), min(D, width)
    left, right = orthonormal(random, D, rank), orthonormal(random, width, rank)
    T = (left * np.sqrt(squared_spectrum(random, k, width)[:rank])) @ right.T
    # With the eigenvectors of S for its root, T is the whitened matrix.
    root = np.sqrt(spread + moment.ridge_in_use * spread.mean())
    weight, scale = 10.0 ** random.uniform(0, 4), float(random.choice(SCALES))
    moment.covariance.sums[...] = weight * scale * scale * ((axes * spread) @ axes.T)
    moment.arrays.sums[...] = weight * scale * ((axes * root) @ T).T
    moment.arrays.totals[...] = weight, 100.0, 1e-300, 1e-300, 0.0
    return Case("prescribed", moment, min(k, D))


def rows_of(random: RandomState, n: int, D: int) -> Floats:
    """Inputs of a random kind: independent, mixed, of graded sizes, or partly copies."""
    X = random.normal(size=(n, D))
    kind = random.randint(4)
    if kind == 1:
        X = X @ random.normal(size=(D, D))
    elif kind == 2:
        X = X * 10.0 ** -random.uniform(0, 8, D)
    elif kind == 3:
        X = X[:, random.randint(0, max(D // 2, 1), D)]
        X = X + 10.0 ** -random.uniform(3, 16) * random.normal(size=(n, D))
    return np.asarray(X)


def learned(random: RandomState, D: int | None) -> Case:
    """Several targets, few rows or many, forgetting, sizes from 1e-100 to 1e100."""
    D = size(random, D)
    n, width, k = (
        int(random.randint(3, 4 * D)),
        int(random.randint(1, 6)),
        int(random.randint(1, 4)),
    )
    forgetting = float(random.choice([1.0, 1.0, 0.97]))
    moment = WhitenedMoment(D, width, ridge=float(random.choice(RIDGES)), forgetting=forgetting)
    X = rows_of(random, n, D)
    Y = X @ random.normal(size=(D, width)) + random.choice([0.0, 0.1, 10.0]) * random.normal(
        size=(n, width)
    )
    X, Y = X * random.choice(SCALES) + random.choice([0.0, 3.0]), Y * random.choice(SCALES)
    for block in np.array_split(np.arange(n), random.randint(1, 6)):
        if len(block):
            moment.update(X[block], Y[block], random.uniform(0.5, 2.0, len(block)))
    return Case("learned", moment, k)


def classes(random: RandomState, D: int | None) -> Case:
    """Three classes or more, weighted in all ways, with means near a tie of the first two."""
    D, n_classes, k = (
        size(random, D),
        int(random.choice([2, 3, 3, 5])),
        int(random.choice([1, 1, 2])),
    )
    n = int(random.randint(n_classes + 3, 5 * D + 20))
    weighting = str(random.choice(list(CLASS_WEIGHTING)))
    ridge = float(random.choice(RIDGES))
    moment = WhitenedMoment(D, n_classes, ridge=ridge, class_weighting=weighting, labels=True)
    y = np.arange(n) % n_classes
    corners = 2.0 * np.pi * np.arange(n_classes) / n_classes
    means = np.column_stack([np.cos(corners), np.sin(corners)])[y]
    X = rows_of(random, n, D)
    X[:, :2] += means * (1.0 + 10.0 ** -random.uniform(0, 14) * np.array([1.0, 0.0]))
    moment.update(X, np.eye(n_classes)[y], np.ones(n))
    return Case("classes", moment, k)


def ties(random: RandomState, D: int | None) -> Case:
    """Mirrored rows: the two leading directions of three classes are tied but for a little."""
    D, k = max(size(random, D), 4), 1
    moment = WhitenedMoment(D, 3, ridge=float(random.choice(RIDGES[:5])), labels=True)
    n = 6 * D
    y = np.arange(n) % 3
    corners = 2.0 * np.pi * np.arange(3) / 3
    X = rows_of(random, n, D)
    little = 10.0 ** -random.uniform(2, 16)
    X[:, :2] = np.column_stack([np.cos(corners), (1 + little) * np.sin(corners)])[y]
    X[:, 2:] += 1e-3 * X[:, :1]
    moment.update(X, np.eye(3)[y], np.ones(n))
    return Case("ties", moment, k)


def models(random: RandomState, D: int | None) -> Case:
    """Whole models: random features, compressed responses, units, windows, forgetting."""
    D = D or int(random.choice([8, 16, 24]))
    n, k = int(random.choice([30, 150, 600])), int(random.choice([1, 2, 3]))
    X = random.normal(size=(n, 5)) * 10.0 ** random.uniform(-2, 2, 5)
    y: Any = np.sin(X[:, 0]) + X[:, 1] + 0.1 * random.normal(size=n)
    options: dict[str, Any] = {"ridge": float(random.choice(RIDGES)), "n_random_features": D}
    kind = random.randint(5)
    if kind == 1:
        options["window"] = int(random.choice([16, 64]))
    elif kind == 2:
        options["forgetting"] = 0.98
    elif kind == 3:
        y = np.digitize(y, [-1.0, 0.5])
        options["class_weighting"] = str(random.choice(list(CLASS_WEIGHTING)))
    elif kind == 4:
        y = np.column_stack([y, X[:, 2]])
        options.update(input_map=IdentityMap(5), target_features="raw")
    model = OKSPCA(k, objective="whitened", random_state=int(random.randint(1 << 30)), **options)
    moment = model.fit(X, y).moment_
    assert isinstance(moment, WhitenedMoment)
    return Case("models", moment, k)


KINDS: tuple[Callable[[RandomState, int | None], Case], ...] = (
    prescribed,
    prescribed,
    learned,
    classes,
    ties,
    models,
)


def draw(seed: int, D: int | None = None) -> Case:
    """One case; of ``D`` features if given (models of linear features have five)."""
    random = RandomState(seed)
    return KINDS[seed % len(KINDS)](random, D)
