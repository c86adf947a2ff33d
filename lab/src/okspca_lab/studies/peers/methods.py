"""Who is compared: a name, what it is, how it is made, and with how many seeds and rows.

Every rival sees standardised inputs, and those with a Gaussian kernel the bandwidth that our map is
drawn with, √d.  Methods whose cost is quadratic in the rows learn from the first of them only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from okspca_lab.studies.peers import ours, predictors, reducers
from okspca_lab.studies.peers.data import LARGE
from okspca_lab.studies.prediction.tasks import Task

#: Makes a method that is not fitted, for a task, a number of inputs and a seed.
Make = Callable[[Task, int, int], Any]
OURS, REDUCERS, PREDICTORS = GROUPS = ("ours", "reducers", "predictors")
SEEDS, FEW_SEEDS = 10, 3
QUADRATIC_ROWS, KERNEL_ROWS = 2_000, 10_000


@dataclass(frozen=True)
class Method:
    """One of those compared.

    Attributes
    ----------
    name : str
        As in the tables.
    group : str
        Ours, reducers or predictors.
    says : str
        What it is.
    make : callable
        From task, number of inputs and seed to what has ``fit``.
    predicts : bool
        Whether it predicts by itself; otherwise its embedding is probed.
    seeds : int
        How many seeds it is run with.
    labels, numbers : bool
        Which responses it takes.
    most_rows : int or None
        Rows that it learns from at most.
    needs : str
        Package without which it is left out.
    large : bool
        Whether it is run on the largest set too.
    only : tuple of str
        Data sets that it is run on, if not on all.
    """

    name: str
    group: str
    says: str
    make: Make
    predicts: bool = False
    seeds: int = SEEDS
    labels: bool = True
    numbers: bool = True
    most_rows: int | None = None
    needs: str = ""
    large: bool = False
    only: tuple[str, ...] = ()

    @property
    def is_installed(self) -> bool:
        """Whether its package is here."""
        return not self.needs or find_spec(self.needs) is not None

    def takes(self, task: Task) -> bool:
        """Whether it can be run on a task."""
        if self.only and task.name not in self.only:
            return False
        return self.labels if task.labels else self.numbers

    def seeds_on(self, name: str) -> int:
        """With how many seeds it is run on a data set."""
        if name != LARGE:
            return self.seeds
        return (FEW_SEEDS if self.group == OURS else 1) * self.large


def _rung(frequencies: str) -> Method:
    """The predictive setting, with frequencies of one rung of the ladder."""
    make = ours.predictive(frequencies)
    large = frequencies in ours.EXTREMES
    return Method(ours.name_of(frequencies), OURS, ours.SAYS[frequencies], make, large=large)


COVARIANCE = Method(
    "covariance target",
    OURS,
    "the paper's target, the default of OKSPCA",
    ours.covariance,
    large=True,
)
RUNGS = tuple(_rung(frequencies) for frequencies in ours.FREQUENCIES)
AUTO = next(one for one in RUNGS if one.name == ours.name_of("auto"))
LONG = Method(
    f"okspca auto, {ours.LONG_PILOT:,} rows",
    OURS,
    f"auto, which learns its features from up to {ours.LONG_PILOT:,} rows, twice the default",
    ours.predictive(ours.AUTO, pilot_rows=ours.LONG_PILOT),
    only=("covtype",),
)
HEAD = Method(
    "okspca head",
    OURS,
    "OKSPCAClassifier or OKSPCARegressor with all defaults",
    ours.head,
    predicts=True,
    large=True,
)
_FEW: dict[str, Any] = {"seeds": FEW_SEEDS}
_QUADRATIC: dict[str, Any] = {**_FEW, "most_rows": QUADRATIC_ROWS}
_KERNEL: dict[str, Any] = {**_FEW, "most_rows": KERNEL_ROWS}


def _reducer(name: str, says: str, make: Make, **others: Any) -> Method:
    """Make one of those that reduce."""
    return Method(name, REDUCERS, says, make, **others)


def _predictor(name: str, says: str, make: Make, **others: Any) -> Method:
    """Make one of those that predict."""
    return Method(name, PREDICTORS, says, make, predicts=True, **others)


METHODS = (
    COVARIANCE,
    *RUNGS,
    LONG,
    HEAD,
    _reducer("PCA", "principal components", reducers.pca, large=True),
    _reducer("PLS", "partial least squares, on indicators of classes", reducers.pls),
    _reducer("LDA", "linear discriminants", reducers.lda, numbers=False, large=True),
    _reducer(
        "Nyström + LDA",
        "linear discriminants of D landmarks",
        reducers.nystrom_lda,
        numbers=False,
        large=True,
    ),
    _reducer(
        "Nyström + PLS",
        "partial least squares of D landmarks",
        reducers.nystrom_pls,
        labels=False,
    ),
    _reducer(
        "NCA",
        "neighbourhood components",
        reducers.nca,
        numbers=False,
        large=True,
        **_QUADRATIC,
    ),
    _reducer(
        "kernel PCA",
        "principal components of the Gaussian kernel",
        reducers.kernel_pca,
        **_QUADRATIC,
    ),
    _reducer(
        "supervised UMAP",
        "umap-learn, which is shown the response",
        reducers.umap,
        needs="umap",
        large=True,
        **_FEW,
    ),
    _predictor(
        "Nyström + linear",
        "logistic or ridge regression on D landmarks",
        predictors.nystrom,
    ),
    _predictor("MLP", "a network with one hidden layer of D", predictors.mlp, **_FEW),
    _predictor(
        "gradient boosting",
        "scikit-learn's HistGradientBoosting, all 100 rounds",
        predictors.boosting,
        large=True,
    ),
    _predictor("RBF SVM", "support vectors of the Gaussian kernel", predictors.svm, **_KERNEL),
    _predictor(
        "xRFM",
        "recursive feature machines, of the package xrfm",
        predictors.xrfm,
        needs="xrfm",
        large=True,
        **_KERNEL,
    ),
)
BY_NAME = {method.name: method for method in METHODS}
