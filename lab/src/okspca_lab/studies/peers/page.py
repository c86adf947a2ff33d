"""What people read of the comparison: tables, figures and one page."""

from pathlib import Path

from rich.console import Console

from okspca.report.page import Section
from okspca_lab.studies.pages import pictures, write_csv, write_page
from okspca_lab.studies.peers import about, tables
from okspca_lab.studies.peers.ours import SAME_AS_AUTO
from okspca_lab.studies.peers.plan import Plan
from okspca_lab.studies.peers.results import read
from okspca_lab.studies.peers.streams import results as streamed
from okspca_lab.studies.peers.streams import tables as stream_tables
from okspca_lab.studies.peers.streams.data import STREAMS
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
    "Our embeddings and predictors beside the methods that people use, wins and losses alike. "
    "Every reducer makes the same number of components from the same rows, and the same linear "
    "model reads them; predictors stand beside our heads. Scores are macro-F1 of classes and R² "
    "of numbers on rows that nobody learned from; of the paper's six tasks only development "
    f'rows were used. "auto" takes the best of all rungs; as that is what "{SAME_AS_AUTO}" does, '
    "it is run once. Others have the defaults of their packages on standardised inputs, except: "
    "boosting goes through all 100 rounds, the penalty of support vectors is chosen among 1, 10 "
    "and 100 on rows held back, the ridge of Nyström + linear by leaving one row out, and the "
    "network is as wide as our map and stops early. Times are processor seconds of one thread. "
    "Streams are predicted before they are learned, beside models of river."
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
    heading = ("Is it better than what I use?", LEAD)
    found = [*tables.every(results), *stream_tables.every(streams)]
    if not plan.quick:
        every = Plan(streams=tuple(STREAMS))
        wanted, in_time = every.cells(), every.stream_cells()
        told["cells"] = about.share_run(wanted, results.rows)
        told["streams, cells"] = about.share_run(in_time, streams.rows)
        found.append(about.not_run("Not run yet", wanted, results.rows))
        found.append(about.not_run("Streams: not run yet", in_time, streams.rows))
    found = [table for table in found if table.rows]
    glance = Section("At a glance", [*found[:1], *drawn.values()])
    write_page(out, console, heading, told, glance, found)
