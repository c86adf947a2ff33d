"""The answer to a request: a basis that says what it is worth."""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Self

import numpy as np

from okspca.diagnostics.certificate import Certificate
from okspca.numerics.arrays import Floats, frozen
from okspca.numerics.subspace import aligned, principal_angles, projector_distance


class Status(Enum):
    """What kind of answer this is; the value explains itself.

    Examples
    --------
    >>> print(Status.NO_TARGET)
    no_target: the moment is zero to rounding, so no direction is supported by the data
    """

    VALID = "the basis spans the directions that the service found in the moment"
    NOT_INITIALISED = "the service has not built a basis yet; more rows are needed"
    NO_TARGET = "the moment is zero to rounding, so no direction is supported by the data"

    def __str__(self) -> str:
        """Name and explanation."""
        return f"{self.name.lower()}: {self.value}"


@dataclass(frozen=True)
class Drift:
    """How far a subspace has moved.

    Attributes
    ----------
    angles : tuple of float
        Principal angles in degrees, largest first.
    distance : float
        Frobenius distance of the projectors.

    Examples
    --------
    >>> Drift((90.0,), 1.4).max_angle
    90.0
    """

    angles: tuple[float, ...]
    distance: float

    @property
    def max_angle(self) -> float:
        """The largest principal angle in degrees."""
        return self.angles[0] if self.angles else 0.0


@dataclass(frozen=True, eq=False)
class Basis:
    """An orthonormal basis with its rank, freshness, status and certificate.

    Attributes
    ----------
    vectors : ndarray of shape (D_x, rank)
        Orthonormal columns, read-only.  In each, the entry of largest magnitude is positive.
    singular_values : ndarray of shape (rank,)
        Norms of C̄ transposed times each column; the singular values of C̄ for an exact service.
    built_at : int
        Observation at which the columns were built.
    age : int
        Observations learned since then.
    status : Status
        Valid, not initialised, or no target.
    certificate : Certificate or None
        Proven bounds against the current moment; None where there is nothing to certify.

    Examples
    --------
    >>> import numpy as np
    >>> first = Basis.of(np.eye(3)[:, :1], np.ones(1), built_at=5)
    >>> second = Basis.of(np.eye(3)[:, 1:2], np.ones(1), built_at=9)
    >>> second.drift_from(first).max_angle
    90.0
    """

    vectors: Floats
    singular_values: Floats
    built_at: int
    age: int
    status: Status
    certificate: Certificate | None

    @classmethod
    def of(
        cls,
        vectors: Floats,
        singular_values: Floats,
        *,
        built_at: int,
        age: int = 0,
        certificate: Certificate | None = None,
    ) -> Self:
        """Make a valid basis from private copies of the arrays."""
        copies = frozen(vectors), frozen(singular_values)
        return cls(*copies, built_at, age, Status.VALID, certificate)

    @classmethod
    def missing(cls, n_features: int, status: Status, *, built_at: int, age: int = 0) -> Self:
        """Make an answer without columns."""
        empty = frozen(np.zeros((n_features, 0))), frozen(np.zeros(0))
        return cls(*empty, built_at, age, status, None)

    @classmethod
    def not_initialised(cls, n_features: int) -> Self:
        """Make the answer of a model that cannot have a basis yet."""
        return cls.missing(n_features, Status.NOT_INITIALISED, built_at=0)

    @property
    def rank(self) -> int:
        """Number of columns delivered."""
        return int(self.vectors.shape[1])

    @property
    def is_valid(self) -> bool:
        """Whether there are columns to use."""
        return self.status is Status.VALID

    def padded(self, n_components: int) -> Floats:
        """Return the columns followed by zero columns, ``n_components`` in all."""
        return np.pad(self.vectors, ((0, 0), (0, n_components - self.rank)))

    def aligned_to(self, earlier: Self) -> Self:
        """Rotate within the span to lie as close as possible to an earlier basis.

        The span, the certificate and the rank stay as they are; the single columns are no longer
        singular directions.
        """
        if not (self.rank and earlier.rank):
            return self
        return replace(self, vectors=frozen(aligned(self.vectors, earlier.vectors)))

    def drift_from(self, earlier: Self) -> Drift:
        """Measure how far this span is from an earlier one; their ranks may differ."""
        if not (self.rank and earlier.rank):
            angles: tuple[float, ...] = ()
        else:
            angles = tuple(principal_angles(self.vectors, earlier.vectors).tolist())
        return Drift(angles, projector_distance(self.vectors, earlier.vectors))


def sign_fixed(rows: Floats) -> Floats:
    """Flip rows so that the entry of largest magnitude is positive; ties go to the first.

    Magnitudes that agree to 1e-9 count as tied, so that rounding cannot decide a sign.

    Examples
    --------
    >>> import numpy as np
    >>> sign_fixed(np.array([[1.0, -2.0], [-3.0, 3.0]])).tolist()
    [[-1.0, 2.0], [3.0, -3.0]]
    """
    magnitudes = np.abs(rows)
    nearly_largest = magnitudes >= (1.0 - 1e-9) * magnitudes.max(axis=1, keepdims=True)
    deciding = rows[np.arange(rows.shape[0]), np.argmax(nearly_largest, axis=1)]
    return rows * np.where(deciding < 0.0, -1.0, 1.0)[:, np.newaxis]
