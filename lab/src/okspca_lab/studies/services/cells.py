"""Groups of cells of the service study: timed in processes of their own, or walked untimed."""

from functools import partial
from pathlib import Path

from okspca.numerics.announcing import unannounced
from okspca_lab.studies.beside import timed_core
from okspca_lab.studies.rows import Cell, Group, Row
from okspca_lab.studies.runner import Found, Part
from okspca_lab.studies.services.forecast import Forecast
from okspca_lab.studies.services.launch import timed_in_a_process
from okspca_lab.studies.services.plan import VARYING, Plan
from okspca_lab.studies.services.quality import (
    DRAWN,
    further_rows,
    quality_rows,
    trajectories,
    walk_of,
)
from okspca_lab.studies.services.results import keep_trajectories, record_of, rows_file, settings_of
from okspca_lab.studies.services.selection import candidate_rows

#: The pass about quality, which may run beside the timed ones.
UNTIMED = "C"
TIMED = {"timed": "fresh processes, one at a time, each bound to one core"}


def work(cell: Cell, *, plan: Plan, out: Path) -> list[Row]:
    """Do one cell, by itself."""
    do = walked if cell["part"] in (UNTIMED, "candidates", "further") else timed
    return do([cell], plan=plan, out=out)[0][1]


def parts(plan: Plan, out: Path) -> list[Part]:
    """All cells, ready to be run: a part for each pass."""
    return [
        Part(
            rows_file(out, plan.build, name),
            settings_of(name, plan.build, quick=plan.quick),
            plan.groups(name),
            partial(walked if name == UNTIMED else timed, plan=plan, out=out),
            record_of(out, plan.build, name),
            remarks={} if name == UNTIMED else TIMED,
            beside=name == UNTIMED,
            forecast=partial(Forecast, plan.seeds),
        )
        for name in plan.passes
    ]


def timed(group: Group, *, plan: Plan, out: Path) -> Found:
    """Time a group in a process of its own."""
    del out
    rows = timed_in_a_process(plan.build, group, plan.n_rows, timed_core())
    return [(cell, [row]) for cell, row in zip(group, rows, strict=True)]


def walked(group: Group, *, plan: Plan, out: Path) -> Found:
    """Walk along a stream, or run the candidates on one."""
    cell = group[0]
    regime, seed = cell["regime"], cell["seed"]
    with unannounced():
        if cell["part"] == "candidates":
            return [(cell, candidate_rows(regime, seed, plan.n_rows))]
        if cell["part"] == "further":
            return [(cell, further_rows(regime, seed, VARYING, plan.n_rows))]
        names = [c["method"] for c in group]
        walk = walk_of(plan.build, regime, seed, names, plan.n_rows)
    rows = quality_rows(walk, seed)
    if regime in DRAWN:
        folder = out / plan.build / "trajectories"
        keep_trajectories(folder, regime, seed, dict(trajectories(walk)))
    return [(cell, rows[cell["method"]]) for cell in group]
