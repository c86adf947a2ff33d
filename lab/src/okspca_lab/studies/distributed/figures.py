"""The figures of the study of many processes.  Needs matplotlib; nothing global is changed."""

from matplotlib.figure import Figure

from okspca_lab.studies.drawing import plain, png
from okspca_lab.studies.rows import Row

COLOURS = {(1, False): "#9a9a9a", (2, False): "#0072B2", (2, True): "#D55E00"}
CAPTIONS = {
    "scale": "Rows learned over time. The kill loses the states that its process held; their "
    "partitions are learned again, so the line ends above the number of rows. The result is the "
    "same.",
    "sparse": "Peak memory of the process along a stream of sparse rows.",
}


def draw(rows: list[Row]) -> dict[str, bytes]:
    """Draw what there are rows of, by name."""
    by_name = {"scale": progress_of_runs, "sparse": memory_of_sparse_rows}
    found = {name: [row for row in rows if row["part"] == name] for name in by_name}
    return {name: by_name[name](own) for name, own in found.items() if own}


def progress_of_runs(rows: list[Row]) -> bytes:
    """Rows finished over time, with one process, with two, and with one of two killed."""
    figure = Figure(figsize=(8.0, 4.5), layout="constrained")
    axes = figure.subplots()
    for row in rows:
        done, times, counts = 0, [0.0], [0.0]
        for seconds, _, learned in row["log"]:
            done += learned
            times.append(seconds)
            counts.append(done / 1e6)
        label = f"{row['workers']} process{'es' if row['workers'] > 1 else ''}"
        label += ", one killed" if row["kill"] else ""
        colour = COLOURS[row["workers"], row["kill"]]
        rate = f"{row['rows_per_second'] / 1e3:,.0f} thousand rows a second"
        axes.plot(times, counts, color=colour, lw=2.0, label=f"{label}: {rate}")
        if row["killed_at"] is not None:
            axes.axvline(row["killed_at"], color=colour, ls=":", lw=1.5)
            axes.annotate(
                "SIGKILL",
                (row["killed_at"], 0.95),
                xycoords=("data", "axes fraction"),
                xytext=(4, 0),
                textcoords="offset points",
                color=colour,
            )
    axes.set(xlabel="seconds", ylabel="million rows learned", xlim=(0, None), ylim=(0, None))
    axes.legend(frameon=False, loc="lower right")
    plain(axes)
    return png(figure)


def memory_of_sparse_rows(rows: list[Row]) -> bytes:
    """Peak memory over rows learned."""
    figure = Figure(figsize=(8.0, 3.5), layout="constrained")
    axes = figure.subplots()
    for row in rows:
        learned, peak, _ = zip(*row["points"], strict=True)
        axes.plot([n / 1e6 for n in learned], [b / 2.0**20 for b in peak], color="#0072B2", lw=2.0)
    most = max(point[1] for row in rows for point in row["points"]) / 2.0**20
    axes.set(xlabel="million sparse rows learned", ylabel="peak MiB", ylim=(0, 1.25 * most))
    plain(axes)
    return png(figure)
