"""What watches for drift, on disk."""

from math import inf

from okspca.estimators.watching import ROWS, Watch
from okspca.state.fields import Sink, Source

SUMS = ("errors", "squares", "mean", "deviations", "level")


def write_watch(sink: Sink, watch: Watch) -> None:
    """Write what is known about the shares."""
    for name, value in watch._asdict().items():
        sink.put(name, value)


def read_watch(source: Source) -> Watch:
    """Read what is known about the shares."""
    found = Watch(
        rows=source.count("rows", most=ROWS - 1),
        n_shares=source.count("n_shares"),
        n_alarms=source.count("n_alarms"),
        **{name: source.number(name) for name in SUMS},
    )
    for name in SUMS:
        if not 0.0 <= getattr(found, name) < inf:
            source.refuse(name, getattr(found, name))
    if found.is_raised:
        source.refuse("level", found.level)
    source.close()
    return found
