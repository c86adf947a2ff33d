"""What an estimator answers: its basis, reports about it, and rows checked for an embedding."""

import weakref
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from okspca.basis import Basis
from okspca.errors import DataError, NotReadyError, RankWarning
from okspca.estimators.building import n_input_features
from okspca.estimators.data import check_values, validated
from okspca.estimators.fitted import FittedAttributes
from okspca.estimators.missing import numbers_with_gaps
from okspca.estimators.parameters import n_threads_of
from okspca.estimators.preparing import (
    RAISE,
    SKIP,
    Preparation,
    answered,
    incomplete,
    preparation_of,
)
from okspca.estimators.sparse_rows import check_sparse_rows
from okspca.estimators.warning import warn
from okspca.features import OneHotMap
from okspca.numerics.arrays import Floats
from okspca.numerics.crew import threads
from okspca.pipeline import Pipeline, PipelineState
from okspca.pipeline.answers import (
    errors_in_words,
    maintained,
    report,
    request,
    request_uncertified,
    stability,
)
from okspca.pipeline.asking import asked_ahead

if TYPE_CHECKING:
    from okspca.diagnostics import FeatureError, SameTargetReport, Stability
    from okspca.estimators.one_row import Question, RowAnswer

#: Imported by those who ask for it, which is seldom.
_FEATURE_ERROR = "okspca.diagnostics.feature_error"
# Models whose zero columns were explained: kept outside of them, since reading changes no state.
_EXPLAINED: weakref.WeakSet[Pipeline] = weakref.WeakSet()


class Answering(FittedAttributes):
    """The part of an estimator that answers; nothing here learns."""

    missing: str

    def basis(
        self, *, kind: str = "extracted", align_to: Basis | None = None, certify: bool = True
    ) -> Basis:
        """Supply a basis of the current moment, with its certificate.

        Parameters
        ----------
        kind : {"extracted", "maintained"}
            For tracking solvers: the best block inside the maintained span, or all maintained
            columns.
        align_to : Basis, optional
            Rotate within the span towards an earlier basis.
        certify : bool
            False leaves the certificate out and saves its cost, about a quarter of an exact
            request.

        Notes
        -----
        One thread may learn while others call this, :meth:`transform`, :meth:`diagnose` or read
        ``components_``: each sees the state after some row or block, never one in between.
        """
        if kind not in ("extracted", "maintained"):
            message = f"kind={kind!r} is not known; give 'extracted' or 'maintained'."
            raise ValueError(message)
        pipeline = None if self._learned is None else self._learned.pipeline
        if pipeline is None:
            check_is_fitted(self)
            return Basis.not_initialised(n_input_features(self))
        if kind == "extracted":
            basis = pipeline.read(request if certify else request_uncertified)
        else:
            basis = pipeline.read(maintained)
            basis = basis if certify else basis._replace(certificate=None)
        return basis if align_to is None else basis.aligned_to(align_to)

    def diagnose(self) -> "SameTargetReport":
        """Compare the delivered basis with the exact solution of the same moment."""
        return self.ready().read(report)

    def estimate_stability(self) -> "Stability":
        """Estimate how far the exact basis is from the population's.

        This is the sampling error, which no solver can remove; a certificate is about the other
        question, how far the delivered basis is from the exact one.  The model must have been made
        with ``stability=8`` or so.

        Returns
        -------
        Stability
            Distance, angles, their intervals and the recommended rank.
        """
        return self.ready().read(stability)

    def error_lines(self) -> str:
        """Say in two lines how far delivered, exact and population subspace are apart."""
        return self.ready().read(errors_in_words)

    def feature_error(self, X: ArrayLike | None = None) -> "FeatureError":
        """Say how far the input features are from those of double precision.

        Features are single precision where the first rows were float32.  A certificate does not
        look at that: it is about the sums that are stored, which are sums of these features.

        Parameters
        ----------
        X : array-like of shape (n, d), optional
            Rows in which the difference is measured too, standardised as of now.

        Returns
        -------
        FeatureError
            Proven bounds, and what was found in the rows.
        """
        pipeline, error = self.ready(), import_module(_FEATURE_ERROR).feature_error
        if X is None:
            return pipeline.read_as_is(lambda state: error(state.input_map))
        rows = self.complete_rows(X)

        def found(state: PipelineState) -> "FeatureError":
            """Look at the rows as the next one would be looked at."""
            return error(state.input_map, state.input_standardizer.transform(rows))

        return pipeline.read_as_is(found)

    def solver_health(self) -> dict[str, float]:
        """Counters and numbers of the solver's maintenance (clips, re-initialisations, ...)."""
        return self.ready().read(lambda p: p.service.health(p.service_state))

    def complete_rows(self, X: ArrayLike) -> Floats:
        """Rows as the model's inputs: checked, encoded and filled in as for an answer."""
        pipeline = self.ready()
        rows = self._checked_rows(pipeline, X)
        preparation = pipeline.read_as_is(lambda state: preparation_of(self, state))
        return rows if preparation is None else preparation.transform(rows)

    def transform_one(self, x: ArrayLike | Mapping[str, Any]) -> Floats:
        """Embed one row, by one compiled call; learns nothing.

        The result has the bits of ``transform`` of a block of this row.  With Fourier features of
        dense inputs and every built-in standardiser of such inputs it takes microseconds; other
        models take longer.

        Parameters
        ----------
        x : array-like of shape (d,), or mapping
            What :meth:`learn_one` takes: numbers, or, where the model learned text columns, a row
            with text or a mapping by the names of the columns.  A value may be missing as
            `missing` says; with "skip", the embedding of such a row is NaN.

        Returns
        -------
        ndarray of shape (n_components,)
            Coordinates, in a new array, whatever container `set_output` has chosen for blocks.

        Raises
        ------
        DataError
            The row is refused; the message names the column.
        """
        check_embeds(self.ready())
        return self._answer_one(x, _single_rows().of_embedding, "transform_one")[1]

    def _answer(
        self, X: ArrayLike, question: Callable[[PipelineState], Any], *, labels: bool = False
    ) -> tuple[Any, Floats]:
        """Ask one state for a function of rows; return it and its values.

        Rows that are left out because they lack a value come out as NaN, or, where ``labels`` are
        asked for, are refused.
        """
        pipeline = self.ready()
        rows = self._checked_rows(pipeline, X)
        function, preparation = pipeline.read(
            asked_ahead(lambda state: (question(state), preparation_of(self, state)))
        )
        return function, self._values(function, preparation, rows, labels=labels)

    def _answer_one(
        self, x: Any, question: "Question", caller: str, *, labels: bool = False
    ) -> "tuple[RowAnswer, Floats]":
        """Ask one state for a function of one row; return what answers, and the values."""
        learned = self._known("The pipeline")
        answer = learned.ready().read(question)
        values = answer.of_plain(x, learned.columns.n)
        if values is None:
            preparation = preparation_of(self, answer)
            X = _single_rows().checked_row(x, learned.columns, preparation, self.missing, caller)
            values = self._values(answer.function, preparation, X, labels=labels, name="x")[0]
        return answer, values

    def _values(
        self,
        function: Any,
        preparation: Preparation | None,
        rows: Floats,
        *,
        labels: bool,
        name: str = "X",
    ) -> Floats:
        """Values of a function for checked rows, which are completed first."""
        if preparation is None:
            with threads(n_threads_of(self)):
                values: Floats = function.of(rows)
            return values
        lacks = incomplete(rows) if self.missing == SKIP else np.zeros(rows.shape[0], np.bool_)
        if labels and lacks.any():
            where = "x" if name == "x" else f"Row {int(np.argmax(lacks))} of X"
            message = f"{where} lacks a value, and no label stands for that; drop the row."
            raise DataError(message)
        with threads(n_threads_of(self)):
            return answered(lambda some: function.of(preparation.transform(some)), rows, lacks)

    def _checked_rows(self, pipeline: Pipeline, X: ArrayLike) -> Floats:
        """Check rows that are to be embedded."""
        gaps, columns = self.missing != RAISE, self._known("The columns").columns
        preparation = pipeline.read_as_is(lambda state: preparation_of(self, state))
        text = preparation if preparation is not None and preparation.reads_text else None
        if text is None and columns.are_plain_in(X):
            checked: Any = X  # as far as scikit-learn can tell
        elif gaps or text is not None:
            validated(self, X, reset=False, skip_check_array=True)
            X = numbers_with_gaps(X) if text is None else text.coded(X)[1]
            checked = validated(self, X, reset=None, ensure_all_finite=False)
        else:
            checks = {"dtype": np.float64, "ensure_all_finite": False, "accept_sparse": "csr"}
            checked = validated(self, X, reset=False, **checks)
        check_values(checked, "X", columns.names, gaps=gaps)
        check_sparse_rows(self, pipeline, checked)
        found: Floats = checked
        return found


@cache
def _single_rows() -> Any:
    """What answers about single rows, imported with the first of them."""
    return import_module("okspca.estimators.one_row")


def check_learned(pipeline: Pipeline) -> None:
    """Raise where there is nothing to embed with."""
    if pipeline.state.rows == 0:
        message = "This state has learned no rows yet; learn some, or merge states that have."
        raise NotReadyError(message)


def check_embeds(pipeline: Pipeline) -> None:
    """Raise where there is nothing to embed with; explain, once, columns that will be zero."""
    check_learned(pipeline)
    state = pipeline.state
    target_map = state.target_map
    if state.tracker is not None or not isinstance(target_map, OneHotMap):
        return
    most = max(target_map.n_features - 1, 0)
    if state.n_columns > most and pipeline not in _EXPLAINED:
        _EXPLAINED.add(pipeline)
        message = (
            f"{target_map.n_features} classes have at most {most} supervised directions, so of "
            f"n_components={state.n_columns} the columns beyond {most} are zero."
        )
        warn(message, RankWarning)
