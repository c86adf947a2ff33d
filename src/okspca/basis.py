"""The answer to a request: a basis that says what it is worth."""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Self

import numpy as np

from okspca.diagnostics.certificate import Certificate
from okspca.diagnostics.shown import html_table, safely
from okspca.numerics.arrays import Floats, frozen
from okspca.numerics.matrix import product
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


#: Singular values that are shown where there is little room.
MOST_VALUES = 8
_VALID = Status.VALID  # looked up once: members of an enumeration are slow to reach


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


class Basis(NamedTuple):
    """An orthonormal basis with its rank, freshness, status and certificate.

    Attributes
    ----------
    vectors : ndarray of shape (D_x, rank)
        Orthonormal columns, read-only.  In each, the entry of largest magnitude is positive, unless
        they are a tracker's maintained columns or were aligned to an earlier basis.
    singular_values : ndarray of shape (rank,)
        Norms of C̄ transposed times each column, when the columns were built; the singular values
        of C̄ for an exact service.
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
    def fresh(cls, packed: Floats, t: int, certificate: Certificate | None) -> Self:
        """Make a valid basis from a read-only array that nobody else holds.

        ``packed`` holds the columns, with their singular values as a last row.
        """
        # Past the constructor, which takes longer than the rest of this function.
        return tuple.__new__(cls, (packed[:-1], packed[-1], t, 0, _VALID, certificate))

    @classmethod
    def missing(cls, n_features: int, status: Status, *, built_at: int, age: int = 0) -> Self:
        """Make an answer without columns."""
        empty = frozen(np.zeros((n_features, 0))), frozen(np.zeros(0))
        return cls(*empty, built_at, age, status, None)

    @classmethod
    def not_initialised(cls, n_features: int) -> Self:
        """Make the answer of a model that cannot have a basis yet."""
        return cls.missing(n_features, Status.NOT_INITIALISED, built_at=0)

    def __eq__(self, other: object) -> bool:
        """An answer equals itself only; compare spans with :meth:`drift_from`."""
        return self is other

    def __ne__(self, other: object) -> bool:
        """As :meth:`__eq__`."""
        return self is not other

    def __hash__(self) -> int:
        """By identity, as :meth:`__eq__`."""
        return id(self)

    def __repr__(self) -> str:
        """One line instead of pages of numbers."""
        proof = "nothing to certify" if self.certificate is None else str(self.certificate)
        return (
            f"Basis(rank {self.rank} in {self.vectors.shape[0]} features, "
            f"built at {self.built_at}, age {self.age}, {self.status.name.lower()}: {proof})"
        )

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        return safely(lambda: html_table("Basis", ("what", "value"), self._told()), self)

    def _told(self) -> list[tuple[str, str]]:
        """What there is to say, without the vectors."""
        values = ", ".join(f"{value:.4g}" for value in self.singular_values[:MOST_VALUES])
        more = ", ..." if self.rank > MOST_VALUES else ""
        proof = "nothing to certify" if self.certificate is None else str(self.certificate)
        return [
            ("rank", f"{self.rank} in {self.vectors.shape[0]} features"),
            ("built at row", f"{self.built_at:,}, {self.age:,} rows ago"),
            ("status", str(self.status)),
            ("singular values", f"{values}{more}" or "none"),
            ("certificate", proof),
        ]

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
        turned = aligned(self.vectors, earlier.vectors)
        # The old columns are orthogonal directions of the moment, so squared norms mix by squares.
        shares = product(self.vectors.T, turned) ** 2
        norms = np.sqrt(product(shares.T, self.singular_values**2))
        return self._replace(vectors=frozen(turned), singular_values=frozen(norms))

    def drift_from(self, earlier: Self) -> Drift:
        """Measure how far this span is from an earlier one; their ranks may differ."""
        if not (self.rank and earlier.rank):
            angles: tuple[float, ...] = ()
        else:
            angles = tuple(principal_angles(self.vectors, earlier.vectors).tolist())
        return Drift(angles, projector_distance(self.vectors, earlier.vectors))
