"""From cells to rows: one flat row for each contender of each cell in each repetition."""

from collections.abc import Callable
from dataclasses import dataclass

from okspca_lab.bench.cells import Cell
from okspca_lab.bench.entries import ENTRIES, our_adam, paper_adam
from okspca_lab.bench.feed import Feed, draw_feed, turns
from okspca_lab.bench.quality import Witness, largest_difference
from okspca_lab.bench.timing import quiet, race

#: Seed of the first repetition; the paper's final runs start there as well.
FIRST_SEED = 6200
#: Over how many observations two trackers are compared.
COMPARED = 500


@dataclass(frozen=True)
class Timed:
    """One contender in one repetition of one cell.

    Attributes
    ----------
    cell, curve, value
        What was measured; the last two for points of a scaling curve.
    contender : str
        Who.
    repetition, seed : int
        Which repetition, and its stream.
    rows, requests : int
        Rows and requests on the clock.
    mean_us, median_us : float
        Microseconds per row: mean, and median over the turns.
    angle_degrees : float or None
        Largest angle to the exact span at the checked requests.
    checks : int
        Number of checked requests.
    span_radians : float or None
        Largest angle to the maintained basis of the paper's tracker, over the first observations.
    """

    cell: str
    curve: str
    value: int
    contender: str
    repetition: int
    seed: int
    rows: int
    requests: int
    mean_us: float
    median_us: float
    angle_degrees: float | None
    checks: int
    span_radians: float | None


def measure(cells: list[Cell], repeats: int, done: Callable[[Cell], None]) -> list[Timed]:
    """Measure cells, the repetitions of each one after the other; report each that is ``done``."""
    found = []
    for cell in cells:
        with quiet(cell.n_threads):
            for repetition in range(repeats):
                found.extend(repeat(cell, repetition))
                done(cell)
    return found


def repeat(cell: Cell, repetition: int) -> list[Timed]:
    """Run one repetition on its own stream and maps."""
    seed = FIRST_SEED + repetition
    start, stop = cell.warm_up, cell.warm_up + cell.rows
    feed = draw_feed(cell.regime, cell.schedule, seed, cell.warm_up, cell.rows)
    span = _span(cell, feed)
    contenders = {name: ENTRIES[name].make(feed) for name in cell.contenders}
    for contender in contenders.values():
        contender.warm_up(cell.warm_up)
    laps = race(contenders, turns(feed.wanted, start, stop, cell.turn), Witness(feed))
    requests = sum(feed.wanted[start:stop])
    return [
        Timed(
            cell=cell.name,
            curve=cell.curve,
            value=cell.value,
            contender=name,
            repetition=repetition,
            seed=seed,
            rows=cell.rows,
            requests=requests,
            mean_us=lap.mean_us,
            median_us=lap.median_us,
            angle_degrees=lap.worst_angle,
            checks=len(lap.angles),
            span_radians=span,
        )
        for name, lap in laps.items()
    ]


def _span(cell: Cell, feed: Feed) -> float | None:
    """Compare the two Adam trackers over the first observations, where the cell asks for it."""
    if not cell.compares_spans:
        return None
    n = min(COMPARED, cell.warm_up)
    return largest_difference(our_adam(feed), paper_adam(feed), n)
