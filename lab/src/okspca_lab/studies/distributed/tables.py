"""The tables of the study of many processes, from whatever rows are on disk."""

from statistics import median

from okspca.report.tables import Table
from okspca_lab.studies.distributed.large_runs import large_runs
from okspca_lab.studies.rows import Row

LIMIT, WANTED_RATIO = 1e-10, 1.7
MEBIBYTE = 2.0**20


def equality(rows: list[Row]) -> Table:
    """How far engines are from one sequential run."""
    lines = []
    for row in rows:
        if "apart" in row:
            name = {"equal": "Dask, 2 processes", "spark": "Spark local[2]"}.get(row["part"])
            name = name or f"tree of {row['states']:,} states"
            verdict = "holds" if row["apart"] <= LIMIT else "fails"
            lines.append((name, f"{row['rows_learned']:,}", f"{row['apart']:.1e}", verdict))
    header = ("engine", "rows", "relative distance", f"at most {LIMIT:g}")
    note = "Distance of the dense moments, relative to the norm of that of one frozen run."
    return Table("Equal to one process", header, lines, note, words=(3,))


def throughput(rows: list[Row]) -> Table:
    """Rows a second with one process, with two, and with one of two killed."""
    found = [row for row in rows if row["part"] == "scale"]
    one = next((row for row in found if row["workers"] == 1), None)
    whole = next((row for row in found if row["workers"] == 2 and not row["kill"]), None)
    lines = []
    for row in found:
        name = f"{row['workers']} process{'es' if row['workers'] > 1 else ''}"
        name += ", one killed in the middle" if row["kill"] else ""
        ratio = "–" if one is None else f"{row['rows_per_second'] / one['rows_per_second']:.2f}"
        same = "–"
        if row["kill"] and whole is not None:
            same = "the same bytes" if row["sha256"] == whole["sha256"] else "differs"
        cells = (f"{row['rows']:,}", f"{row['seconds']:.1f}", f"{row['rows_per_second']:,.0f}")
        lines.append((name, *cells, ratio, same))
    header = ("processes", "rows", "seconds", "rows a second", "ratio", "result")
    note = (
        "32 columns, made on the workers. The result of the run with a kill is compared with that "
        "of the undisturbed one."
    )
    return Table("Throughput", header, lines, note, words=(5,))


def turns(rows: list[Row]) -> Table:
    """Two processes against one, in turns."""
    speeds = {
        (row["turn"], row["workers"]): row["rows_per_second"]
        for row in rows
        if row["part"] == "turns"
    }
    lines: list[tuple[str, ...]] = []
    ratios = []
    for turn in sorted({turn for turn, _ in speeds}):
        one, two = speeds.get((turn, 1)), speeds.get((turn, 2))
        if one is not None and two is not None:
            ratios.append(two / one)
            lines.append((str(turn + 1), f"{one:,.0f}", f"{two:,.0f}", f"{ratios[-1]:.2f}"))
    if ratios:
        middle = median(ratios)
        verdict = "holds" if middle >= WANTED_RATIO else "fails"
        lines.append(("median", "–", "–", f"{middle:.2f}: {verdict}"))
    header = ("turn", "rows a second, 1 process", "2 processes", f"ratio, at least {WANTED_RATIO}")
    return Table("Two processes against one, in turns", header, lines)


def merges(rows: list[Row]) -> Table:
    """What merging many states takes."""
    lines: list[tuple[str, ...]] = []
    for row in rows:
        if row["part"] == "merge":
            task = max(row["median_seconds_of_a_task"])
            lines += [
                ("states", f"{row['states']:,}"),
                ("bytes of a state, median", f"{row['state_bytes']:,}"),
                ("bytes of all states", f"{row['states'] * row['state_bytes']:,}"),
                ("bytes of the merged state", f"{row['merged_bytes']:,}"),
                (f"levels, {row['fan_in']} states a task", str(row["depth"])),
                ("median processor seconds of a task", f"{task:.4f}"),
                ("seconds along the tree, enough workers", f"{row['seconds_along_the_tree']:.3f}"),
                ("seconds in one process", f"{row['seconds_of_all_merges']:.1f}"),
            ]
    return Table("Merging", ("what", "measured"), lines)


def memory(rows: list[Row]) -> Table:
    """Peak memory along a stream of sparse rows."""
    lines = []
    for row in rows:
        if row["part"] == "sparse":
            points = row["points"]
            for learned, peak, seconds in (points[0], points[len(points) // 2], points[-1]):
                cells = (f"{peak / MEBIBYTE:,.0f}", f"{learned / max(seconds, 1e-9):,.0f}")
                lines.append((f"{learned:,}", *cells))
            filled = row["stream_bytes_if_filled"] / MEBIBYTE
            lines.append(("if the stream were filled", f"{filled:,.0f}", "–"))
    header = ("sparse rows learned", "peak MiB", "rows a second of processor time")
    return Table("Sparse rows in bounded memory", header, lines)


TABLES = {
    "equality": equality,
    "turns": turns,
    "throughput": throughput,
    "merging": merges,
    "memory": memory,
    "plan": large_runs,
}
