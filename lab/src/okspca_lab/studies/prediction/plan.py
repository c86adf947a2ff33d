"""Which cells the prediction study computes: tasks, seeds, and the experiments beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from okspca_lab.studies.prediction.experiments import SPLITS
from okspca_lab.studies.prediction.nudges import NUDGED_SEEDS
from okspca_lab.studies.prediction.protocol import DEVELOPMENT_SEEDS, FINAL_SEEDS
from okspca_lab.studies.prediction.tasks import DEVELOPED, TASKS, is_local, resolved
from okspca_lab.studies.rows import Cell

QUICK_SEEDS = 2
LONGEST_FIRST = ("Sensorless", "HAR", "Kin8nm", "Friedman-1", "Spirals-3", "XOR-Gauss")


@dataclass(frozen=True)
class Plan:
    """What to run."""

    tasks: tuple[str, ...] = tuple(TASKS)
    seeds: tuple[int, ...] = FINAL_SEEDS
    quick: bool = False

    @property
    def names(self) -> list[str]:
        """Names of the tasks, those of the data that are there."""
        return [resolved(name).name for name in self.tasks]

    @property
    def settings(self) -> dict[str, Any]:
        """What the rows depend on; of HAR there are two forms."""
        har = next((name for name in self.names if name.startswith("HAR")), None)
        return {"study": "prediction", "version": 1, "quick": self.quick, "har": har}

    def longest_first(self) -> list[str]:
        """Tasks in an order in which several processes end together."""
        return [name for name in LONGEST_FIRST if name in self.tasks]

    def cells(self) -> list[Cell]:
        """All cells, long ones first."""
        tasks = self.longest_first()
        found: list[Cell] = [
            {"part": part, "task": task, "seed": seed, "quick": self.quick}
            for task in tasks
            for part in ("controls", "comparators", "okspca")
            for seed in self.seeds
        ]
        found += [
            {"part": "development", "task": task, "seed": seed, "quick": self.quick}
            for task in tasks
            if task in DEVELOPED
            for seed in DEVELOPMENT_SEEDS[: 1 if self.quick else None]
        ]
        for part, names, seeds in self._experiments():
            found += [
                {"part": part, "task": task, "seed": seed, "quick": self.quick}
                for task in tasks
                if task in names
                for seed in seeds
            ]
        return found + [{"part": "bandwidth", "task": task, "quick": self.quick} for task in tasks]

    def _experiments(self) -> list[tuple[str, Sequence[str], Sequence[int]]]:
        """Experiments with their tasks and seeds; those of one split cost most."""
        several = [name for name, task in TASKS.items() if task.rank > 1]
        return [
            ("splits", ("Sensorless",), SPLITS[: 1 if self.quick else None]),
            ("loadings", several, self.seeds),
            ("rounding", ("HAR",), self.seeds),
            ("columns", ("HAR",), (0,)),
            ("excursions", ("Sensorless",), self.seeds),
            ("nudges", ("HAR", "Sensorless"), NUDGED_SEEDS[: 1 if self.quick else None]),
        ]


def planned(tasks: Sequence[str], n_seeds: int | None, *, quick: bool) -> Plan:
    """Make a plan from what was asked for; a quick one leaves out data that are not there.

    Raises
    ------
    ValueError
        A task is not known.
    DataFileError
        The file of a task is missing.
    """
    unknown = [name for name in tasks if name not in TASKS]
    if unknown:
        message = f"{unknown[0]!r} is not a task; choose from {', '.join(TASKS)}."
        raise ValueError(message)
    chosen = tuple(name for name in TASKS if not tasks or name in tasks)
    chosen = tuple(name for name in chosen if _is_there(name, needed=bool(tasks) or not quick))
    most = QUICK_SEEDS if quick else len(FINAL_SEEDS)
    return Plan(chosen, FINAL_SEEDS[: min(n_seeds or most, len(FINAL_SEEDS))], quick)


def _is_there(name: str, *, needed: bool) -> bool:
    """Whether the data of a task are there; those that are needed are fetched, or it raises."""
    if needed:
        resolved(name).final(FINAL_SEEDS[0])
        return True
    return is_local(name)
