"""Checks of constructor parameters; each message names the parameter, its value and the remedy."""

import copy
import numbers
from typing import Any, TypeVar

import numpy as np
from sklearn.base import is_regressor

from okspca.estimators.presets import (
    AUTO,
    FOURIER,
    NEVER,
    ON_DRIFT,
    PRESETS,
    RESPONSE,
    asked_of,
    frequencies_of,
    objective_of,
    searches,
    target_features_of,
)
from okspca.features import FeatureMap, FourierMap, SingleFourierMap, StructuredMap
from okspca.features.drawing import SAMPLINGS
from okspca.features.fourier import KERNELS
from okspca.features.ladder import DRAWN, RUNGS, SCALED
from okspca.features.structured import STRUCTURED, n_numbers
from okspca.moments.moment_window import N_BLOCKS
from okspca.moments.whitened_moment import CLASS_WEIGHTING
from okspca.numerics.room import check_room
from okspca.numerics.scalars import plain
from okspca.numerics.whitening import SMALLEST_RIDGE
from okspca.services import BY_NAME, Exact, ExactSnapshot, Service
from okspca.services.checks import reject
from okspca.standardize import Standardizer

Model = TypeVar("Model")
CHOICES: dict[str, tuple[str | None, ...]] = {
    "task": ("auto", "classification", "regression"),
    "kernel": KERNELS,
    "sampling": SAMPLINGS,
    "preset": PRESETS,
    "objective": (AUTO, "covariance", "whitened"),
    "class_weighting": tuple(CLASS_WEIGHTING),
    "frequencies": (AUTO, *RUNGS),
    "relearn": (NEVER, ON_DRIFT),
    "target_features": (AUTO, FOURIER, RESPONSE, "chebyshev", "raw"),
    "standardize": ("causal", "frozen", None),
    "missing": ("raise", "skip", "impute"),
    "categories": ("raise", "one-hot"),
}
POSITIVE_OR_NAMED: dict[str, tuple[str, ...]] = {
    "bandwidth": ("sqrt-dim", "median", AUTO),
    "target_bandwidth": ("sqrt-dim", "median"),
    "variance_floor": ("relative", "paper"),
}
COUNTS = (
    "n_components",
    "n_random_features",
    "n_target_features",
    "pilot_rows",
    "max_categories",
    "n_threads",
)
#: What counts may be instead.
UNCOUNTED: dict[str, tuple[str | None, ...]] = {
    "n_components": (None, AUTO),
    "n_target_features": (None,),
}
#: Numbers of sub-moments that `stability` may ask for.
GROUPS = (0, *range(4, 65, 2))
READY_MADE: dict[str, type] = {
    "input_map": FeatureMap,
    "target_map": FeatureMap,
    "input_standardizer": Standardizer,
    "target_standardizer": Standardizer,
}


def check_parameters(model: Any) -> None:
    """Raise for the first parameter whose value cannot be used."""
    for name in COUNTS:
        value = getattr(model, name)
        if not is_count(value) and value not in UNCOUNTED.get(name, ()):
            reject(name, value, "a positive whole number")
    for name, allowed in CHOICES.items():
        value = getattr(model, name)
        if value not in allowed:
            reject(name, value, f"one of {', '.join(map(repr, allowed))}")
    for name, named in POSITIVE_OR_NAMED.items():
        value = getattr(model, name)
        if value not in named and not is_positive(value):
            reject(name, value, f"a positive number or one of {', '.join(map(repr, named))}")
    if not (is_positive(model.forgetting) and model.forgetting <= 1.0):
        reject("forgetting", model.forgetting, "a number above 0 and at most 1")
    if target_features_of(model) == FOURIER and is_regressor(model):
        suitable = "'response', 'chebyshev' or 'raw', which hold the response"
        reject("target_features", model.target_features, suitable)
    _check_objective(model)
    if model.relearn == ON_DRIFT and not searches(model):
        reject("relearn", model.relearn, "'never' where frequencies stay as drawn")
    if model.relearn == ON_DRIFT and objective_of(model) != "whitened":
        reject("relearn", model.relearn, "'never' unless objective='whitened'")
    _check_window(model)
    if not isinstance(model.stability, numbers.Integral) or int(model.stability) not in GROUPS:
        even = f"0 (off) or an even whole number from {GROUPS[1]} to {GROUPS[-1]}"
        reject("stability", model.stability, even)
    for name in ("align", "compress", "forget_standardizers", "prequential", "missing_indicators"):
        value = getattr(model, name, False)
        if not isinstance(value, bool | np.bool_):
            reject(name, value, "True or False")
    _check_objects(model)
    check_size(model, 1, 0)


def n_threads_of(model: Any) -> int:
    """Return how many threads a model may use; unlike others, it may change at any time."""
    if not is_count(model.n_threads):
        reject("n_threads", model.n_threads, "a positive whole number")
    return int(model.n_threads)


def check_size(model: Any, n_inputs: int, n_outputs: int) -> None:
    """Raise where a model cannot fit into memory; ``n_outputs`` is zero for labels or unknown."""
    D, what = int(model.n_random_features), f"n_random_features={model.n_random_features}"
    if model.input_map is not None:
        D = int(model.input_map.n_features)
        what = f"input_map with {D} features"
    groups = int(model.stability)
    # The map, the basis, and at least one row of the moment and of each of its groups.
    k = int(model.n_components) if is_count(model.n_components) else 1
    is_structured = model.input_map is None and model.sampling == STRUCTURED
    numbers = n_numbers(n_inputs, D) if is_structured else D * (n_inputs + 1)
    numbers += D * (k + 1 + groups)
    if objective_of(model) == "whitened":
        numbers += D * D
    if n_outputs and model.target_map is None and target_features_of(model) == FOURIER:
        E = int(model.n_target_features or D)
        is_compressed = model.compress and n_outputs == 1
        numbers += E * (n_outputs + 1) + (0 if is_compressed else D * E)
    check_room(numbers, what, "ask for fewer features")


def with_plain_parameters(model: Model) -> Model:
    """Return a copy of a model, for building, whose scalar parameters are Python's own.

    The model itself keeps what it was given: ``get_params`` and ``clone`` must hand that out.
    """
    twin: Any = copy.copy(model)
    for name, value in twin.get_params(deep=False).items():
        setattr(twin, name, plain(value))
    made: Model = twin
    return made


def _check_objective(model: Any) -> None:
    """Check what belongs to the whitened objective."""
    ridge = model.ridge
    if ridge != "auto" and not (is_positive(ridge) and ridge >= SMALLEST_RIDGE):
        reject("ridge", ridge, f"'auto' or a number of at least {SMALLEST_RIDGE:g}")
    if objective_of(model) == "covariance":
        if not is_count(model.n_components):
            means = "a positive whole number unless objective='whitened'"
            reject("n_components", model.n_components, means)
        if model.class_weighting != "squared":
            reject(
                "class_weighting", model.class_weighting, "'squared' unless objective='whitened'"
            )
        return
    solver = model.solver
    solved = solver in ("exact", "exact-snapshot") if isinstance(solver, str) else False
    is_known = isinstance(solver, Service) or solver in BY_NAME
    if is_known and not (solved or isinstance(solver, Exact | ExactSnapshot)):
        means = "'exact' where objective='whitened'"
        if model.objective == AUTO:
            means = "'exact', or preset='paper', since preset='predictive' is served by it alone"
        reject("solver", solver, means)


def _check_window(model: Any) -> None:
    """Check the window and what cannot go with it."""
    if model.window is None:
        return
    if not is_count(model.window) or model.window < N_BLOCKS:
        reject("window", model.window, f"None or a whole number of at least {N_BLOCKS}")
    if model.forgetting != 1.0:
        reject("forgetting", model.forgetting, "1 where a window is given")
    if model.stability:
        reject("stability", model.stability, "0 where a window is given")


def check_width(n_components: int | str | None, n_features: int) -> None:
    """Raise where more components are asked for than the input map has features."""
    if is_count(n_components) and n_components > n_features:  # type: ignore[operator]
        message = (
            f"n_components={n_components} is more than the {n_features} input features; "
            "lower it or raise n_random_features."
        )
        raise ValueError(message)


def _check_objects(model: Any) -> None:
    """Check the solver and the ready-made parts."""
    solver = model.solver
    if not isinstance(solver, Service) and not (isinstance(solver, str) and solver in BY_NAME):
        reject("solver", solver, f"a service object or one of {', '.join(map(repr, BY_NAME))}")
    for name, kind in READY_MADE.items():
        value = getattr(model, name)
        if value is not None and not isinstance(value, kind):
            reject(name, value, f"a {kind.__name__} or None")
    _check_learned_frequencies(model)
    if model.input_map is None:
        check_width(model.n_components, model.n_random_features)
    else:
        check_width(model.n_components, model.input_map.n_features)


def _check_learned_frequencies(model: Any) -> None:
    """Check that the input map is one that can be learned as far as is asked."""
    frequencies = frequencies_of(model)
    is_learned = frequencies not in (DRAWN, SCALED)
    if is_learned and model.input_map is None and model.sampling == STRUCTURED:
        reject("frequencies", frequencies, "'drawn' or 'scaled' where sampling='structured'")
    known: tuple[type, ...] = (type(None), FourierMap, SingleFourierMap)
    known = known if is_learned else (*known, StructuredMap)
    if frequencies != DRAWN and type(model.input_map) not in known:
        suitable = f"a FourierMap or None where frequencies={frequencies!r}"
        reject("input_map", model.input_map, suitable)
    if asked_of(model).components and type(model.input_map) not in known:
        suitable = "a FourierMap or None where n_components='auto'"
        reject("input_map", model.input_map, suitable)


def is_count(value: object) -> bool:
    """Whether a value is a positive whole number."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1


def is_positive(value: object) -> bool:
    """Whether a value is a positive finite number."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    return bool(np.isfinite(float(value)) and float(value) > 0.0)
