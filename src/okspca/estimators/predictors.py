r"""Prediction in one pass, in closed form from the moments that the embedding comes from.

With the embedding ``z = W^T phi`` of the whitened objective, its covariance ``W^T S W`` and its
cross-covariance ``W^T C`` with the target features are known at any time:

* a response is regressed on z (its first target feature is the response itself);
* classes have means and a common covariance within them in z, which makes linear functions of z
  (linear discriminant analysis); how much these are believed is learned from rows that were not
  learned yet (:mod:`okspca.moments.calibration`).

No second pass, no optimiser; blocks of any size give the same predictor.  With ``prequential=True``
every block is predicted before it is learned (:mod:`okspca.estimators.prequential`).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from okspca.estimators.answering import check_learned
from okspca.estimators.building import Rows
from okspca.estimators.data import check_values
from okspca.estimators.missing import check_present
from okspca.estimators.one_row import of_classifier, of_regressor
from okspca.estimators.predicting_first import PredictingFirst
from okspca.estimators.prequential import PrequentialScore
from okspca.estimators.presets import PREDICTIVE
from okspca.estimators.readouts import classifier, regressor
from okspca.estimators.warning import warn
from okspca.features import FeatureMap
from okspca.numerics.arrays import Floats
from okspca.numerics.softmax import softmax
from okspca.pipeline import Pipeline
from okspca.services import Service
from okspca.standardize import Standardizer


class OKSPCARegressor(RegressorMixin, PredictingFirst):  # type: ignore[misc]
    """Regression on whitened supervised components, in one pass.

    What :class:`OKSPCA` takes besides is settled here: the task and the objective; and features of
    the response must hold the response itself, in units that can be undone, so random ones
    (`n_target_features`, `target_bandwidth`), ready-made ones (`target_map`) and a
    `target_standardizer` are not taken.  `compress` has no effect on so few of them.

    Parameters
    ----------
    n_components : int or "auto", optional
        Number of components the response is regressed on; by default one for each of its numbers.
        The first are the best predictors of the response, so more do not predict it better; ask for
        them to see more of its distribution in :meth:`transform`.
    n_random_features, bandwidth, kernel, sampling, solver, ridge, frequencies, \
pilot_rows, relearn, standardize, variance_floor, forgetting, window, forget_standardizers, \
stability, align, compress, missing, missing_indicators, categories, max_categories, input_map, \
input_standardizer, n_threads, random_state
        As for :class:`OKSPCA` with ``preset="predictive"``: frequencies are trained, if possible.
    target_features : {"auto", "response", "chebyshev", "raw"}, default="auto"
        Features of the response that the components are found for; "auto" is "response".
    prequential : bool, default=False
        Predict every block before it is learned, which costs one solution per block.

    Attributes
    ----------
    prequential_score_ : float
        R² of these predictions, over all blocks after the first; of several outputs, the mean.

    Examples
    --------
    >>> X = np.random.RandomState(0).normal(size=(2000, 3))
    >>> y = np.sin(X[:, 0]) * X[:, 1]
    >>> model = OKSPCARegressor(n_random_features=128, random_state=0)
    >>> bool(model.partial_fit(X[:1500], y[:1500]).score(X[1500:], y[1500:]) > 0.9)
    True
    """

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        n_random_features: int = 256,
        bandwidth: str | float = "sqrt-dim",
        kernel: str = "gaussian",
        sampling: str = "plain",
        solver: str | Service[Any] = "exact",
        ridge: str | float = "auto",
        frequencies: str = "auto",
        pilot_rows: int = 8192,
        relearn: str = "never",
        target_features: str = "auto",
        standardize: str | None = "causal",
        variance_floor: str | float = "relative",
        forgetting: float = 1.0,
        window: int | None = None,
        forget_standardizers: bool = True,
        stability: int = 0,
        align: bool = False,
        compress: bool = True,
        missing: str = "raise",
        missing_indicators: bool = False,
        categories: str = "raise",
        max_categories: int = 20,
        input_map: FeatureMap | None = None,
        input_standardizer: Standardizer | None = None,
        prequential: bool = False,
        n_threads: int = 1,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.prequential = prequential
        super().__init__(
            n_components,
            n_random_features=n_random_features,
            task="regression",
            bandwidth=bandwidth,
            kernel=kernel,
            sampling=sampling,
            solver=solver,
            preset=PREDICTIVE,
            objective="whitened",
            ridge=ridge,
            frequencies=frequencies,
            pilot_rows=pilot_rows,
            relearn=relearn,
            target_features=target_features,
            standardize=standardize,
            variance_floor=variance_floor,
            forgetting=forgetting,
            window=window,
            forget_standardizers=forget_standardizers,
            stability=stability,
            align=align,
            compress=compress,
            missing=missing,
            missing_indicators=missing_indicators,
            categories=categories,
            max_categories=max_categories,
            input_map=input_map,
            input_standardizer=input_standardizer,
            n_threads=n_threads,
            random_state=random_state,
        )

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that y may have several columns."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the response of rows."""
        values = self._answer(X, regressor)[1]
        return values[:, 0] if values.shape[1] == 1 else values

    def predict_one(self, x: ArrayLike | Mapping[str, Any]) -> float | Floats:
        """Predict the response of one row: a number, or of several outputs an array of them.

        Takes what :meth:`transform_one` takes, as quickly; the result has the bits of ``predict``
        of a block of this row.
        """
        check_learned(self.ready())
        values = self._answer_one(x, of_regressor, "predict_one")[1]
        return float(values[0]) if values.shape[0] == 1 else values

    def _errors(self, pipeline: Pipeline, rows: Rows) -> tuple[Floats, Floats]:
        """Responses of rows, and squared errors."""
        return rows.Y, (rows.Y - pipeline.read(regressor).of(rows.X)) ** 2

    def _score_of(self, sums: PrequentialScore) -> float:
        """R²."""
        return sums.r2()


class OKSPCAClassifier(ClassifierMixin, PredictingFirst):  # type: ignore[misc]
    """Classification on whitened supervised components, in one pass.

    What :class:`OKSPCA` takes besides is settled here: the task and the objective; and options of a
    numeric response (`target_features`, `n_target_features`, `target_bandwidth`, `target_map`,
    `target_standardizer`) have no meaning for labels.  `compress` has no effect on them either.

    Parameters
    ----------
    n_components : int or "auto", optional
        Number of components; by default one less than there are classes, which is as many as tell
        them apart.  The number follows classes that come late.
    n_random_features, bandwidth, kernel, sampling, solver, ridge, class_weighting, \
frequencies, pilot_rows, relearn, standardize, variance_floor, forgetting, window, \
forget_standardizers, stability, align, compress, missing, missing_indicators, categories, \
max_categories, input_map, input_standardizer, n_threads, random_state
        As for :class:`OKSPCA` with ``preset="predictive"``: frequencies are trained where
        that can be.
    prequential : bool, default=False
        Predict every block before it is learned, which costs one solution per block.

    Attributes
    ----------
    prequential_score_ : float
        Share of rows that these predictions have right, over all blocks after the first.

    Examples
    --------
    >>> X = np.random.RandomState(0).normal(size=(2000, 3))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0.0, "same", "opposite")
    >>> model = OKSPCAClassifier(n_random_features=128, random_state=0)
    >>> bool(model.partial_fit(X[:1500], y[:1500]).score(X[1500:], y[1500:]) > 0.9)
    True
    >>> model.predict_proba(X[:2]).sum(axis=1).round(6).tolist()
    [1.0, 1.0]
    """

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        n_random_features: int = 256,
        bandwidth: str | float = "sqrt-dim",
        kernel: str = "gaussian",
        sampling: str = "plain",
        solver: str | Service[Any] = "exact",
        ridge: str | float = "auto",
        class_weighting: str = "squared",
        frequencies: str = "auto",
        pilot_rows: int = 8192,
        relearn: str = "never",
        standardize: str | None = "causal",
        variance_floor: str | float = "relative",
        forgetting: float = 1.0,
        window: int | None = None,
        forget_standardizers: bool = True,
        stability: int = 0,
        align: bool = False,
        compress: bool = True,
        missing: str = "raise",
        missing_indicators: bool = False,
        categories: str = "raise",
        max_categories: int = 20,
        input_map: FeatureMap | None = None,
        input_standardizer: Standardizer | None = None,
        prequential: bool = False,
        n_threads: int = 1,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.prequential = prequential
        super().__init__(
            n_components,
            n_random_features=n_random_features,
            task="classification",
            bandwidth=bandwidth,
            kernel=kernel,
            sampling=sampling,
            solver=solver,
            preset=PREDICTIVE,
            objective="whitened",
            ridge=ridge,
            class_weighting=class_weighting,
            frequencies=frequencies,
            pilot_rows=pilot_rows,
            relearn=relearn,
            standardize=standardize,
            variance_floor=variance_floor,
            forgetting=forgetting,
            window=window,
            forget_standardizers=forget_standardizers,
            stability=stability,
            align=align,
            compress=compress,
            missing=missing,
            missing_indicators=missing_indicators,
            categories=categories,
            max_categories=max_categories,
            input_map=input_map,
            input_standardizer=input_standardizer,
            n_threads=n_threads,
            random_state=random_state,
        )

    def decision_function(self, X: ArrayLike) -> Floats:
        """Logarithms of the posteriors up to a constant; for two classes, their difference."""
        values = self._discriminants(X)
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Posterior probability of each class, in the order of ``classes_``."""
        return softmax(self._discriminants(X))

    def predict_proba_one(self, x: ArrayLike | Mapping[str, Any]) -> Floats:
        """Posterior probability of each class for one row, in the order of ``classes_``.

        Takes what :meth:`transform_one` takes, as quickly; the result has the bits of
        ``predict_proba`` of a block of this row.  River's form, a dictionary, is
        ``dict(zip(model.classes_.tolist(), model.predict_proba_one(x).tolist()))``.
        """
        check_learned(self.ready())
        return softmax(self._answer_one(x, of_classifier, "predict_proba_one")[1])

    def predict_one(self, x: ArrayLike | Mapping[str, Any]) -> Any:
        """Predict the most probable class of one row, as a plain Python value.

        Takes what :meth:`transform_one` takes, as quickly.
        """
        check_learned(self.ready())
        answer, values = self._answer_one(x, of_classifier, "predict_one", labels=True)
        return answer.classes[int(values.argmax())]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the most probable class of rows."""
        found, values = self._answer(X, classifier, labels=True)
        return found.classes[np.argmax(values, axis=1)]

    def _check_target(self, y: Any) -> None:
        """Admit labels only."""
        check_present(y, "y")
        array = np.asarray(y)
        if array.dtype.kind == "f":
            check_values(array, "y")
        check_classification_targets(array)
        if array.ndim == 2 and array.shape[1] == 1:
            message = "A column-vector y was passed when a 1d array was expected."
            warn(message, DataConversionWarning)

    def _errors(self, pipeline: Pipeline, rows: Rows) -> tuple[Floats, Floats]:
        """Columns of the classes of rows, and whether they were predicted wrong."""
        guess = pipeline.read(classifier).of(rows.X).argmax(axis=1)
        return rows.Y, (guess[:, np.newaxis] != rows.Y).astype(np.float64)

    def _score_of(self, sums: PrequentialScore) -> float:
        """Accuracy."""
        return sums.accuracy()

    def _discriminants(self, X: ArrayLike) -> Floats:
        """Linear discriminants of rows, one column per class."""
        return self._answer(X, classifier)[1]
