"""Questions about a fitted model: which inputs drive it, and what rows look like in it.

The formulas are in :mod:`okspca.features.attribution`.
"""

import html
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import estimator_html_repr

from okspca.diagnostics.shown import safely
from okspca.errors import DataError, RankWarning
from okspca.estimators.answering import Answering, check_learned
from okspca.estimators.data import CLASSIFICATION
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import product
from okspca.pipeline import Embedding
from okspca.pipeline.answers import embedding
from okspca.standardize import CausalStandardizer, FrozenStandardizer

if TYPE_CHECKING:
    from okspca.estimators.drift_report import DriftReport, Refitted
    from okspca.estimators.explanations import Explanation, RowExplanation
    from okspca.features.attribution import Slopes

# Most models are never asked to explain themselves, so what that takes is imported when they are.
_ATTRIBUTION, _EXPLANATIONS = "okspca.features.attribution", "okspca.estimators.explanations"
_DRIFTING, _DRIFT_REPORT = "okspca.estimators.drifting", "okspca.estimators.drift_report"


class Explaining(Answering):
    """The part of an estimator that explains itself; nothing here learns."""

    get_feature_names_out: Callable[[], Any]
    transform: Callable[[Any], Any]

    def explain(self, X: ArrayLike | None = None) -> "Explanation":
        """Tell which inputs drive each component.

        Parameters
        ----------
        X : array-like of shape (n, d), optional
            Rows to look at, two or more.  Without any, the inputs are taken as independent and
            normal with the means and variances the model knows, and nothing is drawn: the answer is
            in closed form.

        Returns
        -------
        Explanation
            Shares of the inputs for each component; it prints as a table.
        """
        found, S = self._standardised(X)
        if S is None:
            slopes, spread = _slopes_without_rows(found), np.ones(found.input_map.n_inputs)
        else:
            slopes_over = import_module(_ATTRIBUTION).slopes_over
            slopes, spread = slopes_over(found.input_map, found.columns, S), S.std(axis=0)
        return import_module(_EXPLANATIONS).Explanation(
            input_shares(slopes, spread),
            _over(np.sqrt(slopes.squares), np.sqrt(slopes.variances)),
            *self._names(),
            0 if S is None else len(S),
        )

    def explain_rows(self, X: ArrayLike) -> "RowExplanation":
        """Tell what each input adds to the components of single rows.

        Contributions are integrated gradients on the straight line from the row of means to each
        row, in closed form; they add up to the difference of both components.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to explain.

        Returns
        -------
        RowExplanation
            Contributions, values and the base they start from; it prints as a table.
        """
        found, S = self._standardised(X)
        assert S is not None
        base = np.zeros(S.shape[1])
        contributions = import_module(_ATTRIBUTION).contributions
        parts = contributions(found.input_map, found.columns, S, base)
        ends = product(found.input_map.transform(np.vstack([base, S])), found.columns)
        return import_module(_EXPLANATIONS).RowExplanation(parts, ends[1:], ends[0], *self._names())

    def plot(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        components: Sequence[int] | None = None,
        target: str = "target",
        ax: Any = None,
    ) -> Any:
        """Draw rows in two coordinates, coloured by their target; needs matplotlib.

        Where only one of two components is there, as with two classes, the second axis is the main
        direction of the inputs that is uncorrelated with the first; its label says that no target
        was used for it.  Of more than 5,000 rows as many are drawn, always the same ones.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to draw.
        y : array-like of shape (n,), optional
            Their targets.
        components : sequence of int, optional
            One or two components, counted from 0 as in the names of columns; the first two by
            default.
        target : str, default="target"
            What the target is called.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on; ``model.plot(X, y).figure.savefig("rows.png")`` writes it.
        """
        try:
            # Pictures lie above estimators, and are fetched only when one is asked for.
            pictures = import_module("okspca.report.pictures.of_model")
        except ImportError as failure:
            message = "Pictures need matplotlib: pip install 'okspca[plot]'"
            raise ImportError(message) from failure
        return pictures.draw_model(self, X, y, components=components, target=target, ax=ax)

    def check_drift(self, X: ArrayLike, y: ArrayLike | None = None) -> "DriftReport":
        """Tell whether new rows are unlike those that were learned; learns nothing.

        Parameters
        ----------
        X : array-like of shape (n, d)
            New rows, 30 or more.
        y : array-like of shape (n,), optional
            Their targets, for 100 rows or more: then a fresh model is fitted to half of them, and
            the other half tells whether learning anew would predict better.

        Returns
        -------
        DriftReport
            Change of every input and of all together, with stated thresholds; it prints as a table.
        """
        found, S = self._standardised(X)
        assert S is not None
        drifting = import_module(_DRIFTING)
        drifting.check_enough(len(S), targets=y is not None)
        known = self.ready().read(drifting.known_of)
        changes = drifting.input_changes(known, S)
        distance = drifting.feature_distance(known, found.input_map.transform(S))
        targets = None if y is None else np.asarray(y)
        return import_module(_DRIFT_REPORT).DriftReport(
            round(known.n),
            len(S),
            self._names().inputs,
            *changes,
            *distance,
            () if targets is None else self._unseen(targets),
            None if targets is None else self._refitted(X, targets),
        )

    def _unseen(self, y: NDArray[Any]) -> tuple[Any, ...]:
        """Labels that were never learned."""
        if self.task_ != CLASSIFICATION:
            return ()
        known = set(self.classes_.tolist())
        return tuple(sorted(set(y.tolist()) - known, key=str))

    def _refitted(self, X: Any, y: NDArray[Any]) -> "Refitted":
        """Compare coordinates of this model with those of two that learned half the rows each."""
        classes = self.task_ == CLASSIFICATION
        halves = [np.arange(place, len(y), 2) for place in (0, 1)]
        pair = [(rows_at(X, half), y[half]) for half in halves]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            found = [self._gain(*pair, classes=classes), self._gain(*pair[::-1], classes=classes)]
        kept, fresh, errors = (np.array(part) for part in zip(*found, strict=True))
        # Halves that disagree tell how much of the gain is owed to the rows that were learned.
        error = max(float(np.linalg.norm(errors)), abs(float(np.diff(fresh - kept)[0]))) / 2.0
        measure = "accuracy" if classes else "R²"
        return import_module(_DRIFT_REPORT).Refitted(
            measure, float(kept.mean()), float(fresh.mean()), error
        )

    def _gain(self, known: Any, new: Any, *, classes: bool) -> tuple[float, float, float]:
        """Scores on new rows: from this model, from one of the known rows alone; their error."""
        # Of no more rows than this model learned, or it would gain by their number alone.
        first = np.arange(min(len(known[1]), self.n_samples_seen_))
        anew = clone(self).fit(rows_at(known[0], first), known[1][first])
        neighbour_score = import_module("okspca.estimators.held_out").neighbour_score
        kept, fresh = (
            neighbour_score(
                (model.transform(known[0]), known[1]),
                (model.transform(new[0]), new[1]),
                classes=classes,
            )
            for model in (self, anew)
        )
        return kept.value, fresh.value, fresh.gain_over(kept)[1]

    def standardised(self, X: ArrayLike) -> Floats:
        """Rows as the input map takes them: each input by the mean and scale known so far."""
        S = self._standardised(X)[1]
        assert S is not None
        return S

    def _html_repr(self) -> str:
        """The diagram of scikit-learn and, once rows were learned, what became of them."""
        diagram = safely(lambda: str(estimator_html_repr(self)), self)
        return diagram + safely(self._learned_in_html, self) if self._learned else diagram

    def _learned_in_html(self) -> str:
        """Rows learned, rank and certificate."""
        basis = self.basis()
        proof = str(basis.status) if basis.certificate is None else str(basis.certificate)
        told = f"{self.n_samples_seen_:,} rows learned, rank {basis.rank}: {proof}"
        return f"<p>{html.escape(told)}</p>"

    def _standardised(self, X: ArrayLike | None) -> tuple[Embedding, Floats | None]:
        """What embeds rows, and rows as its map takes them, filled where they were sparse."""
        pipeline = self.ready()
        check_learned(pipeline)
        found = pipeline.read(embedding)
        if X is None:
            return found, None
        S: Any = found.standardizer.transform(self.complete_rows(X))
        return found, np.asarray(S.toarray() if hasattr(S, "toarray") else S)

    def _names(self) -> "Names":
        """Names of inputs and components."""
        return Names(tuple(self.input_names_), tuple(map(str, self.get_feature_names_out())))


def input_shares(slopes: "Slopes", spread: Floats) -> Floats:
    """Shares of the inputs, by their standard deviations, in what moves each component."""
    weighed = slopes.squares * spread**2
    return _over(weighed, weighed.sum(axis=1))


def rows_at(X: Any, places: NDArray[np.intp]) -> Any:
    """Some rows of an array, a sparse matrix, a frame or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[places]
    return X[places] if hasattr(X, "shape") else np.asarray(X)[places]


class Names(NamedTuple):
    """What inputs and components are called."""

    inputs: tuple[str, ...]
    components: tuple[str, ...]


def _slopes_without_rows(found: Embedding) -> "Slopes":
    """Slopes for normal inputs, where the standardiser knows their means and variances."""
    if not isinstance(found.standardizer, CausalStandardizer | FrozenStandardizer):
        message = "The model does not know the spread of its inputs; give rows to explain it with."
        raise DataError(message)
    return import_module(_ATTRIBUTION).normal_slopes(found.input_map, found.columns)


def _over(values: Floats, units: Floats) -> Floats:
    """Divide rows by their units; zero where there is none."""
    units = units[:, np.newaxis]
    return np.divide(values, units, out=np.zeros_like(values), where=units > 0.0)
