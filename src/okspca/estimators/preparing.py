"""Between the door and the pipeline: text becomes indicators, and missing values are filled in.

The door (:mod:`okspca.estimators.learning`) hands over rows with codes for text and NaN where a
value is missing, or leaves such rows out.  A :class:`Preparation` makes complete rows of them and
remembers what that takes.  It never changes: learning rows gives another one, which accompanies the
pipeline.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from okspca.errors import MergeError
from okspca.estimators.building import Rows
from okspca.estimators.categories import CATEGORY_ROWS, Categories, difference
from okspca.estimators.data import check_values, check_weights
from okspca.estimators.filling import Means
from okspca.estimators.missing import as_array, chosen_targets, column_names, present_targets
from okspca.numerics.arrays import Floats
from okspca.standardize import FrozenStandardizer, RunningStandardizer, Standardizer
from okspca.standardize.variance import WEIGHT

#: The name under which a preparation accompanies a pipeline.
PREPARATION = "preparation"
#: What may be done with a row in which a value is missing.
RAISE, SKIP, IMPUTE = "raise", "skip", "impute"
#: What may be done with text columns of a data frame, besides refusing them.
ONE_HOT = "one-hot"


@dataclass(frozen=True, eq=False)
class Preparation:
    """How rows are completed, and how many there were to complete.

    Parameters
    ----------
    means : Means or None
        What is filled in; None where nothing is.
    indicators : bool
        Whether each column is followed, after all others, by one that tells where it was missing.
    n_skipped, n_filled : int
        Rows left out, and values filled in.
    categories : Categories or None
        What becomes of text columns; None where rows have none.

    Examples
    --------
    >>> rows = Rows(np.array([[1.0, 5.0], [np.nan, 7.0]]), np.zeros((2, 1)), np.ones(2))
    >>> preparation, complete = Preparation(Means.start(2), indicators=True).learn(rows)
    >>> complete.X.tolist(), preparation.n_filled
    ([[1.0, 5.0, 0.0, 0.0], [1.0, 7.0, 1.0, 0.0]], 1)
    """

    means: Means | None = None
    indicators: bool = False
    n_skipped: int = 0
    n_filled: int = 0
    categories: Categories | None = None

    @property
    def keeps_step(self) -> bool:
        """Whether every row must come by here, since it changes the rows or with them."""
        return self.means is not None or self.reads_text

    @property
    def reads_text(self) -> bool:
        """Whether rows must be coded before they are numbers."""
        return self.categories is not None and self.categories.read_text

    @property
    def n_waiting(self) -> int:
        """Number of first rows that must wait until all is known about their columns."""
        return CATEGORY_ROWS if self.categories is not None and self.categories.waits else 0

    def width(self, n_columns: int) -> int:
        """Number of inputs that so many columns become, once no row waits."""
        encoded = n_columns if self.categories is None else self.categories.width(n_columns)
        return encoded + n_columns if self.indicators else encoded

    def names(self, columns: list[str]) -> list[str]:
        """Names of these inputs."""
        encoded = columns if self.categories is None else self.categories.names(columns)
        return [*encoded, *(f"{name} is missing" for name in columns if self.indicators)]

    def coded(self, X: Any) -> tuple[Self, Any]:
        """Rows of a frame with codes for text, and what is known about their values then."""
        assert self.categories is not None
        categories, coded = self.categories.coded(X)
        return replace(self, categories=categories if categories.read_text else None), coded

    def coded_row(self, x: Any, names: list[Any]) -> tuple[Self, Any]:
        """The same for one row."""
        assert self.categories is not None
        categories, coded = self.categories.coded_row(x, names)
        return replace(self, categories=categories), coded

    def compact(self, rows: Rows) -> tuple[Self, Rows]:
        """Forget values of text that none of the rows that wait has."""
        if self.categories is None or not self.categories.waits:
            return self, rows
        return self._recoded(rows, self.categories.compact(rows.X))

    def settled(self, rows: Rows, most: int) -> tuple[Self, Rows]:
        """Fix the values of text by the first rows; return all with their codes."""
        if self.categories is None or not self.categories.waits:
            return self, rows
        return self._recoded(rows, self.categories.fixed(rows.X[:CATEGORY_ROWS], most))

    def _recoded(self, rows: Rows, categories: Categories) -> tuple[Self, Rows]:
        """Take over other codes."""
        assert self.categories is not None
        X = self.categories.recoded(rows.X, categories)
        return replace(self, categories=categories if categories.read_text else None), replace(
            rows, X=X
        )

    def skipping(self, n_rows: int) -> Self:
        """Count rows that were left out."""
        return replace(self, n_skipped=self.n_skipped + n_rows) if n_rows else self

    def started(self, rows: Rows, ready: Standardizer | None, *, fixed: bool) -> Self:
        """Begin to fill rows like these: by the rows before each, or by fixed means.

        Fixed means are those of a ``ready`` standardiser that centres, or of these rows.
        """
        X = self._encoded(rows.X)
        n_columns = X.shape[1]
        if isinstance(ready, FrozenStandardizer) and ready.mean.any():
            return replace(self, means=Means.at(ready.mean[:n_columns]))
        means = Means.start(n_columns)
        if fixed:
            means = Means.at(means.learn(X, rows.weights)[0].values())
        return replace(self, means=means)

    def learn(self, rows: Rows, forgetting: float = 1.0) -> tuple[Self, Rows]:
        """Complete rows, each by those before it."""
        after, X = self, self._encoded(rows.X)
        if self.categories is not None:
            after = replace(after, categories=self.categories.counting(rows.X))
        if self.means is not None:
            means, filled = self.means.learn(X, rows.weights, forgetting)
            n_filled = self.n_filled + n_missing(rows.X)
            after, X = replace(after, means=means, n_filled=n_filled), self._marked(filled, rows.X)
        return after, rows if X is rows.X else replace(rows, X=X)

    def transform(self, X: Any) -> Any:
        """Complete rows by the present means; learns nothing."""
        encoded = self._encoded(X)
        return encoded if self.means is None else self._marked(self.means.filled(encoded), X)

    def check_same_text(self, other: Self, names: list[Any]) -> None:
        """Raise where two models have other indicators for the text in columns of these names."""
        found = difference(self.categories, other.categories, names)
        if found:
            message = (
                f"The models differ in the categories of {found}; merge models whose first "
                f"{CATEGORY_ROWS} rows have the same ones, or encode them beforehand."
            )
            raise MergeError(message)

    def merged(self, other: Self) -> Self:
        """What two models have together; text was compared before."""
        if (self.means is None) != (other.means is None) or self.indicators != other.indicators:
            message = (
                "The models differ in how they deal with missing values; merge models made with "
                "the same missing and missing_indicators."
            )
            raise MergeError(message)
        both = self.means and other.means and self.means.merged(other.means)
        n_skipped, n_filled = self.n_skipped + other.n_skipped, self.n_filled + other.n_filled
        categories = self.categories
        if categories is not None and other.categories is not None:
            categories = categories.merged(other.categories)
        return replace(
            self, means=both, n_skipped=n_skipped, n_filled=n_filled, categories=categories
        )

    def _encoded(self, X: Any) -> Any:
        """Coded rows with indicators in place of text."""
        return X if self.categories is None else self.categories.indicators(X)

    def _marked(self, filled: Any, X: Any) -> Any:
        """Complete rows with columns that tell where a value was missing, if there are any."""
        return np.hstack([filled, np.isnan(X)]) if self.indicators else filled


def new_preparation(model: Any, X: Any = None) -> Preparation | None:
    """What a model begins with; None where every row must hold numbers and be complete.

    Only where the first rows, X, are a data frame may columns hold text.
    """
    columns = column_names(X) if model.categories == ONE_HOT else None
    if model.missing == RAISE and columns is None:
        return None
    indicators = model.missing == IMPUTE and bool(model.missing_indicators)
    categories = None if columns is None else Categories.start(len(columns))
    return Preparation(indicators=indicators, categories=categories)


def prepared_names(model: Any, columns: list[str]) -> list[str]:
    """Names of the inputs that columns of numbers become."""
    preparation = new_preparation(model)
    return columns if preparation is None else preparation.names(columns)


def preparation_of(model: Any, state: Any) -> Preparation | None:
    """What accompanies a pipeline; where it begins only now, the standardiser knows the means."""
    found: Preparation | None = state.companions.get(PREPARATION)
    if model.missing == RAISE or (found is not None and found.means is not None):
        return found
    found = found or Preparation()
    if model.missing == SKIP:
        return found
    return replace(found, means=_means_of(state.input_standardizer, state.input_map.n_inputs))


def without_gaps(missing: str, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Leave out rows without a target and, where ``missing`` is "skip", those that lack an input.

    ``X`` holds numbers already.  What is no target for these rows passes; admission says so.
    """
    try:
        targets, present = as_array(y), present_targets(y)
    except (TypeError, ValueError):
        return X, y, sample_weight
    if len(present) != X.shape[0]:
        return X, y, sample_weight
    if targets.dtype.kind == "f":
        check_values(np.asarray(targets), "y", gaps=True)
    kept = present & ~incomplete(X) if missing == SKIP else present
    if kept.all():
        return X, y, sample_weight
    weights = None if sample_weight is None else check_weights(sample_weight, X.shape[0])[kept]
    return X[kept], chosen_targets(y, kept), weights


def fading(model: Any) -> float:
    """Factor by which earlier rows fade in the means; with a window, about as they leave it."""
    if not model.forget_standardizers:
        return 1.0
    return 1.0 - 1.0 / int(model.window) if model.window else float(model.forgetting)


def incomplete(X: Any) -> Any:
    """Tell which rows lack a value."""
    if not issparse(X):
        return np.isnan(X).any(axis=1)
    found = np.zeros(X.shape[0], dtype=np.bool_)
    entries = np.flatnonzero(np.isnan(X.data))
    found[np.searchsorted(X.indptr, entries, side="right") - 1] = True
    return found


def n_missing(X: Any) -> int:
    """Number of values that rows lack."""
    return int(np.isnan(X.data if issparse(X) else X).sum())


def answered(function: Callable[[Floats], Floats], X: Any, left_out: Any) -> Floats:
    """Values of a function of rows; NaN for rows that are left out."""
    if not left_out.any():
        return function(X)
    whole = X[~left_out] if not left_out.all() else np.zeros((1, X.shape[1]))
    values = function(whole)
    found = np.full((X.shape[0], *values.shape[1:]), np.nan)
    if not left_out.all():
        found[~left_out] = values
    return found


def _means_of(standardizer: Standardizer, n_inputs: int) -> Means:
    """The means that a standardiser has learned."""
    if isinstance(standardizer, FrozenStandardizer):
        return Means.at(standardizer.mean)
    if not isinstance(standardizer, RunningStandardizer):
        return Means.start(n_inputs)
    known = standardizer.whole()
    weights = np.full(n_inputs, float(known.counts[WEIGHT]))
    return Means(known.mean * weights, weights)
