"""OKSPCA in river (``pip install okspca[river]``): a transformer, a classifier and a regressor.

Features are named and may come and go: see :mod:`okspca.distributed.named`.
"""

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
from numpy.random import RandomState
from river.base import (
    MiniBatchClassifier,
    MiniBatchRegressor,
    MiniBatchSupervisedTransformer,
    SupervisedTransformer,
)

from okspca.distributed.named import NamedFeatures
from okspca.estimators import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.estimators.learned import Columns
from okspca.numerics.arrays import Floats
from okspca.standardize import NoStandardizer

Model = TypeVar("Model", bound=OKSPCA)


class NamedStream(Generic[Model]):
    """What the adapters have in common: they learn dictionaries with a model of OKSPCA.

    A feature that is absent, None or NaN counts as its mean.
    """

    n_random_features: int
    bandwidth: float | None
    seed: int | None

    def _start(self) -> None:
        """Know nothing."""
        self.features: NamedFeatures | None = None
        #: The model behind it, for its basis and certificate; None before the first row.
        self.model: Model | None = None

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learn one row."""
        features = self._features_with(x)
        self._learn(features, features.rows([x]), np.asarray([y]))

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn rows in their order; the same as learning them one by one."""
        if len(X):
            features = self._features_with(list(X.columns))
            self._learn(features, features.frame_rows(X), np.asarray(y))

    @abstractmethod
    def _new_model(self, settings: dict[str, Any]) -> Model:
        """Make the model behind the adapter."""

    def _features_with(self, names: Sequence[Hashable] | Mapping[Any, Any]) -> NamedFeatures:
        """Return the features, which know these names; make them at the first row."""
        features = self.features
        if features is None:
            seed = RandomState(self.seed).randint(np.iinfo(np.int32).max)
            bandwidth = self.bandwidth or float(np.sqrt(max(len(names), 1)))
            features = NamedFeatures(self.n_random_features, bandwidth, int(seed))
        features.learn_names(names)
        if self.model is not None and len(features.mean) > self.model.n_features_in_:
            _grow(self.model, features)
        return features

    def _learn(self, features: NamedFeatures, rows: Floats, y: Any) -> None:
        """Let the model learn rows; where it refuses them, no mean or variance has changed."""
        model = self._new_model(_settings(features)) if self.model is None else self.model
        before = features.statistics()
        try:
            Z = features.scan(rows)
            if len(Z) == 1 and self.model is not None:
                model.learn_one(Z[0], y[0])
            else:
                model.partial_fit(Z, y)
        except BaseException:
            features.mean, features.variance, features.counts = before
            raise
        self.model, self.features = model, features

    def _row(self, x: Mapping[Any, Any]) -> Floats:
        """One row as the model takes it."""
        assert self.features is not None
        found: Floats = self.features.transform(self.features.rows([x]))[0]
        return found

    def _rows(self, X: pd.DataFrame) -> Floats:
        """Rows as the model takes them."""
        assert self.features is not None
        return self.features.transform(self.features.frame_rows(X))


class RiverOKSPCA(
    NamedStream[OKSPCA],
    SupervisedTransformer,  # type: ignore[misc]
    MiniBatchSupervisedTransformer,  # type: ignore[misc]
):
    """Supervised components of a stream of dictionaries.

    On features that are always present it learns what :class:`okspca.OKSPCA` learns.  A feature
    that is absent, None or NaN counts as its mean.  Before the first row embeddings are zero.

    Parameters
    ----------
    n_components
        Number of columns of the embedding.
    n_random_features
        Number of random Fourier features.
    task
        "classification", "regression", or "auto": a float target means regression.
    bandwidth
        Of the Gaussian kernel on standardised features; None takes the square root of the number of
        features in the first row.
    objective, forgetting, align
        As for :class:`okspca.OKSPCA`.  Standardisers do not forget.
    seed
        Seed of the maps.

    Examples
    --------
    >>> from river import linear_model, metrics, datasets, evaluate
    >>> model = RiverOKSPCA(4, seed=0) | linear_model.LinearRegression()
    >>> evaluate.progressive_val_score(datasets.TrumpApproval().take(300), model, metrics.MAE())
    MAE: ...
    """

    def __init__(
        self,
        n_components: int = 2,
        n_random_features: int = 128,
        task: str = "auto",
        bandwidth: float | None = None,
        objective: str = "covariance",
        forgetting: float = 1.0,
        align: bool = True,
        seed: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_random_features = n_random_features
        self.task = task
        self.bandwidth = bandwidth
        self.objective = objective
        self.forgetting = forgetting
        self.align = align
        self.seed = seed
        self._start()

    def transform_one(self, x: Mapping[Any, Any]) -> dict[Hashable, float]:
        """Embed one row; learns nothing."""
        model = self.model
        z = np.zeros(self.n_components) if model is None else model.transform_one(self._row(x))
        return dict(zip(self._names(), z.tolist(), strict=True))

    def transform_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Embed rows; learns nothing."""
        model = self.model
        none = np.zeros((len(X), self.n_components))
        Z = none if model is None else model.transform(self._rows(X))
        return pd.DataFrame(Z, index=X.index, columns=self._names())

    def _new_model(self, settings: dict[str, Any]) -> OKSPCA:
        """Make the model behind the adapter."""
        return OKSPCA(
            self.n_components,
            task=self.task,
            objective=self.objective,
            forgetting=self.forgetting,
            align=self.align,
            **settings,
        )

    def _names(self) -> list[str]:
        """Names of the components."""
        return [f"okspca{number}" for number in range(self.n_components)]


class RiverOKSPCAClassifier(NamedStream[OKSPCAClassifier], MiniBatchClassifier):  # type: ignore[misc]
    """Classes of a stream of dictionaries, by :class:`okspca.OKSPCAClassifier`.

    Frequencies stay as drawn, since a feature may appear at any time.  Before the first row there
    is no class.

    Parameters
    ----------
    n_random_features
        Number of random Fourier features.
    bandwidth
        Of the Gaussian kernel on standardised features; None takes the square root of the number of
        features in the first row.
    ridge, forgetting
        As for :class:`okspca.OKSPCAClassifier`.  Standardisers do not forget.
    seed
        Seed of the map.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> model = RiverOKSPCAClassifier(n_random_features=64, seed=0)
    >>> evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
    Accuracy: ...
    """

    def __init__(
        self,
        n_random_features: int = 256,
        bandwidth: float | None = None,
        ridge: str | float = "auto",
        forgetting: float = 1.0,
        seed: int | None = None,
    ) -> None:
        self.n_random_features = n_random_features
        self.bandwidth = bandwidth
        self.ridge = ridge
        self.forgetting = forgetting
        self.seed = seed
        self._start()

    def predict_proba_one(self, x: Mapping[Any, Any], **_: Any) -> dict[Any, float]:
        """Posterior probability of each class known so far; learns nothing."""
        if self.model is None:
            return {}
        p = self.model.predict_proba_one(self._row(x))
        return dict(zip(self.model.classes_.tolist(), p.tolist(), strict=True))

    def predict_one(self, x: Mapping[Any, Any], **_: Any) -> Any:
        """Predict the most probable class; None before the first row."""
        return None if self.model is None else self.model.predict_one(self._row(x))

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Posterior probabilities of rows, one column per class."""
        if self.model is None:
            return pd.DataFrame(index=X.index)
        p = self.model.predict_proba(self._rows(X))
        return pd.DataFrame(p, index=X.index, columns=self.model.classes_.tolist())

    @property
    def _multiclass(self) -> bool:
        return True

    def _new_model(self, settings: dict[str, Any]) -> OKSPCAClassifier:
        """Make the model behind the adapter."""
        return OKSPCAClassifier(
            ridge=self.ridge, forgetting=self.forgetting, frequencies="drawn", **settings
        )


class RiverOKSPCARegressor(NamedStream[OKSPCARegressor], MiniBatchRegressor):  # type: ignore[misc]
    """Responses of a stream of dictionaries, by :class:`okspca.OKSPCARegressor`.

    Frequencies stay as drawn, since a feature may appear at any time.  Before the first row zero is
    predicted.

    Parameters
    ----------
    n_random_features
        Number of random Fourier features.
    bandwidth
        Of the Gaussian kernel on standardised features; None takes the square root of the number of
        features in the first row.
    ridge, forgetting
        As for :class:`okspca.OKSPCARegressor`.  Standardisers of features do not forget.
    seed
        Seed of the map.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> model = RiverOKSPCARegressor(n_random_features=64, seed=0)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval().take(300), model, metrics.MAE())
    MAE: ...
    """

    def __init__(
        self,
        n_random_features: int = 256,
        bandwidth: float | None = None,
        ridge: str | float = "auto",
        forgetting: float = 1.0,
        seed: int | None = None,
    ) -> None:
        self.n_random_features = n_random_features
        self.bandwidth = bandwidth
        self.ridge = ridge
        self.forgetting = forgetting
        self.seed = seed
        self._start()

    def predict_one(self, x: Mapping[Any, Any]) -> float:
        """Predict the response of one row; learns nothing."""
        return 0.0 if self.model is None else float(self.model.predict_one(self._row(x)))

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Predict the responses of rows; learns nothing."""
        y = np.zeros(len(X)) if self.model is None else self.model.predict(self._rows(X))
        return pd.Series(y, index=X.index)

    def _new_model(self, settings: dict[str, Any]) -> OKSPCARegressor:
        """Make the model behind the adapter."""
        return OKSPCARegressor(
            ridge=self.ridge, forgetting=self.forgetting, frequencies="drawn", **settings
        )


def _settings(features: NamedFeatures) -> dict[str, Any]:
    """What the models behind all adapters have in common."""
    return {
        "input_map": features.map(),
        "input_standardizer": NoStandardizer(),
        "forget_standardizers": False,
        "random_state": features.seed,
    }


def _grow(model: OKSPCA, features: NamedFeatures) -> None:
    """Give the model the map with columns for new features; what it has learned stays exact."""
    model.input_map = features.map()
    model.ready().widen_inputs(model.input_map)
    assert model.learned is not None
    columns = Columns(model.input_map.n_inputs, None)
    model.learned = model.learned._replace(columns=columns)
