r"""A ladder of input maps, climbed as far as held-back rows say that it pays.

=============  =====================================================================
rung           frequencies of the map
=============  =====================================================================
``"drawn"``    as they were drawn from the spectral density of the kernel
``"scaled"``   times one number per input, learned: inputs that matter more count more
``"mixed"``    times a matrix, learned: mixtures of inputs that matter count more
``"trained"``  each frequency and phase trained by itself (:mod:`okspca.features.training`)
=============  =====================================================================

Every map is tried on the last quarter of the pilot rows (:mod:`okspca.features.trials`).  A rung is
taken only if it raises the odds by 2 % and its error is lower by a standard error, and none is
looked for once the odds are above 10,000.

**The bandwidth**, where it is to be chosen, is a factor that all frequencies as drawn have in
common; all else begins from there.

**Scales and mixtures.**  The gradients of a prediction tell which inputs, or mixtures of them,
matter (:mod:`okspca.features.relevance`).  Maps are tried whose inputs are rescaled accordingly, at
three levels of steepness; the best of them is the start of the next of three rounds, better or not,
since relevance often takes more than one to show.  While a round still raises the odds by a
quarter, up to nine more follow.  Scales are looked for twice, from those of the last climb and from
the map as drawn: an input that was once thought not to matter would otherwise never come back.
Mixtures start from those of the last climb, or else from the scales.

**The inputs themselves.**  Cosines of low frequencies, cos(w z + b) with small w, are nearly linear
in z and still bounded.  So among the scales there is always a tenth for every input: where the
response is linear, the features then span hardly more than the inputs do.

**Training** starts from the best map so far, or from the one in use if that is better.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NamedTuple

import numpy as np

from okspca.features.cosines import CosineMap
from okspca.features.relevance import (
    MOST_MIXED,
    gradient_outer_product,
    input_root,
    input_scales,
    relevance,
)
from okspca.features.trials import Pilot, Trial, tried
from okspca.numerics.arrays import Floats

DRAWN, SCALED, MIXED, TRAINED = RUNGS = ("drawn", "scaled", "mixed", "trained")
FACTORS = (0.6, 1.0, 1.6)
ROUNDS, MOST_ROUNDS = 3, 12
#: What a round must multiply the odds by to be followed by one more than three.
RISE = 1.25
#: What a new map must multiply the odds by.
GAIN = 1.02
#: By how many standard errors its error must be lower.
SURE = 1.0
#: Odds at which there is nothing left to gain: all but a ten-thousandth is explained.
ENOUGH = 1e4
#: Scale at which features are nearly linear in the inputs.
GENTLE = 0.1
#: Gradients at so many rows are enough to tell which inputs or mixtures matter.
MOST_GRADIENTS = 1024


class Place(NamedTuple):
    """Where a climb has led.

    Attributes
    ----------
    feature_map : CosineMap
        The map to use.
    rung : str
        Where it stands.
    scales : ndarray of shape (n_inputs,)
        The best scales met.
    mixture : ndarray of shape (n_inputs, n_inputs) or None
        The best mixtures met.
    relevance : ndarray of shape (n_inputs,) or None
        Mean squared gradients of the prediction with this map; None before the first climb, zero
        where the rows told nothing.
    factor : float
        What frequencies as drawn are multiplied by, where a bandwidth is chosen.
    n_components : int or None
        How many components are enough, where that was asked; None for as many as there are.

    Examples
    --------
    >>> from okspca.features import FourierMap
    >>> Place.drawn(FourierMap.sample(3, 8, bandwidth=1.0)).rung
    'drawn'
    """

    feature_map: CosineMap
    rung: str
    scales: Floats
    mixture: Floats | None = None
    relevance: Floats | None = None
    factor: float = 1.0
    n_components: int | None = None

    @classmethod
    def drawn(cls, base: CosineMap) -> "Place":
        """The foot of the ladder."""
        return cls(base, DRAWN, np.ones(base.n_inputs))

    def is_same_model(self, other: "Place") -> bool:
        """Whether both mean the same map and number of components."""
        # By content: what was loaded from a file has maps of its own.
        is_same_map = self.feature_map.equals(other.feature_map)
        return is_same_map and self.n_components == other.n_components

    @property
    def is_as_drawn(self) -> bool:
        """Whether the map is the one at the foot of the ladder."""
        return self.rung == DRAWN and self.factor == 1.0


class _Step(NamedTuple):
    """A map on trial, the rung it stands on and, below the last, what its inputs are scaled by."""

    trial: Trial
    rung: str
    scales: Floats

    @property
    def odds(self) -> float:
        """How well it predicts."""
        return self.trial.odds

    def pays(self, below: "_Step") -> bool:
        """Whether it predicts enough better to be taken instead."""
        is_sure = self.trial.standard_errors_below(below.trial) > SURE
        return is_sure and self.odds > GAIN * below.odds


def climbed(
    base: CosineMap,
    place: Place,
    pilot: Pilot,
    top: str,
    tick: Callable[[], object] = lambda: None,
    factors: Sequence[float] = (),
) -> Place:
    """Climb from the map as drawn, at most up to ``top``, and say which map to go on with.

    ``factors``, if any, are tried on the frequencies as drawn: they stand for bandwidths.  ``tick``
    is called before each piece of work, for whoever shows progress.
    """
    ones = np.ones(base.n_inputs)
    in_use = _Step(tried(place.feature_map, pilot), place.rung, place.factor * ones)
    if in_use.odds >= ENOUGH:
        return place._replace(relevance=_relevance(in_use.trial, pilot))
    best = in_use
    if not place.is_as_drawn:
        best = _Step(tried(base, pilot), DRAWN, ones)
    best = widest = _with_bandwidth(base, best, pilot, factors, tick)
    scaled = best
    if top != DRAWN:
        scaled = _scaled(base, (best, in_use), place, pilot, tick)
        best = scaled if scaled.pays(best) else best
    mixture = place.mixture
    if top in (MIXED, TRAINED) and base.n_inputs <= MOST_MIXED and best.odds < ENOUGH:
        mixed = _mixed(base, best, place, pilot, tick)
        best, mixture = mixed if mixed.pays(best) else best, mixed.scales
    if top == TRAINED and best.odds < ENOUGH:
        best = _trained(max(in_use, best, key=lambda step: step.odds), best, pilot, tick)
    chosen, factor = (
        (best, float(widest.scales[0])) if best.pays(in_use) else (in_use, place.factor)
    )
    found = _relevance(chosen.trial, pilot)
    scales = place.scales if top == DRAWN else scaled.scales
    return Place(chosen.trial.feature_map, chosen.rung, scales, mixture, found, factor)


def _with_bandwidth(
    base: CosineMap,
    drawn: _Step,
    pilot: Pilot,
    factors: Sequence[float],
    tick: Callable[[], object],
) -> _Step:
    """The map as drawn with the bandwidth that serves best, if that pays."""
    best = drawn
    for factor in factors:
        tick()
        scales = factor * np.ones(base.n_inputs)
        step = _Step(tried(base.rescaled(scales), pilot), DRAWN, scales)
        best = max(best, step, key=lambda one: one.odds)
    return best if best.pays(drawn) else drawn


def _scaled(
    base: CosineMap,
    known: tuple[_Step, _Step],
    place: Place,
    pilot: Pilot,
    tick: Callable[[], object],
) -> _Step:
    """The best scales found from those of the last climb and from the map as drawn.

    ``known``: the map as drawn and the one in use, which often is that of the last scales.
    """
    ones, (drawn, in_use) = np.ones(base.n_inputs), known
    starts = [drawn]
    if not np.array_equal(place.scales, ones):
        last = base.rescaled(place.scales)
        is_in_use = last.equals(in_use.trial.feature_map)
        trial = in_use.trial if is_in_use else tried(last, pilot)
        starts.insert(0, _Step(trial, SCALED, place.scales))
    gentle = GENTLE * ones
    best = _Step(tried(base.rescaled(gentle), pilot), SCALED, gentle)
    for start in starts:
        if best.odds < ENOUGH:
            found = _followed(base, start._replace(rung=SCALED), pilot, tick)
            best = max(best, found, key=lambda step: step.odds)
    return best


def _mixed(
    base: CosineMap, best: _Step, place: Place, pilot: Pilot, tick: Callable[[], object]
) -> _Step:
    """The best mixtures found from those of the last climb, or else from the best scales."""
    start = best._replace(rung=MIXED, scales=np.diag(best.scales))
    if place.mixture is not None:
        last = _Step(tried(base.rescaled(place.mixture), pilot), MIXED, place.mixture)
        start = max(start, last, key=lambda step: step.odds)
    return _followed(base, start, pilot, tick)


def _followed(base: CosineMap, step: _Step, pilot: Pilot, tick: Callable[[], object]) -> _Step:
    """Follow the relevance from one map for some rounds; return the best one met."""
    met = [step]
    for number in range(1, MOST_ROUNDS + 1):
        steepness = float(np.sqrt((step.scales**2).sum() / len(step.scales)))
        rescaling = steepness * _suggested(step, pilot)
        tick()
        trials = [
            _Step(tried(base.rescaled(scales), pilot, step.trial.near_ridges), step.rung, scales)
            for scales in (factor * rescaling for factor in FACTORS)
        ]
        step = min(trials, key=lambda one: one.trial.errors.sum())
        met.append(step)
        if step.odds >= ENOUGH or (number >= ROUNDS and step.odds < RISE * met[-2].odds):
            break
    return max(met, key=lambda one: one.odds)


def _suggested(step: _Step, pilot: Pilot) -> Floats:
    """Scales that the gradients of a prediction suggest: numbers or a matrix, as the step has."""
    feature_map, B = step.trial.feature_map, step.trial.B
    if step.scales.ndim == 1:
        return input_scales(relevance(feature_map, B, _spread_rows(pilot)))
    return input_root(gradient_outer_product(feature_map, B, _spread_rows(pilot)))


def _trained(start: _Step, best: _Step, pilot: Pilot, tick: Callable[[], object]) -> _Step:
    """Train the map of ``start``; return ``best`` where that does not pay."""
    training = import_module("okspca.features.training")  # the last rung is seldom reached
    found = training.trained(start.trial, pilot, tick)
    after = _Step(found.trial, TRAINED, start.scales)
    if not after.pays(start):
        return best
    return after._replace(trial=found.trial._replace(feature_map=found.feature_map))


def _spread_rows(pilot: Pilot) -> Floats:
    """Some of the rows that are fitted to, evenly spread."""
    stride = -(-pilot.learn // MOST_GRADIENTS)
    return np.ascontiguousarray(pilot.Z[: pilot.learn : stride])


def _relevance(trial: Trial, pilot: Pilot) -> Floats:
    """Relevance of the inputs for the prediction of a trial."""
    return relevance(trial.feature_map, trial.B, pilot.Z[: pilot.learn])
