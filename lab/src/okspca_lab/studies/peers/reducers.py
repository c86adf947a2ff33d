"""Methods that reduce: made at the rank of the task, on standardised inputs."""

from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from okspca.numerics.arrays import Floats
from okspca_lab.studies.prediction.tasks import Task


class PLS(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Partial least squares on indicators of classes, or on a number.

    Examples
    --------
    >>> X = np.eye(4)[[0, 1, 2, 3, 0, 1, 2, 3]]
    >>> PLS(1).fit(X, np.array([0, 1, 0, 1, 0, 1, 0, 1])).transform(X).shape
    (8, 1)
    """

    def __init__(self, n_components: int = 1) -> None:
        self.n_components = n_components

    def fit(self, X: Floats, y: NDArray[Any]) -> Self:
        """Fit; whole numbers are classes."""
        target = y if y.dtype.kind == "f" else (y[:, np.newaxis] == np.unique(y)).astype(float)
        self.model_ = PLSRegression(min(self.n_components, X.shape[1]), scale=False).fit(X, target)
        return self

    def transform(self, X: Floats) -> Floats:
        """Return the scores."""
        scores: Floats = self.model_.transform(X)
        return scores


def pca(task: Task, n_inputs: int, seed: int) -> Any:
    """Principal components."""
    return _scaled(PCA(min(task.rank, n_inputs), random_state=seed))


def pls(task: Task, n_inputs: int, seed: int) -> Any:
    """Partial least squares."""
    del n_inputs, seed
    return _scaled(PLS(task.rank))


def lda(task: Task, n_inputs: int, seed: int) -> Any:
    """Linear discriminants; the ranks of the tasks are C - 1, the most there are."""
    del n_inputs, seed
    return _scaled(LinearDiscriminantAnalysis(n_components=task.rank))


def nystrom_lda(task: Task, n_inputs: int, seed: int) -> Any:
    """Linear discriminants of as many landmarks as we have random features."""
    return _scaled(landmarks(task, n_inputs, seed), lda(task, n_inputs, seed)[-1])


def nystrom_pls(task: Task, n_inputs: int, seed: int) -> Any:
    """Partial least squares of as many landmarks as we have random features."""
    return _scaled(landmarks(task, n_inputs, seed), PLS(task.rank))


def nca(task: Task, n_inputs: int, seed: int) -> Any:
    """Neighbourhood components."""
    del n_inputs
    return _scaled(NeighborhoodComponentsAnalysis(task.rank, random_state=seed))


def kernel_pca(task: Task, n_inputs: int, seed: int) -> Any:
    """Principal components of the Gaussian kernel."""
    gamma = kernel_width(n_inputs)
    return _scaled(KernelPCA(task.rank, kernel="rbf", gamma=gamma, random_state=seed))


def umap(task: Task, n_inputs: int, seed: int) -> Any:
    """UMAP that is shown the response."""
    del n_inputs
    metric = "categorical" if task.labels else "l2"
    make = import_module("umap").UMAP
    return _scaled(make(n_components=task.rank, target_metric=metric, random_state=seed, n_jobs=1))


def landmarks(task: Task, n_inputs: int, seed: int) -> Nystroem:
    """Features of the Gaussian kernel from rows instead of frequencies."""
    gamma = kernel_width(n_inputs)
    return Nystroem(gamma=gamma, n_components=task.n_features, random_state=seed)


def kernel_width(n_inputs: int) -> float:
    """What squared distances are multiplied by where the bandwidth is √d.

    Examples
    --------
    >>> kernel_width(8)
    0.0625
    """
    return 1.0 / (2.0 * n_inputs)


def _scaled(*steps: Any) -> Any:
    """Standardise first."""
    return make_pipeline(StandardScaler(), *steps)
