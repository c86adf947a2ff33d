"""The attributes a fitted model shows; all are read from its pipeline when asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from okspca.estimators.learned import SEARCH, Learned
from okspca.features import FeatureMap, OneHotMap
from okspca.moments import Moment
from okspca.numerics.arrays import Floats, copied
from okspca.pipeline import Pipeline, PipelineState
from okspca.pipeline.answers import delivered_columns, embedding_basis
from okspca.standardize import Standardizer


class FittedAttributes:
    """What a model shows once it has learned: copies, as of one row or block."""

    n_components: int
    _learned: Learned

    @property
    def components_(self) -> Floats:
        """What `transform` multiplies with, one component per row."""
        columns = self._fitted("components_").read(embedding_basis)
        return np.ascontiguousarray(columns.T)

    @property
    def singular_values_(self) -> Floats:
        """Singular values of C̄ (divisor: total weight) along the components."""
        return self._fitted("singular_values_").read(_values_along_components)

    @property
    def moment_(self) -> Moment:
        """The accumulated moment."""
        return self._fitted("moment_").read(lambda state: copied(state.moment))

    @property
    def classes_(self) -> NDArray[Any]:
        """Classes in the order of the columns of the moment."""
        learned: Learned | None = self.__dict__.get("_learned")
        labels = None if learned is None else learned.labels
        if labels is None:
            message = "classes_ exists only after labels were learned."
            raise AttributeError(message)
        return classes_of(labels)

    @property
    def task_(self) -> str:
        """What is learned: "classification" or "regression"."""
        learned: Learned | None = self.__dict__.get("_learned")
        if learned is None or learned.intake.task is None:
            message = "task_ exists only after rows were learned."
            raise AttributeError(message)
        return learned.intake.task

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows learned."""
        learned: Learned | None = self.__dict__.get("_learned")
        if learned is None:
            message = "n_samples_seen_ exists only after rows were learned."
            raise AttributeError(message)
        return learned.n_rows

    @property
    def input_map_(self) -> FeatureMap:
        """The input map in use."""
        return self._fitted("input_map_").state.input_map

    @property
    def target_map_(self) -> FeatureMap:
        """The target map in use."""
        return self._fitted("target_map_").read_as_is(lambda state: state.target_map)

    @property
    def relevance_(self) -> Floats:
        """Share of each input in the squared gradient of the prediction.

        The shares sum to one.  Where the rows told nothing (a constant response, a single class,
        constant inputs), all are zero, as the importances of a tree without a split are.
        """
        learned: Learned | None = self.__dict__.get("_learned")
        search = None if learned is None else learned.companion(SEARCH)
        found = None if search is None else search.relevance
        if found is None:
            message = (
                "relevance_ exists with relevance='learned' or 'low-rank', once the map was "
                "tested: after 512 rows, or later where there are many inputs."
            )
            raise AttributeError(message)
        return np.asarray(found / max(found.sum(), np.finfo(np.float64).tiny))

    @property
    def input_standardizer_(self) -> Standardizer:
        """The standardiser of the inputs."""
        return self._fitted("input_standardizer_").read(lambda s: copied(s.input_standardizer))

    @property
    def target_standardizer_(self) -> Standardizer:
        """The standardiser of the response."""
        return self._fitted("target_standardizer_").read(lambda s: copied(s.target_standardizer))

    def _fitted(self, name: str) -> Pipeline:
        """Return the pipeline, or raise as an attribute that does not exist yet would."""
        learned: Learned | None = self.__dict__.get("_learned")
        pipeline = None if learned is None else learned.pipeline
        if pipeline is None:
            message = f"{name} exists only after enough rows were learned."
            raise AttributeError(message)
        return pipeline


def classes_of(labels: FeatureMap) -> NDArray[Any]:
    """Classes in the order of their columns."""
    assert isinstance(labels, OneHotMap)
    return np.array(labels.classes)


def _values_along_components(state: PipelineState) -> Floats:
    """Norms of C̄ transposed times each column that embeddings use."""
    target = state.moment.target()
    norms: Floats = np.linalg.norm(target.Ct @ delivered_columns(state), axis=0)
    return norms * target.scale
