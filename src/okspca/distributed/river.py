"""OKSPCA as a transformer of river (``pip install okspca[river]``).

Features are named and may come and go: see :mod:`okspca.distributed.named`.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import RandomState
from river.base import MiniBatchSupervisedTransformer, SupervisedTransformer

from okspca.distributed.named import NamedFeatures
from okspca.estimators import OKSPCA
from okspca.estimators.learned import Columns
from okspca.numerics.arrays import Floats
from okspca.standardize import NoStandardizer


class RiverOKSPCA(SupervisedTransformer, MiniBatchSupervisedTransformer):  # type: ignore[misc]
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
        self.features: NamedFeatures | None = None
        #: The model behind it, for its basis and certificate; None before the first row.
        self.model: OKSPCA | None = None

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learn one row."""
        features = self._features_with(list(x))
        self._learn(features, features.rows([x]), np.asarray([y]))

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn rows in their order; the same as learning them one by one."""
        if len(X):
            features = self._features_with(list(X.columns))
            self._learn(features, features.frame_rows(X), np.asarray(y))

    def transform_one(self, x: Mapping[Any, Any]) -> dict[Hashable, float]:
        """Embed one row; learns nothing."""
        rows = None if self.features is None else self.features.rows([x])
        return dict(zip(self._names(), self._embedded(rows, 1)[0].tolist(), strict=True))

    def transform_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Embed rows; learns nothing."""
        rows = None if self.features is None else self.features.frame_rows(X)
        return pd.DataFrame(self._embedded(rows, len(X)), index=X.index, columns=self._names())

    def _features_with(self, names: Sequence[Hashable]) -> NamedFeatures:
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
        model = self._new_model(features) if self.model is None else self.model
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

    def _new_model(self, features: NamedFeatures) -> OKSPCA:
        """Make the model behind the adapter."""
        return OKSPCA(
            self.n_components,
            task=self.task,
            objective=self.objective,
            forgetting=self.forgetting,
            align=self.align,
            input_map=features.map(),
            input_standardizer=NoStandardizer(),
            forget_standardizers=False,
            random_state=features.seed,
        )

    def _embedded(self, rows: Floats | None, n: int) -> Floats:
        """Embed rows, or give zeros before the first row was learned."""
        if rows is None or self.model is None or self.features is None:
            return np.zeros((n, self.n_components))
        return np.asarray(self.model.transform(self.features.transform(rows)))

    def _names(self) -> list[str]:
        """Names of the components."""
        return [f"okspca{number}" for number in range(self.n_components)]


def _grow(model: OKSPCA, features: NamedFeatures) -> None:
    """Give the model the map with columns for new features; what it has learned stays exact."""
    model.input_map = features.map()
    model.ready().widen_inputs(model.input_map)
    assert model.learned is not None
    columns = Columns(model.input_map.n_inputs, None)
    model.learned = model.learned._replace(columns=columns)
