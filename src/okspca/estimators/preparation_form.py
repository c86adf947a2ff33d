"""How rows are completed, on disk."""

from okspca.estimators.filling import Means
from okspca.estimators.preparing import Preparation
from okspca.state.fields import MOST, Sink, Source


def write_preparation(sink: Sink, preparation: Preparation) -> None:
    """Write what completes rows."""
    sink.put("indicators", preparation.indicators)
    sink.put("rows_skipped", preparation.n_skipped)
    sink.put("values_filled", preparation.n_filled)
    means = preparation.means
    sink.put("fills", means is not None)
    if means is not None:
        sink.array("sums", means.sums)
        sink.array("weights", means.weights)
        sink.put("total", means.total)
        sink.put("fixed", means.fixed)


def read_preparation(source: Source, n_columns: int) -> Preparation:
    """Read what completes rows of so many columns."""
    found = Preparation(
        None, source.flag("indicators"), source.count("rows_skipped"), source.count("values_filled")
    )
    if source.flag("fills"):
        found = Preparation(
            _read_means(source, n_columns), found.indicators, found.n_skipped, found.n_filled
        )
    source.close()
    return found


def _read_means(source: Source, n_columns: int) -> Means:
    """Read the means."""
    sums, weights = (source.array(name, (n_columns,)) for name in ("sums", "weights"))
    means = Means(sums, weights, source.number("total", least=0.0, most=MOST), source.flag("fixed"))
    if (means.total + weights).min() < 0.0:
        source.refuse("total", means.total)
    return means
