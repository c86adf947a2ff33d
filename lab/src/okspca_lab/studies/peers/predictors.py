"""Methods that predict: what people use today, on standardised inputs."""

from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from okspca.numerics.arrays import Floats
from okspca_lab.studies.peers.reducers import landmarks
from okspca_lab.studies.prediction.protocol import MOST_ITERATIONS
from okspca_lab.studies.prediction.tasks import Task

#: Share of the rows that settings are chosen on, where they are.
HELD_BACK = 0.2
PENALTIES = (1.0, 10.0, 100.0)
RIDGES = (1.0, 10.0, 100.0, 1000.0, 10000.0)


class XRFM(BaseEstimator):  # type: ignore[misc]
    """Recursive feature machines as their package offers them, behind `fit` and `predict`."""

    def __init__(self, random_state: int = 0, *, labels: bool = True) -> None:
        self.random_state, self.labels = random_state, labels

    def fit(self, X: Floats, y: NDArray[Any]) -> Self:
        """Fit to four fifths of the rows; the package chooses the iteration on the others."""
        order = RandomState(self.random_state).permutation(len(y))
        held = max(round(HELD_BACK * len(y)), 1)
        if self.labels:
            self.classes_, target = np.unique(y, return_inverse=True)
        else:
            self.centre_, self.scale_ = y.mean(), y.std()
            target = (y - self.centre_) / self.scale_
        rows, others = order[held:], order[:held]
        machine = import_module("xrfm").xRFM
        self.model_ = machine(random_state=self.random_state, n_threads=1, verbose=False)
        self.model_.fit(X[rows], target[rows], X[others], target[others])
        return self

    def predict(self, X: Floats) -> NDArray[Any]:
        """Predict labels or numbers."""
        guess = np.asarray(self.model_.predict(X)).reshape(len(X))
        if self.labels:
            return self.classes_[guess.astype(np.int64)]
        return guess * self.scale_ + self.centre_


def nystrom(task: Task, n_inputs: int, seed: int) -> Any:
    """A linear model of as many landmarks as we have random features."""
    linear = LogisticRegression(max_iter=MOST_ITERATIONS) if task.labels else RidgeCV(RIDGES)
    return make_pipeline(
        StandardScaler(), landmarks(task, n_inputs, seed), StandardScaler(), linear
    )


def mlp(task: Task, n_inputs: int, seed: int) -> Any:
    """A network with one hidden layer as wide as our map, stopped early."""
    del n_inputs
    common = {"hidden_layer_sizes": (task.n_features,), "early_stopping": True}
    made = (MLPClassifier if task.labels else MLPRegressor)(random_state=seed, **common)
    return _standardised(task, made)


def boosting(task: Task, n_inputs: int, seed: int) -> Any:
    """Gradient boosting with its defaults, but all hundred rounds.

    Above 10,000 rows its default is to stop early, which on covtype it does after 14 rounds, at an
    accuracy 0.06 below that of all of them.
    """
    del n_inputs
    kind = HistGradientBoostingClassifier if task.labels else HistGradientBoostingRegressor
    return kind(early_stopping=False, random_state=seed)


def svm(task: Task, n_inputs: int, seed: int) -> Any:
    """Support vectors of the Gaussian kernel, the penalty chosen on rows held back."""
    del n_inputs
    held_back = ShuffleSplit(1, test_size=HELD_BACK, random_state=seed)
    scoring = "f1_macro" if task.labels else "r2"
    grid = {"C": PENALTIES}
    made = GridSearchCV(SVC() if task.labels else SVR(), grid, cv=held_back, scoring=scoring)
    return _standardised(task, made)


def xrfm(task: Task, n_inputs: int, seed: int) -> Any:
    """Recursive feature machines with their defaults."""
    del n_inputs
    return make_pipeline(StandardScaler(), XRFM(seed, labels=task.labels))


def _standardised(task: Task, model: Any) -> Any:
    """Standardise the inputs, and a numeric response."""
    made = make_pipeline(StandardScaler(), model)
    if task.labels:
        return made
    return TransformedTargetRegressor(made, transformer=StandardScaler())
