"""The numbers of the paper beside ours."""

from collections.abc import Sequence

import numpy as np

from okspca_lab.studies.comparison import Comparison, Within, compared
from okspca_lab.studies.population.plan import BATCH_SIZE, SEEDS
from okspca_lab.studies.population.published import PAPER
from okspca_lab.studies.population.results import batch_medians, part, values
from okspca_lab.studies.rows import Row


def compare(rows: Sequence[Row]) -> list[Comparison]:
    """One line per number of the paper."""
    bounded_rows, by_chance = part(rows, "bounded"), part(rows, "by chance")
    lines = []
    for n, column, name, printed, width in PAPER:
        found = values(bounded_rows, column, n)
        ours = float(np.median(found)) if found.size == len(SEEDS) else None
        note = chance_note(by_chance, column) if n == BATCH_SIZE else ""
        lines.append(
            compared(
                "running text, section 4", f"n = {n:,}", name, printed, ours, Within(width), note
            )
        )
    return lines


def chance_note(rows: Sequence[Row], column: str) -> str:
    """How much a median over so many seeds varies from batch to batch of other seeds."""
    medians = batch_medians(rows, column)
    if medians.size < 20:
        return ""
    low, high = np.quantile(medians, [0.025, 0.975])
    return f"95% of medians over other batches of 20 seeds: {low:.4g} to {high:.4g}"
