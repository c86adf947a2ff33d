"""The moment, its compression and its sub-moments on disk."""

from typing import Any

import numpy as np

from okspca.moments import CrossMoment, Moment, SubMoments, TargetCompression, WhitenedMoment
from okspca.moments.arrays import LEFT_SQUARE, RIGHT_SQUARE, ROWS, WEIGHT, MomentArrays
from okspca.moments.calibration import Calibration
from okspca.moments.class_discriminants import Discriminants
from okspca.moments.opinions import BLENDS
from okspca.moments.second_opinion import MOST_ROWS, SecondOpinion
from okspca.moments.whitened_moment import CLASS_WEIGHTING
from okspca.numerics.arrays import Floats
from okspca.numerics.whitening import SMALLEST_RIDGE
from okspca.state.fields import MOST_DATA, MOST_UNIT, Sink, Source

N_TOTALS = len(("weight", "rows", "left square", "right square", "dropped square"))
MOST_GROUPS = 64
#: Room for rounding in what must hold of sums, and for squares too small to be written.
SLACK, SMALLEST = 1.0 + 1e-6, 1e-150
#: Arrays of the choice of a ridge.
#: What is divided by a unit of the data is up to here: smaller units have no squares.
MOST_PER_UNIT = 1.0 / float(np.sqrt(np.finfo(np.float64).tiny))
CHOICE = ("errors", "coefficients", "directions", "left_mean", "right_mean")


def write_moment(sink: Sink, moment: Moment) -> None:
    """Write a moment."""
    sink.put("forgetting", moment.forgetting)
    sink.put("labels", moment.labels)
    sink.put("is_constant", moment.is_constant)
    sink.put("width", moment.width)
    sink.put("n_right", moment.n_right)
    sink.array("buffer", moment.buffer)
    arrays: MomentArrays = moment.arrays
    for name in ("left_mean", "right_mean", "totals"):
        sink.array(name, getattr(arrays, name))
    if moment.compression is None:
        sink.put("compression", None)
    else:
        inner = sink.inside("compression")
        inner.put("tolerance", moment.compression.tolerance)
        inner.array("directions", moment.compression.directions)
    if isinstance(moment, WhitenedMoment):
        _write_whitening(sink.inside("whitening"), moment)


def read_moment(source: Source, n_left: int, most_right: int) -> Moment:
    """Read a moment of ``n_left`` input and at most ``most_right`` target features."""
    n_right = source.count("n_right", most=most_right)
    forgetting = source.number("forgetting", least=0.0, most=1.0)
    labels = source.flag("labels")
    is_constant = source.flag("is_constant")
    width = source.count("width", most=n_right)
    buffer = source.array("buffer", (None, n_left))
    left_mean = source.array("left_mean", (n_left,))
    right_mean = source.array("right_mean", (width,))
    totals = source.tallies("totals", N_TOTALS, ROWS)
    if buffer.shape[0] < max(width, 1):
        source.refuse("width", width)
    arrays = MomentArrays(buffer[:width], left_mean, right_mean, totals)
    _check_sizes(source, arrays)
    compression = _read_compression(source, n_right, width)
    if labels and compression is not None:
        source.refuse("labels", labels)
    settings: dict[str, Any] = {
        "forgetting": forgetting,
        "labels": labels,
        "compression": compression,
    }
    # Empty, and then filled: made in full size it would allocate what the file only claims.
    moment: Moment
    if source.is_object("whitening"):
        moment = _read_whitened(source.inside("whitening"), n_left, width, settings)
        _check_covariance(source, moment.covariance.sums, totals)
    else:
        moment = CrossMoment(n_left, 0, **settings)
    source.close()
    moment.is_constant = is_constant
    moment.restore(buffer, n_right, arrays)
    return moment


def _check_sizes(source: Source, arrays: MomentArrays) -> None:
    """Refuse sums and means that rows of the stated mean squares cannot have (Cauchy-Schwarz)."""
    totals = arrays.totals
    left, right = (np.sqrt(totals[i]) * SLACK + SMALLEST for i in (LEFT_SQUARE, RIGHT_SQUARE))
    for name, array, most in (
        ("left_mean", arrays.left_mean, left),
        ("right_mean", arrays.right_mean, right),
        ("buffer", arrays.sums, totals[WEIGHT] * left * right),
    ):
        if np.abs(array).max(initial=0.0) > most:
            source.refuse(name, "larger than its totals allow")


def _check_covariance(source: Source, sums: Floats, totals: Floats) -> None:
    """Refuse what cannot be a sum of squares of rows of the stated mean square."""
    squares = sums.diagonal()
    if squares.min() < 0.0 or squares.max() > SLACK * totals[WEIGHT] * totals[LEFT_SQUARE]:
        source.refuse("whitening", "not a sum of squares")
    roots = np.sqrt(squares)
    most = SLACK * np.outer(roots, roots) + (SLACK - 1.0) * squares.max()
    if (np.abs(sums) > most).any():
        source.refuse("whitening", "not a sum of squares")


def _write_whitening(sink: Sink, moment: WhitenedMoment) -> None:
    """Write what a whitened moment has beside a plain one."""
    sink.put("ridge", moment.ridge)
    sink.put("class_weighting", moment.class_weighting)
    sink.put("is_steady", moment.is_steady)
    sink.put("n_directions", moment.n_directions)
    sink.array("covariance", moment.covariance.sums)
    if moment.choice is not None:
        sink.put("started_at", moment.choice.started_at)
        for name in CHOICE:
            sink.array(name, getattr(moment.choice, name))
    if moment.calibration is not None:
        _write_calibration(sink.inside("calibration"), moment.calibration)


def _read_whitened(
    source: Source, n_left: int, width: int, settings: dict[str, Any]
) -> WhitenedMoment:
    """Read a whitened moment, without what it shares with a plain one."""
    sums = source.array("covariance", (n_left, n_left))
    ridge = None if source.is_none("ridge") else source.number("ridge", least=SMALLEST_RIDGE)
    weighting = source.text("class_weighting", tuple(CLASS_WEIGHTING))
    k = source.count("n_directions", least=1, most=n_left)
    settings = {**settings, "class_weighting": weighting, "n_directions": k}
    moment = WhitenedMoment(n_left, 0, ridge=ridge, **settings)
    moment.covariance.sums = sums
    # In files of earlier versions the ridge moves with every row.
    moment.is_steady = "is_steady" in source.names() and source.flag("is_steady")
    choice = moment.choice
    if choice is not None:
        choice.started_at = source.count("started_at")
        choice.errors = source.array("errors", choice.errors.shape)
        choice.left_mean = source.array("left_mean", (n_left,), most=MOST_DATA)
        choice.right_mean = source.array("right_mean", (None,), most=MOST_DATA)
        known = choice.right_mean.shape[0]
        choice.directions = source.array("directions", (known, None), most=MOST_PER_UNIT)
        shape = choice.errors.shape[0], choice.directions.shape[1], n_left
        choice.coefficients = source.array("coefficients", shape, most=MOST_PER_UNIT)
        if known > width or choice.errors.min() < 0.0:
            source.refuse("started_at", "not of this moment")
    if source.is_object("calibration"):
        if not moment.labels:
            source.refuse("calibration", "not of labels")
        moment.calibration = _read_calibration(source.inside("calibration"), n_left, width)
    source.close()
    return moment


def _write_calibration(sink: Sink, calibration: Calibration) -> None:
    """Write scores and the discriminants that go on making them."""
    sink.array("scores", calibration.scores)
    sink.array("totals", calibration.totals)
    for name, array in calibration.frozen._asdict().items():
        sink.array(name, array)
    second = sink.inside("second")
    for name, array in calibration.second._asdict().items():
        second.array(name, array)


def _read_calibration(source: Source, n_left: int, width: int) -> Calibration:
    """Read scores of at most ``width`` classes."""
    calibration = Calibration(n_left)
    calibration.scores = source.array("scores", (None, *calibration.scores.shape[1:]))
    calibration.totals = source.array("totals", calibration.totals.shape)
    offset = source.array("offset", (None,))
    known = offset.shape
    shares, spreads = source.array("shares", known), source.array("spreads", known)
    calibration.frozen = Discriminants(
        source.array("weights", (n_left, *known)), offset, shares, spreads
    )
    if source.is_object("second"):  # files of earlier versions have none
        calibration.second = _read_second(source.inside("second"), len(offset))
    source.close()
    numbers = np.concatenate([calibration.scores.ravel(), calibration.totals, shares])
    if max(len(calibration.scores), len(offset)) > width or numbers.min() < 0.0:
        source.refuse("scores", "not of this moment")
    if spreads.min(initial=1.0) <= 0.0:
        source.refuse("spreads", "not positive")
    return calibration


def _read_second(source: Source, known: int) -> SecondOpinion:
    """Read a second opinion on so many classes, or on none."""
    coefficients = source.array("coefficients", (None, None))
    n = coefficients.shape[1]
    labels = source.array("labels", (None,))
    found = SecondOpinion(
        source.array("scores", (len(labels), n)),
        labels,
        source.array("weights", labels.shape),
        coefficients,
        source.array("losses", BLENDS.shape),
    )
    source.close()
    is_fitting = len(coefficients) == n + 1 and n in (0, SecondOpinion.none(known).n_classes)
    if not is_fitting or len(labels) > MOST_ROWS:
        source.refuse("coefficients", "not of these classes")
    if not np.isin(labels, np.arange(n)).all() or found.weights.min(initial=0.0) < 0.0:
        source.refuse("labels", "not of these classes")
    return found


def write_sub_moments(sink: Sink, sub_moments: SubMoments | None) -> None:
    """Write the disjoint moments, if there are any."""
    if sub_moments is None:
        sink.put("sub_moments", None)
        return
    inner = sink.inside("sub_moments")
    inner.put("forgetting", sub_moments.forgetting)
    inner.put("n_groups", len(sub_moments))
    if sub_moments.seed is not None:
        inner.put("seed", sub_moments.seed)
    for number, group in enumerate(sub_moments.groups):
        write_moment(inner.inside(str(number)), group)


def read_sub_moments(source: Source, n_left: int, most_right: int) -> SubMoments | None:
    """Read the disjoint moments, if there are any."""
    if source.is_none("sub_moments"):
        return None
    inner = source.inside("sub_moments")
    forgetting = inner.number("forgetting", least=0.0, most=1.0)
    n_groups = inner.count("n_groups", least=1, most=MOST_GROUPS)
    # States of earlier versions deal in turn and have no seed.
    seed = inner.count("seed") if "seed" in inner.names() else None
    sub_moments = SubMoments(0, CrossMoment(1, 0, forgetting=forgetting), seed)
    sub_moments.groups = [
        read_moment(inner.inside(str(number)), n_left, most_right) for number in range(n_groups)
    ]
    inner.close()
    for group in sub_moments.groups:
        if group.labels or group.compression is not None:
            source.refuse("sub_moments", None)
        group.forgetting = 1.0  # earlier versions noted here how the groups fade
    return sub_moments


def _read_compression(source: Source, n_right: int, width: int) -> TargetCompression | None:
    """Read the directions that the moment is stored in."""
    if source.is_none("compression"):
        return None
    inner = source.inside("compression")
    compression = TargetCompression(0, inner.number("tolerance", least=0.0, most=1.0))
    compression.directions = inner.array("directions", (None, n_right), most=MOST_UNIT)
    inner.close()
    if not width <= compression.rank <= n_right:
        source.refuse("width", width)
    return compression
