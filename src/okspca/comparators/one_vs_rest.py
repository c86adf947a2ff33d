r"""One reducer per class, and a fixed random projection of their joint output.

For C classes, a copy of the reducer learns each class against the rest, with response +1 or -1, and
gives k coordinates z_c.  All copies see the same features.  The output is::

    r(x) = Pi^T [z_1(x); ...; z_C(x)],      Pi: Ck x k,   entries independent N(0, 1/(Ck)).

Pi's shape depends on C, so the classes must be known from the start.
"""

import copy
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from okspca.comparators.causal_reducer import embed_jointly, learn_jointly
from okspca.comparators.cipls import CIPLS
from okspca.errors import DataError
from okspca.estimators.data import check_labels, check_values, validated, where_not_numbers
from okspca.estimators.missing import check_present
from okspca.numerics.arrays import Floats


class OneVsRestReducer(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Turn a reducer for one numeric response into one for several classes.

    The paper's OVR-RP adapter.

    Parameters
    ----------
    reducer : CIPLS, optional
        What is copied for every class; ``CIPLS()`` by default.  Its response is not standardised:
        it is +1 and -1 as it stands.
    random_state : int, RandomState or None, default=None
        Seed of the projection.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order in which they were given.
    reducers_ : list
        One fitted reducer per class.
    projection_ : ndarray of shape (C k, k)
        The matrix Pi.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca.comparators import CIPLS, OneVsRestReducer
    >>> random = np.random.RandomState(0)
    >>> X, y = random.normal(size=(90, 4)), np.arange(90) % 3
    >>> model = OneVsRestReducer(CIPLS(n_components=2), random_state=0)
    >>> model.partial_fit(X[:50], y[:50], classes=[0, 1, 2]).transform(X).shape
    (90, 2)
    """

    reducers_: list[CIPLS]

    def __init__(
        self, reducer: CIPLS | None = None, *, random_state: int | RandomState | None = None
    ) -> None:
        self.reducer = reducer
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Forget everything and learn these rows; the classes are those found in y, sorted."""
        return self._learn(X, y, None, fresh=True)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        classes: Sequence[Hashable] | None = None,
    ) -> Self:
        """Learn a block of any size; ``classes`` is needed at the first call."""
        fresh = not self.__sklearn_is_fitted__()
        if fresh and classes is None:
            message = (
                "classes is needed at the first call of partial_fit: the shape of the projection "
                "depends on how many there are. Give all of them, for example classes=[0, 1, 2]."
            )
            raise DataError(message)
        return self._learn(X, y, classes, fresh=fresh)

    def transform(self, X: ArrayLike) -> Floats:
        """Embed rows with the present reducers; learns nothing."""
        check_is_fitted(self)
        checks = {"dtype": np.float64, "ensure_all_finite": False}
        checked = validated(self, X, reset=False, **checks)
        check_values(checked, "X")
        return embed_jointly(self.reducers_, checked) @ self.projection_

    def __sklearn_is_fitted__(self) -> bool:
        """Whether any rows were learned."""
        return hasattr(self, "reducers_")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that y is required."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @property
    def _n_features_out(self) -> int:
        """Number of columns of an embedding."""
        return int(self.projection_.shape[1])

    def _learn(self, X: Any, y: Any, classes: Any, *, fresh: bool) -> Self:
        """Check a block, let copies of all reducers learn it, then take them over."""
        check_present(X, "X")
        try:
            checked = check_array(X, dtype=np.float64, ensure_all_finite=False, estimator=self)
            validate_data(self, X, reset=fresh, skip_check_array=True)
        except ValueError as failure:
            raise DataError(where_not_numbers(X) or str(failure)) from failure
        check_values(checked, "X")
        if y is None:
            message = (
                "This OneVsRestReducer estimator requires y to be passed, but the target y is None."
            )
            raise DataError(message)
        labels = check_labels(y, checked.shape[0]).values
        known = self._classes(labels, classes, fresh=fresh)
        unknown = next((row for row, label in enumerate(labels) if label not in known), None)
        if unknown is not None:
            message = f"y contains {labels[unknown]!r} at row {unknown}, which is not in classes."
            raise DataError(message)
        template = CIPLS() if self.reducer is None else self.reducer
        old = [_signed(template) for _ in known] if fresh else self.reducers_
        # Learning replaces the state of a reducer, so a shallow copy protects the old one.
        reducers = [copy.copy(reducer) for reducer in old]
        signs = [np.array([1.0 if v == label else -1.0 for v in labels]) for label in known]
        learn_jointly(reducers, checked, signs, fresh=fresh)
        if fresh:
            self.classes_ = np.array(known)
            self.projection_ = _projection(
                len(known), int(template.n_components), self.random_state
            )
        self.reducers_ = reducers
        return self

    def _classes(self, labels: list[Hashable], classes: Any, *, fresh: bool) -> list[Hashable]:
        """Return all classes: those of the first call, or those in y where it is the only one."""
        if not fresh:
            first: list[Hashable] = self.classes_.tolist()
            if classes is not None and list(classes) != first:
                message = f"classes={list(classes)} differs from the first call's {first}."
                raise DataError(message)
            return first
        if classes is None:
            return sorted(set(labels))  # type: ignore[type-var]
        return check_labels(list(classes), len(classes), "classes").values


def _signed(template: CIPLS) -> CIPLS:
    """Copy the reducer for a response of +1 and -1, which is not scaled."""
    reducer: CIPLS = clone(template)
    return reducer.set_params(standardize_target=False)


def _projection(n_classes: int, k: int, random_state: int | RandomState | None) -> Floats:
    """Draw Pi."""
    random = random_state if isinstance(random_state, RandomState) else RandomState(random_state)
    rows = n_classes * k
    drawn: Floats = random.normal(0.0, 1.0 / np.sqrt(rows), size=(rows, k))
    return drawn
