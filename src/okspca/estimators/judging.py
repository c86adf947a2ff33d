"""What a monitor is asked to promise, and what it says of rows it has looked at."""

import numpy as np

from okspca.diagnostics.evidence import Standing, followed
from okspca.estimators.monitor import Asked, Looked, Monitor
from okspca.estimators.monitored import Monitored, alarm_of


def asked_of(
    row_level: float, rows_per_alarm: float, confidence: float, spe: str, dependence: float | None
) -> Asked:
    """Check what is asked of a monitor."""
    if spe not in ("weighted", "plain"):
        message = f"spe={spe!r} is not known; give 'weighted' or 'plain'."
        raise ValueError(message)
    numbers = (float(row_level), float(rows_per_alarm), float(confidence))
    tau = None if dependence is None else float(dependence)
    asked = Asked(*numbers, spe == "weighted", tau)
    asked.check()
    return asked


def monitored(
    monitor: Monitor, looked: Looked, standing: Standing, names: tuple[str, ...]
) -> Monitored:
    """Judge what was found in rows."""
    sums, statistics = monitor.sums, monitor.statistics
    gains, parts = monitor.gains(looked.values), looked.parts[list(sums)]
    after, levels, raised = followed(standing, gains, parts, monitor.threshold)
    evidence = np.zeros_like(looked.values)
    for place, level in zip(sums, levels.T, strict=True):
        evidence[:, place] = np.maximum(evidence[:, place], level)
    n = len(statistics) // 2
    promised = sum(scale.promised for scale in monitor.scales[:n])
    return Monitored(
        statistics,
        looked.values,
        np.array([scale.limit for scale in monitor.scales]),
        max(promised, monitor.asked.row_level),
        monitor.asked.rows_per_alarm,
        looked.parts,
        evidence,
        monitor.threshold,
        tuple(
            alarm_of(a.row, statistics[sums[a.place]], a.since, a.contributions, names)
            for a in raised
        ),
        standing.rows,
        names,
        after,
        looked.trend,
    )
