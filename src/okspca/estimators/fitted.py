"""The attributes a fitted model shows; all are read from its pipeline when asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from okspca.estimators.building import Rows
from okspca.estimators.intake import Intake
from okspca.features import FeatureMap
from okspca.moments import CrossMoment
from okspca.numerics.arrays import Floats
from okspca.pipeline import Pipeline
from okspca.standardize import Standardizer


class FittedAttributes:
    """Read-only views that exist once a model has learned."""

    n_components: int
    _intake: Intake
    _pipeline: Pipeline | None
    _pilot: Rows | None

    @property
    def components_(self) -> Floats:
        """What `transform` multiplies with, one component per row."""
        columns = self._fitted("components_").read(Pipeline.embedding_basis)
        return np.ascontiguousarray(columns.T)

    @property
    def singular_values_(self) -> Floats:
        """Singular values of C̄ (divisor: total weight) along the components."""
        return self._fitted("singular_values_").read(_values_along_components)

    @property
    def moment_(self) -> CrossMoment:
        """The accumulated moment."""
        return self._fitted("moment_").settled().moment

    @property
    def classes_(self) -> NDArray[Any]:
        """Classes in the order of the columns of the moment."""
        intake = self.__dict__.get("_intake")
        if intake is None or intake.labels is None:
            message = "classes_ exists only after labels were learned."
            raise AttributeError(message)
        return np.array(intake.labels.classes)

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows learned."""
        if self.__dict__.get("_intake") is None:
            message = "n_samples_seen_ exists only after rows were learned."
            raise AttributeError(message)
        held_back = 0 if self._pilot is None else len(self._pilot)
        return held_back if self._pipeline is None else self._pipeline.rows

    @property
    def input_map_(self) -> FeatureMap:
        """The input map in use."""
        return self._fitted("input_map_").input_map

    @property
    def target_map_(self) -> FeatureMap:
        """The target map in use."""
        return self._fitted("target_map_").target_map

    @property
    def relevance_(self) -> Floats:
        """Share of each input in the squared gradient of the prediction; they sum to one."""
        search = self.__dict__.get("_search")
        if search is None or search.relevance is None:
            message = (
                "relevance_ exists with relevance='learned' or 'low-rank', once the map was "
                "tested: after 512 rows, or later where there are many inputs."
            )
            raise AttributeError(message)
        return search.relevance / max(search.relevance.sum(), np.finfo(np.float64).tiny)

    @property
    def input_standardizer_(self) -> Standardizer:
        """The standardiser of the inputs."""
        return self._fitted("input_standardizer_").input_standardizer

    @property
    def target_standardizer_(self) -> Standardizer:
        """The standardiser of the response."""
        return self._fitted("target_standardizer_").target_standardizer

    def _fitted(self, name: str) -> Pipeline:
        """Return the pipeline, or raise as an attribute that does not exist yet would."""
        pipeline: Pipeline | None = self.__dict__.get("_pipeline")
        if pipeline is None:
            message = f"{name} exists only after enough rows were learned."
            raise AttributeError(message)
        return pipeline


def _values_along_components(pipeline: Pipeline) -> Floats:
    """Norms of C̄ transposed times each column that embeddings use."""
    target = pipeline.target()
    norms: Floats = np.linalg.norm(target.Ct @ pipeline.delivered_columns(), axis=0)
    return norms * target.scale
