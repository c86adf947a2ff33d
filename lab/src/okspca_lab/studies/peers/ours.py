"""Our models: the paper's target, the predictive setting rung by rung, and the heads."""

from collections.abc import Callable
from typing import Any

from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.estimators.presets import frequencies_of
from okspca.features.ladder import DRAWN, RUNGS
from okspca_lab.studies.prediction.tasks import Task

AUTO = "auto"
#: What "auto" amounts to by itself is not run a second time under its own name.
SAME_AS_AUTO = frequencies_of(OKSPCA(preset="predictive"))
FREQUENCIES = (*(rung for rung in RUNGS if rung != SAME_AS_AUTO), AUTO)
#: The foot of the ladder and its top.
EXTREMES = (DRAWN, AUTO)
#: What becomes of the frequencies; everything is whitened.
SAYS = {
    "drawn": "whitened, frequencies as drawn",
    "scaled": "whitened, inputs rescaled by what they tell",
    "mixed": "whitened, mixtures of inputs found",
    "trained": "whitened, frequencies trained one by one",
    AUTO: 'whitened, frequencies learned as far as it pays: preset="predictive"',
}
#: Twice the default, for a stream that is long enough.
LONG_PILOT = 16384


def name_of(frequencies: str) -> str:
    """Name of a rung in tables.

    Examples
    --------
    >>> name_of("drawn")
    'okspca drawn'
    """
    return f"okspca {frequencies}"


def covariance(task: Task, n_inputs: int, seed: int) -> OKSPCA:
    """Make a model of the paper's target, the default of `OKSPCA`."""
    del n_inputs
    return OKSPCA(task.rank, **_common(task, seed))


def predictive(frequencies: str, **more: Any) -> Callable[[Task, int, int], OKSPCA]:
    """Return what makes the predictive setting, its ladder climbed up to a rung."""

    def make(task: Task, n_inputs: int, seed: int) -> OKSPCA:
        del n_inputs
        options = _common(task, seed) | more
        return OKSPCA(task.rank, preset="predictive", frequencies=frequencies, **options)

    return make


def head(task: Task, n_inputs: int, seed: int) -> OKSPCAClassifier | OKSPCARegressor:
    """Make a head with all its defaults."""
    del n_inputs
    return (OKSPCAClassifier if task.labels else OKSPCARegressor)(random_state=seed)


def _common(task: Task, seed: int) -> dict[str, Any]:
    """What all embeddings share."""
    kind = "classification" if task.labels else "regression"
    return {"n_random_features": task.n_features, "task": kind, "random_state": seed}
