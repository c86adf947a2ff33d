"""Options of `okspca fit` that stand for parameters of a model: how each is typed, and its default.

The command line, resumed runs and the report read this one table.
"""

from typing import Any, NamedTuple

COUNT, NUMBER, WORD, NUMBER_OR_WORD, SWITCH = "count", "number", "word", "number or word", "switch"
COUNT_OR_WORD = "count or word"
#: What stands for Python's None on the command line.
NONE = "none"


class Option(NamedTuple):
    """One option.

    Attributes
    ----------
    flag : str
        How it is typed; a switch can be typed with ``--no-`` too.
    kind : str
        What its value is.
    default : int, float, str, bool or None
        Its value where it is not given.
    told : str
        What it is for.
    least, most : int, optional
        Limits of a count.
    """

    flag: str
    kind: str
    default: Any
    told: str
    least: int | None = None
    most: int | None = None


#: By the name of the parameter, in the order of `okspca fit --help`.
OPTIONS: dict[str, Option] = {
    "preset": Option(
        "--preset",
        WORD,
        "predictive",
        "predictive (whitened, trained features) or paper (the paper's objective).",
    ),
    "n_components": Option(
        "--components",
        COUNT_OR_WORD,
        2,
        "Columns of the embedding: a number, auto (chosen by rows held back) or none (one less "
        "than classes, or one per number of the response).",
    ),
    "task": Option("--task", WORD, "auto", "auto, classification or regression."),
    "n_random_features": Option(
        "--random-features", COUNT, 256, "Features of the inputs.", least=1
    ),
    "bandwidth": Option(
        "--bandwidth",
        NUMBER_OR_WORD,
        "sqrt-dim",
        "Of the input kernel: sqrt-dim, median, auto (chosen by rows held back) or a number.",
    ),
    "kernel": Option(
        "--kernel", WORD, "gaussian", "gaussian, laplacian, matern12, matern32 or matern52."
    ),
    "sampling": Option(
        "--sampling",
        WORD,
        "plain",
        "How features are drawn: plain, orthogonal or structured (quick for many inputs).",
    ),
    "objective": Option(
        "--objective", WORD, "auto", "auto (as the preset says), covariance or whitened."
    ),
    "frequencies": Option(
        "--frequencies", WORD, "auto", "auto (as the preset says), drawn, scaled, mixed or trained."
    ),
    "pilot_rows": Option(
        "--pilot-rows", COUNT, 8192, "First rows that frequencies are learned from.", least=1
    ),
    "relearn": Option(
        "--relearn", WORD, "never", "When features are learned again: never or on-drift."
    ),
    "ridge": Option(
        "--ridge", NUMBER_OR_WORD, "auto", "Of the whitened objective: auto or a number."
    ),
    "class_weighting": Option(
        "--class-weighting",
        WORD,
        "squared",
        "Of the whitened objective: squared, proportional or balanced.",
    ),
    "target_features": Option(
        "--target-features",
        WORD,
        "auto",
        "Of a number: auto (as the objective says), fourier, response, chebyshev or raw.",
    ),
    "n_target_features": Option(
        "--n-target-features",
        COUNT,
        None,
        "Number of fourier target features; as many as --random-features.",
        least=1,
    ),
    "target_bandwidth": Option(
        "--target-bandwidth",
        NUMBER_OR_WORD,
        1.0,
        "Of the target kernel: sqrt-dim, median or a number.",
    ),
    "standardize": Option("--standardize", WORD, "causal", "causal, frozen or none."),
    "variance_floor": Option(
        "--variance-floor",
        NUMBER_OR_WORD,
        "relative",
        "Least variance that is scaled: relative, paper or a number.",
    ),
    "forgetting": Option("--forget", NUMBER, 1.0, "Factor by which the past fades per row."),
    "window": Option("--window", COUNT, None, "Learn from so many last rows only.", least=1),
    "forget_standardizers": Option(
        "--forget-standardizers", SWITCH, True, "Whether standardisers fade too."
    ),
    "align": Option("--align", SWITCH, False, "Keep embeddings turned alike while rows come."),
    "compress": Option(
        "--compress", SWITCH, True, "Store the moment of a number in the directions it uses."
    ),
    "missing": Option(
        "--missing", WORD, "raise", "What is done about missing values: raise, skip or impute."
    ),
    "missing_indicators": Option(
        "--missing-indicators", SWITCH, False, "Take whether a value is missing as an input too."
    ),
    "solver": Option("--solver", WORD, "exact", "How a basis is supplied."),
    "stability": Option("--stability", COUNT, 0, "Sub-moments for an error estimate, or 0."),
    "n_threads": Option("--threads", COUNT, 1, "Cores that long blocks may use.", least=1),
    "random_state": Option("--seed", COUNT, 0, "Seed of the features.", least=0, most=2**32 - 1),
}
#: Defaults that differ from those of the class.
DEFAULTS: dict[str, Any] = {name: OPTIONS[name].default for name in ("preset", "random_state")}


def value_of(name: str, typed: Any) -> Any:
    """Return the value of a parameter from what was typed.

    Examples
    --------
    >>> value_of("n_components", "4"), value_of("n_components", "auto")
    (4, 'auto')
    >>> value_of("bandwidth", "2.5"), value_of("bandwidth", "median"), value_of("ridge", "auto")
    (2.5, 'median', 'auto')
    """
    kind = OPTIONS[name].kind
    if kind == WORD or (kind == COUNT_OR_WORD and typed == NONE):
        return None if typed == NONE else typed
    if kind not in (NUMBER_OR_WORD, COUNT_OR_WORD):
        return typed
    try:
        return int(typed) if kind == COUNT_OR_WORD else float(typed)
    except ValueError:
        return typed


def words_of(name: str, value: Any) -> list[str]:
    """Return what is typed to give a parameter a value.

    Examples
    --------
    >>> words_of("random_state", 3), words_of("align", False), words_of("standardize", None)
    (['--seed', '3'], ['--no-align'], ['--standardize', 'none'])
    """
    flag, kind = OPTIONS[name].flag, OPTIONS[name].kind
    if kind == SWITCH:
        return [flag if value else off(flag)]
    return [flag, NONE if value is None else str(value)]


def off(flag: str) -> str:
    """How a switch is turned off.

    Examples
    --------
    >>> off("--align")
    '--no-align'
    """
    return f"--no-{flag.removeprefix('--')}"
