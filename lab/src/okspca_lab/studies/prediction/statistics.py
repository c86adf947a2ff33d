"""Paired bootstrap intervals and the selection of rate and clip."""

from typing import NamedTuple

import numpy as np
from numpy.random import RandomState
from scipy.stats import rankdata

from okspca.numerics.arrays import Floats
from okspca_lab.studies.rows import Row

RESAMPLES, BOOTSTRAP_SEED = 10_000, 50_000


class Effect(NamedTuple):
    """Mean of paired differences and its 95 % percentile interval."""

    mean: float
    low: float
    high: float


def paired_effect(differences: Floats) -> Effect:
    """Resample the seeds with replacement, with a generator of its own.

    Examples
    --------
    >>> paired_effect(np.array([1.0, 1.0]))
    Effect(mean=1.0, low=1.0, high=1.0)
    """
    n = differences.size
    picked = RandomState(BOOTSTRAP_SEED).randint(n, size=(RESAMPLES, n))
    means = differences[picked].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5], method="linear")
    return Effect(float(differences.mean()), float(low), float(high))


class Candidate(NamedTuple):
    """A rate and clip with their average rank (1 is best) over tasks and seeds."""

    rate: float
    clip: float
    rank: float
    scores: dict[str, float]


def selection(rows: list[Row]) -> list[Candidate]:
    """Rank every rate and clip within each task and seed; the best average comes first.

    Equal scores share their rank.  Ties go to the smaller rate, then to the smaller clip.
    """
    settings = sorted({(row["rate"], row["clip"]) for row in rows})
    groups = sorted({(row["task"], row["seed"]) for row in rows})
    score = {(r["task"], r["seed"], r["rate"], r["clip"]): r["score"] for r in rows}
    table = np.array([[score[(*group, *setting)] for setting in settings] for group in groups])
    ranks = rankdata(-table.round(12), axis=1).mean(axis=0)
    tasks = sorted({task for task, _ in groups})
    found = []
    for column, (rate, clip) in enumerate(settings):
        means = {
            task: float(
                np.mean([v for v, g in zip(table[:, column], groups, strict=True) if g[0] == task])
            )
            for task in tasks
        }
        found.append(Candidate(rate, clip, float(ranks[column]), means))
    return sorted(found, key=lambda c: (round(c.rank, 9), c.rate, c.clip))
