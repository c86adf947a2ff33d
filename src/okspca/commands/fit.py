"""`okspca fit`: learn from files or a pipe, with checkpoints, in bounded memory."""

import os
import signal
import time
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from okspca.commands.display import Progress
from okspca.commands.stopping import INTERRUPTED, one_sentence, stop


class Interruption:
    """Ctrl-C or a request to end: noted, and acted on between two blocks."""

    def __init__(self) -> None:
        self.wanted = False
        self._before = {s: signal.signal(s, self._note) for s in (signal.SIGINT, signal.SIGTERM)}

    def _note(self, number: int, _: FrameType | None) -> None:
        self.wanted = True
        signal.signal(number, signal.SIG_DFL)  # a second one ends at once

    def restore(self) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)


def _rows_or_seconds(value: str | None) -> tuple[int, float]:
    """Read `5000` (rows) or `30s` (seconds); zero stands for never."""
    if value is None:
        return 0, 0.0
    try:
        amount = float(value[:-1]) if value.endswith("s") else int(value)
    except ValueError:
        amount = 0
    if not 0 < amount < float("inf"):
        message = f"{value!r} is neither a number of rows such as 100000 nor a time such as 30s."
        raise typer.BadParameter(message, param_hint="--checkpoint-every")
    return (0, float(amount)) if value.endswith("s") else (int(amount), 0.0)


def fit(
    inputs: Annotated[list[str], typer.Argument(help="Files, a Parquet folder, or - for stdin.")],
    target: Annotated[str, typer.Option(help="Name of the target column.")],
    out: Annotated[Path, typer.Option(help="Where to write the model.")],
    columns: Annotated[
        list[str] | None, typer.Option(help="An input column; repeat it. All by default.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="A column to leave out; repeat it.")
    ] = None,
    file_format: Annotated[
        str | None, typer.Option("--format", help="csv, tsv, ndjson, parquet or arrow.")
    ] = None,
    task: Annotated[str, typer.Option(help="auto, classification or regression.")] = "auto",
    components: Annotated[int, typer.Option(min=1, help="Columns of the embedding.")] = 2,
    random_features: Annotated[int, typer.Option(min=1, help="Features of the inputs.")] = 256,
    solver: Annotated[str, typer.Option(help="How a basis is supplied.")] = "exact",
    forget: Annotated[float, typer.Option(help="Factor by which the past fades per row.")] = 1.0,
    stability: Annotated[int, typer.Option(help="Sub-moments for an error estimate, or 0.")] = 0,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the features.")] = 0,
    missing: Annotated[str, typer.Option(help="raise, skip or impute.")] = "raise",
    checkpoint_every: Annotated[
        str | None, typer.Option(metavar="ROWS|SECONDSs", help="Save on the way, as 100000 or 30s.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from --out.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing unless it fails.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Progress as JSON lines.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Learn from a CSV, Parquet, NDJSON or Arrow file or a pipe, and write the model."""
    every = _rows_or_seconds(checkpoint_every)
    try:
        import_module("pyarrow")
    except ImportError:
        stop("Reading files needs pyarrow: pip install 'okspca[files]'")
    parameters = {
        "n_components": components,
        "n_random_features": random_features,
        "task": task,
        "solver": solver,
        "forgetting": forget,
        "stability": stability,
        "random_state": seed,
    }
    progress, interruption = Progress(quiet=quiet, as_json=as_json), Interruption()
    try:
        with one_sentence(debug):
            run = _Run(out, every, progress, interruption)
            run.start(parameters, resume, missing)
            run.choose((inputs, file_format), target, (columns, drop or []))
            run.learn()
    finally:
        progress.close()
        interruption.restore()


class _Run:
    """One run of the command."""

    def __init__(
        self, out: Path, every: tuple[int, float], progress: Progress, interruption: Interruption
    ) -> None:
        self.out, self.every = out, every
        self.progress, self.interruption = progress, interruption
        self.saving = import_module("okspca.estimators.saving")
        self.fitting = import_module("okspca.fitting")
        self.streams = import_module("okspca.streams")
        self.records = import_module("okspca.state.streams")
        self.errors = import_module("okspca.errors")

    def start(self, parameters: dict[str, Any], resume: bool, missing: str) -> None:
        """Make the model, or load the checkpoint."""
        kind = import_module("okspca.estimators").OKSPCA
        self.model, self.missing = kind(**parameters), missing
        self.record: Any = None
        import_module("okspca.estimators.parameters").check_parameters(self.model)
        if missing not in self.records.MISSING:
            self._refuse(f"--missing {missing} is not known; give raise, skip or impute.")
        if not self.out.parent.is_dir():
            self._refuse(f"{self.out.parent} is not a folder; create it or choose another --out.")
        if self.out.is_dir() or not os.access(self.out.parent, os.W_OK):
            self._refuse(f"{self.out} cannot be written; choose another --out.")
        if resume and self.out.exists():
            model, self.record = self.saving.load_model(kind, self.out)
            if self.record is None:
                self._refuse(f"{self.out} was not written by `okspca fit`; it cannot be resumed.")
            if model.get_params() != self.model.get_params():
                self._refuse(f"{self.out} was fitted with other options; resume with the same.")
            self.model = model

    def choose(
        self,
        source: tuple[list[str], str | None],
        target: str,
        chosen: tuple[list[str] | None, list[str]],
    ) -> None:
        """Open the first input, choose the columns, and compare them with the checkpoint."""
        inputs = self.streams.expanded(source[0])
        number = import_module("pyarrow").float64()
        types = {target: number if self.model.task == "regression" else None}
        batches = chain.from_iterable(self.streams.batches(i, source[1], types) for i in inputs)
        first: Any = next(batches, None)
        if first is None:
            self._refuse(f"{inputs[0]} holds no rows.")
        columns = self.fitting.chosen_columns(first.schema, target, *chosen)
        fresh = self.records.StreamRecord(inputs, target, columns, self.missing)
        self.record = self.record or fresh
        if self.record[: len(fresh) - 3] != fresh[:-3]:
            self._refuse(f"{self.out} was fitted to other inputs or columns; resume with the same.")
        names = [*columns, target]
        self.batches = (batch.select(names) for batch in chain([first], batches))

    def learn(self) -> None:
        """Learn block by block, with checkpoints, and write the model."""
        saved_rows, saved_at = self.record.rows_read, time.monotonic()
        for table in self.fitting.blocks(self.batches, self.record.rows_read):
            self.record = self.fitting.learn(self.model, self.record, table)
            if self.interruption.wanted:
                self._save()
                self.progress.close()
                told = f"Interrupted after {self.record.rows_read} rows; go on with --resume."
                stop(told, INTERRUPTED)
            self.progress.show(self.model, self.record)
            by_rows = 0 < self.every[0] <= self.record.rows_read - saved_rows
            if by_rows or 0.0 < self.every[1] <= time.monotonic() - saved_at:
                self._save()
                saved_rows, saved_at = self.record.rows_read, time.monotonic()
        if self.record.rows_read == self.record.rows_skipped:
            self._refuse("No row could be learned: in each of them a value is missing.")
        self._save()
        self.progress.finish(self.model, self.record, self.out)

    def _save(self) -> None:
        self.saving.save_model(self.model, self.out, self.record)

    def _refuse(self, sentence: str) -> None:
        raise self.errors.DataError(sentence)
