"""How fast `okspca fit` learns a CSV of few rows and very many columns.

``python -m okspca_lab.ordeals.wide_csv`` measures it on 500 rows of 20,000 numbers.

Passes take turns in one process: pyarrow's parser alone with its defaults, okspca's reader, which
does nothing with what it reads, and the whole of `okspca fit` with what the command sets by itself,
once with the dense map and once with ``--sampling structured``.
"""

import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import typer
from pyarrow import csv

from okspca import outputs
from okspca.cli.fit_run import FitRun
from okspca.cli.interruption import Interruption
from okspca.files.reading import Reading
from okspca_lab.ordeals.throughput import Pass, Watching, parse, timed

PASSES = PARSER, READER, DENSE, STRUCTURED = "pyarrow", "reader", "fit", "fit, structured"
#: A fit may take so many times as long as the parser alone.
MOST = 2.0


def generate(path: Path, n_rows: int, n_columns: int) -> None:
    """Write rows of normal numbers, of which the first three decide the response."""
    random = np.random.RandomState(0)
    with path.open("w") as file:
        file.write(",".join([*(f"x{i}" for i in range(n_columns)), "y"]) + "\n")
        for _ in range(n_rows):
            x = random.normal(size=n_columns)
            y = np.sin(x[0]) + x[1] * x[2]
            file.write(",".join(map(repr, [*x.tolist(), float(y)])) + "\n")


def fit(path: Path, sampling: str) -> int:
    """Do what `okspca fit` does by itself."""
    interruption = Interruption()
    try:
        run = FitRun(path.with_suffix(".okspca"), Watching(1), interruption)
        run.start({"preset": "predictive", "sampling": sampling}, evaluate=False)
        run.check_place([str(path)])
        run.open(Reading(), "y")
        run.choose(None, [], 0, False)
        run.learn((0, 0.0))
    finally:
        interruption.restore()
    assert run.record is not None
    return run.record.rows_read


def measure(path: Path, turns: int) -> list[Pass]:
    """Let the passes take turns."""
    works: dict[str, Callable[[], int]] = {
        PARSER: lambda: csv.read_csv(path).num_rows,
        READER: lambda: parse(path),
        DENSE: lambda: fit(path, "plain"),
        STRUCTURED: lambda: fit(path, "structured"),
    }
    return [timed(what, work) for _ in range(turns) for what, work in works.items()]


def summary_of(passes: list[Pass]) -> dict[str, Any]:
    """Ratios to the parser alone of the same turn: median, least and most."""
    alone = [each.seconds for each in passes if each.what == PARSER]
    found: dict[str, Any] = {"passes": [asdict(each) for each in passes]}
    for name in (READER, DENSE, STRUCTURED):
        ours = [each.seconds for each in passes if each.what == name]
        ratios = [mine / theirs for mine, theirs in zip(ours, alone, strict=True)]
        values = (median(ratios), min(ratios), max(ratios))
        found[f"{name} / parser"] = [round(value, 3) for value in values]
    return found


def main(
    rows: Annotated[int, typer.Option(min=50, help="Rows of the file.")] = 500,
    columns: Annotated[int, typer.Option(min=10, help="Inputs.")] = 20_000,
    turns: Annotated[int, typer.Option(min=1, help="Turns of all passes.")] = 5,
    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None,
) -> None:
    """Measure `okspca fit` of a wide CSV beside the parser alone."""
    with tempfile.TemporaryDirectory() as folder:
        warm, path = Path(folder) / "warm.csv", Path(folder) / "rows.csv"
        generate(warm, 50, columns)
        measure(warm, 1)
        generate(path, rows, columns)
        found: dict[str, Any] = {
            "command": "python -m okspca_lab.ordeals.wide_csv "
            f"--rows {rows} --columns {columns} --turns {turns}",
            "bytes": path.stat().st_size,
        }
        found |= summary_of(measure(path, turns))
    for name in (READER, DENSE, STRUCTURED):
        middle, least, most = found[f"{name} / parser"]
        print(f"{name}: {middle} of the parser's time ({least} to {most}); at most {MOST}")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        outputs.write(out / "wide.json", json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    typer.run(main)
