"""From the parameters of an estimator to a pipeline, once enough is known about the stream."""

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy.sparse import issparse
from sklearn.base import is_classifier

from okspca.errors import DataError
from okspca.estimators.parameters import check_size, is_count, with_plain_parameters
from okspca.estimators.presets import AUTO, FOURIER, objective_of, target_features_of
from okspca.features import ChebyshevMap, FeatureMap, FourierMap, IdentityMap, OneHotMap
from okspca.features.bandwidth import MEDIAN_ROWS, median_distance, sqrt_dimension
from okspca.features.base import FLOAT64
from okspca.features.chebyshev import DEGREE, LEADING
from okspca.features.drawing import drawn_map, target_sampling
from okspca.features.single import in_precision
from okspca.moments import CrossMoment, Moment, TargetCompression, WhitenedMoment
from okspca.numerics.arrays import Floats
from okspca.numerics.sparse import stacked
from okspca.pipeline import Pipeline, PipelineState
from okspca.services import BY_NAME, Service
from okspca.standardize import (
    PAPER,
    RELATIVE,
    CausalStandardizer,
    NoStandardizer,
    Standardizer,
    VarianceRule,
)
from okspca.standardize.sparse import SparseStandardizer, freeze
from okspca.standardize.window import WindowStandardizer


@dataclass
class Rows:
    """A validated block: inputs, targets (numbers, or column numbers of classes), weights."""

    X: Floats
    Y: Floats
    weights: Floats

    def __len__(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def first(self, n: int) -> "Rows":
        """Return the first ``n`` rows."""
        return Rows(self.X[:n], self.Y[:n], self.weights[:n])

    def between(self, start: int, stop: int) -> "Rows":
        """Return some of the rows."""
        return Rows(self.X[start:stop], self.Y[start:stop], self.weights[start:stop])

    def followed_by(self, *others: "Rows") -> "Rows":
        """Return these rows and then the other ones."""
        blocks = (self, *others)
        return Rows(
            stacked(*(rows.X for rows in blocks)),
            np.concatenate([rows.Y for rows in blocks]),
            np.concatenate([rows.weights for rows in blocks]),
        )

    def owned(self) -> "Rows":
        """Return a copy, for whoever keeps rows: the caller may use its arrays again."""
        return Rows(self.X.copy(), self.Y.copy(), self.weights.copy())


def pilot_rows(model: Any, *, labels: bool) -> int:
    """Count the first rows that must be held back before the pipeline can be built."""
    sides = [(model.bandwidth, model.input_map, model.input_standardizer)]
    if not labels:
        sides.append((model.target_bandwidth, model.target_map, model.target_standardizer))
    for bandwidth, ready_map, ready_standardizer in sides:
        needs_distance = bandwidth == "median" and ready_map is None
        needs_scale = model.standardize == "frozen" and ready_standardizer is None
        if needs_distance or needs_scale:
            return MEDIAN_ROWS
    return 0


def variance_rule(variance_floor: str | float) -> VarianceRule:
    """Turn the parameter into a rule."""
    if variance_floor == "relative":
        return RELATIVE
    if variance_floor == "paper":
        return PAPER
    return VarianceRule(clamp=0.0, absolute=float(variance_floor), relative=0.0)


def resolve_service(solver: str | Service[Any]) -> Service[Any]:
    """Turn a name into a service with default settings."""
    return BY_NAME[solver]() if isinstance(solver, str) else solver


def n_input_features(model: Any) -> int:
    """Number of input features of a model, known before its map is drawn."""
    return int(model.n_random_features) if model.input_map is None else model.input_map.n_features


def check_widths(model: Any, n_inputs: int, n_outputs: int | None) -> None:
    """Raise where a part takes another number of columns than the data have, or not as many."""
    for name, data, n_columns in (("input", "X", n_inputs), ("target", "y", n_outputs)):
        for part in (f"{name}_map", f"{name}_standardizer"):
            ready = getattr(model, part)
            if ready is None or n_columns is None:
                continue
            takes = ready.n_inputs if isinstance(ready, FeatureMap) else ready.n_features
            if takes is not None and takes != n_columns:
                message = f"{data} has {n_columns} columns, but {part} takes {takes}."
                raise DataError(message)


def build(model: Any, pilot: Rows, labels: OneHotMap | None, precision: str = FLOAT64) -> Pipeline:
    """Build the pipeline of a model from its parameters and its first rows."""
    model = with_plain_parameters(model)
    check_size(model, pilot.X.shape[1], 0 if labels is not None else pilot.Y.shape[1])
    is_bounded = model.input_map is None or model.input_map.is_bounded
    inputs = _standardizer(
        model, model.input_standardizer, pilot.X, pilot.weights, is_bounded=is_bounded
    )
    targets: Standardizer = NoStandardizer()
    bandwidths = [0.0, 0.0]
    if model.input_map is None:
        bandwidths[0] = _bandwidth(model.bandwidth, pilot.X, pilot.weights, inputs)
    if labels is None:
        is_bounded = _has_bounded_targets(model)
        targets = _standardizer(
            model, model.target_standardizer, pilot.Y, pilot.weights, is_bounded=is_bounded
        )
    if labels is None and model.target_map is None:
        bandwidths[1] = _bandwidth(model.target_bandwidth, pilot.Y, pilot.weights, targets)
    follows_classes = not is_count(model.n_components) and labels is not None
    model.n_components = n_components_of(model, None if labels is not None else pilot.Y.shape[1])
    # Drawn last: where a rule above has failed, the caller's generator has not moved.
    seeds = seeds_of(model.random_state)
    input_map = model.input_map or _input_map(model, pilot.X.shape[1], bandwidths[0], seeds[0])
    input_map = in_precision(input_map, precision)
    width = model.n_target_features or input_map.n_features
    target_map = (
        labels
        or model.target_map
        or _target_map(model, pilot.Y.shape[1], width, bandwidths[1], seeds[1])
    )
    state = PipelineState.start(
        (inputs, input_map),
        (targets, target_map),
        _moment(model, input_map, target_map),
        resolve_service(model.solver),
        n_components=model.n_components,
        seed=seeds[2],
        align=model.align,
        stability=model.stability,
        window=model.window or 0,
        follows_classes=follows_classes,
    )
    return Pipeline(state)


def n_components_of(model: Any, n_outputs: int | None) -> int:
    """Number of components, at most; ``n_outputs`` is None for labels.

    With None, and with "auto" until rows have chosen, as many as linear predictions can use: of any
    number of classes one less, as there may be more to come, and for a response one for each of its
    numbers.  With more, predictions get no better, since the leading components are the best
    predictors; but where all polynomials of the response count alike, any of them may come first.
    """
    if is_count(model.n_components):
        return int(model.n_components)
    most = n_input_features(model)
    if n_outputs is None:
        return most
    each = DEGREE if target_features_of(model) == "chebyshev" else 1
    return min(each * n_outputs, most)


def seeds_of(random_state: int | RandomState | np.random.Generator | None) -> list[int]:
    """Draw the seeds of the input map, the target map and the service, in this order."""
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(np.iinfo(np.int32).max))
    random = random_state if isinstance(random_state, RandomState) else RandomState(random_state)
    return [int(seed) for seed in random.randint(np.iinfo(np.int32).max, size=3)]


def _has_bounded_targets(model: Any) -> bool:
    """Whether the features of a numeric response are bounded."""
    if model.target_map is not None:
        return bool(model.target_map.is_bounded)
    return target_features_of(model) == FOURIER


def _standardizer(
    model: Any, ready: Standardizer | None, rows: Floats, weights: Floats, *, is_bounded: bool
) -> Standardizer:
    """Make the standardiser, or copy the ready-made one so that the caller's stays as it is."""
    if ready is not None:
        return copy.deepcopy(ready)
    if model.standardize is None:
        return NoStandardizer()
    forgetting = float(model.forgetting) if model.forget_standardizers else 1.0
    rule = variance_rule(model.variance_floor)
    if not is_bounded and model.standardize == "causal":
        rule = rule.cautious
    if model.window and model.standardize == "causal" and model.forget_standardizers:
        return WindowStandardizer(rows.shape[1], model.window, rule)
    causal: CausalStandardizer | SparseStandardizer
    if issparse(rows):
        causal = SparseStandardizer(rows.shape[1], rule)
    else:
        causal = CausalStandardizer(rows.shape[1], rule, forgetting)
    if model.standardize == "causal":
        return causal
    if isinstance(causal, CausalStandardizer):
        causal.forgetting = 1.0
    causal.scan(rows, weights)
    return freeze(causal)


def _bandwidth(rule: str | float, rows: Floats, weights: Floats, like: Standardizer) -> float:
    """Apply a bandwidth rule to rows as they will be standardised."""
    if rule in ("sqrt-dim", AUTO):
        return sqrt_dimension(rows.shape[1])
    if rule == "median":
        return median_distance(copy.deepcopy(like).scan(rows, weights))
    return float(rule)


def _input_map(model: Any, n_inputs: int, bandwidth: float, seed: int) -> FeatureMap:
    """Draw the features of the inputs."""
    return drawn_map(
        n_inputs,
        model.n_random_features,
        bandwidth=bandwidth,
        kernel=model.kernel,
        sampling=model.sampling,
        seed=seed,
    )


def _target_map(
    model: Any, n_outputs: int, n_features: int, bandwidth: float, seed: int
) -> FeatureMap:
    """Make the features of a numeric response."""
    kind = target_features_of(model)
    if kind == FOURIER:
        return FourierMap.sample(
            n_outputs,
            n_features,
            bandwidth=bandwidth,
            kernel=model.kernel,
            sampling=target_sampling(model.sampling),
            seed=seed,
        )
    if kind == "raw":
        return IdentityMap(n_outputs)
    if kind == "chebyshev":
        return ChebyshevMap(n_outputs)
    # So many features that no component lacks a direction of its own.
    degree = max(DEGREE, -(-model.n_components // n_outputs))
    return ChebyshevMap(n_outputs, degree, LEADING)


def _moment(model: Any, input_map: FeatureMap, target_map: FeatureMap) -> Moment:
    """Make an empty moment; scalar responses are compressed."""
    compression = None
    if model.compress and isinstance(target_map, FourierMap) and target_map.n_inputs == 1:
        compression = TargetCompression(target_map.n_features)
    sizes = input_map.n_features, target_map.n_features
    settings: dict[str, Any] = {
        "forgetting": float(model.forgetting),
        "labels": isinstance(target_map, OneHotMap),
        "compression": compression,
    }
    if objective_of(model) == "covariance":
        return CrossMoment(*sizes, **settings)
    ridge = None if model.ridge == "auto" else float(model.ridge)
    return WhitenedMoment(
        *sizes,
        ridge=ridge,
        class_weighting=model.class_weighting,
        n_directions=model.n_components,
        calibrated=is_classifier(model),
        **settings,
    )
