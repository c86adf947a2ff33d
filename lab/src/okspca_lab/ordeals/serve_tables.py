"""What was done to the service, as tables: ``python -m okspca_lab.ordeals.serve_tables``.

It reads ``load.json``, ``kills.json`` and ``fuzz.json`` in a folder and writes ``tables.md`` there.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from okspca import outputs
from okspca.report.tables import Table

FOLDER = Path("results/serving")
#: What is asked of each kind of load: rows a second, and milliseconds for 99 of 100 answers.
ASKED = {("arrow", "covariance"): 50_000.0, ("json", "covariance"): 2_000.0}
MOST_MS = 50.0
SENT = {"arrow": "blocks of 1,024 rows, Arrow", "json": "single rows, JSON, 64 connections"}


def tables(found: dict[str, Any]) -> list[Table]:
    """Tables of whatever results there are, by the names of their files.

    Examples
    --------
    >>> tables({})
    []
    """
    made = []
    if "load" in found:
        made.append(_loads(found["load"]))
    if "kills" in found:
        made.append(_numbers("Kills", found["kills"], KILLS))
    if "fuzz" in found:
        made.append(_numbers("Bad requests", found["fuzz"], FUZZ))
    return made


def _loads(found: dict[str, Any]) -> Table:
    """Rows a second, times of answers and memory, for every load."""
    header = (
        *("what is sent", "model", "time, s", "rows learned", "rows a second", "asked"),
        *("answers, p50 ms", "p99 ms", "most ms", "memory, MiB", "verdict"),
    )
    note = (
        f"With eight readers of 50 single rows a second each; p99 at most {MOST_MS:g} ms is asked. "
        "Memory: half-way and at the end. All rows that were acknowledged are in the model, once. "
        f"{found['made']['processor']}; {found['made']['versions']}."
    )
    return Table("Under load", header, [_load(each) for each in found["loads"]], note, (1, 10))


def _load(load: dict[str, Any]) -> tuple[str, ...]:
    """One load."""
    asked, ms = ASKED.get((load["kind"], load["model"])), load["read_ms"]
    is_met = load["is_clean"] and ms["p99"] <= MOST_MS
    is_met = is_met and load["rows_per_second"] >= (asked or 0.0)
    memory = load["memory_mib"]
    return (
        SENT[load["kind"]],
        load["model"],
        f"{load['seconds']:,.0f}",
        f"{load['rows_in_model']:,}",
        f"{load['rows_per_second']:,.0f}",
        "–" if asked is None else f"{asked:,.0f}",
        f"{ms['p50']:.1f}",
        f"{ms['p99']:.1f}",
        f"{ms['most']:.0f}",
        f"{memory['half-way']:,.0f}, {memory['end']:,.0f}",
        "met" if is_met else "missed",
    )


#: What is told of kills and of bad requests.
KILLS = (
    *("kills", "runs", "runs equal to an uninterrupted one, bit for bit"),
    *("left a checkpoint in the making", "torn entries added", "entries replayed"),
    *("requests acknowledged", "acknowledged when they were sent again"),
    *("rows learned", "rows set aside", "failures"),
)
FUZZ = ("requests", "probes", "models_made_and_removed", "allowed_growth", "failures")


def _numbers(title: str, found: dict[str, Any], names: tuple[str, ...]) -> Table:
    """Some numbers of a tally."""
    rows = []
    for name in names:
        value = found[name]
        shown = f"{value:,}" if isinstance(value, int) else str(len(value))
        rows.append((name.replace("_", " "), shown))
    return Table(title, ("what", "number"), rows, f"`{found['command']}`")


def main(folder: Annotated[Path, typer.Option(help="Where results are.")] = FOLDER) -> None:
    """Write the tables."""
    names = [name for name in ("load", "kills", "fuzz") if (folder / f"{name}.json").exists()]
    found = {name: json.loads((folder / f"{name}.json").read_text()) for name in names}
    text = "\n".join(table.markdown() for table in tables(found))
    outputs.write(folder / "tables.md", text, outputs.TEXT)
    print(text)


if __name__ == "__main__":
    typer.run(main)
