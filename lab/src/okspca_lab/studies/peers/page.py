"""What people read of the comparison: tables, figures and one page."""

from pathlib import Path

from rich.console import Console

from okspca.report.page import Section
from okspca_lab.studies.pages import pictures, write_csv, write_page
from okspca_lab.studies.peers import tables
from okspca_lab.studies.peers.ours import SAME_AS_AUTO
from okspca_lab.studies.peers.plan import Plan
from okspca_lab.studies.peers.results import read
from okspca_lab.studies.peers.streams import results as streamed
from okspca_lab.studies.peers.streams import tables as stream_tables
from okspca_lab.studies.rows import Record

SPANS = ("data", "method", "seed", "until", "rows", "right", "seconds")
COLUMNS = (
    "data",
    "method",
    "seed",
    "score",
    "accuracy",
    "converged",
    "rung",
    "fit_seconds",
    "embed_us",
    "memory",
    "rows_fitted",
)
LEAD = (
    "Our embedding and heads beside the methods that people use: the same splits, the same number "
    "of components, the same probe; wins and losses alike. Of the paper's six tasks only "
    f'development rows were used. "auto" is the same as "{SAME_AS_AUTO}", and is run once. '
    "Rivals have the defaults of their packages on standardised inputs, except: boosting goes "
    "through all 100 rounds, the penalty of support vectors is chosen among 1, 10 and 100 on rows "
    "held back, the ridge of Nyström + linear by leaving one row out, and the network is as wide "
    "as our map and stops early. Times are processor seconds of one thread. Streams are predicted "
    "before they are learned, beside models of river."
)


def write(plan: Plan, out: Path, console: Console) -> None:
    """Write tables, figures and page, and print the main table."""
    results, streams = read(plan, out), streamed.read(out, quick=plan.quick)
    told = {f"streams, {name}": words for name, words in streamed.told(out).items()}
    told = {**(Record(out / "provenance.json").read() or {}), **told}
    write_csv(out / "scores.csv", results.rows, COLUMNS)
    write_csv(out / "streams.csv", streams.rows, SPANS)
    drawn = pictures("peers", out, console, results)
    drawn |= pictures("peers.streams", out, console, streams)
    figures = Section("At a glance", list(drawn.values()))
    heading = ("Is it better than what I use?", LEAD)
    found = [*tables.every(results), *stream_tables.every(streams)]
    write_page(out, console, heading, told, figures, found)
