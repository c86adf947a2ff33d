"""How fast `okspca fit` reads and learns a CSV.

``python -m okspca_lab.ordeals.throughput --rows 5000000`` measures it.

A file of 30 columns is generated, then passes over it take turns: the reader alone, which parses
and does nothing else, then the whole of `okspca fit` with 128 features.  Both use the same reader
with the same settings in the same process, so the ratio of their speeds says what learning costs.
The processor time is noted beside the time on the clock, because others may be using the machine.
"""

import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer
from pyarrow import csv

from okspca import outputs
from okspca.cli.display import Numbers, Progress
from okspca.cli.fit_run import FitRun
from okspca.cli.interruption import Interruption
from okspca.datasets import response_surface
from okspca.files.readers import batches
from okspca.files.reading import Reading
from okspca_lab.bench.figures import draw_memory
from okspca_lab.bench.memory import MemoryPoint, explained, resident_bytes
from okspca_lab.studies.pages import write_csv
from okspca_lab.studies.workloads import derived_seed

N_INPUTS, FEATURES, PIECE, POINTS = 29, 128, 50_000, 200


@dataclass(frozen=True)
class Pass:
    """One pass over the file."""

    what: str
    rows: int
    seconds: float
    processor_seconds: float

    @property
    def speed(self) -> float:
        """Rows per second on the clock."""
        return self.rows / self.seconds


class Watching(Progress):
    """Notes the memory in use instead of showing anything."""

    def __init__(self, n_rows: int) -> None:
        super().__init__(quiet=True, as_json=False)
        self.points: list[MemoryPoint] = []
        self._began, self._step = time.perf_counter(), max(n_rows // POINTS, 1)

    def show(self, rows: int, numbers: Numbers) -> None:
        """Note the memory at about two hundred points."""
        del numbers
        if not self.points or rows >= self.points[-1].rows + self._step:
            seconds = time.perf_counter() - self._began
            self.points.append(MemoryPoint(rows, resident_bytes(), seconds))


def generate(path: Path, n_rows: int, decimals: int | None) -> None:
    """Write rows of 29 inputs and a response, in full or with so many decimals."""
    names = [*(f"x{i}" for i in range(N_INPUTS)), "y"]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with csv.CSVWriter(path, schema) as writer:
        for begin in range(0, n_rows, PIECE):
            rows = min(PIECE, n_rows - begin)
            X, y = response_surface(rows, N_INPUTS, derived_seed(0, begin))
            columns = [*X.T, y] if decimals is None else [c.round(decimals) for c in [*X.T, y]]
            writer.write_table(pa.table(columns, schema=schema))


def parse(path: Path) -> int:
    """Read the file and do nothing with it."""
    return sum(batch.num_rows for batch in batches(str(path)))


def fit(path: Path, progress: Progress) -> int:
    """Do what `okspca fit --random-features 128` does."""
    interruption = Interruption()
    try:
        run = FitRun(path.with_suffix(".okspca"), progress, interruption)
        parameters = {"n_random_features": FEATURES, "random_state": 0}
        run.start(parameters, evaluate=False)
        run.check_place([str(path)])
        run.open(Reading(), "y")
        run.choose(None, [], 0, False)
        run.learn((0, 0.0))
    finally:
        interruption.restore()
    assert run.record is not None
    return run.record.rows_read


def timed(what: str, work: Callable[[], int]) -> Pass:
    """Time one pass."""
    start, used = time.perf_counter(), time.process_time()
    rows = work()
    return Pass(what, rows, time.perf_counter() - start, time.process_time() - used)


def measure(path: Path, n_rows: int, turns: int) -> tuple[list[Pass], list[MemoryPoint]]:
    """Let the passes take turns, the reader alone first and last."""
    passes, points = [timed("parse", lambda: parse(path))], []
    for _ in range(turns):
        progress = Watching(n_rows)
        passes.append(timed("fit", lambda watched=progress: fit(path, watched)))  # type: ignore[misc]
        passes.append(timed("parse", lambda: parse(path)))
        points = progress.points
    return passes, points


def summary_of(passes: list[Pass]) -> dict[str, Any]:
    """Speeds in rows per second, and their ratio: each fit to the readings before and after it."""
    ratios = []
    for number in range(1, len(passes) - 1, 2):
        around = passes[number - 1].seconds + passes[number + 1].seconds
        ratios.append(around / 2.0 / passes[number].seconds)
    return {
        "passes": [asdict(each) | {"rows_per_second": round(each.speed)} for each in passes],
        "fit_divided_by_parse": [round(ratio, 3) for ratio in ratios],
    }


def main(
    rows: Annotated[int, typer.Option(min=10_000, help="Rows of the file.")] = 200_000,
    turns: Annotated[int, typer.Option(min=1, help="Passes of the fit.")] = 1,
    decimals: Annotated[int | None, typer.Option(help="Round values; in full if absent.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None,
) -> None:
    """Measure `okspca fit` beside the reader it uses."""
    with tempfile.TemporaryDirectory() as folder:
        warm, path = Path(folder) / "warm.csv", Path(folder) / "rows.csv"
        generate(warm, 10_000, decimals)
        fit(warm, Watching(1))
        generate(path, rows, decimals)
        size = path.stat().st_size
        passes, points = measure(path, rows, turns)
    given = f" --turns {turns}" * (turns > 1) + f" --decimals {decimals}" * (decimals is not None)
    found = {
        "command": f"python -m okspca_lab.ordeals.throughput --rows {rows}{given}",
        "bytes": size,
    }
    found |= summary_of(passes) | {"memory": explained(points)}
    for each in passes:
        spent = 1e6 * each.processor_seconds / each.rows
        print(f"{each.what:>5}: {each.speed:,.0f} rows/s, {spent:.2f} µs of processor a row")
    print(f"fit ÷ parse: {found['fit_divided_by_parse']}")
    print(found["memory"])
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        outputs.write(out / "throughput.json", json.dumps(found, indent=2) + "\n")
        write_csv(out / "memory.csv", [asdict(point) for point in points])
        outputs.write(out / "memory.png", draw_memory(points))


if __name__ == "__main__":
    typer.run(main)
