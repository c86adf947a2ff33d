"""How an estimator learns: by blocks, by single rows, or all over again.

A block is checked as a whole before it changes anything (:mod:`okspca.estimators.intake`), and what
was learned is replaced as a whole afterwards.
"""

import copy
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from okspca.errors import DataError
from okspca.estimators.building import Rows, build, check_widths, pilot_rows, resolve_service
from okspca.estimators.data import check_values, row_of_numbers, validated
from okspca.estimators.fitted import FittedAttributes
from okspca.estimators.intake import Intake
from okspca.estimators.learned import SEARCH, Columns, Record, names_of
from okspca.estimators.map_search import MapSearch
from okspca.estimators.missing import as_array, numbers_with_gaps
from okspca.estimators.parameters import check_parameters, n_threads_of
from okspca.estimators.precision import precision_of
from okspca.estimators.preparing import (
    IMPUTE,
    PREPARATION,
    RAISE,
    Preparation,
    fading,
    new_preparation,
    preparation_of,
    without_gaps,
)
from okspca.estimators.presets import asked_from, frequencies_from, objective_of
from okspca.estimators.sparse_rows import check_sparse_rows
from okspca.features.ladder import DRAWN
from okspca.numerics.crew import threads
from okspca.numerics.helpers import HELPERS
from okspca.pipeline import Pipeline
from okspca.services import Service
from okspca.standardize import Standardizer


class Learning(FittedAttributes):
    """The part of an estimator that learns rows."""

    task: str
    solver: str | Service[Any]
    standardize: str | None
    missing: str
    max_categories: int
    pilot_rows: int
    input_standardizer: Standardizer | None

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Forget everything and learn these rows, in their order.

        With ``standardize="frozen"`` a first pass over all rows fixes the standardisers.
        """
        return self._learn(None, X, y, (None, sample_weight), whole=True)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        classes: Sequence[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn a block of any size; the way a stream is cut into blocks changes no result.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            Inputs.  A model whose first block is sparse scales its inputs without centring them;
            sparse rows are never filled.  One whose first block is float32 computes its input
            features in single precision from then on, whatever later rows are.
        y : array-like of shape (n,) or (n, d_y)
            Labels, numbers, or several numbers per row.  With ``missing`` other than "raise", rows
            without a target are left out and counted.
        classes : sequence, optional
            Classes known beforehand.  Others may appear at any time: a late class gives the same
            subspace as one declared at the start.
        sample_weight : array-like of shape (n,), optional
            A weight counts as repetition in the moment and in the standardisers (which see the row
            once before they learn it); rows of weight zero are checked and ignored.

        Raises
        ------
        DataError
            The block was rejected as a whole and nothing was learned from it.
        """
        if classes is None and sample_weight is None and self._learn_single(X, y):
            return self
        return self._learn(self._learned, X, y, (classes, sample_weight), whole=False)

    def learn_one(self, x: ArrayLike | Mapping[str, Any], y: Any) -> Self:
        """Learn one observation: a one-dimensional x and its target.

        Once a data frame with text columns was learned (``categories="one-hot"``), x may hold text,
        in the order of the columns or as a mapping by their names.

        A row that is refused leaves no trace.  If a solver that follows the stream fails after a
        row was learned, its error is raised and the row stays learned.
        """
        learned = self._learned
        pipeline = None if learned is None else learned.pipeline
        shape = x.shape if type(x) is np.ndarray else _unmasked_shape(x)
        if learned is not None and shape == (learned.columns.n,) and self._suffices(pipeline):
            target = learned.intake.numbers_of(y)
            if target is not None and _learned_row(pipeline, x, target):
                return self
        if learned is not None:
            preparation = self._preparation_after(learned)
            if preparation is not None and preparation.reads_text:
                return self._learn_coded(learned, preparation, x, y)
        row = row_of_numbers(x, "learn_one", gaps=self.missing != RAISE)
        X, targets = row[np.newaxis], as_array(y)[np.newaxis]
        if learned is None or pipeline is None:
            # The first row says what features are computed in.
            is_single = learned is None and getattr(x, "dtype", None) == np.float32
            return self.partial_fit(X.astype(np.float32) if is_single else X, targets)
        if row.shape[0] != learned.columns.n:
            message = f"x has {row.shape[0]} values, but the model learned {learned.columns.n}."
            raise DataError(message)
        self._admit_and_take(learned, (X, targets, None), None, name="x")
        return self

    def _learn_coded(self, learned: Record, preparation: Preparation, x: Any, y: Any) -> Self:
        """Learn one observation that may hold text."""
        if learned.pipeline is None:
            check_parameters(self)
        names = learned.columns.listed or list(range(learned.columns.n))
        preparation, X = preparation.coded_row(x, names)
        known = learned.with_preparation(preparation)
        self._admit_and_take(known, (X, as_array(y)[np.newaxis], None), None, name="x")
        return self

    def _learn_single(self, X: Any, y: Any) -> bool:
        """Learn a block of one plain row by the fast path; False where the general one must."""
        learned = self._learned
        if learned is None or not (learned.columns.are_plain_in(X) and type(y) is np.ndarray):
            return False
        pipeline = learned.pipeline
        if pipeline is None or not self._suffices(pipeline):
            return False
        if y.shape[:1] != (1,) or X.shape[0] != 1 or y.dtype.kind not in "fiuU":
            return False
        target = learned.intake.numbers_of(y[0] if y.ndim > 1 else y.tolist()[0])
        return target is not None and _learned_row(pipeline, X[0], target)

    def _learn(
        self, learned: Record | None, X: Any, y: Any, extras: tuple[Any, Any], *, whole: bool
    ) -> Self:
        """Admit a block, with its classes and weights, then learn it.

        It follows what was ``learned`` before; ``whole`` says that no more rows will come.
        """
        names = None
        if learned is None or learned.pipeline is None:
            check_parameters(self)
            HELPERS.expect(objective_of(self))
        if learned is None:
            names = names_of(X)
        elif not learned.columns.are_plain_in(X):
            validated(self, X, reset=False, skip_check_array=True)
        # No record tells how many columns there are before the block was checked.
        known = learned or Record(
            Columns(0, names, precision_of(self, X)),
            Intake(self.task),
            None,
            None,
            new_preparation(self, X),
        )
        if y is None:
            message = (
                f"This {type(self).__name__} estimator requires y to be passed, "
                "but the target y is None."
            )
            raise DataError(message)
        preparation = self._preparation_after(known)
        if preparation is not None and preparation.reads_text:
            preparation, X = preparation.coded(X)
            known = known.with_preparation(preparation)
        plain = known.columns.are_plain_in(X)
        table = X if plain or self.missing == RAISE else numbers_with_gaps(X)
        checked = X if plain else validated(self, table, reset=None, ensure_all_finite=False)
        self._admit_and_take(known, (checked, y, extras[1]), extras[0], whole=whole)
        return self

    def _admit_and_take(
        self,
        learned: Record,
        block: tuple[Any, Any, Any],
        classes: Sequence[Hashable] | None,
        *,
        whole: bool = False,
        name: str = "X",
    ) -> None:
        """Check everything about a block of numbers, and only then let it change anything."""
        if learned.pipeline is None:
            # While rows are held back, building may still fail: only then a copy must be at risk.
            learned = learned._replace(intake=copy.copy(learned.intake))
            learned.intake.service = resolve_service(self.solver)
        X, columns = block[0], learned.columns
        check_values(X, name, columns.names, gaps=self.missing != RAISE)
        check_sparse_rows(self, learned.pipeline, X)
        learned = learned._replace(columns=columns._replace(n=X.shape[1]))
        preparation = self._preparation_after(learned)
        if self.missing != RAISE:
            block = without_gaps(self.missing, *block)
            preparation = preparation and preparation.skipping(X.shape[0] - block[0].shape[0])
        if block[0].shape[0]:
            self._admit(learned, block, (classes, preparation), whole=whole)
        elif whole:
            message = f"Each of the {X.shape[0]} rows lacks a value; there is nothing to learn."
            raise DataError(message)
        else:
            self._count(learned, preparation)

    def _admit(
        self,
        learned: Record,
        block: tuple[Any, Any, Any],
        extras: tuple[Sequence[Hashable] | None, Preparation | None],
        *,
        whole: bool,
    ) -> None:
        """Check the target of rows that have one, and learn them."""
        (X, y, weights), (classes, preparation) = block, extras
        self._check_target(y)
        classes = _sorted_classes(y, weights) if whole else classes
        admitted = learned.intake.admit(X, y, weights, classes)
        numbers = admitted.numbers
        width = X.shape[1] if preparation is None else preparation.width(X.shape[1])
        if preparation is None or not preparation.n_waiting:
            check_widths(self, width, None if numbers is None else numbers.shape[1])
        if whole and admitted.X.shape[0] == 0:
            message = "Every sample_weight is zero; there is nothing to learn."
            raise DataError(message)
        with threads(n_threads_of(self)), learned.intake.taking(admitted) as rows:
            self._take(learned, rows, preparation, whole=whole)

    def _check_target(self, y: Any) -> None:
        """Check what only some estimators ask of a target."""

    def _preparation_after(self, learned: Record) -> Preparation | None:
        """How the next rows are completed."""
        if learned.pipeline is None:
            return learned.first_preparation or new_preparation(self)
        return preparation_of(self, learned.pipeline.state)

    def _count(self, learned: Record, preparation: Preparation | None) -> None:
        """Keep count of rows of which none was learned."""
        if learned.pipeline is None:
            self._learned = _compact(learned._replace(first_preparation=preparation))
        else:
            state = learned.pipeline.state
            X, Y = np.empty((0, state.input_map.n_inputs)), np.empty((0, 1))
            beside: dict[str, Any] = {PREPARATION: preparation}
            learned.pipeline.run(X, Y, np.empty(0), **beside)

    def _take(
        self, learned: Record, rows: Rows, preparation: Preparation | None, *, whole: bool
    ) -> None:
        """Learn admitted rows, building the pipeline as soon as enough of them are known."""
        if learned.pipeline is not None:
            prepared = _completed(preparation, rows, fading(self))
            self._run(learned, prepared[0], **prepared[1])
            return
        labels = learned.intake.labels
        rows = rows if learned.pilot is None else learned.pilot.followed_by(rows)
        waiting = 0 if preparation is None else preparation.n_waiting
        needed = max(pilot_rows(self, labels=labels is not None), waiting, 1)
        if whole or len(rows) >= needed:
            needed = len(rows) if whole and self.standardize == "frozen" else needed
            pipeline = self._built(rows, preparation, learned, needed)
            self._learned = learned._replace(pipeline=pipeline, pilot=None, first_preparation=None)
        else:
            held = learned._replace(pilot=rows.owned(), first_preparation=preparation)
            self._learned = _compact(held)

    def _built(
        self, rows: Rows, preparation: Preparation | None, learned: Record, needed: int
    ) -> Pipeline:
        """Build the pipeline from the first rows, and let it learn all of them."""
        if preparation is not None and preparation.n_waiting:
            preparation, rows = preparation.settled(rows, int(self.max_categories))
            check_widths(self, preparation.width(rows.X.shape[1]), None)
        if preparation is not None and self.missing == IMPUTE:
            ready = self.input_standardizer
            fixed = self.standardize == "frozen" and ready is None
            preparation = preparation.started(rows.first(needed), ready, fixed=fixed)
        rows, beside = _completed(preparation, rows, fading(self))
        labels, precision = learned.intake.labels, learned.columns.precision
        pipeline = build(self, rows.first(needed), labels, precision)
        top, asked = frequencies_from(self, rows.X), asked_from(self, rows.X)
        if top == DRAWN and not any(asked):
            pipeline.run(rows.X, rows.Y, rows.weights, **beside)
            return pipeline
        search = MapSearch.start(pipeline.state.twin(), top, int(self.pilot_rows), asked)
        return self._followed(search, pipeline, rows, **beside)

    def _run(self, learned: Record, rows: Rows, **companions: Any) -> None:
        """Learn admitted rows, in a search for the input map or without."""
        pipeline = learned.ready()
        search: MapSearch | None = pipeline.state.companions.get(SEARCH)
        beside = {"target_map": learned.intake.labels, **companions}
        if search is None:
            pipeline.run(rows.X, rows.Y, rows.weights, **beside)
            return
        followed = self._followed(search, pipeline, rows, **beside)
        if followed is not pipeline:
            self._learned = learned._replace(pipeline=followed)

    def _followed(
        self, search: MapSearch, pipeline: Pipeline, rows: Rows, **beside: Any
    ) -> Pipeline:
        """Learn admitted rows in a search; return the pipeline to go on with."""
        return search.learn(pipeline, rows, **beside)

    def _suffices(self, pipeline: Pipeline | None) -> TypeGuard[Pipeline]:
        """Whether a row that is complete and all numbers needs no preparation."""
        companions = {} if pipeline is None else pipeline.state.companions
        preparation: Preparation | None = companions.get(PREPARATION)
        reshapes = preparation is not None and preparation.keeps_step
        return pipeline is not None and not (reshapes or self.missing == IMPUTE)


def _learned_row(pipeline: Pipeline, x: Any, target: Any) -> bool:
    """Learn a row by the fast path, in a search too; False where the general one must take it."""
    search: MapSearch | None = pipeline.state.companions.get(SEARCH)
    if search is None or search.is_final:
        return pipeline.learn_row(x, target)
    search = search.with_row(x, target)
    return search is not None and pipeline.learn_row(x, target, search=search)


def _completed(
    preparation: Preparation | None, rows: Rows, fades: float
) -> tuple[Rows, dict[str, Any]]:
    """Complete rows; return them with what accompanies the pipeline after them."""
    if preparation is None:
        return rows, {}
    after, complete = preparation.learn(rows, fades)
    return complete, {PREPARATION: after}


def _compact(learned: Record) -> Record:
    """Let go of values of text that no row has that waits."""
    preparation, pilot = learned.first_preparation, learned.pilot
    if preparation is None:
        return learned
    waiting = pilot or Rows(np.empty((0, learned.columns.n)), np.empty((0, 1)), np.empty(0))
    preparation, rows = preparation.compact(waiting)
    return learned._replace(first_preparation=preparation, pilot=None if pilot is None else rows)


def _unmasked_shape(x: Any) -> tuple[int, ...] | None:
    """Shape of a row that is no plain array; None where a mask says that values are missing."""
    return None if isinstance(x, np.ma.MaskedArray) else np.shape(x)


def _sorted_classes(y: Any, sample_weight: Any) -> list[Hashable] | None:
    """Classes of a complete label vector in sorted order; None where y is not plain labels."""
    array = np.asarray(y)
    if array.dtype.kind not in "iubUSO" or array.ndim != 1:
        return None
    if sample_weight is not None:
        weights = np.asarray(sample_weight)
        if weights.shape == array.shape:
            array = array[weights != 0]
    try:
        unique: list[Hashable] = np.unique(array).tolist()
    except TypeError:
        return None
    return unique or None
