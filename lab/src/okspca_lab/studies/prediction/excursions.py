"""Experiment: how often, how far and how long a tracker strays from the exact solution."""

from okspca_lab.studies.prediction import methods
from okspca_lab.studies.prediction.fits import FRACTIONS, final_rows, geometry
from okspca_lab.studies.prediction.tasks import Task
from okspca_lab.studies.rows import Row

#: How often the angle is looked at, and what counts as an excursion.
LOOK_EVERY, AWAY_DEGREES = 50, 10.0


def excursion_rows(task: Task, seed: int, *, quick: bool) -> list[Row]:
    """Look at the angle of the tracker all along the stream: an experiment."""
    split = final_rows(task, seed, quick=quick)
    model = methods.okspca(task, split, seed, task.rank)
    rows: list[Row] = []
    for start in range(0, len(split.X), LOOK_EVERY):
        stop = start + LOOK_EVERY
        model.partial_fit(split.X[start:stop], split.y[start:stop])
        rows.append(geometry(model))
    later = [row for row in rows if row["observation"] > FRACTIONS[0] * len(split.X)]
    away = [row["angle"] is not None and row["angle"] > AWAY_DEGREES for row in later]
    worst = max(later, key=lambda row: row["angle"] or 0.0)
    silent = [row["angle_upper"] is None for row, far in zip(later, away, strict=True) if far]
    return [
        {
            "kind": "excursions",
            "seed": seed,
            "looks": len(later),
            "away": sum(away),
            "episodes": sum(far and not before for far, before in pairwise_back(away)),
            "longest": longest_run(away) * LOOK_EVERY,
            "without_bound": sum(silent),
            "worst_at": worst["observation"],
            "worst_angle": worst["angle"],
            "worst_rho": worst["rho"],
            "worst_gap": worst["relative_gap"],
        }
    ]


def pairwise_back(flags: list[bool]) -> list[tuple[bool, bool]]:
    """Pair every flag with the one before it; nothing is before the first."""
    return list(zip(flags, [False, *flags[:-1]], strict=True))


def longest_run(flags: list[bool]) -> int:
    """Length of the longest run of true flags.

    Examples
    --------
    >>> longest_run([True, False, True, True])
    2
    """
    longest = run = 0
    for flag in flags:
        run = run + 1 if flag else 0
        longest = max(longest, run)
    return longest
