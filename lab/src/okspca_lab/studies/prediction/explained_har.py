"""HAR-265 in place of HAR: what the missing features change, and where a tiny spread comes from."""

import numpy as np

from okspca.report.page import Part
from okspca.report.tables import Table
from okspca_lab.studies.prediction import published
from okspca_lab.studies.prediction.experiments import AS_STUDIED, ROUNDING
from okspca_lab.studies.prediction.results import Results

TASK, ALL_FEATURES = "HAR-265", 561
PAPER_SD = published.CONTROLS["HAR"][2][1]


def other_data(results: Results) -> list[Part]:
    """Say what differs because the data are others."""
    return [*_columns(results), *_rounding(results)]


def _columns(results: Results) -> list[Part]:
    """How the bandwidth depends on the number of inputs."""
    size = results.size(TASK)
    if size is None:
        return []
    text = (
        f"{TASK} has the time-domain features only: {size['n_inputs']} of {ALL_FEATURES}, all "
        "rows, the official split. So the number of inputs cannot agree, and neither can the "
        "bandwidth, which grows with it. "
    )
    rows = [row for row in results.rows if row["kind"] == "columns"]
    if rows:
        per_root = rows[-1]["mean"] / np.sqrt(rows[-1]["columns"])
        expected = per_root * np.sqrt(ALL_FEATURES)
        text += (
            "The median rule on columns drawn at random follows the root of their number, and "
            f"from {rows[-1]['columns']} columns that root leads to {expected:.2f} at "
            f"{ALL_FEATURES}, where {published.BANDWIDTHS['HAR'][0]} is published. "
        )
    lines = [
        (
            str(row["columns"]),
            f"{row['mean']:.3f}",
            f"{row['low']:.3f} to {row['high']:.3f}",
            f"{row['mean'] / np.sqrt(row['columns']):.4f}",
        )
        for row in rows
    ]
    paper = float(published.BANDWIDTHS["HAR"][0])
    root = np.sqrt(ALL_FEATURES)
    lines.append((f"{ALL_FEATURES}, published", f"{paper:.3f}", "–", f"{paper / root:.4f}"))
    header = ("columns", "σ_x by the median rule", "range", "σ_x / root of columns")
    text += "Every other HAR number is compared as it is, with a note."
    table = Table("Experiment: bandwidth and number of inputs", header, lines)
    return [text, table] if rows else [text]


def _rounding(results: Results) -> list[Part]:
    """What moves Raw-X from seed to seed."""
    rows = [row for row in results.rows if row["kind"] == "rounding"]
    if not rows or len(results.seeds) < 2:
        return []
    spread, lines = {}, []
    for variant in ROUNDING:
        own = [row for row in rows if row["variant"] == variant]
        scores, taken = [r["score"] for r in own], [r["iterations"] for r in own]
        spread[variant] = float(np.std(scores, ddof=1))
        iterations = f"{min(taken)} to {max(taken)}"
        cells = f"{np.mean(scores):.5f}", f"{spread[variant]:.2e}", f"{spread[variant]:.3f}"
        lines.append((variant, *cells, iterations))
    like = [v for v, sd in spread.items() if f"{sd:.3f}" == PAPER_SD and v != AS_STUDIED]
    same = [v for v, sd in spread.items() if sd < 1e-12]
    text = (
        f"The standard deviation of Raw-X over the seeds is {PAPER_SD} in the paper and "
        f"{spread[AS_STUDIED]:.1e} here. Nothing is drawn for Raw-X and the rows are the same, so "
        "the probe was fitted again with one thing changed at a time. "
        f"No spread above rounding is left with: {', '.join(same) or 'none of these'}. The order "
        "of the rows changes the rounding of sums, and with it the iteration at which the "
        f"optimiser stops. A spread that is printed as {PAPER_SD} comes with: "
        f"{', '.join(like) or 'none of these'}. Which of them the paper's code has is not known."
    )
    header = ("probe of Raw-X", "mean macro-F1", "SD", "SD as printed", "iterations")
    return [text, Table("Experiment: what makes the seeds of Raw-X differ", header, lines)]
