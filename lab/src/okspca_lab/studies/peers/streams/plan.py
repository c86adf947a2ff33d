"""Which cells of the streams are computed; their rows depend on nothing else of the study."""

from collections.abc import Sequence
from typing import Any

from okspca_lab.studies.peers.streams.data import STREAMS, Stream
from okspca_lab.studies.peers.streams.methods import METHODS, Method
from okspca_lab.studies.rows import Cell

SEEDS, REAL_SEEDS = 3, 2
QUICK_STREAMS = ("SEA",)


def settings(*, quick: bool) -> dict[str, Any]:
    """What the rows depend on; not on what of them is asked for."""
    return {"study": "peers, streams", "version": 1, "quick": quick}


def cells(names: Sequence[str], most_seeds: int | None, *, quick: bool) -> list[Cell]:
    """All cells of some streams; what is not installed is left out.

    Examples
    --------
    >>> cells(["SEA"], 1, quick=False)[0]
    {'data': 'SEA', 'method': 'no change', 'seed': 0, 'quick': False}
    """
    most = SEEDS if most_seeds is None else most_seeds
    return [
        {"data": name, "method": one.name, "seed": seed, "quick": quick}
        for name in names
        for one in METHODS
        if one.is_installed
        for seed in range(min(seeds_on(STREAMS[name], one), most))
    ]


def seeds_on(stream: Stream, method: Method) -> int:
    """With how many seeds a method is run: once where none changes anything."""
    if stream.is_drawn:
        return 0 if method.real_only else SEEDS
    return REAL_SEEDS if method.seeded else 1
