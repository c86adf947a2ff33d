"""The attributes a fitted model shows; all are read from one record when asked for."""

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from okspca.estimators.learned import Names, Record
from okspca.features import FeatureMap, OneHotMap
from okspca.features.bandwidth import sqrt_dimension
from okspca.moments import Moment
from okspca.numerics.addresses import read_only
from okspca.numerics.arrays import Floats, copied
from okspca.numerics.matrix import product
from okspca.pipeline import Pipeline, PipelineState
from okspca.pipeline.answers import delivered_columns, embedding_basis
from okspca.pipeline.asking import answered_once, asked_ahead
from okspca.standardize import Standardizer


class FittedAttributes:
    """The record of what a model has learned, and what it shows of it: copies, as of one row."""

    n_components: int | str | None
    _learned: Record | None = None

    @property
    def learned(self) -> Record | None:
        """Everything that was learned, as one record; None before the first row."""
        return self._learned

    @learned.setter
    def learned(self, record: Record | None) -> None:
        """Take over what was learned elsewhere."""
        self._learned = record

    def ready(self) -> Pipeline:
        """Return the pipeline, or say what is missing."""
        if self._learned is None:
            check_is_fitted(self)
        return self._known("The pipeline").ready()

    def __sklearn_is_fitted__(self) -> bool:
        """Whether any rows were learned."""
        return self._learned is not None

    @property
    def n_features_in_(self) -> int:
        """Number of inputs."""
        return self._known("n_features_in_").columns.n

    @property
    def feature_names_in_(self) -> Names:
        """Names of the inputs, where they have any."""
        names = self._known("feature_names_in_").columns.names
        if names is None:
            message = "feature_names_in_ exists only where the inputs have names."
            raise AttributeError(message)
        return names

    @property
    def n_components_(self) -> int:
        """Number of columns of an embedding."""
        given, pipeline = self.n_components, self._known("n_components_").pipeline
        if pipeline is None and isinstance(given, numbers.Integral):
            return int(given)
        return self._fitted("n_components_").read_as_is(lambda state: state.n_columns)

    @property
    def bandwidth_(self) -> float:
        """Bandwidth that rows have chosen for frequencies as drawn (``bandwidth="auto"``)."""
        search = None if self._learned is None else self._learned.search
        if search is None or not search.asked.bandwidth:
            message = "bandwidth_ exists with bandwidth='auto', once dense rows were learned."
            raise AttributeError(message)
        return sqrt_dimension(len(search.place.scales)) / search.place.factor

    @property
    def components_(self) -> Floats:
        """What `transform` multiplies with, one component per row."""
        columns = self._fitted("components_").read(embedding_basis)
        return np.array(columns.T, order="C")

    @property
    def singular_values_(self) -> Floats:
        """Singular values of C̄ (divisor: total weight) along the components."""
        return self._fitted("singular_values_").read(_values_along_components).copy()

    @property
    def moment_(self) -> Moment:
        """The accumulated moment."""
        return self._fitted("moment_").read(lambda state: copied(state.moment))

    @property
    def classes_(self) -> NDArray[Any]:
        """Classes in the order of the columns of the moment."""
        labels = None if self._learned is None else self._learned.labels
        if labels is None:
            message = "classes_ exists only after labels were learned."
            raise AttributeError(message)
        return classes_of(labels)

    @property
    def task_(self) -> str:
        """What is learned: "classification" or "regression"."""
        task = self._known("task_").intake.task
        if task is None:
            message = "task_ exists only after a complete row was learned."
            raise AttributeError(message)
        return task

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows learned."""
        return self._known("n_samples_seen_").n_rows

    @property
    def n_rows_skipped_(self) -> int:
        """Number of rows left out because a value was missing."""
        preparation = self._known("n_rows_skipped_").preparation
        return 0 if preparation is None else preparation.n_skipped

    @property
    def n_values_imputed_(self) -> int:
        """Number of missing values that were filled in."""
        preparation = self._known("n_values_imputed_").preparation
        return 0 if preparation is None else preparation.n_filled

    @property
    def n_unseen_categories_(self) -> dict[str, int]:
        """Values learned that have no indicator, by text column; empty where there are none."""
        record = self._known("n_unseen_categories_")
        preparation = record.preparation
        categories = None if preparation is None else preparation.categories
        found = {} if categories is None else categories.n_unseen
        return {str(record.columns.called[place]): n for place, n in found.items()}

    @property
    def input_names_(self) -> list[str]:
        """Names of the model's inputs: those of the columns, and of what was made of them."""
        record = self._known("input_names_")
        names = [str(name) for name in record.columns.called]
        if record.preparation is not None and record.preparation.n_waiting:
            message = "input_names_ exists once the values of text columns are fixed: see ready()."
            raise AttributeError(message)
        return names if record.preparation is None else record.preparation.names(names)

    @property
    def input_map_(self) -> FeatureMap:
        """The input map in use."""
        return self._fitted("input_map_").state.input_map

    @property
    def precision_(self) -> str:
        """What input features are computed in: "float64", or "float32" as the first rows were."""
        record = self._known("precision_")
        if record.pipeline is None:
            return record.columns.precision
        return record.pipeline.read_as_is(lambda state: state.input_map.precision)

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
        search = None if self._learned is None else self._learned.search
        found = None if search is None else search.place.relevance
        if found is None:
            message = (
                "relevance_ exists where frequencies are learned, once the map was tested: after "
                "512 rows, or later where there are many inputs."
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
        pipeline = None if self._learned is None else self._learned.pipeline
        if pipeline is None:
            message = f"{name} exists only after enough rows were learned."
            raise AttributeError(message)
        return pipeline

    def _known(self, name: str) -> Record:
        """Return the record, or raise as an attribute that does not exist yet would."""
        if self._learned is None:
            message = f"{name} exists only after rows were learned."
            raise AttributeError(message)
        return self._learned


def classes_of(labels: FeatureMap) -> NDArray[Any]:
    """Classes in the order of their columns."""
    assert isinstance(labels, OneHotMap)
    return np.array(labels.classes)


@asked_ahead
@answered_once
def _values_along_components(state: PipelineState) -> Floats:
    """Norms of C̄ transposed times each column that embeddings use."""
    scaled = state.moment.scaled()
    norms: Floats = np.linalg.norm(product(scaled.Ct, delivered_columns(state)), axis=0)
    return read_only(norms * scaled.scale)
