"""What explanations of components look like: shares of inputs, and contributions to single rows."""

from dataclasses import dataclass

import numpy as np

from okspca.diagnostics.shown import html_table, safely, text_table
from okspca.numerics.arrays import Floats

SHOWN = 10


@dataclass(frozen=True)
class Explanation:
    """Which inputs drive each component.

    Attributes
    ----------
    shares : ndarray of shape (k, d)
        Mean squared derivative of each component by each input times the input's variance, as a
        share; every row sums to one, those of components beyond the rank are zero.
    steepness : ndarray of shape (k, d)
        By how many of its standard deviations a component moves when an input moves by one of its
        own: a root mean square.
    inputs, components : tuple of str
        Their names.
    n_rows : int
        Rows it is about; 0 where none were given and inputs are taken as independent and normal.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(2000, 3))
    >>> found = OKSPCA(1, random_state=0).fit(X, X[:, 1]).explain(X)
    >>> found.inputs[found.shares[0].argmax()], found.components
    ('x1', ('okspca0',))
    """

    shares: Floats
    steepness: Floats
    inputs: tuple[str, ...]
    components: tuple[str, ...]
    n_rows: int

    @property
    def title(self) -> str:
        """What it is about, in a line."""
        rows = f"over {self.n_rows:,} rows" if self.n_rows else "for independent normal inputs"
        return f"Share of each input in what moves each component, {rows}"

    def rows(self, most: int = SHOWN) -> list[tuple[str, ...]]:
        """The inputs with the largest shares, as cells of a table."""
        order = np.argsort(-self.shares.max(axis=0, initial=0.0), kind="stable")[:most]
        return [
            (self.inputs[i], *(f"{100.0 * share:.1f} %" for share in self.shares[:, i]))
            for i in order
        ]

    def __str__(self) -> str:
        """A table of the inputs that matter most."""
        return f"{self.title}\n{text_table(('input', *self.components), self.rows())}{self._rest()}"

    def _repr_html_(self) -> str:
        """The same table for notebooks."""
        return safely(
            lambda: html_table(
                self.title, ("input", *self.components), self.rows(), self._rest().strip()
            ),
            self,
        )

    def _rest(self) -> str:
        """Say how many inputs are not shown."""
        left = len(self.inputs) - SHOWN
        return f"\nand {left:,} inputs with smaller shares" if left > 0 else ""


@dataclass(frozen=True)
class RowExplanation:
    """What each input adds to the components of single rows.

    Attributes
    ----------
    contributions : ndarray of shape (n, k, d)
        Integrated gradients from the base to each row: they add up to ``values - base``.
    values : ndarray of shape (n, k)
        Components of the rows, as ``transform`` returns them.
    base : ndarray of shape (k,)
        Components of the row of means (of zeros, where the model does not centre its inputs).
    inputs, components : tuple of str
        Their names.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(2000, 3))
    >>> model = OKSPCA(1, random_state=0).fit(X, X[:, 1])
    >>> found = model.explain_rows(X[:2])
    >>> bool(np.allclose(found.contributions.sum(axis=2), found.values - found.base))
    True
    """

    contributions: Floats
    values: Floats
    base: Floats
    inputs: tuple[str, ...]
    components: tuple[str, ...]

    def rows(self, row: int = 0, most: int = SHOWN) -> list[tuple[str, ...]]:
        """What adds most to one row, as cells of a table: base, inputs, the rest, value."""
        added = self.contributions[row]
        order = np.argsort(-np.abs(added).max(axis=0, initial=0.0), kind="stable")
        told = [(self.inputs[i], *(f"{x:+.4f}" for x in added[:, i])) for i in order[:most]]
        if len(order) > most:
            rest = added[:, order[most:]].sum(axis=1)
            told.append((f"{len(order) - most:,} other inputs", *(f"{x:+.4f}" for x in rest)))
        base = ("the mean row", *(f"{x:.4f}" for x in self.base))
        return [base, *told, ("this row", *(f"{x:.4f}" for x in self.values[row]))]

    def __str__(self) -> str:
        """The first row."""
        return text_table(("adds", *self.components), self.rows()) if len(self.values) else "no row"

    def _repr_html_(self) -> str:
        """The first row, for notebooks."""
        title = f"Row 1 of {len(self.values):,}: what each input adds"
        return safely(lambda: html_table(title, ("adds", *self.components), self.rows()), self)
