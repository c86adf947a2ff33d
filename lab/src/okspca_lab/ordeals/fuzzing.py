"""Feed the loader with spoiled files: ``python -m okspca_lab.ordeals.fuzzing --files 100000``.

Every file must be refused with one :class:`okspca.errors.StateError`, and the memory that refusing
takes must stay below :func:`okspca.state.container.allocation_limit`.  Anything else is a failure,
named by its number: ``--only NUMBER`` makes the same file again.
"""

import json
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from numpy.random import RandomState

from okspca import outputs
from okspca.errors import StateError
from okspca.estimators import OKSPCA
from okspca.estimators.saving import model_bytes
from okspca.features import IdentityMap
from okspca.services import Adam
from okspca.state.container import allocation_limit
from okspca.state.evaluations import Evaluation, Kept, Other, Side
from okspca.state.ledger import Ledger
from okspca.state.streams import Encoding, Standing, StreamRecord
from okspca_lab.ordeals.mutations import MUTATIONS


@dataclass
class Tally:
    """What became of the files.

    Examples
    --------
    >>> Tally(files=1).is_clean
    True
    """

    files: int = 0
    peak: int = 0
    nearest: float = 0.0
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether every file was refused as it should be."""
        return not self.failures


def seeds() -> list[bytes]:
    """Files of small models, which together use every form that a part can have on disk."""
    X = RandomState(0).normal(size=(70, 2))
    labels = np.array(["b", "a", "c"])[np.digitize(X[:, 0], [-0.4, 0.4])]
    frame = pa.table({"a": X[:, 0], "b": labels})
    small: dict[str, Any] = {"n_random_features": 6, "random_state": 0}
    held_back = OKSPCA(1, bandwidth="median", random_state=RandomState(1))
    models = [
        OKSPCA(1, align=True, **small).fit(X, X[:, 0]),
        OKSPCA(2, stability=4, solver="cached", **small).fit(X, labels),
        OKSPCA(1, solver=Adam(), standardize="frozen", **small).fit(X, X[:, 0]),
        OKSPCA(1, solver="projected-gradient", standardize=None, **small).fit(X, X),
        OKSPCA(1, input_map=IdentityMap(2), target_map=IdentityMap(1), random_state=0).fit(
            X, X[:, 0]
        ),
        held_back.partial_fit(X, labels),
        OKSPCA(1, objective="whitened", window=32, target_features="chebyshev", **small).fit(
            X, X[:, 0]
        ),
        OKSPCA(1, frequencies="mixed", **small).partial_fit(X, X[:, 0]),
        OKSPCA(1, categories="one-hot", **small).partial_fit(frame, X[:, 0]),
        OKSPCA(1, categories="one-hot", max_categories=2, **small).fit(frame, labels),
        OKSPCA(1, sampling="structured", **small).fit(X, X[:, 0]),
        OKSPCA(1, **small).fit(X.astype(np.float32), labels),
        OKSPCA(1, frequencies="mixed", **small).partial_fit(X.astype(np.float32), X[:, 0]),
        _monitored(OKSPCA(1, **small).fit(X, X[:, 0])),
    ]
    record = StreamRecord(("rows.csv",), "y", ("a", "b"), "skip", 70)
    full = record._replace(
        encodings=(Encoding("number"), Encoding("one-hot", ("u", "v"))),
        history=(Standing(64.0, 0.5, 1.0, 1.0), Standing(70.0, 0.5, 1.0, 1.0, 0.4, 0.3)),
        evaluation=Evaluation.start(6, 3)._replace(
            kept=Kept(np.zeros((0, 3)), np.zeros((0, 0))),
            other=Other(Side.start(6), models[0].to_bytes()),
        ),
        offsets=(("rows", 0, 40), ("rows", 1, 30)),
        spans=(("rows", 0, 0, 20), ("rows", 0, 25, 40), ("rows", 1, 10, 30)),
        entries=(("sales", "1700000000000-5", 40), ("returns", "7-0", 1)),
        ledger=Ledger(
            applied=7,
            n_inputs=2,
            label_kind="text",
            labels={"up": None, "down": None},
            sources={"line-3": 8, "pump 7": 1},
            pending={"first": np.array([0.5, np.nan]), "second": np.array([1.0, 2.0])},
            is_monitored=True,
            n_set_aside=3,
        ),
        flags=("--delimiter", ";", "--no-header", "--na", "lost"),
    )
    return [*map(model_bytes, models), *(model_bytes(models[0], each) for each in (record, full))]


def _monitored(model: OKSPCA) -> OKSPCA:
    """Let limits follow a model until there are some."""
    X = RandomState(1).normal(size=(130, 2))
    model.start_live_monitor(50).learn_monitored(X, X[:, 0])
    return model


def spoiled(number: int, files: list[bytes]) -> tuple[str, bytes]:
    """Make spoiled file ``number``, and name what was done to it."""
    random = Random(number)
    mutation = MUTATIONS[number % len(MUTATIONS)]
    for _ in count():
        whole = random.choice(files)
        try:
            data = mutation(whole, random)
        except IndexError:  # this model has no place for this mutation
            continue
        if data != whole:
            return mutation.__name__, data
    raise AssertionError


def try_file(data: bytes, path: Path) -> tuple[str | None, int]:
    """Load a file; return what went wrong, or None if it was refused, and the peak of memory."""
    path.write_bytes(data)
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    wrong: str | None = "it was loaded"
    try:
        OKSPCA.load(path)
    except StateError as refusal:
        wrong = "the error is not one line" if "\n" in str(refusal) else None
    except Exception as failure:
        wrong = f"{type(failure).__name__}: {failure}"
    return wrong, tracemalloc.get_traced_memory()[1] - before


def run(numbers: Iterator[int] | range, folder: Path) -> Tally:
    """Try spoiled files by their numbers."""
    tally, files = Tally(), seeds()
    tracemalloc.start()
    try:
        for number in numbers:
            name, data = spoiled(number, files)
            wrong, peak = try_file(data, folder / "spoiled.okspca")
            limit = allocation_limit(data)
            if wrong is None and peak > limit:
                wrong = f"{peak} bytes were allocated, above {limit}"
            tally.files += 1
            tally.refused[name] += wrong is None
            tally.peak = max(tally.peak, peak)
            tally.nearest = max(tally.nearest, peak / limit)
            if wrong is not None:
                tally.failures.append(f"file {number} ({name}): {wrong}")
    finally:
        tracemalloc.stop()
    return tally


def main(
    files: Annotated[int, typer.Option(min=1, help="How many files to try.")] = 2_000,
    only: Annotated[int | None, typer.Option(help="Try only the file of this number.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the tally to this JSON file.")] = None,
) -> None:
    """Spoil saved models in many ways and see that each is refused."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        tally = run(range(files) if only is None else range(only, only + 1), Path(folder))
    for line in tally.failures[:20]:
        print(line, file=sys.stderr)
    seconds = time.perf_counter() - start
    refused = tally.refused.total()
    print(f"{refused} of {tally.files} spoiled files were refused in {seconds:.0f} s.")
    print(f"At most {tally.peak} bytes were allocated, {tally.nearest:.0%} of what is allowed.")
    if out is not None:
        summary = {
            "command": f"python -m okspca_lab.ordeals.fuzzing --files {files}",
            "files": tally.files,
            "refused": dict(tally.refused),
            "failures": tally.failures,
            "peak_bytes": tally.peak,
            "largest_share_of_limit": round(tally.nearest, 4),
        }
        outputs.write(out, json.dumps(summary, indent=2) + "\n")
    raise typer.Exit(0 if tally.is_clean else 1)


if __name__ == "__main__":
    typer.run(main)
