"""Merge the states of many workers, each of rows of its own, in a tree."""

import time

import numpy as np

from okspca.distributed import FAN_IN, Survey, identity, learn, merge_states, tree_depth
from okspca.distributed.states import groups
from okspca.estimators import OKSPCA
from okspca_lab.studies.distributed.stream import apart, rows, settings
from okspca_lab.studies.rows import Cell, Row

ROWS_EACH = 512


def merging(cell: Cell) -> list[Row]:
    """Learn, merge level by level, and compare with one model of all rows."""
    n = cell["states"]
    model = settings()
    start = identity(model, Survey(model).add(*rows(0, 8192))).to_bytes()
    alone = OKSPCA.from_bytes(start)
    levels: list[list[float]] = []
    sizes: list[int] = []
    parts: list[bytes] = []
    first: list[float] = []
    for numbers in groups(range(n)):
        states = []
        for number in numbers:
            block = rows(number * ROWS_EACH, (number + 1) * ROWS_EACH)
            alone.partial_fit(*block)
            states.append(learn(OKSPCA, start, [block]))
        sizes += [len(state) for state in states]
        parts.append(_timed(states, first))
    levels.append(first)
    while len(parts) > 1:
        seconds: list[float] = []
        parts = [_timed(list(group), seconds) for group in groups(parts)]
        levels.append(seconds)
    merged = OKSPCA.from_bytes(parts[0])
    return [
        {
            **cell,
            "fan_in": FAN_IN,
            "depth": tree_depth(n),
            "state_bytes": int(np.median(sizes)),
            "largest_state_bytes": max(sizes),
            "merged_bytes": len(parts[0]),
            "seconds_of_all_merges": float(sum(map(sum, levels))),
            "median_seconds_of_a_task": [float(np.median(level)) for level in levels],
            "seconds_along_the_tree": float(sum(max(level) for level in levels)),
            "apart": apart(merged, alone),
            "rows_learned": merged.n_samples_seen_,
        }
    ]


def _timed(states: list[bytes], seconds: list[float]) -> bytes:
    """Merge a group and note the processor time, bytes to bytes."""
    begin = time.process_time()
    merged = merge_states(OKSPCA, states)
    seconds.append(time.process_time() - begin)
    return merged
