"""Who predicts the streams: two baselines, what river offers, and ours.

Everybody meets the rows in blocks and is tested before it learns.  Baselines and river's models
learn each row before they see the next one; ours predicts a whole block, then learns it, and so
knows labels later.  Where labels resemble those before them, which is so in real streams, the
forest is run in this way too, which tells what the delay costs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from okspca import OKSPCAClassifier
from okspca.numerics.arrays import Floats

Labels = NDArray[np.int64]
#: The guess of who has not seen a label yet.
NO_GUESS = -1
TREES, FORGETTING, WINDOW = 10, 0.999, 1000


class Learner(Protocol):
    """What is tested, then trained."""

    def rows(self, X: Floats) -> Any:
        """Rows in the form it takes; this is not on the clock."""

    def step(self, rows: Any, y: Labels) -> Sequence[int] | Labels:
        """Predict rows, each before its label is known, and learn them."""


class NoChange:
    """Predicts the last label.

    Examples
    --------
    >>> NoChange().step(None, np.array([1, 0, 0]))
    array([-1,  1,  0])
    """

    def __init__(self) -> None:
        self._last = NO_GUESS

    def rows(self, X: Floats) -> Floats:
        """As they are."""
        return X

    def step(self, rows: Any, y: Labels) -> Labels:
        """Predict and learn."""
        del rows
        guess = np.append(self._last, y[:-1])
        self._last = int(y[-1])
        return guess


class Majority:
    """Predicts the most frequent label so far.

    Examples
    --------
    >>> Majority(2).step(None, np.array([1, 1, 0, 1]))
    [-1, 1, 1, 1]
    """

    def __init__(self, n_classes: int) -> None:
        self._counts = np.zeros(n_classes, dtype=np.int64)

    def rows(self, X: Floats) -> Floats:
        """As they are."""
        return X

    def step(self, rows: Any, y: Labels) -> list[int]:
        """Predict and learn."""
        del rows
        guess = []
        for label in y:
            guess.append(int(self._counts.argmax()) if self._counts.any() else NO_GUESS)
            self._counts[label] += 1
        return guess


class OneByOne:
    """A model of river, which takes dictionaries.

    Parameters
    ----------
    model : river classifier
        What predicts and learns.
    delayed : bool
        Whether it learns a block only when all of it is predicted.
    """

    def __init__(self, model: Any, *, delayed: bool = False) -> None:
        self._model, self._delayed = model, delayed

    def rows(self, X: Floats) -> list[dict[int, float]]:
        """Rows as dictionaries."""
        return [dict(enumerate(row)) for row in X.tolist()]

    def step(self, rows: list[dict[int, float]], y: Labels) -> list[int]:
        """Predict and learn."""
        pairs, guess = list(zip(rows, y.tolist(), strict=True)), []
        for row, label in pairs:
            guess.append(self._guess(row))
            if not self._delayed:
                self._model.learn_one(row, label)
        for row, label in pairs if self._delayed else ():
            self._model.learn_one(row, label)
        return guess

    def _guess(self, row: dict[int, float]) -> int:
        """Predict one row."""
        found = self._model.predict_one(row)
        return NO_GUESS if found is None else int(found)


class InBlocks:
    """One of our heads, which takes blocks.

    Examples
    --------
    >>> head = InBlocks(OKSPCAClassifier(n_random_features=8, frequencies="drawn", random_state=0))
    >>> X, y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])
    >>> head.step(X, y), head.step(X, y).shape
    (array([-1, -1, -1, -1]), (4,))
    """

    def __init__(self, head: OKSPCAClassifier) -> None:
        self._head, self._is_new = head, True

    def rows(self, X: Floats) -> Floats:
        """As they are."""
        return X

    def step(self, rows: Floats, y: Labels) -> Labels:
        """Predict and learn."""
        guess = np.full(len(y), NO_GUESS) if self._is_new else self._head.predict(rows)
        self._head.partial_fit(rows, y)
        self._is_new = False
        return np.asarray(guess)


#: Makes a learner for a number of classes and a seed.
Make = Callable[[int, int], Learner]


@dataclass(frozen=True)
class Method:
    """One of those compared.

    Attributes
    ----------
    name : str
        As in the tables.
    make : callable
        From the number of classes and a seed to a learner.
    seeded : bool
        Whether it depends on the seed where the rows do not.
    needs : str
        Package without which it is left out.
    real_only : bool
        Whether it is left out where rows are drawn.
    """

    name: str
    make: Make
    seeded: bool = False
    needs: str = ""
    real_only: bool = False

    @property
    def is_installed(self) -> bool:
        """Whether its package is here."""
        return not self.needs or find_spec(self.needs) is not None


def _river(module: str, name: str, **options: Any) -> Any:
    """Make a model of river, which may not be installed."""
    return getattr(import_module(f"river.{module}"), name)(**options)


def _logistic(n_classes: int, seed: int) -> Learner:
    """Standardised inputs; one model against the rest for each of several classes."""
    del seed
    model = _river("linear_model", "LogisticRegression")
    if n_classes > 2:
        model = _river("multiclass", "OneVsRestClassifier", classifier=model)
    return OneByOne(_river("preprocessing", "StandardScaler") | model)


def _bayes(n_classes: int, seed: int) -> Learner:
    """Make naive Bayes with normal inputs."""
    del n_classes, seed
    return OneByOne(_river("naive_bayes", "GaussianNB"))


def _tree(n_classes: int, seed: int) -> Learner:
    """Make a tree that replaces branches."""
    del n_classes
    return OneByOne(_river("tree", "HoeffdingAdaptiveTreeClassifier", seed=seed))


def _forest(*, delayed: bool) -> Make:
    """Return what makes a forest that replaces trees."""

    def make(n_classes: int, seed: int) -> Learner:
        del n_classes
        model = _river("forest", "ARFClassifier", n_models=TREES, seed=seed)
        return OneByOne(model, delayed=delayed)

    return make


def _ours(**options: Any) -> Make:
    """Return what makes our head, with its defaults but for some options."""

    def make(n_classes: int, seed: int) -> Learner:
        del n_classes
        return InBlocks(OKSPCAClassifier(random_state=seed, **options))

    return make


NO_CHANGE = Method("no change", lambda n_classes, seed: NoChange())
MAJORITY = Method("majority", lambda n_classes, seed: Majority(n_classes))
OURS = (
    Method("okspca", _ours(), seeded=True),
    Method("okspca forgetting", _ours(forgetting=FORGETTING), seeded=True),
    Method("okspca window", _ours(window=WINDOW), seeded=True),
    Method("okspca relearning", _ours(window=WINDOW, relearn="on-drift"), seeded=True),
)
_SEEDED: dict[str, Any] = {"seeded": True, "needs": "river"}
METHODS = (
    NO_CHANGE,
    MAJORITY,
    Method("logistic regression", _logistic, needs="river"),
    Method("naive Bayes", _bayes, needs="river"),
    *OURS,
    Method("adaptive tree", _tree, **_SEEDED),
    Method("adaptive forest", _forest(delayed=False), **_SEEDED),
    Method("adaptive forest in blocks", _forest(delayed=True), real_only=True, **_SEEDED),
)
BY_NAME = {method.name: method for method in METHODS}
