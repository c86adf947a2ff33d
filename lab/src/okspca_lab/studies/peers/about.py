"""Tables that say who was compared on what, and what was not run."""

from collections import Counter
from collections.abc import Sequence

from okspca.report.tables import Table
from okspca_lab.studies.peers.data import DATA, shown
from okspca_lab.studies.peers.methods import GROUPS
from okspca_lab.studies.peers.results import Results
from okspca_lab.studies.rows import Cell, Row


def methods(results: Results) -> Table:
    """What each method is."""
    lines = []
    for one in results.methods(*GROUPS):
        most = f"{one.most_rows:,}" if one.most_rows else "all"
        lines.append((one.name, one.group, one.says, str(one.seeds), most))
    header = ("method", "group", "what it is", "seeds", "rows learned")
    return Table("The methods", header, lines, words=(1, 2))


def sizes(results: Results) -> Table:
    """What the data sets are."""
    lines = []
    for name in results.data:
        row = next(row for row in results.rows if row["data"] == name)
        task = DATA[name]
        counts = (row["rows"], row["test_rows"], row["inputs"], task.rank, task.n_features)
        lines.append((shown(name), task.metric, *(f"{count:,}" for count in counts)))
    header = ("data set", "score", "rows", "test rows", "inputs", "k", "D")
    note = "k: components of every embedding. D: our random features, landmarks of Nyström."
    return Table("The data sets", header, lines, note, words=(1,))


def not_run(title: str, wanted: Sequence[Cell], rows: Sequence[Row]) -> Table:
    """Which methods are missing on which data sets, and with how many seeds.

    Examples
    --------
    >>> wanted = [{"data": "wine", "method": "PCA", "seed": seed} for seed in range(3)]
    >>> not_run("Not run", wanted, wanted[:1]).rows
    [('wine', 'PCA 2')]
    """
    there = {_key(row) for row in rows}
    left: dict[str, Counter[str]] = {}
    for cell in wanted:
        if _key(cell) not in there:
            left.setdefault(cell["data"], Counter())[cell["method"]] += 1
    lines = [
        (shown(name), ", ".join(f"{method} {n}" for method, n in methods.items()))
        for name, methods in sorted(left.items(), key=lambda pair: _place(pair[0]))
    ]
    note = "The same command goes on with these."
    return Table(title, ("data", "method, seeds"), lines, note, words=(1,))


def share_run(wanted: Sequence[Cell], rows: Sequence[Row]) -> str:
    """Say how much of a plan was run.

    Examples
    --------
    >>> share_run([{"data": "wine", "method": "PCA", "seed": 0}], [])
    '0 of 1'
    """
    cells, there = {_key(cell) for cell in wanted}, {_key(row) for row in rows}
    return f"{len(cells & there):,} of {len(cells):,}"


def _place(name: str) -> int:
    """Where a set stands in the tables; streams keep their order."""
    return list(DATA).index(name) if name in DATA else len(DATA)


def _key(names: Cell) -> tuple[str, str, int]:
    """What a cell and its rows have in common."""
    return names["data"], names["method"], names["seed"]
