"""What to run: regimes, schedules, methods, seeds, passes, and the cells that follow from them.

A cell is one measurement; cells that share a process or a walk form a group::

    A0   regime, schedule, seed, method (and repeat)   a process each; ours: forked from one per
                                                       seed that has loaded the kernels,
                                                       short ones several times
    B    regime, schedule, seed, method                paper: a process per regime, schedule, seed
                                                       ours: a process per seed
    C    regime, seed, method                          a walk per regime and seed
         regime, development seed                      the candidates of the projected gradient
         regime, further seed                          how much map draws matter (paper build)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from okspca_lab.studies.rows import Cell, Group
from okspca_lab.studies.services.methods import ANCHOR, CONTROL, LABELS, NEVER, methods_of
from okspca_lab.studies.services.selection import DEVELOPMENT_SEEDS
from okspca_lab.studies.workloads import REGIMES, SCHEDULES

PASSES = ("A0", "B", "C")
SEEDS = tuple(range(6200, 6205))
#: Streams that only show how much the numbers of trackers and caches vary.
FURTHER_SEEDS = tuple(range(6205, 6225))
VARYING = ("adam", "projected-gradient", "cache-10", "cache-100")
#: The prescribed repeats: C4, first seed, every ten observations.
REPEATED = ("C4", "every-10", 6200)
REPEATS = (
    ("adam", "Adam"),
    ("exact-on-request", "Exact-request"),
    (CONTROL, "Accum.-A"),
    (CONTROL, "Accum.-B"),
)
EACH = 3
QUICK_ROWS, QUICK_REGIMES, QUICK_SCHEDULES = 48, ("C4", "R128"), ("every-1", "every-10")

_SCHEDULED = ("seed", "regime", "schedule")


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes
    ----------
    build : {"paper", "ours"}
        Whose implementation.
    regimes, schedules, seeds, passes : tuple
        Which ones.
    methods : tuple of str
        Which ones; all that apply where it is empty.
    quick : bool
        Only show that everything works, on a few rows.

    Examples
    --------
    >>> plan = Plan()
    >>> len([cell for group in plan.groups("A0") for cell in group if "repeat" not in cell])
    850
    >>> len(plan.groups("B")), len(plan.groups("C"))
    (125, 140)
    """

    build: str = "paper"
    regimes: tuple[str, ...] = tuple(REGIMES)
    schedules: tuple[str, ...] = tuple(SCHEDULES)
    methods: tuple[str, ...] = ()
    seeds: tuple[int, ...] = SEEDS
    passes: tuple[str, ...] = PASSES
    quick: bool = False

    @property
    def n_rows(self) -> int | None:
        """Length of the streams where it is not the regime's own."""
        return QUICK_ROWS if self.quick else None

    @property
    def _shares_processes(self) -> bool:
        """Whether one process takes all timed cells of a seed: loading ours takes seconds."""
        return self.quick or self.build == "ours"

    def chosen(self, regime: str) -> list[str]:
        """Methods of a regime that were asked for."""
        every = methods_of(REGIMES[regime], self.build)
        return [name for name in every if not self.methods or name in self.methods]

    def groups(self, name: str) -> list[Group]:
        """Groups of a pass, one seed after the other so that one seed tells how long all take."""
        found = {"A0": self._timed, "B": self._batches, "C": self._walks}[name]()
        return [group for group in found if group]

    def _timed(self) -> list[Group]:
        groups = []
        for seed in self.seeds:
            cells = [cell for regime in self.regimes for cell in self._timed_cells(regime, seed)]
            groups += [cells] if self._shares_processes else [[cell] for cell in cells]
            if seed == REPEATED[2]:
                groups += self._repeats()
        return groups

    def _timed_cells(self, regime: str, seed: int) -> Group:
        """Every method with every schedule, neighbours in time where they are to be compared."""
        control = [] if self.methods and CONTROL not in self.methods else [(NEVER, CONTROL)]
        anchors = [] if self.build == "paper" or self.methods else [ANCHOR]
        cells = [
            (schedule, method)
            for schedule in self.schedules
            for method in [*anchors, *self.chosen(regime)]
            if self.build == "paper" or method != "exact-each" or schedule == "every-1"
        ]
        return [
            {"part": "A0", "regime": regime, "schedule": schedule, "seed": seed, "method": method}
            for schedule, method in [*control, *cells]
        ]

    def _repeats(self) -> list[Group]:
        """The prescribed repeats of the paper, each in a process of its own."""
        regime, schedule, seed = REPEATED
        wanted = regime in self.regimes and schedule in self.schedules and not self.methods
        if self.build != "paper" or self.quick or not wanted:
            return []
        cell = {"part": "A0", "regime": regime, "schedule": schedule, "seed": seed}
        return [
            [{**cell, "method": method, "repeat": f"{label} {number}"}]
            for number in range(EACH)
            for method, label in REPEATS
        ]

    def _batches(self) -> list[Group]:
        cells = [
            {"part": "B", "regime": regime, "schedule": schedule, "seed": seed, "method": method}
            for seed in self.seeds
            for regime in self.regimes
            for schedule in self.schedules
            for method in self.chosen(regime)
            if self.build == "paper" or method != "exact-each" or schedule == "every-1"
        ]
        return _grouped(cells, *(("seed",) if self._shares_processes else _SCHEDULED))

    def _walks(self) -> list[Group]:
        walks = [
            [
                {"part": "C", "regime": regime, "seed": seed, "method": m}
                for m in self.chosen(regime)
            ]
            for seed in self.seeds
            for regime in self.regimes
        ]
        if self.build == "ours" or self.quick:
            return walks + (self._candidates()[:1] if self.build == "paper" else [])
        further = [
            [{"part": "further", "regime": regime, "seed": seed}]
            for seed in FURTHER_SEEDS
            for regime in self.regimes
            if not self.methods
        ]
        return [*walks, *self._candidates(), *further]

    def _candidates(self) -> list[Group]:
        if self.methods and "projected-gradient" not in self.methods:
            return []
        return [
            [{"part": "candidates", "regime": regime, "seed": seed}]
            for regime in self.regimes
            for seed in DEVELOPMENT_SEEDS
        ]


def planned(
    *,
    build: str,
    regimes: Sequence[str],
    schedules: Sequence[str],
    methods: Sequence[str],
    n_seeds: int | None,
    passes: Sequence[str],
    quick: bool,
) -> Plan:
    """Make a plan from what was asked for; names that are not known are refused."""
    _check("build", [build], ("paper", "ours"))
    _check("regimes", regimes, REGIMES)
    _check("schedules", schedules, SCHEDULES)
    _check("methods", methods, LABELS)
    _check("passes", passes, PASSES)
    usual = Plan(regimes=QUICK_REGIMES, schedules=QUICK_SCHEDULES) if quick else Plan()
    return Plan(
        build,
        tuple(r for r in REGIMES if r in (regimes or usual.regimes)),
        tuple(s for s in SCHEDULES if s in (schedules or usual.schedules)),
        tuple(methods),
        SEEDS[: min(n_seeds or (1 if quick else len(SEEDS)), len(SEEDS))],
        tuple(p for p in PASSES if p in (passes or PASSES)),
        quick,
    )


def _check(option: str, given: Sequence[str], known: Iterable[str]) -> None:
    """Refuse a name that is not known."""
    names = list(known)
    for name in given:
        if name not in names:
            message = f"--{option} {name} is not known; choose from {', '.join(names)}."
            raise ValueError(message)


def _grouped(cells: Group, *names: str) -> list[Group]:
    """Put cells that agree in these values into one group, in the order of their first."""

    def key(cell: Cell) -> tuple[str, ...]:
        return tuple(str(cell[name]) for name in names)

    order = {key(cell): None for cell in cells}
    place = {value: i for i, value in enumerate(order)}
    ordered = sorted(cells, key=lambda cell: place[key(cell)])
    return [list(group) for _, group in groupby(ordered, key=key)]
