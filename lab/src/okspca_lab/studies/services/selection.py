r"""Which step the projected gradient takes: 20 candidates on development streams.

For each candidate, every positive reference costs ``1 - rho`` if it was matched and 1 if not; the
loss is averaged within a stream, then over streams.  First the number of shortfalls decides, then
the loss, and among losses within 1e-12 of the smallest the smallest step.
"""

from collections.abc import Sequence

import numpy as np

from okspca_lab.studies.paper_services import PaperService, ProjectedGradientTracker
from okspca_lab.studies.rows import Row
from okspca_lab.studies.services.accounting import Ledger
from okspca_lab.studies.services.quality import walk_paper
from okspca_lab.studies.workloads import REGIMES, draw_maps

CANDIDATES = (0.1, 0.3, 1.0, 3.0)
DEVELOPMENT_SEEDS = (6100, 6101, 6102)
SAME_LOSS = 1e-12


def candidate_rows(regime_name: str, seed: int, n_rows: int | None = None) -> list[Row]:
    """Run all candidates on one development stream."""
    regime = REGIMES[regime_name]
    start = draw_maps(regime, seed).initial_basis
    services: dict[str, PaperService] = {
        f"{step:g}": ProjectedGradientTracker(start, step) for step in CANDIDATES
    }
    walk = walk_paper(regime, seed, services, n_rows)
    return [
        {"kind": "candidate", "regime": regime_name, "seed": seed, "step": step}
        | losses(walk.ledgers[f"{step:g}"])
        for step in CANDIDATES
    ]


def losses(ledger: Ledger) -> Row:
    """Count the shortfalls of one run and average its prescribed loss."""
    positive, matched = ledger.positive, ledger.matched
    loss = np.where(matched, 1.0 - ledger.rho, 1.0)[positive]
    return {
        "shortfall": int(np.count_nonzero(positive & ~matched)),
        "loss": float(loss.mean()) if loss.size else None,
    }


def totals(rows: Sequence[Row]) -> list[tuple[float, int, float]]:
    """Add up candidate rows of one regime: step, shortfalls, equally weighted loss."""
    found = []
    for step in sorted({row["step"] for row in rows}):
        mine = [row for row in rows if row["step"] == step]
        loss = float(np.mean([row["loss"] for row in mine]))
        found.append((step, sum(row["shortfall"] for row in mine), loss))
    return found


def selected(candidates: Sequence[tuple[float, int, float]]) -> float:
    """Pick a step by shortfalls, then loss, then size.

    Examples
    --------
    >>> selected([(0.1, 2, 0.5), (0.3, 3, 0.1), (1.0, 2, 0.4)])
    1.0
    >>> selected([(0.3, 0, 0.5), (0.1, 0, 0.5 + 5e-13), (1.0, 0, 0.6)])
    0.1
    """
    fewest = min(shortfall for _, shortfall, _ in candidates)
    left = [(step, loss) for step, shortfall, loss in candidates if shortfall == fewest]
    smallest = min(loss for _, loss in left)
    return min(step for step, loss in left if loss <= smallest + SAME_LOSS)
