"""The door of an estimator: admits a block whole or rejects it whole, and turns y into numbers.

:meth:`Intake.admit` checks everything and changes nothing.  :meth:`Intake.commit` cannot fail, and
:meth:`Intake.taking` takes it back where learning fails.  So a rejected block leaves the state as
it was, to the last byte.
"""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from okspca.errors import DataError, FewValuesWarning, ManyClassesWarning
from okspca.estimators.building import Rows
from okspca.estimators.data import (
    CLASSIFICATION,
    REGRESSION,
    Labels,
    check_labels,
    check_numbers,
    check_weights,
    look_like_labels,
    task_of,
)
from okspca.estimators.missing import check_present
from okspca.estimators.warning import warn
from okspca.features import OneHotMap
from okspca.numerics.arrays import LARGEST_VALUE, Floats
from okspca.services import Exact, Service

MANY_CLASSES = 100
#: A first block shorter than this does not tell labels from quantities.
TELLING_ROWS = 30
_LEAN_KINDS: dict[type, str] = {int: "numbers", np.int64: "numbers", str: "text", np.str_: "text"}


@dataclass
class Admitted:
    """A block that passed every check: only rows of positive weight are left."""

    task: str
    X: Floats
    weights: Floats
    numbers: Floats | None
    labels: Labels | None
    classes: list[Hashable]


class Intake:
    """What is known about the target so far: the task, the classes, the number of outputs."""

    def __init__(self, task: str) -> None:
        #: The task that was asked for; "auto" leaves it to the first block.
        self.declared = task
        #: The service that must be able to serve the target; set before rows are admitted.
        self.service: Service[Any] = Exact()
        self.task: str | None = None
        self.labels: OneHotMap | None = None
        self.label_kind: str | None = None
        self.n_outputs: int | None = None

    def admit(
        self, X: Floats, y: Any, sample_weight: Any, classes: Sequence[Hashable] | None
    ) -> Admitted:
        """Check targets and weights of a block whose X is already checked; change nothing."""
        check_present(y, "y")
        weights = check_weights(sample_weight, X.shape[0])
        task = self._task(y)
        kept = weights > 0.0
        if task == REGRESSION:
            numbers = self._admit_numbers(y, X.shape[0])
            if not kept.all():
                X, weights, numbers = X[kept], weights[kept], numbers[kept]
            return Admitted(task, X, weights, numbers, None, [])
        labels = check_labels(y, X.shape[0])
        self._check_kind(labels.kind)
        values = labels.values
        if not kept.all():
            values = [value for value, keep in zip(values, kept, strict=True) if keep]
            X, weights = X[kept], weights[kept]
        declared = _declared_classes(classes, labels.kind)
        admitted = Admitted(task, X, weights, None, Labels(values, labels.kind), declared)
        self._check_classes(admitted, np.asarray(y).dtype.kind)
        return admitted

    def commit(self, admitted: Admitted) -> Rows:
        """Take over what an admitted block tells and return it as numbers."""
        self.task = admitted.task
        if admitted.numbers is not None:
            self.n_outputs = admitted.numbers.shape[1]
            return Rows(admitted.X, admitted.numbers, admitted.weights)
        assert admitted.labels is not None
        values = admitted.labels.values
        self.labels = (self.labels or OneHotMap()).with_classes([*admitted.classes, *values])
        self.label_kind = admitted.labels.kind
        return Rows(admitted.X, self.labels.index(values), admitted.weights)

    @contextmanager
    def taking(self, admitted: Admitted) -> Iterator[Rows]:
        """Commit a block while it is learned; if that fails, forget what the block told."""
        before = dict(self.__dict__)
        try:
            yield self.commit(admitted)
        except BaseException:
            self.__dict__.update(before)
            raise

    def numbers_of(self, y: Any) -> int | float | Floats | None:
        """Column of a known label, or a response; None where only :meth:`admit` can tell."""
        if self.labels is None:
            if self.n_outputs == 1:
                is_number = isinstance(y, float | int) and not isinstance(y, bool)
                return y if is_number and -LARGEST_VALUE <= y <= LARGEST_VALUE else None
            is_row = type(y) is np.ndarray and y.shape == (self.n_outputs,)
            return y if is_row and y.dtype == np.float64 else None
        kind = _LEAN_KINDS.get(type(y))
        return self.labels.column_of(y) if kind == self.label_kind else None

    def _task(self, y: Any) -> str:
        """Return the task: declared, or fixed by the first block, or told by the dtype."""
        if self.declared != "auto":
            return self.declared
        told = task_of(y)
        if self.task == CLASSIFICATION and told == REGRESSION:
            message = (
                "y holds floating-point numbers, but earlier blocks held class labels; "
                "convert it, or fix the meaning with task='classification' or task='regression'."
            )
            raise DataError(message)
        return self.task or told

    def _admit_numbers(self, y: Any, n_rows: int) -> Floats:
        """Check a numeric response against earlier blocks and the service."""
        numbers = check_numbers(y, n_rows)
        if self.n_outputs is not None and numbers.shape[1] != self.n_outputs:
            message = f"y has {numbers.shape[1]} columns, but earlier blocks had {self.n_outputs}."
            raise DataError(message)
        self._check_service(labels=False, n_targets=numbers.shape[1])
        if self.declared == "auto" and self.task is None:
            _say_what_numbers_mean(numbers)
        return numbers

    def _check_kind(self, kind: str) -> None:
        """Raise where labels change from numbers to text or the like."""
        if self.label_kind is not None and kind != self.label_kind:
            message = f"y holds {kind}, but earlier blocks held {self.label_kind} as labels."
            raise DataError(message)

    def _check_classes(self, admitted: Admitted, dtype_kind: str) -> None:
        """Raise where the service cannot serve them; warn where they look like quantities."""
        assert admitted.labels is not None
        known = set() if self.labels is None else set(self.labels.classes)
        after = known | set(admitted.classes) | set(admitted.labels.values)
        self._check_service(labels=True, n_targets=len(after))
        newly_many = len(after) > MANY_CLASSES >= len(known)
        if newly_many and self.declared == "auto" and dtype_kind in "iuO":
            message = (
                f"y holds {len(after)} different values, taken as class labels; "
                "if they are quantities, use task='regression'."
            )
            warn(message, ManyClassesWarning)

    def _check_service(self, *, labels: bool, n_targets: int) -> None:
        """Raise where the service objects to such a target."""
        objection = self.service.objection(labels=labels, n_targets=n_targets)
        if objection is not None:
            raise DataError(objection)


def _say_what_numbers_mean(numbers: Floats) -> None:
    """Warn where the numbers of a first block look like labels that became floating point."""
    if numbers.shape[1] > 1 or len(numbers) < TELLING_ROWS or not look_like_labels(numbers):
        return
    found = len(np.unique(numbers))
    if found > 1:
        message = (
            f"y is floating point, so it is taken for a quantity, but its first {len(numbers)} "
            f"rows hold only {found} different whole numbers; say task='classification' if they "
            "are labels, or task='regression' if not."
        )
        warn(message, FewValuesWarning)


def _declared_classes(classes: Any, kind: str) -> list[Hashable]:
    """Check classes that were declared beforehand against the labels of the block."""
    if classes is None:
        return []
    # An array already has one type; a list may mix several.
    given = classes if isinstance(classes, np.ndarray) else list(classes)
    declared = check_labels(given, len(classes), "classes")
    if declared.values and declared.kind != kind:
        message = f"classes holds {declared.kind}, but y holds {kind} as labels."
        raise DataError(message)
    return declared.values
