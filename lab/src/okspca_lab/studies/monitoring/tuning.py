"""Settings of river's detectors, on streams in control that the study does not look at.

``python -m okspca_lab.studies.monitoring.tuning`` prints, for each detector and kind of stream, the
share of streams with an alarm by setting, and the setting that is quickest to raise alarms among
those that do so in at most a tenth of the streams, which is what the monitor promises.  Those are
in :data:`okspca_lab.studies.monitoring.detectors.TUNED`.
"""

import numpy as np

from okspca_lab.studies.monitoring.detectors import (
    ROWS_PER_ALARM,
    TUNED,
    Watched,
    by_river,
    learned,
    watched,
)
from okspca_lab.studies.monitoring.streams import KINDS, N_QUIET, stream

SEEDS = tuple(range(1000, 1030))
#: From the quickest to raise alarms to the slowest.
GRIDS = {
    "ADWIN": (0.3, 0.1, 0.03, 0.01, 2e-3, *(10.0**-power for power in range(3, 50))),
    "Page–Hinkley": tuple(float(threshold) for threshold in range(15, 400, 5)),
}


def in_control(kind: str, seed: int) -> Watched:
    """What detectors are shown of a stream in control."""
    found = stream(kind, seed)
    return watched(learned(found.learned, found.calibration, seed), found.quiet)


def chosen(name: str, shown: list[Watched]) -> float:
    """The first setting with few enough streams that have an alarm."""
    grid, most = GRIDS[name.partition(" on ")[0]], N_QUIET / ROWS_PER_ALARM
    for setting in grid:
        share = float(np.mean([bool(by_river(one, name, setting).rows) for one in shown]))
        print(f"  {setting:g}: {share:.2f}", end="", flush=True)
        if share <= most:
            return setting
    return grid[-1]


def main() -> None:
    """Choose a setting for each detector and kind of stream."""
    for kind in KINDS:
        shown = [in_control(kind, seed) for seed in SEEDS]
        for name in TUNED:
            print(f"{kind}, {name}:", end="")
            print(f" -> {chosen(name, shown):g}")


if __name__ == "__main__":
    main()
