"""Pass one: what must be known about all rows before the first of them is learned."""

import copy
from dataclasses import replace
from typing import Any, Self

from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import clone

from okspca import __version__
from okspca.distributed.present import PresentInputs
from okspca.errors import DataError, MergeError, NotReadyError
from okspca.estimators import OKSPCA
from okspca.estimators.building import Rows, resolve_service, variance_rule
from okspca.estimators.data import check_values, validated
from okspca.estimators.filling import Means
from okspca.estimators.intake import Intake
from okspca.estimators.learned import Columns, Record, names_of
from okspca.estimators.merging import check_schema
from okspca.estimators.missing import numbers_with_gaps
from okspca.estimators.precision import precision_of
from okspca.estimators.preparing import (
    IMPUTE,
    RAISE,
    Preparation,
    new_preparation,
    without_gaps,
)
from okspca.estimators.schema_form import read_columns, read_intake, write_columns, write_intake
from okspca.estimators.sparse_rows import check_sparse_rows
from okspca.standardize import CausalStandardizer, FrozenStandardizer
from okspca.standardize.sparse import SparseStandardizer, freeze
from okspca.state.container import pack, unpack
from okspca.state.fields import Sink, Source
from okspca.state.front_ends import STANDARDIZERS

Inputs = CausalStandardizer | SparseStandardizer


class Survey:
    """Means, variances, classes and the schema of rows; a sum like the state itself.

    Parameters
    ----------
    model : OKSPCA
        The model to be fitted; its ``task``, ``solver`` and ``variance_floor`` are looked at.

    Attributes
    ----------
    inputs, targets : CausalStandardizer, SparseStandardizer (inputs only) or None
        Means and variances of the inputs and of a numeric response.
    rows : int
        Rows of positive weight that were seen.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> one = Survey(OKSPCA()).add([[1.0], [3.0]], ["a", "b"])
    >>> two = Survey(OKSPCA()).add([[5.0]], ["c"])
    >>> both = one.merge(Survey.from_bytes(OKSPCA(), two.to_bytes()))
    >>> both.rows, both.inputs.mean.tolist(), both.classes
    (3, [3.0], ['a', 'b', 'c'])
    """

    def __init__(self, model: OKSPCA) -> None:
        #: Its settings are looked at, and it knows the schema once rows were seen.
        self.probe = clone(model)
        self._intake = Intake(model.task)
        self._intake.service = resolve_service(model.solver)
        self.inputs: Inputs | None = None
        self.targets: CausalStandardizer | None = None
        #: With ``missing="impute"``: how much of each column was there.
        self.present: PresentInputs | None = None

    @property
    def rows(self) -> int:
        """Rows of positive weight that were seen."""
        return 0 if self.inputs is None else self.inputs.rows

    @property
    def classes(self) -> list[Any] | None:
        """Classes that were seen, sorted; None for a numeric response."""
        labels = self._intake.labels
        return None if labels is None else sorted(labels.classes)

    @property
    def schema(self) -> Record:
        """The columns and the target, as a record of nothing learned; raise where none was seen."""
        if self.probe.learned is None:
            message = "The survey has seen no rows; add some before a state is made of it."
            raise NotReadyError(message)
        found: Record = self.probe.learned
        return found

    @property
    def n_features_in_(self) -> int:
        """Number of inputs."""
        return int(self.probe.n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """Names of the inputs, where they have any."""
        return self.probe.feature_names_in_

    def add(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Look at a block of any size; it is taken whole or refused whole."""
        if self.inputs is None:
            columns = Columns(0, names_of(X), precision_of(self.probe, X))
        else:
            columns = self.schema.columns
        if self.inputs is not None:
            validated(self.probe, X, reset=False, skip_check_array=True)
        gaps = self.probe.missing != RAISE
        X = numbers_with_gaps(X) if gaps else X
        checked = validated(self.probe, X, reset=None, ensure_all_finite=False)
        check_values(checked, "X", columns.names, gaps=gaps)
        check_sparse_rows(self.probe, None, checked)
        if self.inputs is not None and issparse(checked) != isinstance(
            self.inputs, SparseStandardizer
        ):
            message = "Some blocks of X are sparse and others are not; give all of them alike."
            raise DataError(message)
        if gaps:
            checked, y, sample_weight = without_gaps(self.probe.missing, checked, y, sample_weight)
            if not checked.shape[0]:
                return self
        rows = self._intake.commit(self._intake.admit(checked, y, sample_weight, None))
        if self.inputs is None:
            self._begin(columns._replace(n=checked.shape[1]), rows)
        self._learn(rows)
        return self

    def _begin(self, columns: Columns, rows: Rows) -> None:
        """Begin to add up rows like these."""
        self._note(columns)
        rule = variance_rule(self.probe.variance_floor)
        made = SparseStandardizer if issparse(rows.X) else CausalStandardizer
        self.inputs = made(columns.n, rule)
        if self._intake.labels is None:
            self.targets = CausalStandardizer(rows.Y.shape[1], rule)
        if self.probe.missing == IMPUTE:
            self.present = PresentInputs.start(columns.n)

    def _learn(self, rows: Rows) -> None:
        """Add up rows."""
        assert self.inputs is not None
        if self.present is None:
            self.inputs.scan(rows.X, rows.weights)
        else:
            self.present = self.present.learn(self.inputs, rows.X, rows.weights)
        if self.targets is not None:
            self.targets.scan(rows.Y, rows.weights)

    def merge(self, other: Self) -> Self:
        """Merge another survey into this one, in place; one that saw nothing is neutral.

        Raises
        ------
        MergeError
            The message says what of the schema differs.
        """
        if other.inputs is None:
            return self
        if self.inputs is None:
            self.__dict__.update(copy.deepcopy(other.__dict__))
            return self
        check_schema(self.schema, other.schema)
        if type(self.inputs) is not type(other.inputs):
            message = "The surveys differ in their schema: one saw sparse rows, the other dense."
            raise MergeError(message)
        if self.present is not None and other.present is not None:
            self.present = self.present.merged(other.present, (self.inputs, other.inputs))
        else:
            self.inputs.merge(other.inputs)  # type: ignore[arg-type]
        if self.targets is not None and other.targets is not None:
            self.targets.merge(other.targets)
        if self._intake.labels is not None and other._intake.labels is not None:
            self._intake.labels = self._intake.labels.with_classes(other._intake.labels.classes)
        return self

    def preparation(self) -> Preparation | None:
        """How every shard completes its rows: by the means of all of them."""
        begun = new_preparation(self.probe)
        if begun is None or self.present is None:
            return begun
        ready = self.probe.input_standardizer
        if isinstance(ready, FrozenStandardizer) and ready.mean.any():
            return replace(begun, means=Means.at(ready.mean[: self.n_features_in_]))
        return replace(begun, means=Means.at(self.present.means.values()))

    def frozen_inputs(self) -> FrozenStandardizer:
        """The standardiser of completed inputs."""
        inputs = self.known()[0]
        if self.present is None:
            return freeze(inputs)
        return self.present.frozen(inputs, indicators=self.probe.missing_indicators)

    def known(self) -> tuple[Inputs, Columns, Intake]:
        """What was found about the inputs and the target; raise where nothing was seen."""
        columns = self.schema.columns
        assert self.inputs is not None
        return self.inputs, columns, copy.deepcopy(self._intake)

    def to_bytes(self) -> bytes:
        """Return the survey in the container that models use."""
        sink = Sink()
        sink.put("okspca", __version__)
        sink.put("estimator", "Survey")
        if self.inputs is None:
            sink.put("seen", None)
            return pack(sink.content())
        seen = sink.inside("seen")
        write_columns(seen, self.schema.columns)
        write_intake(seen.inside("intake"), self._intake, self.probe.solver)
        STANDARDIZERS.write(seen.inside("inputs"), self.inputs)
        if self.present is not None:
            self.present.write(seen.inside("present"))
        if self.targets is not None:
            STANDARDIZERS.write(seen.inside("targets"), self.targets)
        return pack(sink.content())

    @classmethod
    def from_bytes(cls, model: OKSPCA, data: bytes) -> Self:
        """Make the survey, for the same model, whose :meth:`to_bytes` these are."""
        survey, source = cls(model), Source(unpack(data))
        source.text("okspca")
        source.text("estimator", ("Survey",))
        if not source.is_none("seen"):
            survey._read(source.inside("seen"))
        source.close_all()
        return survey

    def _note(self, columns: Columns) -> None:
        """Keep the schema of the rows where later ones are compared with it."""
        self.probe.learned = Record(columns, self._intake, None, None)

    def _read(self, source: Source) -> None:
        """Read what was seen."""
        found = STANDARDIZERS.read(source.inside("inputs"))
        self.inputs = (
            found if isinstance(found, Inputs) else source.refuse("inputs", "of no survey")
        )
        columns = read_columns(source, len(self.inputs.mean))
        if source.is_object("present"):
            self.present = PresentInputs.read(source.inside("present"), len(self.inputs.mean))
        self._intake = read_intake(source.inside("intake"), self.probe.solver)
        self._note(columns)
        if self._intake.labels is None:
            targets: Any = STANDARDIZERS.read(source.inside("targets"))
            is_plain = isinstance(targets, CausalStandardizer)
            self.targets = targets if is_plain else source.refuse("targets", "of no survey")
        source.close()
