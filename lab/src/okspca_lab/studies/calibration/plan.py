"""Which cells the calibration study computes: every data set with every seed."""

from dataclasses import dataclass
from typing import Any

from numpy.random import RandomState

from okspca.numerics.arrays import Floats, Integers
from okspca_lab.studies.peers.data import DATA, is_there
from okspca_lab.studies.prediction.tasks import Split
from okspca_lab.studies.rows import Cell

OVERLAP = "overlap"
#: By what a fit costs, cheap ones first.
SETS = ("wine", "breast-cancer", "digits", OVERLAP, "electricity", "HAR", "covtype", "Sensorless")
SEEDS, QUICK_SEEDS = tuple(range(3)), (0,)
QUICK_SETS, QUICK_ROWS = ("wine", OVERLAP), 800
SHARES = (0.4, 0.3, 0.2, 0.1)
N_INPUTS, N_TRAIN, N_TEST = 10, 9000, 3000


@dataclass(frozen=True)
class Plan:
    """Which data sets and seeds.

    Examples
    --------
    >>> Plan(("wine",), (0,)).cells()
    [{'data': 'wine', 'seed': 0, 'quick': False}]
    """

    data: tuple[str, ...] = SETS
    seeds: tuple[int, ...] = SEEDS
    quick: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """What the rows depend on."""
        return {"study": "calibration", "version": 1, "quick": self.quick}

    def cells(self) -> list[Cell]:
        """All cells."""
        return [
            {"data": name, "seed": seed, "quick": self.quick}
            for name in self.data
            for seed in self.seeds
        ]


def planned(*, quick: bool) -> Plan:
    """Make a plan; a file that is missing is fetched, or the error says where to get it."""
    if quick:
        return Plan(QUICK_SETS, QUICK_SEEDS, quick=True)
    for name in SETS:
        if name != OVERLAP and not is_there(name):
            DATA[name].development(0)
    return Plan()


def split_of(name: str, seed: int) -> Split:
    """Rows to learn and rows to test; people are kept apart for HAR."""
    if name != OVERLAP:
        return DATA[name].development(seed)
    X, y = overlapping(N_TRAIN + N_TEST, seed)
    return Split(X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:])


def overlapping(n: int, seed: int) -> tuple[Floats, Integers]:
    """Draw four Gaussian classes of different size, closer to each other than they are wide."""
    random = RandomState(seed)
    y = random.choice(len(SHARES), size=n, p=SHARES)
    means = 0.8 * random.standard_normal((len(SHARES), N_INPUTS))
    return means[y] + random.standard_normal((n, N_INPUTS)), y
