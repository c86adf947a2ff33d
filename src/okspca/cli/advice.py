"""Which service to use: measure the candidates for a few seconds on rows like the user's.

All candidates learn the same rows and answer the same requests, in turns, another one going first
each time, so that what disturbs one disturbs all.  A candidate that is four times as dear as the
cheapest takes no more turns, and only requests that all have answered tell who suits.  Every answer
comes with its certificate, and that is what is reported as its error: what is not proven does not
count.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca.basis import Basis
from okspca.datasets import sectors
from okspca.estimators import OKSPCA
from okspca.numerics.arrays import Floats
from okspca.numerics.room import check_room
from okspca.services import Cached

WARM_UP, LEAST_TURN, FEWEST_TURNS, TOO_DEAR = 512, 64, 3, 4.0
STAND_IN_ROWS = 8192
LARGEST_TURN = 1024
SEED = 0


@dataclass(frozen=True)
class Wish:
    """What the user has and wants.

    Attributes
    ----------
    n_components, n_random_features : int
        Parameters of OKSPCA.
    every : int
        Rows from one request to the next.
    block : int
        Rows that arrive together.
    accuracy : float
        Largest certified angle in degrees.
    max_age : int
        Rows by which an answer may be old.
    """

    n_components: int = 2
    n_random_features: int = 256
    every: int = 1
    block: int = 1
    accuracy: float = 1e-6
    max_age: int = 0


@dataclass(frozen=True)
class Candidate:
    """A service and how to call for it."""

    label: str
    call: str
    settings: dict[str, Any]


@dataclass
class Finding:
    """What was measured of one candidate.

    Attributes
    ----------
    candidate : Candidate
        Who.
    rows, learning, asking, requests : list
        Of each turn: its rows, seconds spent on learning and on answers, and number of answers.
    angles : list
        Certified angle of each answer in degrees; None where none is proven.
    ages, ranks : list of int
        Age and rank of each answer.
    """

    candidate: Candidate
    rows: list[int] = field(default_factory=list)
    learning: list[float] = field(default_factory=list)
    asking: list[float] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    angles: list[float | None] = field(default_factory=list)
    ages: list[int] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)

    @property
    def row_us(self) -> float:
        """Microseconds to learn a row."""
        return 1e6 * float(np.median(np.array(self.learning) / self.rows))

    @property
    def request_us(self) -> float:
        """Microseconds to answer a request."""
        return 1e6 * float(np.median(np.array(self.asking) / self.requests))

    @property
    def total_us(self) -> float:
        """Microseconds per row, requests included."""
        return 1e6 * float(np.median((np.array(self.learning) + self.asking) / self.rows))

    @property
    def angle(self) -> float | None:
        """Largest certified angle; None where one answer had none."""
        proven = [angle for angle in self.angles if angle is not None]
        return max(proven) if len(proven) == len(self.angles) and proven else None

    def suits(self, wish: Wish, rank: int) -> bool:
        """Whether every answer was as accurate, fresh and complete as wished."""
        accurate = self.angle is not None and self.angle <= wish.accuracy
        return accurate and max(self.ages) <= wish.max_age and min(self.ranks) >= rank


def stand_in(n_inputs: int, n_outputs: int, n_classes: int | None) -> tuple[Floats, NDArray[Any]]:
    """Rows of the given dimensions: noisy classes, or smooth functions with noise.

    Examples
    --------
    >>> X, y = stand_in(4, 2, None)
    >>> X.shape, y.shape
    ((8192, 4), (8192, 2))
    """
    what = f"{STAND_IN_ROWS} rows of this width"
    check_room(STAND_IN_ROWS * (n_inputs + (n_classes or n_outputs)), what, "give a file of rows")
    if n_classes is not None:
        return sectors(STAND_IN_ROWS, n_classes, n_inputs, SEED)
    random = RandomState(SEED)
    X = random.normal(size=(STAND_IN_ROWS, n_inputs))
    A, B = random.normal(size=(2, n_inputs, n_outputs)) / np.sqrt(n_inputs)
    Y = (
        np.sin(2.0 * X @ A)
        + 0.5 * (X @ B) ** 2
        + 0.25 * random.normal(size=(X.shape[0], n_outputs))
    )
    return X, Y if n_outputs > 1 else Y[:, 0]


def candidates(n_classes: int | None) -> list[Candidate]:
    """List what can serve such a target."""
    found = [
        Candidate("exact", 'solver="exact"', {"solver": "exact"}),
        Candidate(
            "warm block",
            'solver="warm-block", compress=False',
            {"solver": "warm-block", "compress": False},
        ),
        Candidate("exact each row", 'solver="exact-each"', {"solver": "exact-each"}),
        Candidate("cached, every 10", "solver=Cached(every=10)", {"solver": Cached(every=10)}),
        Candidate("cached, every 100", "solver=Cached(every=100)", {"solver": Cached(every=100)}),
        Candidate("Adam", 'solver="adam"', {"solver": "adam"}),
        Candidate(
            "proj. gradient", 'solver="projected-gradient"', {"solver": "projected-gradient"}
        ),
    ]
    if n_classes is not None:
        name = "binary" if n_classes == 2 else "contrast"
        found.append(Candidate(name, f'solver="{name}"', {"solver": name}))
    return found


class Runner:
    """One candidate's model, fed the same rows as all others."""

    def __init__(self, candidate: Candidate, wish: Wish, X: Floats, y: NDArray[Any]) -> None:
        self.finding, self.wish = Finding(candidate), wish
        self.X, self.y, self.targets = X, y, y.tolist()
        self.model = OKSPCA(
            wish.n_components,
            n_random_features=wish.n_random_features,
            random_state=SEED,
            **candidate.settings,
        )
        warm_up = min(WARM_UP, X.shape[0])
        self.row = warm_up
        self.model.partial_fit(X[:warm_up], y[:warm_up])
        self.turn(2 * max(wish.every, wish.block))
        self.finding = Finding(candidate)

    def turn(self, n_rows: int) -> None:
        """Learn rows and answer the requests among them, with clocks."""
        learning = asking = 0.0
        answers: list[Basis] = []
        clock = time.perf_counter
        for start in range(0, n_rows, self.wish.every):
            begin = clock()
            self._learn(min(self.wish.every, n_rows - start))
            middle = clock()
            answers.append(self.model.basis())
            learning, asking = learning + middle - begin, asking + clock() - middle
        found = self.finding
        found.rows.append(n_rows)
        found.learning.append(learning)
        found.asking.append(asking)
        found.requests.append(len(answers))
        for answer in answers:
            proof = answer.certificate
            found.angles.append(None if proof is None else proof.angle_upper)
            found.ages.append(answer.age)
            found.ranks.append(answer.rank)

    def _learn(self, n_rows: int) -> None:
        """Learn the next rows as they arrive: one by one, or in blocks."""
        size = min(self.wish.block, n_rows, self.X.shape[0])
        for start in range(0, n_rows, size):
            end = self.row + min(size, n_rows - start)
            if end > self.X.shape[0]:
                self.row, end = 0, min(size, n_rows - start)
            if size == 1:
                self.model.learn_one(self.X[self.row], self.targets[self.row])
            else:
                self.model.partial_fit(self.X[self.row : end], self.y[self.row : end])
            self.row = end


def measure(
    wish: Wish, X: Floats, y: NDArray[Any], n_classes: int | None, seconds: float
) -> list[Finding]:
    """Measure all candidates for about so many seconds; the best comes first.

    Parameters
    ----------
    wish : Wish
        What is wanted.
    X, y : ndarray
        Rows to measure on; they are used again from the beginning where they do not suffice.
    n_classes : int or None
        Number of classes; None for numbers.
    seconds : float
        How long to measure, once everything is warm.
    """
    # Larger blocks cost as much per row, and one of them would take longer than all the time given.
    wish = replace(wish, block=min(wish.block, LARGEST_TURN), every=min(wish.every, LARGEST_TURN))
    runners = [Runner(candidate, wish, X, y) for candidate in candidates(n_classes)]
    _race(runners, wish, seconds)
    findings = [runner.finding for runner in runners]
    keep_common(findings)
    return ranked(findings, wish)


def keep_common(findings: Sequence[Finding]) -> None:
    """Judge all by the same requests: dear candidates served only the first of them."""
    common = min(len(finding.ages) for finding in findings)
    for finding in findings:
        del finding.angles[common:], finding.ages[common:], finding.ranks[common:]


def _race(runners: Sequence[Runner], wish: Wish, seconds: float) -> None:
    """Take turns until the time is over."""
    step = max(wish.every, wish.block)
    n_rows = step * -(-LEAST_TURN // step)
    end, racing, first = time.perf_counter() + seconds, list(runners), cycle(range(len(runners)))
    turns = 0
    while turns < FEWEST_TURNS or time.perf_counter() < end:
        shift = next(first) % len(racing)
        for runner in racing[shift:] + racing[:shift]:
            runner.turn(n_rows)
        turns += 1
        cheapest = min(runner.finding.total_us for runner in racing)
        if turns >= FEWEST_TURNS:
            racing = [r for r in racing if r.finding.total_us <= TOO_DEAR * cheapest]


def ranked(findings: Sequence[Finding], wish: Wish) -> list[Finding]:
    """Put those that suit first, each kind by its cost."""
    rank = full_rank(findings)
    return sorted(findings, key=lambda f: (not f.suits(wish, rank), f.total_us))


def full_rank(findings: Sequence[Finding]) -> int:
    """The rank that every answer should have: the smallest that the exact service gave."""
    return min(next(f for f in findings if f.candidate.label == "exact").ranks)


def constructor(finding: Finding, wish: Wish) -> str:
    """Write the call that makes a model with this service."""
    call = finding.candidate.call
    made = f"OKSPCA({wish.n_components}, n_random_features={wish.n_random_features}, {call})"
    return f"{made}  # from okspca.services import Cached" if "Cached" in call else made
