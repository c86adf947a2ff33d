"""Let `okspca fit` end in every way: ``python -m okspca_lab.ordeals.ways_out --jobs 2``.

Ten kinds of bad file or option end real processes, most of them while a thread reads ahead: each
must exit with its code and one sentence, and neither abort nor hang.  Then signals meet pipes that
are idle and pipes that are busy: every row whose line had arrived must be in the model, no other,
and the process must be gone within a second.

Every run is written down as it ends, so a run of this command goes on where the last one stopped.
"""

import csv
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated

import typer

from okspca import outputs
from okspca_lab.ordeals.bad_inputs import BAD, bad_run, prepare
from okspca_lab.ordeals.signalled import SIGNALLED, signalled_run

#: A process that ends by a signal is gone within so many seconds.
LIMIT = 1.0
PLACE = Path("results/ways_out")


@dataclass(frozen=True)
class Ending:
    """How one process ended; ``fault`` says what was wrong with that, if anything was."""

    kind: str
    number: int
    code: int
    seconds: float
    rows: int
    fault: str


def plan(runs: int, living: int, signals: int) -> list[tuple[str, int]]:
    """Every run: its kind and its number.

    Examples
    --------
    >>> len(plan(100, 1000, 200))
    1400
    """
    alive = [kind for kind, bad in BAD.items() if bad.reader_lives]
    each = dict.fromkeys(BAD, runs) | {kind: max(runs, -(-living // len(alive))) for kind in alive}
    each |= {kind: -(-signals // len(SIGNALLED)) for kind in SIGNALLED}
    most = max(each.values(), default=0)
    return [(kind, number) for number in range(most) for kind in each if number < each[kind]]


def run_one(kind: str, number: int, rows: Path, limit: float = LIMIT) -> Ending:
    """Start a process of a kind and see it end."""
    with tempfile.TemporaryDirectory() as folder:
        if kind in BAD:
            code, seconds, fault = bad_run(BAD[kind], rows, Path(folder))
            return Ending(kind, number, code, round(seconds, 3), 0, fault)
        found = signalled_run(*SIGNALLED[kind], number, Path(folder))
    fault = found.fault
    if not fault and found.seconds > limit:
        fault = f"it took {found.seconds:.2f} s to end"
    return Ending(kind, number, found.code, round(found.seconds, 3), found.rows, fault)


def run(
    todo: list[tuple[str, int]],
    jobs: int,
    note: Callable[[Ending], None] = lambda _: None,
    limit: float = LIMIT,
) -> list[Ending]:
    """Run so many at a time, and hand each on as it ends."""
    endings = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        prepare(Path(folder))
        under_way = [pool.submit(run_one, *each, Path(folder), limit) for each in todo]
        for done in as_completed(under_way):
            endings.append(done.result())
            note(endings[-1])
    return endings


def known(path: Path) -> list[Ending]:
    """Runs of earlier commands."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [
            Ending(
                r["kind"],
                int(r["number"]),
                int(r["code"]),
                float(r["seconds"]),
                int(r["rows"]),
                r["fault"],
            )
            for r in csv.DictReader(file)
        ]


def append(path: Path, ending: Ending) -> None:
    """Write one run down."""
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Ending)], lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(asdict(ending))


def table(endings: list[Ending]) -> Iterator[str]:
    """The tally, as lines of a table."""
    yield "| how it ends | runs | as it should | slowest end |"
    yield "|---|---:|---:|---:|"
    for kind in [*BAD, *SIGNALLED]:
        of_kind = [ending for ending in endings if ending.kind == kind]
        well = sum(not ending.fault for ending in of_kind)
        slowest = max((ending.seconds for ending in of_kind), default=0.0)
        shown = f"{slowest:.2f} s" if kind in SIGNALLED else ""
        yield f"| {kind} | {len(of_kind)} | {well} | {shown} |"


def main(
    runs: Annotated[int, typer.Option(min=0, help="Runs of every kind of bad input.")] = 100,
    living: Annotated[
        int, typer.Option(min=0, help="Runs among them that end while a thread reads.")
    ] = 1000,
    signals: Annotated[int, typer.Option(min=0, help="Signals to pipes.")] = 200,
    jobs: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for the tally.")] = PLACE,
) -> None:
    """Let `okspca fit` end by errors and signals, and see that it always ends well."""
    outputs.check_folder(out)
    out.mkdir(parents=True, exist_ok=True)
    log = out / "runs.csv"
    before = known(log)
    done = {(ending.kind, ending.number) for ending in before}
    todo = [each for each in plan(runs, living, signals) if each not in done]
    start = time.perf_counter()
    endings = before + run(todo, jobs, lambda ending: append(log, ending))
    lines = list(table(endings))
    faults = Counter(f"{e.kind}: {e.fault}" for e in endings if e.fault)
    lines += ["", *(f"- {count} × {fault}" for fault, count in faults.most_common())]
    outputs.write(out / "README.md", "\n".join(["# Ways out", "", __doc__ or "", *lines]) + "\n")
    print("\n".join(lines))
    print(f"{len(todo)} runs took {time.perf_counter() - start:.0f} s.")
    raise typer.Exit(1 if faults else 0)


if __name__ == "__main__":
    typer.run(main)
