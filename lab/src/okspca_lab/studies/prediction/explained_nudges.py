"""Rounding errors that carry the tracker away, in words and a table."""

from okspca.report.page import Part
from okspca.report.tables import Table
from okspca_lab.studies.prediction.nudges import NUDGES
from okspca_lab.studies.prediction.results import Results


def nudged(results: Results) -> list[Part]:
    """Say how far apart the tracker ends."""
    rows = [row for row in results.rows if row["kind"] == "nudge"]
    if not rows:
        return []
    header = ("task and seed", *(f"1 {nudge:+g}" if nudge else "as they are" for nudge in NUDGES))
    lines = []
    for task, seed in sorted({(row["task"], row["seed"]) for row in rows}):
        found = {r["nudge"]: r for r in rows if (r["task"], r["seed"]) == (task, seed)}
        cells = [f"{found[n]['angle']:.3f}° ({1.0 - found[n]['rho']:.1e})" for n in NUDGES]
        lines.append((f"{task} {seed}", *cells))
    text = (
        "Where the tracker ends is not decided by the data alone. Inputs multiplied by 1 ± 1e-15 "
        "have the same exact solution, but the tracker's largest angle to it, and the share of the "
        "objective that it misses (in brackets), come out as below. So angles and ρ of single "
        "streams on these two tasks cannot be expected to agree with another build, another "
        "processor or another release of okspca, and means over ten seeds only roughly."
    )
    return [text, Table("Experiment: inputs changed in the last place", header, lines)]
