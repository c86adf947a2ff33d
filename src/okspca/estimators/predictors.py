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

from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from okspca.estimators.building import Rows
from okspca.estimators.data import check_values
from okspca.estimators.fitted import classes_of
from okspca.estimators.missing import check_present
from okspca.estimators.predicting_first import PredictingFirst
from okspca.estimators.prequential import PrequentialScore
from okspca.estimators.presets import PREDICTIVE
from okspca.estimators.warning import warn
from okspca.features import FeatureMap
from okspca.moments import WhitenedMoment
from okspca.moments.calibration import Belief
from okspca.moments.class_discriminants import Discriminants
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import product
from okspca.numerics.whitening import regression_on
from okspca.pipeline import Embedding, Pipeline, PipelineState
from okspca.pipeline.answers import embedding, mean_features
from okspca.services import Service
from okspca.standardize import CausalStandardizer, FrozenStandardizer, Standardizer


class Linear(NamedTuple):
    """A linear function of an embedding."""

    weights: Floats
    offset: Floats

    def of(self, Z: Floats) -> Floats:
        """Values for embedded rows, one column per output."""
        return product(Z, self.weights) + self.offset


class Posteriors(NamedTuple):
    """Logarithms of posterior probabilities of classes, up to a constant.

    See :mod:`okspca.moments.calibration`; states of earlier versions have no calibration.
    """

    discriminants: Discriminants
    belief: Belief | None

    def of(self, Z: Floats) -> Floats:
        """Values for embedded rows, one column per class."""
        values = self.discriminants.of(Z)
        if self.belief is None or values.shape[1] < 2:
            return values
        return self.belief.of(self.discriminants, values)


class Readout(NamedTuple):
    """A prediction from inputs: the embedding, a function of it, and what its columns mean."""

    embedding: Embedding
    function: Linear | Posteriors
    classes: NDArray[Any]

    def of(self, X: Floats) -> Floats:
        """Values for rows, one column per output or class."""
        values = self.function.of(self.embedding.of(X))
        # A class that was declared but not seen yet has no column in the moment.
        missing = max(len(self.classes) - values.shape[1], 0)
        return np.pad(values, ((0, 0), (0, missing)), constant_values=-np.inf)


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
input_standardizer, random_state
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
            random_state=random_state,
        )

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that y may have several columns."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the response of rows."""
        values = self._answer(X, _regressor)[1]
        return values[:, 0] if values.shape[1] == 1 else values

    def _errors(self, pipeline: Pipeline, rows: Rows) -> tuple[Floats, Floats]:
        """Responses of rows, and squared errors."""
        return rows.Y, (rows.Y - pipeline.read(_regressor).of(rows.X)) ** 2

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
max_categories, input_map, input_standardizer, random_state
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
            random_state=random_state,
        )

    def decision_function(self, X: ArrayLike) -> Floats:
        """Logarithms of the posteriors up to a constant; for two classes, their difference."""
        values = self._discriminants(X)
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Posterior probability of each class, in the order of ``classes_``."""
        return np.asarray(softmax(self._discriminants(X), axis=1))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the most probable class of rows."""
        found, values = self._answer(X, _classifier, labels=True)
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
        guess = pipeline.read(_classifier).of(rows.X).argmax(axis=1)
        return rows.Y, (guess[:, np.newaxis] != rows.Y).astype(np.float64)

    def _score_of(self, sums: PrequentialScore) -> float:
        """Accuracy."""
        return sums.accuracy()

    def _discriminants(self, X: ArrayLike) -> Floats:
        """Linear discriminants of rows, one column per class."""
        return self._answer(X, _classifier)[1]


def _regressor(state: PipelineState) -> Readout:
    """What predicts a response, all of it from one state."""
    embeds = embedding(state)
    return Readout(embeds, _regression(state, embeds.columns), np.zeros(0))


def _classifier(state: PipelineState) -> Readout:
    """What predicts classes, all of it from one state."""
    embeds = embedding(state)
    found = _discriminants(state, embeds.columns)
    return Readout(embeds, found, classes_of(state.target_map))


def _regression(state: PipelineState, W: Floats) -> Linear:
    """Regress the response on the embedding, in the units of the response."""
    S, Ct = _moments(state)
    target_map = state.target_map
    columns = target_map.linear
    right_mean = state.moment.means()[1]
    B = regression_on(S, Ct[columns], W)
    mean, scale = np.zeros(len(B)), np.ones(len(B))
    standardizer = state.target_standardizer
    if isinstance(standardizer, CausalStandardizer):
        mean, scale = standardizer.mean, standardizer.scale()
    elif isinstance(standardizer, FrozenStandardizer):
        mean, scale = standardizer.mean, standardizer.divisor
    units = state.moment.units.right
    if state.target_origin is not None and units is not None:
        mean, scale = state.target_origin.point, units.divisor[columns]
    offset = right_mean[columns] - product(B, product(W.T, mean_features(state)))
    return Linear((B * scale[:, np.newaxis]).T, mean + scale * offset)


def _discriminants(state: PipelineState, W: Floats) -> Posteriors:
    """Find the discriminants of the classes in the embedding, and how much they are believed."""
    moment = state.moment
    assert isinstance(moment, WhitenedMoment)
    found = moment.discriminants_of(W)
    offset = found.offset - product(product(W.T, mean_features(state)), found.weights)
    # Without an embedding there is nothing to believe but the shares.
    belief = moment.belief_in(found, W) if W.any() else None
    return Posteriors(found._replace(offset=offset), belief)


def _moments(state: PipelineState) -> tuple[Floats, Floats]:
    """Covariance of the features, and C̄ transposed."""
    moment = state.moment
    assert isinstance(moment, WhitenedMoment)
    Ct = np.ascontiguousarray(moment.matrix().T)[: moment.width]
    return moment.input_covariance(), Ct
