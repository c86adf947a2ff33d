r"""What a large run would take, computed from what was measured and nothing else.

With r rows a second and core, s seconds a merging task of f states, b bytes a state and w workers::

    core hours per billion rows = 1e9 / r / 3600
    hours of n rows             = n / (r w) / 3600   (one pass; a survey pass comes on top)
    end of the tree             = ceil(log_f w) s,   bytes sent = b (w + w / f + ...)
"""

from okspca.distributed import tree_depth
from okspca.report.tables import Table
from okspca_lab.studies.rows import Row

WORKERS = (1, 100, 1_000, 10_000)
BILLION, TRILLION = 1e9, 1e12


def large_runs(rows: list[Row]) -> Table:
    """Extrapolate to a trillion rows."""
    one = [row for row in rows if row["part"] == "scale" and row["workers"] == 1]
    two = [row for row in rows if row["part"] == "scale" and row["workers"] == 2]
    merge = [row for row in rows if row["part"] == "merge"]
    lines: list[tuple[str, ...]] = []
    if one and merge:
        # Two processes share what the machine shares, so they are the more careful measure.
        slow = min(row["rows_per_second"] / row["workers"] for row in one + two if not row["kill"])
        task, size = max(merge[0]["median_seconds_of_a_task"]), merge[0]["state_bytes"]
        fan_in = merge[0]["fan_in"]
        for workers in WORKERS:
            depth = tree_depth(workers, fan_in)
            sent, level = 0, workers
            while level > 1:
                sent, level = sent + level * size, -(-level // fan_in)
            lines.append(
                (
                    f"{workers:,}",
                    f"{BILLION / slow / workers:,.1f}",
                    f"{TRILLION / slow / workers / 3600.0:,.1f}",
                    str(depth),
                    f"{depth * task:.3f}",
                    f"{sent / 2.0**20:,.1f}",
                )
            )
    header = (
        "processes",
        "seconds per billion rows",
        "hours per trillion rows",
        "levels",
        "seconds of merging",
        "MiB sent",
    )
    hours = f"{BILLION / slow / 3600.0:.1f}" if lines else "–"
    rate = f"{slow:,.0f}" if lines else "–"
    note = (
        f"From {rate} rows a second and core, making the rows included: {hours} core hours per "
        "billion rows and pass, whatever the number of processes. One pass; a survey comes on top."
    )
    return Table("Plan", header, lines, note if lines else "")
