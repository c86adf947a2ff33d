"""Feature maps and standardisers on disk.

Parts of the user's own making have no form here, and saving says so.
"""

from typing import Any

from okspca.errors import StateError
from okspca.features import ChebyshevMap, FeatureMap, FourierMap, IdentityMap, OneHotMap
from okspca.numerics.arrays import Floats
from okspca.standardize.causal import (
    ROWS,
    CausalStandardizer,
    FrozenStandardizer,
    NoStandardizer,
    RunningStandardizer,
    Standardizer,
    VarianceRule,
)
from okspca.standardize.sparse import SparseStandardizer
from okspca.standardize.window import N_BLOCKS, WindowStandardizer
from okspca.state.fields import MOST_DATA, Sink, Source
from okspca.state.stacks import read_stacks, write_stacks

MAPS = ("fourier", "identity", "one-hot", "chebyshev")
MOST_DEGREE = 1000
#: Before the kind of a standardiser whose rule is the cautious one.
CAUTIOUS = "cautious-"
RUNNING = ("causal", "window", "sparse")
STANDARDIZERS = (*RUNNING, "frozen", "none", *(CAUTIOUS + kind for kind in RUNNING))
SPARSE = ("weights", "mean", "variance")
RULE = ("clamp", "absolute", "relative")


def no_form(part: object, remedy: str) -> StateError:
    """Make the error for a part that only its author knows how to write."""
    return StateError(
        f"The model cannot be saved: {type(part).__name__} is not a built-in part; {remedy}."
    )


def write_map(sink: Sink, feature_map: FeatureMap) -> None:
    """Write a feature map: weights and phases, not the seed they came from."""
    if type(feature_map) is FourierMap:
        sink.put("kind", "fourier")
        sink.array("weights", feature_map.weights)
        sink.array("phases", feature_map.phases)
    elif type(feature_map) is IdentityMap:
        sink.put("kind", "identity")
        sink.put("n_inputs", feature_map.n_inputs)
    elif type(feature_map) is ChebyshevMap:
        sink.put("kind", "chebyshev")
        sink.put("n_inputs", feature_map.n_inputs)
        sink.put("degree", feature_map.degree)
    elif type(feature_map) is OneHotMap:
        sink.put("kind", "one-hot")
        sink.put("classes", [_label_out(label) for label in feature_map.classes])
    else:
        raise no_form(feature_map, "use a FourierMap or IdentityMap, or pickle the model")


def read_map(source: Source) -> FeatureMap:
    """Read a feature map."""
    kind = source.text("kind", MAPS)
    feature_map: FeatureMap
    if kind == "fourier":
        weights = source.array("weights", (None, None))
        if 0 in weights.shape:
            source.refuse("weights", "empty")
        feature_map = FourierMap(weights, source.array("phases", weights.shape[:1]))
    elif kind == "identity":
        feature_map = IdentityMap(source.count("n_inputs", least=1))
    elif kind == "chebyshev":
        degree = source.count("degree", least=1, most=MOST_DEGREE)
        feature_map = ChebyshevMap(source.count("n_inputs", least=1), degree)
    else:
        feature_map = _read_labels(source)
    source.close()
    return feature_map


def write_standardizer(sink: Sink, standardizer: Standardizer) -> None:
    """Write a standardiser."""
    if type(standardizer) is CausalStandardizer:
        sink.put("kind", _caution(standardizer) + "causal")
        _write_causal(sink, standardizer)
    elif type(standardizer) is WindowStandardizer:
        sink.put("kind", _caution(standardizer) + "window")
        sink.put("window", standardizer.window)
        _write_window(sink, standardizer)
    elif type(standardizer) is FrozenStandardizer:
        sink.put("kind", "frozen")
        sink.array("mean", standardizer.mean)
        sink.array("divisor", standardizer.divisor)
    elif type(standardizer) is NoStandardizer:
        sink.put("kind", "none")
    elif type(standardizer) is SparseStandardizer:
        sink.put("kind", _caution(standardizer) + "sparse")
        _write_rule(sink, standardizer.rule)
        for name in (*SPARSE, "counts"):
            sink.array(name, getattr(standardizer, name))
    else:
        raise no_form(standardizer, "use one of okspca.standardize, or pickle the model")


def read_standardizer(source: Source) -> Standardizer:
    """Read a standardiser."""
    kind = source.text("kind", STANDARDIZERS)
    cautious, kind = kind.startswith(CAUTIOUS), kind.removeprefix(CAUTIOUS)
    standardizer: Standardizer
    if kind == "causal":
        standardizer = _read_causal(source, cautious)
    elif kind == "window":
        standardizer = _read_window(source, cautious)
    elif kind == "frozen":
        mean = source.array("mean", (None,))
        standardizer = FrozenStandardizer(mean, source.array("divisor", mean.shape))
    elif kind == "sparse":
        standardizer = _read_sparse(source, cautious)
    else:
        standardizer = NoStandardizer()
    source.close()
    return standardizer


def _caution(standardizer: RunningStandardizer) -> str:
    """What the kind of a standardiser begins with; its rule must be one that can be written."""
    rule = standardizer.rule
    if rule == rule.plain:
        return ""
    if rule == rule.cautious:
        return CAUTIOUS
    raise no_form(rule, "use a plain or a cautious VarianceRule, or pickle the model")


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
