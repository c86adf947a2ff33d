"""The pipelines: how each representation of a task is made."""

from collections.abc import Callable
from typing import Any

import numpy as np

from okspca import OKSPCA
from okspca.comparators import CCIPCA, CIPLS, OneVsRestReducer, Unreduced
from okspca.features import FourierMap
from okspca.services import Adam
from okspca_lab.studies.prediction.protocol import (
    BASIS,
    CLIP,
    INPUT_MAP,
    LEARNING_RATE,
    input_map,
    target_map,
)
from okspca_lab.studies.prediction.tasks import Split, Task

OKSPCA_NAME, RFF_CIPLS, RFF_CCIPCA = "OKSPCA", "RFF-CIPLS", "RFF-CCIPCA"
LINEAR_CIPLS, LINEAR_CCIPCA = "CIPLS", "CCIPCA"
REDUCED = (OKSPCA_NAME, RFF_CIPLS, LINEAR_CIPLS, LINEAR_CCIPCA, RFF_CCIPCA)
#: Experiments: inputs as they are instead of causally standardised, and components that go on where
#: double precision ends instead of staying as they are.
CIPLS_RAW, CCIPCA_RAW = "CIPLS, inputs as they are", "CCIPCA, inputs as they are"
CIPLS_ANY, RFF_CIPLS_ANY = "CIPLS, any exponent", "RFF-CIPLS, any exponent"
CIPLS_OWN, CIPLS_OWN_ANY = "CIPLS, own loadings", "CIPLS, own loadings, any exponent"
RFF_CIPLS_OWN = "RFF-CIPLS, own loadings"
RFF_CIPLS_OWN_ANY = "RFF-CIPLS, own loadings, any exponent"
OTHER_INPUTS = {LINEAR_CIPLS: CIPLS_RAW, LINEAR_CCIPCA: CCIPCA_RAW}
OVERFLOW = {RFF_CIPLS: RFF_CIPLS_ANY, LINEAR_CIPLS: CIPLS_ANY}
RAW_X, RFF_X = "Raw-X", "RFF-X"
CONTROLS = (RAW_X, RFF_X)
FLOOR = "paper"


def okspca(
    task: Task,
    split: Split,
    seed: int,
    rank: int,
    rate: float = LEARNING_RATE,
    clip: float = CLIP,
) -> OKSPCA:
    """Make the tracker of the paper, not yet fitted."""
    return OKSPCA(
        rank,
        task="classification" if task.labels else "regression",
        solver=Adam(learning_rate=rate, clip=clip, random_state=BASIS + seed),
        variance_floor=FLOOR,
        input_map=input_map(task, seed, split.X.shape[1]),
        target_map=target_map(task, seed),
    )


def _cipls(task: Task, seed: int, **settings: Any) -> Any:
    """Make CIPLS at the task's rank, with the adapter where there are several classes."""
    common = {"variance_floor": FLOOR, "standardize_target": not task.labels}
    reducer = CIPLS(task.rank, **{**common, "overflow": "freeze", **settings})
    adapted = task.labels and task.rank > 1
    return OneVsRestReducer(reducer, random_state=INPUT_MAP + seed) if adapted else reducer


def own_loadings(task: Task, split: Split, seed: int) -> dict[str, Any]:
    """Make CIPLS with a component's own score in its loadings, not yet fitted."""
    shared = input_map(task, seed, split.X.shape[1])
    own: dict[str, Any] = {"loadings": "own"}
    return {
        RFF_CIPLS_OWN: _cipls(task, seed, input_map=shared, **own),
        CIPLS_OWN: _cipls(task, seed, **own),
        RFF_CIPLS_OWN_ANY: _cipls(task, seed, input_map=shared, overflow="rescale", **own),
        CIPLS_OWN_ANY: _cipls(task, seed, overflow="rescale", **own),
    }


def comparators(task: Task, split: Split, seed: int) -> dict[str, Any]:
    """Make every comparator at the task's rank, not yet fitted."""
    k, shared = task.rank, input_map(task, seed, split.X.shape[1])

    def cipls(**settings: Any) -> Any:
        return _cipls(task, seed, **settings)

    def ccipca(**settings: Any) -> CCIPCA:
        return CCIPCA(k, variance_floor=FLOOR, **settings)

    return {
        RFF_CIPLS: cipls(input_map=shared),
        LINEAR_CIPLS: cipls(),
        RFF_CCIPCA: ccipca(input_map=shared),
        LINEAR_CCIPCA: ccipca(),
        CIPLS_RAW: cipls(standardize=None),
        CCIPCA_RAW: ccipca(standardize=None),
        RFF_CIPLS_ANY: cipls(input_map=shared, overflow="rescale"),
        CIPLS_ANY: cipls(overflow="rescale"),
    }


def controls(task: Task, split: Split, seed: int) -> dict[str, Unreduced]:
    """Make the unreduced controls, not yet fitted."""
    shared: Callable[[], FourierMap] = lambda: input_map(task, seed, split.X.shape[1])  # noqa: E731
    return {
        RAW_X: Unreduced(variance_floor=FLOOR),
        RFF_X: Unreduced(variance_floor=FLOOR, input_map=shared()),
    }


def response(task: Task, model: Any, split: Split) -> Any:
    """Return the response as a comparator takes it: -1 and +1 for two classes without adapter."""
    if task.labels and not isinstance(model, OneVsRestReducer):
        return np.where(split.y == split.y.max(), 1.0, -1.0)
    return split.y
