"""The process that is timed: reads one job on standard input, prints its rows.

`launch.py` starts it as ``python -m okspca_lab.studies.services.process``.
Where a job holds several whole streams (pass A0), each runs in a process of its own: this one loads
the libraries and kernels once, then forks for every stream, which spares seconds of imports each.
Short streams run several times, in turns with those they are compared with; medians are kept.
"""

import gc
import json
import multiprocessing
import sys
from collections.abc import Sequence
from itertools import groupby
from multiprocessing.connection import Connection
from statistics import median

from okspca.numerics.announcing import unannounced
from okspca_lab.studies.rows import Cell, Row
from okspca_lab.studies.services.timed import REHEARSED, pin, rehearse, run_timed
from okspca_lab.studies.workloads import REGIMES, draw_maps, stream

#: Rows of the rehearsal that loads kernels before the copies are made; theirs can be shorter.
LOADING_ROWS = REHEARSED["ours"]
#: A stream that took less than this many seconds is served again, until there are so many rounds.
SHORT, ROUNDS, QUICK_ROUNDS = 0.35, 4, 2


def main() -> None:
    """Run the job."""
    job = json.load(sys.stdin)
    cores = pin(job["core"])
    build, cells, n_rows = job["build"], job["cells"], job["n_rows"]
    apart = len(cells) > 1 and all(cell["part"] == "A0" for cell in cells)
    with unannounced():
        run = run_apart if apart and _can_fork() else run_timed
        rows = run(build, cells, n_rows)
    json.dump({"cores": cores, "rows": rows}, sys.stdout)


def _can_fork() -> bool:
    """Whether a process can be copied on this system."""
    return "fork" in multiprocessing.get_all_start_methods()


def run_apart(build: str, cells: Sequence[Cell], n_rows: int | None) -> list[Row]:
    """Time every cell in copies of this process, which has only loaded what they need."""
    for name, method in {(cell["regime"], cell["method"]): None for cell in cells}:
        regime, seed = REGIMES[name], cells[0]["seed"]
        X, y = stream(regime, seed, LOADING_ROWS)
        rows = list(X), y.tolist()
        rehearse(build, method, regime, draw_maps(regime, seed), rows, LOADING_ROWS)
    gc.collect()
    gc.freeze()  # a copy that collects its garbage need not look through all that was loaded
    rounds = ROUNDS if n_rows is None else QUICK_ROUNDS
    compared = groupby(cells, key=lambda cell: (cell["regime"], cell["schedule"]))
    return [row for _, group in compared for row in in_turns(build, list(group), n_rows, rounds)]


def in_turns(build: str, cells: Sequence[Cell], n_rows: int | None, rounds: int) -> list[Row]:
    """Time cells that are compared with each other; the short ones again, in turns."""
    found = [_in_a_copy(build, cell, n_rows) for cell in cells]
    short = [i for i, rows in enumerate(found) if rows[0]["wall"] < SHORT]
    for _ in range(rounds - 1):
        for i in short:
            found[i] += _in_a_copy(build, cells[i], n_rows)
    return [middle(rows) for rows in found]


def middle(rows: Sequence[Row]) -> Row:
    """Rows of one cell as one: the median of each time, and how many there were.

    Examples
    --------
    >>> middle([{"method": "adam", "wall": wall} for wall in (2.0, 9.0, 1.0)])
    {'method': 'adam', 'wall': 2.0, 'rounds': 3}
    """
    times = {name for name, value in rows[0].items() if isinstance(value, float)}
    medians = {name: median(row[name] for row in rows) for name in times}
    return {**rows[0], **medians, "rounds": len(rows)}


def _in_a_copy(build: str, cell: Cell, n_rows: int | None) -> list[Row]:
    """Run one cell in a copy of this process.

    Raises
    ------
    RuntimeError
        The copy ended without rows.
    """
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    copy = context.Process(target=_send_rows, args=(theirs, build, cell, n_rows))
    copy.start()
    theirs.close()
    try:
        rows: list[Row] = ours.recv()
    except EOFError as error:
        message = f"No rows came for {cell}."
        raise RuntimeError(message) from error
    finally:
        copy.join()
        ours.close()
    return rows


def _send_rows(pipe: Connection, build: str, cell: Cell, n_rows: int | None) -> None:
    """What the copy does."""
    pipe.send(run_timed(build, [cell], n_rows, REHEARSED["paper"]))


if __name__ == "__main__":
    main()
