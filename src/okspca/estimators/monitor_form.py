"""A monitor on disk, and what renews it."""

import numpy as np

from okspca.diagnostics.evidence import Standing
from okspca.diagnostics.monitoring import Reference, Residuals
from okspca.estimators.live_monitor import Collected, Live
from okspca.estimators.monitor import FEWEST, Asked, Monitor, scales_from
from okspca.features import FeatureMap
from okspca.numerics.arrays import LARGEST_VALUE, Floats
from okspca.pipeline import Embedding
from okspca.state.fields import MOST, Sink, Source
from okspca.state.front_ends import MAPS, STANDARDIZERS
from okspca.state.pipelines import SHARED

PARTS = ("means", "slopes", "weights")
STANDING = ("levels", "since", "sums")


def write_monitor(sink: Sink, monitor: Monitor, used: FeatureMap) -> None:
    """Write a monitor; its map may be the one the model uses."""
    _write_asked(sink.inside("asked"), monitor.asked)
    _write_embedding(sink.inside("embedding"), monitor.embedding, used)
    for name in ("centre", "whitener", "added"):
        sink.array(name, getattr(monitor.reference, name))
    _write_residuals(sink.inside("inputs"), monitor.reference.inputs)
    if monitor.target is not None:
        _write_residuals(sink.inside("target"), monitor.target)
    sink.array("values", np.stack([scale.values for scale in monitor.scales]))
    sink.array("times", np.array([scale.dependence for scale in monitor.scales]))


def read_monitor(source: Source, used: FeatureMap) -> Monitor:
    """Read a monitor of a model that uses a certain map."""
    asked = _read_asked(source.inside("asked"))
    embedding = _read_embedding(source.inside("embedding"), used)
    k, d = embedding.columns.shape[1], embedding.input_map.n_inputs
    reference = Reference(
        _array(source, "centre", k),
        _array(source, "whitener", k, k),
        _array(source, "added", k, d),
        _read_residuals(source.inside("inputs"), k, d),
    )
    target = None
    if source.is_object("target"):
        target = _read_residuals(source.inside("target"), k, None)
    monitor = Monitor(asked, embedding, reference, target)
    n = len(monitor.statistics)
    values, times = source.array("values", (n, None)), source.array("times", (n,))
    if values.shape[1] < FEWEST or (np.diff(values, axis=1) < 0.0).any():
        source.refuse("values", "no values in their order")
    if times.min() < 1.0 or times.max() > MOST:
        source.refuse("times", "impossible")
    source.close()
    return monitor._replace(scales=tuple(scales_from(asked, list(values), times.tolist())))


def write_live(sink: Sink, live: Live, used: FeatureMap) -> None:
    """Write what renews a monitor."""
    sink.put("every", live.every)
    _write_asked(sink.inside("asked"), live.asked)
    sink.put("rows", live.rows)
    if live.standing is not None and live.trend is not None:
        for name in STANDING:
            sink.array(name, getattr(live.standing, name))
        sink.array("trend", live.trend)
    _write_collected(sink.inside("collected"), live.collected)
    if live.frozen is not None and live.first is not None:
        _write_embedding(sink.inside("frozen"), live.frozen, used)
        _write_collected(sink.inside("first"), live.first)


def read_live(source: Source, used: FeatureMap, monitor: Monitor | None) -> Live:
    """Read what renews a monitor."""
    every, asked = source.count("every", least=FEWEST), _read_asked(source.inside("asked"))
    d, rows = used.n_inputs, source.count("rows")
    collected = _read_collected(source.inside("collected"), d, rows)
    live = Live(every, asked, collected, rows=rows)
    if source.is_object("frozen"):
        frozen = _read_embedding(source.inside("frozen"), used)
        live = live._replace(frozen=frozen, first=_read_collected(source.inside("first"), d, rows))
    if live.n_awaited < 1 or (live.first is not None and len(live.first.numbers) != every):
        source.refuse("every", every)
    if monitor is not None:
        standing = _read_standing(source, monitor, rows)
        live = live._replace(
            standing=standing, trend=_array(source, "trend", *monitor.no_trend.shape)
        )
    source.close()
    return live


def _read_standing(source: Source, monitor: Monitor, rows: int) -> Standing:
    """Read the evidence against a monitor."""
    n, d = len(monitor.sums), monitor.reference.added.shape[1]
    standing = Standing(
        rows,
        _array(source, "levels", n),
        source.integers("since", (n,)),
        _array(source, "sums", n, d),
    )
    if standing.levels.min() < 0.0 or standing.since.min() < 0 or standing.since.max() > rows:
        source.refuse("rows", "impossible evidence")
    return standing


def _write_asked(sink: Sink, asked: Asked) -> None:
    """Write what is promised."""
    for name, value in asked._asdict().items():
        sink.put(name, value)


def _read_asked(source: Source) -> Asked:
    """Read what is promised."""
    level, rows, confidence = (
        float(source.number(name)) for name in ("row_level", "rows_per_alarm", "confidence")
    )
    weighted = source.flag("weighted")
    tau = None if source.is_none("dependence") else source.number("dependence")
    asked = Asked(level, rows, confidence, weighted, tau)
    try:
        asked.check()
    except ValueError as failure:
        source.refuse("row_level", str(failure))
    source.close()
    return asked


def _write_embedding(sink: Sink, embedding: Embedding, used: FeatureMap) -> None:
    """Write frozen coordinates."""
    STANDARDIZERS.write(sink.inside("standardizer"), embedding.standardizer)
    if embedding.input_map.equals(used):
        sink.put("input_map", SHARED)
    else:
        MAPS.write(sink.inside("input_map"), embedding.input_map)
    sink.array("columns", embedding.columns)


def _read_embedding(source: Source, used: FeatureMap) -> Embedding:
    """Read frozen coordinates."""
    standardizer = STANDARDIZERS.read(source.inside("standardizer"))
    if source.is_text("input_map"):
        source.text("input_map", (SHARED,))
        feature_map = used
    else:
        feature_map = MAPS.read(source.inside("input_map"))
    if feature_map.n_inputs != used.n_inputs:
        source.refuse("input_map", "of other inputs")
    if standardizer.n_features not in (None, feature_map.n_inputs):
        source.refuse("standardizer", "of other inputs")
    columns = source.array("columns", (feature_map.n_features, None), most=LARGEST_VALUE)
    source.close()
    return Embedding(standardizer, feature_map, columns)


def _write_residuals(sink: Sink, residuals: Residuals) -> None:
    """Write how something is reconstructed."""
    for name, array in zip(PARTS, residuals, strict=True):
        sink.array(name, array)


def _read_residuals(source: Source, k: int, d: int | None) -> Residuals:
    """Read how something of d numbers is reconstructed from k."""
    means = source.array("means", (d,), most=LARGEST_VALUE)
    d = len(means)
    if not d:
        source.refuse("means", "empty")
    found = Residuals(means, _array(source, "slopes", k, d), _array(source, "weights", d, d))
    source.close()
    return found


def _write_collected(sink: Sink, rows: Collected) -> None:
    """Write rows in control."""
    sink.array("X", rows.X)
    sink.array("Y", rows.Y)
    sink.array("numbers", rows.numbers)


def _read_collected(source: Source, n_inputs: int, rows: int) -> Collected:
    """Read rows in control."""
    X = source.array("X", (None, n_inputs), most=LARGEST_VALUE)
    Y = source.array("Y", (len(X), None), most=LARGEST_VALUE)
    numbers = source.integers("numbers", (len(X),))
    if (np.diff(numbers) <= 0).any() or (
        len(numbers) and not 0 <= numbers[0] <= numbers[-1] < rows
    ):
        source.refuse("numbers", "not in order")
    source.close()
    return Collected(X, Y, numbers)


def _array(source: Source, name: str, *shape: int) -> Floats:
    """Read an array of numbers that can be squared."""
    return source.array(name, shape, most=LARGEST_VALUE)
