r"""Learning along the stream which inputs matter, and drawing the map anew for them.

After 512, 1,024, 2,048 and 4,096 rows, the map is put to the test on the rows so far, which are
kept until then; only the last test is made on fewer than eight rows per input, since relevance
found in so few does not carry over.  A ridge regression on the first three quarters of the rows
predicts the last quarter; the ridge is the best of a grid.  With the share e of the variance that
is not predicted, what counts are the odds (1 - e) / e.

The gradients of that regression tell which inputs matter (:mod:`okspca.features.relevance`).  Maps
are tried whose inputs are rescaled accordingly, at three levels of steepness; the best of them is
the start of the next of three rounds, better or not, since relevance often takes more than one to
show.  While a round still raises the odds by a quarter, up to nine more follow.  All this is done
twice, from the map in use and from the map as it was drawn: an input that was once thought not to
matter would otherwise never come back.  The best map of all replaces the one in use only if it
raises the odds by 2 %.

With ``low_rank``, mixtures of inputs may matter: the search is the same, and a matrix takes the
place of one scale per input.

A replaced map means a new moment: the pipeline starts empty and learns the rows kept so far again,
in their order.  After 4,096 rows the map is final, and the rows are let go.  So from then on the
model is what one would have had with this map from the first row on, and memory is bounded.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from okspca.estimators.building import Rows
from okspca.features import FeatureMap, FourierMap
from okspca.features.relevance import (
    gradient_outer_product,
    input_root,
    input_scales,
    relevance,
    rescaled,
)
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import gram, product
from okspca.numerics.whitening import ridge_coefficients, ridge_factor
from okspca.pipeline import Pipeline, PipelineState

#: Row numbers after which the map is tested; after the last, it is final.
TIMES = (512, 1024, 2048, 4096)
FACTORS = (0.6, 1.0, 1.6)
#: The last test is made in any case; the others need so many rows per input.
ROWS_PER_INPUT = 8
ROUNDS, MOST_ROUNDS = 3, 12
#: What a round must multiply the odds by to be followed by one more than three.
RISE = 1.25
#: What a new map must multiply the odds by.
GAIN = 1.02
LEARNED_SHARE = 0.75
RIDGES = tuple(float(10.0**power) for power in range(-6, 3))
_SMALLEST = 1e-3
#: A column that varies by less than this multiple of its largest value is constant.
ROUNDING = 16.0 * float(np.finfo(np.float64).eps)


class Trial(NamedTuple):
    """One map on trial: odds, error, ridge and coefficients of its prediction."""

    odds: float
    error: float
    ridge: float
    scales: Floats
    feature_map: FourierMap
    B: Floats


class Data(NamedTuple):
    """Standardised rows: inputs, targets and weights; the first ``learn`` are fitted to."""

    Z: Floats
    T: Floats
    weights: Floats

    @property
    def learn(self) -> int:
        """Number of rows that are fitted to; the others are predicted."""
        return self.n_learned(len(self.Z))

    @staticmethod
    def n_learned(n: int) -> int:
        """Of ``n`` rows, the number that are fitted to."""
        return int(LEARNED_SHARE * n)


@dataclass(frozen=True, eq=False)
class RelevanceSearch:
    """The rows kept so far, and what they told about the inputs.

    A search never changes: learning rows gives another one.

    Parameters
    ----------
    blank : PipelineState or None
        The pipeline before its first row, with a map of cosine features; None once the map is
        final.
    scales : ndarray of shape (n_inputs,), or (n_inputs, n_inputs) where mixtures are looked for
        What the frequencies of the map as drawn are multiplied by.
    relevance : ndarray of shape (n_inputs,) or None
        Mean squared gradients, as of the last test; None before the first, zero where the rows told
        nothing.
    held : tuple of Rows
        The rows kept.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).uniform(-2.0, 2.0, size=(600, 4))
    >>> model = OKSPCA(1, n_random_features=32, relevance="learned", random_state=0)
    >>> shares = model.fit(X, X[:, 0] * X[:, 1]).relevance_
    >>> bool(shares[:2].sum() > 0.8)
    True
    """

    blank: PipelineState | None
    scales: Floats
    relevance: Floats | None = None
    held: tuple[Rows, ...] = ()

    @classmethod
    def start(cls, blank: PipelineState, *, low_rank: bool = False) -> Self:
        """Begin a search: for single inputs that matter, or for mixtures of them."""
        n_inputs = blank.input_map.n_inputs
        return cls(blank, np.eye(n_inputs) if low_rank else np.ones(n_inputs))

    @property
    def is_final(self) -> bool:
        """Whether the map will not change any more."""
        return self.blank is None

    @property
    def times(self) -> tuple[int, ...]:
        """Row numbers after which the map is tested."""
        return times(len(self.scales))

    @property
    def n_held(self) -> int:
        """Number of rows kept."""
        return sum(len(rows) for rows in self.held)

    def learn(
        self,
        pipeline: Pipeline,
        rows: Rows,
        *,
        target_map: FeatureMap | None = None,
        **companions: Any,
    ) -> Pipeline:
        """Learn rows, testing the map where that is due; return the pipeline to go on with.

        The search after these rows accompanies the pipeline returned.  That is the pipeline given,
        unless the map was tested; where it raises, nothing has changed.  All else is as for
        :meth:`Pipeline.run`.
        """
        before, search = self.n_held, self
        due = [time - before for time in self.times if before < time <= before + len(rows)]
        start = 0
        for stop in () if self.is_final else due:
            piece = rows.between(start, stop)
            pipeline, search = search.tested(pipeline.twin(), piece, target_map)
            start = stop
        rest = rows.between(start, len(rows))
        beside = {**companions, "target_map": target_map, "search": search.holding(rest)}
        pipeline.run(rest.X, rest.Y, rest.weights, **beside)
        return pipeline

    def holding(self, rows: Rows) -> Self:
        """Return the search that keeps these rows too, as long as any are kept."""
        if self.is_final or not len(rows):
            return self
        return replace(self, held=(*self.held, rows))

    def tested(
        self, pipeline: Pipeline, rows: Rows, target_map: FeatureMap | None
    ) -> tuple[Pipeline, Self]:
        """Learn rows after the last of which the map is tested."""
        assert self.blank is not None
        kept, *more = self.holding(rows).held
        for block in more:
            kept = kept.followed_by(block)
        blank = self.blank.twin()
        blank.companions = pipeline.state.companions
        blank.target_map = blank.target_map if target_map is None else target_map
        scales, found = chosen_scales(blank, kept, self.scales)
        if np.array_equal(scales, self.scales):
            pipeline.run(rows.X, rows.Y, rows.weights, target_map=target_map)
        else:
            blank.input_map = rescaled(_base(self.blank), scales)
            pipeline = Pipeline(blank)
            pipeline.run(kept.X, kept.Y, kept.weights)
        after = replace(self, scales=scales, relevance=found, held=(kept,))
        if len(kept) >= TIMES[-1]:
            after = replace(after, blank=None, held=())
        return pipeline, after


def is_searching(search: RelevanceSearch | None) -> bool:
    """Whether rows are still kept to find out which inputs matter."""
    return search is not None and not search.is_final


def times(n_inputs: int) -> tuple[int, ...]:
    """Row numbers after which the map is tested.

    Examples
    --------
    >>> times(20), times(200)
    ((512, 1024, 2048, 4096), (2048, 4096))
    """
    return tuple(t for t in TIMES if t >= min(ROWS_PER_INPUT * n_inputs, TIMES[-1]))


def varies(columns: Floats) -> bool:
    """Whether any column varies by more than rounding of its values.

    Examples
    --------
    >>> varies(np.full((3, 1), 0.1)), varies(np.array([[1.0], [2.0]]))
    (False, True)
    """
    largest = np.abs(columns).max(axis=0, initial=0.0)
    spread = columns.max(axis=0, initial=-np.inf) - columns.min(axis=0, initial=np.inf)
    return bool((spread > ROUNDING * largest).any())


def chosen_scales(blank: PipelineState, rows: Rows, scales: Floats) -> tuple[Floats, Floats]:
    """Test the map in use against rescaled ones.

    Returns the scales to go on with, and the relevance of the inputs as found with them: zero where
    inputs or targets were all alike, since rows that tell nothing must not choose a map.
    """
    learned = Data.n_learned(len(rows))
    if not (varies(rows.X[:learned]) and varies(rows.Y[:learned])):
        return scales, np.zeros(len(scales))
    fresh = blank.twin()
    Z = fresh.input_standardizer.scan(rows.X, rows.weights)
    if fresh.moment.labels:
        T = fresh.target_map.transform(rows.Y)
        # Classes that came later in the same call are not known to a stream that is cut here.
        T = np.ascontiguousarray(T[:, T.any(axis=0)])
    else:
        # All rows are at hand, so all count alike: scaled by those before them, one row that came
        # while the response was idle could outweigh the rest.
        fresh.target_standardizer.scan(rows.Y, rows.weights)
        T = fresh.target_standardizer.transform(rows.Y)
    base, data = _base(blank), Data(Z, T, rows.weights)
    starts = [_tried(base, scales, data, RIDGES)]
    as_drawn = np.eye(len(scales)) if scales.ndim == 2 else np.ones(len(scales))
    if not np.array_equal(scales, as_drawn):
        starts.append(_tried(base, as_drawn, data, RIDGES))
    best = max((_searched(base, start, data) for start in starts), key=lambda trial: trial.odds)
    chosen = best if best.odds >= GAIN * starts[0].odds else starts[0]
    return chosen.scales, _relevance(chosen, data)


def _searched(base: FourierMap, trial: Trial, data: Data) -> Trial:
    """Follow the relevance from one map for some rounds; return the best trial met."""
    met = [trial]
    for number in range(1, MOST_ROUNDS + 1):
        steepness = float(np.sqrt((trial.scales**2).sum() / len(trial.scales)))
        near = [ridge for ridge in RIDGES if 0.05 < ridge / trial.ridge < 20.0]
        rescaling = steepness * _new_scales(trial, data)
        tried = [_tried(base, factor * rescaling, data, near) for factor in FACTORS]
        trial = min(tried, key=lambda one: one.error)
        met.append(trial)
        if number >= ROUNDS and met[-1].odds < RISE * met[-2].odds:
            break
    return max(met, key=lambda one: one.odds)


def _new_scales(trial: Trial, data: Data) -> Floats:
    """Scales that the gradients of a trial suggest: numbers or a matrix, as the trial has."""
    if trial.scales.ndim == 1:
        return input_scales(_relevance(trial, data))
    return input_root(gradient_outer_product(trial.feature_map, trial.B, data.Z[: data.learn]))


def _relevance(trial: Trial, data: Data) -> Floats:
    """Relevance of the inputs for the prediction of a trial."""
    return relevance(trial.feature_map, trial.B, data.Z[: data.learn])


def _base(blank: PipelineState) -> FourierMap:
    """The map as it was drawn."""
    assert isinstance(blank.input_map, FourierMap)
    return blank.input_map


def _tried(base: FourierMap, scales: Floats, data: Data, ridges: Sequence[float]) -> Trial:
    """Fit the first rows with every ridge, predict the last ones, and keep the best."""
    (Z, T, weights), learn = data, data.learn
    feature_map = rescaled(base, scales)
    share = weights[:learn] / weights[:learn].sum()
    Phi = feature_map.transform(Z)
    left_mean, right_mean = product(share, Phi[:learn]), product(share, T[:learn])
    root = np.sqrt(share)[:, np.newaxis]
    left, right = root * (Phi[:learn] - left_mean), root * (T[:learn] - right_mean)
    S, Ct = gram(left), product(right.T, left)
    ahead, actual, later = Phi[learn:] - left_mean, T[learn:] - right_mean, weights[learn:]
    total = float((later * (actual**2).sum(axis=1)).sum())
    fits = []
    for ridge in ridges:
        Bt = ridge_coefficients(ridge_factor(S, ridge), Ct)
        error = float((later * ((actual - product(ahead, Bt.T)) ** 2).sum(axis=1)).sum())
        fits.append((error, ridge, Bt))
    error, ridge, Bt = min(fits, key=lambda fit: fit[0])
    return Trial(_odds(error, total), error, ridge, scales, feature_map, Bt.T)


def _odds(error: float, total: float) -> float:
    """Odds of explained to unexplained variance, from a sum of squares and what is left of it."""
    if total <= 0.0:
        return 0.0
    return max(total - error, _SMALLEST * total) / max(error, 1e-12 * total)
