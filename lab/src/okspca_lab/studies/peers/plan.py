"""Which cells the comparison computes: ours first, cheap data sets first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from okspca_lab.studies.peers.data import DATA, LARGE, is_there
from okspca_lab.studies.peers.methods import GROUPS, METHODS, Method
from okspca_lab.studies.peers.streams import plan as streamed
from okspca_lab.studies.peers.streams.data import STREAMS
from okspca_lab.studies.rows import Cell

QUICK_DATA, QUICK_SEEDS = ("wine", "diabetes", "moons-30"), 2
#: Rows that come in time are a group by themselves.
STREAMED = "streams"


@dataclass(frozen=True)
class Plan:
    """What to compute; the page shows all that was computed so far.

    Examples
    --------
    >>> Plan(("wine",), groups=("ours",), most_seeds=1).cells()[0]
    {'data': 'wine', 'method': 'covariance target', 'seed': 0, 'quick': False}
    """

    data: tuple[str, ...] = tuple(DATA)
    groups: tuple[str, ...] = GROUPS
    most_seeds: int | None = None
    quick: bool = False
    streams: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """What the rows depend on; not on what of them is asked for."""
        return {"study": "peers", "version": 1, "quick": self.quick}

    def cells(self) -> list[Cell]:
        """All cells; the methods of a seed come one after the other, and share its rows."""
        sets = [name for name in DATA if name in self.data]
        ordinary, large = [n for n in sets if n != LARGE], [n for n in sets if n == LARGE]
        return [
            {"data": name, "method": method.name, "seed": seed, "quick": self.quick}
            for names in (ordinary, large)
            for group in self.groups
            for name in names
            for seed, method in self._runs(name, group)
        ]

    def stream_cells(self) -> list[Cell]:
        """All cells of the streams."""
        return streamed.cells(self.streams, self.most_seeds, quick=self.quick)

    def _runs(self, name: str, group: str) -> list[tuple[int, Method]]:
        """Seeds and methods of a group on one data set."""
        here = [one for one in METHODS if one.group == group and one.is_installed]
        methods = [one for one in here if one.takes(DATA[name])]
        most = max((one.seeds_on(name) for one in methods), default=0)
        seeds = range(most if self.most_seeds is None else min(most, self.most_seeds))
        return [(s, one) for s in seeds for one in methods if s < one.seeds_on(name)]


def planned(
    data: Sequence[str] = (),
    groups: Sequence[str] = (),
    n_seeds: int | None = None,
    *,
    large: bool = False,
    quick: bool = False,
) -> Plan:
    """Make a plan from what was asked for.

    Raises
    ------
    ValueError
        A data set or group is not known.
    DataFileError
        A file that is needed is missing.
    """
    _check(data, {**DATA, **STREAMS}, "a data set")
    _check(groups, (*GROUPS, STREAMED), "a group")
    asked = tuple(group for group in GROUPS if not groups or group in groups)
    every = QUICK_DATA if quick else tuple(n for n in DATA if n != LARGE or large)
    chosen = tuple(name for name in DATA if asked and name in (data or every))
    for name in chosen:
        if not is_there(name):
            DATA[name].development(0)  # fetches it, or says where to get it
    streams = _streams(data, quick=quick) if not groups or STREAMED in groups else ()
    most_seeds = n_seeds or (QUICK_SEEDS if quick else None)
    return Plan(chosen, asked, most_seeds, quick, streams)


def _streams(data: Sequence[str], *, quick: bool) -> tuple[str, ...]:
    """Streams that are asked for; their rows are here afterwards."""
    every = streamed.QUICK_STREAMS if quick else tuple(STREAMS)
    chosen = tuple(name for name in STREAMS if name in (data or every))
    for name in chosen:
        if not is_there(name):
            STREAMS[name].draw(1, 0)
    return chosen


def _check(names: Sequence[str], known: Sequence[str] | dict[str, Any], what: str) -> None:
    """Refuse names that are not known."""
    unknown = [name for name in names if name not in known]
    if unknown:
        message = f"{unknown[0]!r} is not {what}; choose from {', '.join(known)}."
        raise ValueError(message)
