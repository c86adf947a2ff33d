"""What a check for drift found, in numbers and in words."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okspca.diagnostics.shown import html_table, safely, text_table
from okspca.numerics.arrays import Floats

#: An alarm takes a change that is larger than chance explains at this level, and large enough to
#: matter: of a mean, in standard deviations; of a standard deviation, as a factor; of all features
#: together, in units of their spread; of a score.
LEVEL = 0.01
LEAST_SHIFT, LEAST_FACTOR, LEAST_DISTANCE, LEAST_GAIN = 0.25, 1.25, 0.1, 0.05
SHOWN = 10


@dataclass(frozen=True)
class Refitted:
    """How new rows are predicted from the model's coordinates, and from those of a fresh model.

    Attributes
    ----------
    measure : str
        "accuracy" or "R²".
    kept, fresh : float
        From the coordinates of this model, and of one learned from other new rows alone; each the
        mean over both ways of dealing the rows to two halves.
    error : float
        Standard error of their difference, or half of what both ways differ by, if that is more.
    """

    measure: str
    kept: float
    fresh: float
    error: float

    @property
    def is_better(self) -> bool:
        """Whether learning anew gains more than chance explains, and enough to matter."""
        gain = self.fresh - self.kept
        return gain > LEAST_GAIN and gain > 2.0 * self.error


@dataclass(frozen=True)
class DriftReport:
    """How new rows differ from those that a model has learned.

    Attributes
    ----------
    n_known, n_new : int
        Rows learned (as far as they are remembered), and rows looked at.
    inputs : tuple of str
        Names of the inputs.
    shifts : ndarray of shape (d,)
        Mean of the new rows less that of the model, in its standard deviations.
    factors : ndarray of shape (d,)
        Standard deviation of the new rows in units of the model's.
    changed : ndarray of shape (d,)
        Inputs whose mean or spread changed by more than chance, and enough to matter.
    distance : float
        Distance of the mean features of both, in units of the spread of the features; what chance
        alone makes of it is taken off.
    p_value : float
        Probability of such a distance, or a larger one, without drift.
    unseen : tuple
        Labels that the model has never seen.
    refitted : Refitted or None
        Whether learning anew would predict better, where targets were given.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(3000, 3))
    >>> model = OKSPCA(1, random_state=0).fit(X[:2000], X[:2000, 1])
    >>> model.check_drift(X[2000:]).is_alarming
    False
    >>> found = model.check_drift(X[2000:] + [0.0, 0.0, 1.0])
    >>> found.is_alarming, [name for name, c in zip(found.inputs, found.changed) if c]
    (True, ['x2'])
    """

    n_known: int
    n_new: int
    inputs: tuple[str, ...]
    shifts: Floats
    factors: Floats
    changed: NDArray[np.bool_]
    distance: float
    p_value: float
    unseen: tuple[Any, ...] = ()
    refitted: Refitted | None = None

    @property
    def has_moved(self) -> bool:
        """Whether the rows as a whole lie elsewhere."""
        return self.p_value < LEVEL and self.distance > LEAST_DISTANCE

    @property
    def is_alarming(self) -> bool:
        """Whether anything has changed that matters."""
        stale = self.refitted is not None and self.refitted.is_better
        return bool(self.changed.any() or self.has_moved or self.unseen or stale)

    @property
    def verdict(self) -> str:
        """One plain sentence."""
        if not self.is_alarming:
            return "The new rows look like those the model has learned."
        parts = [f"{int(self.changed.sum())} of {len(self.inputs)} inputs changed"]
        parts += ["the rows as a whole lie elsewhere"] if self.has_moved else []
        parts += [f"labels appeared that are new ({_some(self.unseen)})"] if self.unseen else []
        if self.refitted is not None:
            helps = "would" if self.refitted.is_better else "would not"
            parts.append(f"learning anew {helps} predict better")
        return f"The new rows differ from those the model has learned: {', '.join(parts)}."

    def rows(self, most: int = SHOWN) -> list[tuple[str, ...]]:
        """The inputs that changed most, as cells of a table."""
        size = np.maximum(np.abs(self.shifts), np.abs(np.log(np.maximum(self.factors, 1e-300))))
        order = np.argsort(-(size + 1e3 * self.changed), kind="stable")[:most]
        return [
            (
                self.inputs[i],
                f"{self.shifts[i]:+.2f}",
                f"{self.factors[i]:.2f}",
                "yes" if self.changed[i] else "no",
            )
            for i in order
        ]

    def lines(self) -> list[str]:
        """What was compared and found, apart from single inputs."""
        told = [
            f"{self.n_new:,} new rows beside {self.n_known:,} learned ones.",
            f"All inputs together: the mean of their features moved by {self.distance:.2f} of "
            f"their spread (p {self.p_value:.2g}); alarming above {LEAST_DISTANCE:g} with p below "
            f"{LEVEL:g}.",
        ]
        if self.refitted is not None:
            found = self.refitted
            measure = f"{found.measure[:1].upper()}{found.measure[1:]}"
            told.append(
                f"{measure} on new rows: {found.kept:.3f} from this model's coordinates, "
                f"{found.fresh:.3f} from those learned from other new rows alone (difference "
                f"{found.fresh - found.kept:+.3f} ± {found.error:.3f}); alarming above "
                f"{LEAST_GAIN:+g} and two standard errors."
            )
        told.append(
            f"An input is alarming where its mean moved by more than {LEAST_SHIFT:g} standard "
            f"deviations, or its spread by a factor of more than {LEAST_FACTOR:g}, and by more "
            f"than chance explains at the level {LEVEL:g} for all inputs together."
        )
        return told

    @property
    def header(self) -> tuple[str, ...]:
        """What the columns of :meth:`rows` are."""
        return "input", "mean moved (sd)", "spread, factor", "alarming"

    def __str__(self) -> str:
        """The verdict, the inputs that changed most, and how this was judged."""
        return "\n".join(
            [self.verdict, "", text_table(self.header, self.rows()), "", *self.lines()]
        )

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        note = " ".join(self.lines())
        return safely(lambda: html_table(self.verdict, self.header, self.rows(), note), self)


def _some(things: tuple[Any, ...], most: int = 3) -> str:
    """The first few of many."""
    return ", ".join(map(str, things[:most])) + (", ..." if len(things) > most else "")
