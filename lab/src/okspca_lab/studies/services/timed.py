"""Passes A0 and B inside the process that is timed.

A0: the whole stream, from the first observation to the last answer, wall and processor time, with
the making of the service apart.  B: means over batches of 64 observations, requests included, and
how long each request took.  Before the clock starts, a throwaway copy of the service serves a few
rows, so that libraries are loaded and kernels bound; garbage is collected before and not during.
"""

import gc
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from okspca.numerics.arrays import Floats
from okspca_lab.studies.rows import Cell, Row
from okspca_lab.studies.services.methods import NEVER, Server, make_server
from okspca_lab.studies.workloads import REGIMES, SCHEDULES, Maps, Regime, draw_maps, stream

BATCH = 64
QUANTILES = (0.5, 0.9, 0.99, 1.0)
#: Rows of the throwaway run; requests are made at its two ends.
REHEARSED, ENDS = {"paper": 16, "ours": 140}, 8


def pin(core: int | None) -> list[int]:
    """Bind this process to one core where the system can; return the cores it may use."""
    if not hasattr(os, "sched_setaffinity"):
        return []
    if core is not None:
        os.sched_setaffinity(0, {core})
    return sorted(os.sched_getaffinity(0))


def run_timed(
    build: str, cells: Sequence[Cell], n_rows: int | None, rehearsed: int | None = None
) -> list[Row]:
    """Time cells one after the other; each has a service of its own."""
    rows, streams = [], {}
    for cell in cells:
        regime, seed = REGIMES[cell["regime"]], cell["seed"]
        if (regime.name, seed) not in streams:
            X, y = stream(regime, seed, n_rows)
            streams = {(regime.name, seed): (list(X), y.tolist(), draw_maps(regime, seed))}
        X_rows, targets, maps = streams[regime.name, seed]
        wanted = wanted_of(cell["schedule"], len(X_rows), seed)
        rows_before = REHEARSED[build] if rehearsed is None else rehearsed
        rehearse(build, cell["method"], regime, maps, (X_rows, targets), rows_before)
        measure = {"A0": whole, "B": batches}[cell["part"]]
        gc.collect()
        gc.freeze()  # what is there by now stays: the next collection need not look at it
        gc.disable()
        try:
            row = measure((build, cell["method"], regime, maps), X_rows, targets, wanted)
        finally:
            gc.enable()
        rows.append({"kind": cell["part"], **cell, "requests": sum(wanted), **row})
    return rows


def wanted_of(schedule: str, n: int, seed: int) -> list[bool]:
    """Whether a basis is requested after each observation."""
    wanted = [False] * n
    if schedule != NEVER:
        for t in SCHEDULES[schedule].requests(n, seed).tolist():
            wanted[t - 1] = True
    return wanted


def rehearse(
    build: str,
    method: str,
    regime: Regime,
    maps: Maps,
    rows: tuple[list[Floats], list[Any]],
    most: int,
) -> None:
    """Serve a few rows with a throwaway service, so that nothing happens for the first time."""
    server = make_server(build, method, regime, maps)
    n = min(most, len(rows[0]))
    for i in range(n):
        server.step(rows[0][i], rows[1][i])
        if i < ENDS or i >= n - ENDS:
            server.request()


def whole(
    what: tuple[str, str, Regime, Maps], X: list[Floats], targets: list[Any], wanted: list[bool]
) -> Row:
    """Pass A0: make the service, then serve the stream."""
    clocks = [_clocks()]
    server = make_server(*what)
    clocks.append(_clocks())
    serve(server, X, targets, wanted)
    clocks.append(_clocks())
    (w0, c0), (w1, c1), (w2, c2) = clocks
    return {"wall": w2 - w1, "cpu": c2 - c1, "init_wall": w1 - w0, "init_cpu": c1 - c0}


def serve(server: Server, X: list[Floats], targets: list[Any], wanted: list[bool]) -> Any:
    """Learn all rows, answering where it is wanted; return the last answer."""
    step, request = server.step, server.request
    answer = None
    for x, y, asked in zip(X, targets, wanted, strict=True):
        step(x, y)
        if asked:
            answer = request()
    return answer


def batches(
    what: tuple[str, str, Regime, Maps], X: list[Floats], targets: list[Any], wanted: list[bool]
) -> Row:
    """Pass B: batch means with everything in them, and each request's duration."""
    server, clock = make_server(*what), time.perf_counter
    step, request = server.step, server.request
    means, queries = [], []
    for start in range(0, len(X), BATCH):
        stop = min(start + BATCH, len(X))
        begin = clock()
        for i in range(start, stop):
            step(X[i], targets[i])
            if wanted[i]:
                before = clock()
                request()
                queries.append(clock() - before)
        means.append((clock() - begin) / (stop - start))
    return {"batches": len(means), **_quantiles("batch", means), **_quantiles("query", queries)}


def _clocks() -> tuple[float, float]:
    """Wall and processor time."""
    return time.perf_counter(), time.process_time()


def _quantiles(name: str, seconds: list[float]) -> Row:
    """Quantiles in microseconds, of all calls."""
    values = 1e6 * np.quantile(seconds, QUANTILES)
    names = (f"{name}_median", f"{name}_p90", f"{name}_p99", f"{name}_max")
    return dict(zip(names, values.round(3).tolist(), strict=True))
