"""Feature maps and standardisers on disk.

Parts of the user's own making have no form here, and saving says so.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from okspca.features import (
    ChebyshevMap,
    FeatureMap,
    FourierMap,
    IdentityMap,
    OneHotMap,
    SingleFourierMap,
    StructuredMap,
)
from okspca.features.structured import shape_of_signs
from okspca.numerics.arrays import LARGEST_VALUE, Floats
from okspca.standardize import (
    CausalStandardizer,
    FrozenStandardizer,
    NoStandardizer,
    RunningStandardizer,
    Standardizer,
    VarianceRule,
)
from okspca.standardize.sparse import SparseStandardizer
from okspca.standardize.variance import ROWS
from okspca.standardize.window import N_BLOCKS, WindowStandardizer
from okspca.state.fields import MOST_DATA, Sink, Source
from okspca.state.registry import Registry, no_form
from okspca.state.stacks import read_stacks, write_stacks

MOST_DEGREE = 1000
#: Before the kind of a standardiser whose rule is the cautious one.
CAUTIOUS = "cautious-"
SPARSE = ("weights", "mean", "variance")
RULE = ("clamp", "absolute", "relative")


def _write_fourier(sink: Sink, feature_map: FourierMap) -> None:
    """Write weights and phases, not the seed they came from."""
    sink.array("weights", feature_map.weights)
    sink.array("phases", feature_map.phases)


def _read_fourier(source: Source) -> FourierMap:
    """Read weights and phases."""
    weights = source.array("weights", (None, None))
    if 0 in weights.shape:
        source.refuse("weights", "empty")
    return FourierMap(weights, source.array("phases", weights.shape[:1]))


def _read_single(source: Source) -> SingleFourierMap:
    """Read weights and phases of a map in single precision, which stand there as doubles."""
    found = _read_fourier(source)
    return SingleFourierMap(found.weights, found.phases)


def _write_structured(sink: Sink, feature_map: StructuredMap) -> None:
    """Write the signs, 64 of them in a number, and what else the map consists of."""
    negative = np.packbits(feature_map.signs < 0, bitorder="little")
    sink.array("signs", negative.view("<i8").astype(np.int64))
    sink.array("lengths", feature_map.lengths)
    sink.array("phases", feature_map.phases)
    # Drawn maps have ones here, too: so the file is never much smaller than the map.
    sink.array("scales", feature_map.scales)


def _read_structured(source: Source) -> StructuredMap:
    """Read signs, lengths, phases and scales."""
    phases, scales = (
        source.array(name, (None,), most=LARGEST_VALUE) for name in ("phases", "scales")
    )
    if 0 in (phases.size, scales.size):
        source.refuse("phases", "empty")
    lengths = source.array("lengths", phases.shape, most=LARGEST_VALUE)
    shape = shape_of_signs(scales.size, phases.size)
    written = source.integers("signs", (math.prod(shape) // 64,))
    negative = np.unpackbits(written.astype("<i8").view(np.uint8), bitorder="little")
    return StructuredMap(1 - 2 * negative.astype(np.int8).reshape(shape), lengths, phases, scales)


def _write_identity(sink: Sink, feature_map: IdentityMap) -> None:
    """Write the width of an identity."""
    sink.put("n_inputs", feature_map.n_inputs)


def _read_identity(source: Source) -> IdentityMap:
    """Read the width of an identity."""
    return IdentityMap(source.count("n_inputs", least=1))


def _write_chebyshev(sink: Sink, feature_map: ChebyshevMap) -> None:
    """Write the settings of polynomials."""
    sink.put("n_inputs", feature_map.n_inputs)
    sink.put("degree", feature_map.degree)
    if feature_map.weight != 1.0:
        sink.put("weight", feature_map.weight)


def _read_chebyshev(source: Source) -> ChebyshevMap:
    """Read the settings of polynomials."""
    degree = source.count("degree", least=1, most=MOST_DEGREE)
    weight = source.number("weight", most=1.0) if "weight" in source.names() else 1.0
    if weight <= 0.0:
        source.refuse("weight", weight)
    return ChebyshevMap(source.count("n_inputs", least=1), degree, weight)


def _write_labels(sink: Sink, labels: OneHotMap) -> None:
    """Write the classes in the order of their columns."""
    sink.put("classes", [_label_out(label) for label in labels.classes])


def _read_labels(source: Source) -> OneHotMap:
    """Read the classes in the order of their columns."""
    written = source.raw("classes")
    if not isinstance(written, list):
        source.refuse("classes", written)
    classes = [_label_in(source, label) for label in written]
    labels = OneHotMap(classes)
    if labels.n_features != len(classes):
        source.refuse("classes", "not unique")
    return labels


def _label_out(label: Any) -> list[Any]:
    """A label with its type, since 1, 1.0 and True are one key to Python and three to a reader."""
    if isinstance(label, bool | int | str):
        return [type(label).__name__, label]
    if isinstance(label, float):
        return ["float", label.hex()]
    raise no_form(label, "use whole numbers, text or truth values as labels")


def _label_in(source: Source, written: Any) -> bool | int | float | str:
    """Read one label."""
    match written:
        case ["bool", bool(truth)]:
            return truth
        case ["int", int(number)] if not isinstance(number, bool):
            return number
        case ["str", str(text)]:
            return text
        case ["float", str(text)]:
            return _float_from(source, text)
    return source.refuse("classes", written)


def _float_from(source: Source, text: str) -> float:
    """Read a number from its exact hexadecimal form."""
    try:
        value = float.fromhex(text)
    except (ValueError, OverflowError):
        return source.refuse("classes", text)
    return value if value == value else source.refuse("classes", text)


def _write_nothing(sink: Sink, standardizer: NoStandardizer) -> None:
    """There is nothing to write."""


def _read_nothing(source: Source) -> NoStandardizer:
    """There is nothing to read."""
    return NoStandardizer()


def _write_frozen(sink: Sink, standardizer: FrozenStandardizer) -> None:
    """Write what is subtracted and what is divided by."""
    sink.array("mean", standardizer.mean)
    sink.array("divisor", standardizer.divisor)


def _read_frozen(source: Source) -> FrozenStandardizer:
    """Read what is subtracted and what is divided by."""
    mean = source.array("mean", (None,))
    return FrozenStandardizer(mean, source.array("divisor", mean.shape))


def _write_rule(sink: Sink, rule: VarianceRule) -> None:
    """Write the numbers of a rule; whether it is cautious stands in the kind."""
    for name in RULE:
        sink.put(name, getattr(rule, name))


def _read_rule(source: Source, cautious: bool) -> VarianceRule:
    """Read a rule."""
    rule = VarianceRule(*(source.number(name, least=0.0) for name in RULE))
    return rule.cautious if cautious else rule


def _write_causal(sink: Sink, standardizer: CausalStandardizer) -> None:
    """Write the state of a causal standardiser."""
    _write_rule(sink, standardizer.rule)
    sink.put("forgetting", standardizer.forgetting)
    for name, array in standardizer.arrays._asdict().items():
        sink.array(name, array)


def _write_window(sink: Sink, standardizer: WindowStandardizer) -> None:
    """Write a standardiser of a window with its blocks."""
    sink.put("window", standardizer.window)
    _write_causal(sink, standardizer)
    _write_causal(sink.inside("newest"), standardizer.newest)
    write_stacks(sink.inside("stacks"), standardizer.stacks, _write_causal)


def _read_window(source: Source, cautious: bool) -> WindowStandardizer:
    """Read a standardiser of a window with its blocks."""
    plain = _read_causal(source, cautious)
    window = source.count("window", least=N_BLOCKS)
    standardizer = WindowStandardizer(len(plain.mean), window, plain.rule)
    standardizer.mean, standardizer.variance = plain.mean, plain.variance
    standardizer.counts = plain.counts
    standardizer.newest = _read_block(source.inside("newest"), plain)
    read_stacks(source.inside("stacks"), standardizer.stacks, lambda s: _read_block(s, plain))
    if plain.forgetting != 1.0 or standardizer.newest.rows >= max(window // N_BLOCKS, 1):
        source.refuse("window", window)
    return standardizer


def _read_block(source: Source, like: CausalStandardizer) -> CausalStandardizer:
    """Read one block of a window."""
    block = _read_causal(source, like.rule == like.rule.cautious)
    if block.mean.shape != like.mean.shape or (block.rule, block.forgetting) != (like.rule, 1.0):
        source.refuse("forgetting", "not of this window")
    source.close()
    return block


def _read_causal(source: Source, cautious: bool) -> CausalStandardizer:
    """Read a causal standardiser."""
    rule = _read_rule(source, cautious)
    forgetting = source.number("forgetting", least=0.0, most=1.0)
    mean: Floats = source.array("mean", (None,), most=MOST_DATA)
    standardizer = CausalStandardizer(mean.shape[0], rule, forgetting)
    standardizer.mean = mean
    standardizer.variance = source.array("variance", mean.shape)
    standardizer.counts = source.tallies("counts", 2, ROWS)
    if standardizer.variance.min(initial=0.0) < 0.0:
        source.refuse("variance", "negative")
    return standardizer


def _write_sparse(sink: Sink, standardizer: SparseStandardizer) -> None:
    """Write a standardiser of sparse rows."""
    _write_rule(sink, standardizer.rule)
    for name in (*SPARSE, "counts"):
        sink.array(name, getattr(standardizer, name))


def _read_sparse(source: Source, cautious: bool) -> SparseStandardizer:
    """Read a standardiser of sparse rows."""
    rule = _read_rule(source, cautious)
    standardizer = SparseStandardizer(0, rule)
    standardizer.weights = source.array("weights", (None,))
    shape = standardizer.weights.shape
    standardizer.mean = source.array("mean", shape, most=MOST_DATA)
    standardizer.variance = source.array("variance", shape)
    standardizer.counts = source.tallies("counts", 2, ROWS)
    parts = standardizer.weights, standardizer.variance
    if min(part.min(initial=0.0) for part in parts) < 0.0:
        source.refuse("variance", "negative")
    return standardizer


def _add_running(
    name: str,
    kind: type[RunningStandardizer],
    write: Callable[[Sink, Any], None],
    read: Callable[[Source, bool], Standardizer],
) -> None:
    """Register a standardiser under two names: with a plain rule, and with a cautious one."""
    STANDARDIZERS.add(name, kind, write, lambda source: read(source, False), _is_plain)
    STANDARDIZERS.add(CAUTIOUS + name, kind, write, lambda source: read(source, True))


def _is_plain(standardizer: RunningStandardizer) -> bool:
    """Whether a standardiser goes by a plain rule; raise where it is not a cautious one either."""
    rule = standardizer.rule
    if rule not in (rule.plain, rule.cautious):
        raise no_form(rule, "use a plain or a cautious VarianceRule, or pickle the model")
    return bool(rule == rule.plain)


MAPS: Registry[FeatureMap] = Registry("use a FourierMap or IdentityMap")
MAPS.add("fourier", FourierMap, _write_fourier, _read_fourier)
MAPS.add("fourier-float32", SingleFourierMap, _write_fourier, _read_single)
MAPS.add("structured", StructuredMap, _write_structured, _read_structured)
MAPS.add("identity", IdentityMap, _write_identity, _read_identity)
MAPS.add("one-hot", OneHotMap, _write_labels, _read_labels)
MAPS.add("chebyshev", ChebyshevMap, _write_chebyshev, _read_chebyshev)

STANDARDIZERS: Registry[Standardizer] = Registry("use one of okspca.standardize")
STANDARDIZERS.add("frozen", FrozenStandardizer, _write_frozen, _read_frozen)
STANDARDIZERS.add("none", NoStandardizer, _write_nothing, _read_nothing)
_add_running("causal", CausalStandardizer, _write_causal, _read_causal)
_add_running("window", WindowStandardizer, _write_window, _read_window)
_add_running("sparse", SparseStandardizer, _write_sparse, _read_sparse)
