"""Does the reduction help, by how much, and is the number of components enough?  In words.

A score counts as better than another where it is so by three standard errors and by half a percent;
all else is called the same, so that nothing is claimed from noise.
"""

from typing import NamedTuple

from okspca.estimators import OKSPCA
from okspca.estimators.presets import objective_of, target_in_words
from okspca.features import OneHotMap
from okspca.files.comparison import ACCURACY, Entry, Gap, Scores
from okspca.files.evaluating import more_columns

ERRORS, LEAST = 3.0, 0.005
#: A gain of more components that is worth a word, and one that is a loss if it is not had.
WORTH, MUCH = 0.02, 0.05
#: Scores above, and differences below, that take a digit more.
NEAR_ALL, CLOSE = 0.95, 0.02
#: From this share of one class on, other classes are rare.
ONE_SIDED = 0.95
NOT_EVALUATED = (
    "Whether this reduction helps is not known: the model was fitted without an evaluation. "
    "Fit it with okspca fit --evaluate, or give rows that it has not seen to "
    "okspca report --held-out."
)
NOT_SCORED = "Whether this reduction helps is not known yet: no row was scored so far."
PAPER, PREDICTIVE = "the paper's objective", "the whitened objective"


class Setting(NamedTuple):
    """What the words of a verdict need to know about a model.

    Attributes
    ----------
    target : str
        What the target is called.
    k, n_inputs, most : int
        Components that the model delivers, inputs with indicators of missing values, and components
        that the target has at most.
    asked, n_classes : int
        Components asked for, where those are more, and classes of the target, where it has some.

    Examples
    --------
    >>> Setting("price", 2, 8, 30).components
    '2 components'
    """

    target: str
    k: int
    n_inputs: int
    most: int
    asked: int = 0
    n_classes: int = 0

    @property
    def components(self) -> str:
        """How many components, in words."""
        return _counted(self.k, "component")

    @property
    def of_pca(self) -> str:
        """How many components PCA and PLS have: as many as were asked for, if there are."""
        return _counted(min(max(self.asked, self.k), self.n_inputs), "component")

    @property
    def of_lda(self) -> str:
        """How many components LDA has: fewer than there are classes."""
        most = min(self.n_inputs, self.n_classes - 1 if self.n_classes else self.n_inputs)
        return _counted(max(min(max(self.asked, self.k), most), 1), "component")


def setting_of(model: OKSPCA, target: str) -> Setting:
    """What a verdict on a model needs to know."""
    most = model.ready().read(lambda state: more_columns(state).shape[1])
    asked, labels = model.n_components_, model.target_map_
    n_classes = labels.n_features if isinstance(labels, OneHotMap) else 0
    delivered = min(asked, model.basis().rank or asked)
    return Setting(target, delivered, model.input_map_.n_inputs, max(most, 1), asked, n_classes)


def verdict(found: Scores | None, model: OKSPCA, target: str) -> str:
    """One plain sentence, and one on the number of components."""
    return NOT_SCORED if found is None else in_words(found, setting_of(model, target))


def in_words(found: Scores, setting: Setting) -> str:
    """The same from what was compared."""
    return f"{_opening(found, setting)}: {_figures(found, setting)}. {_enough(found, setting)}"


def other_words(found: Scores | None, model: OKSPCA) -> str:
    """Say which objective was used and what the other scores."""
    used = f"Objective: {target_in_words(model)}."
    other = None if found is None else found.entries.get("other")
    if found is None or other is None:
        return used
    name = PAPER if objective_of(model) == "whitened" else f"{PREDICTIVE} with learned frequencies"
    amount = _amount(found, other.score)
    if not _is_predictable(found):
        return f"{used} {name.capitalize()} predicts no better than a constant either."
    if _is_above(other.above_embedding):
        return f"{used} {name.capitalize()} would do better: {amount}."
    if _is_above(_turned(other.above_embedding)):
        return f"{used} {name.capitalize()} would do worse: {amount}."
    return f"{used} {name.capitalize()} would do the same: {amount}."


def method_names(found: Scores, setting: Setting) -> dict[str, str]:
    """What the methods are called in tables and sentences."""
    linear = f"LDA with {setting.of_lda}"
    if found.measure != ACCURACY:
        linear = f"PLS with {setting.of_pca}"
    guess = "always guessing the most frequent class"
    return {
        "embedding": f"the {setting.components} of this model",
        "inputs": f"all {_counted(setting.n_inputs, 'input')}, not reduced",
        "linear": linear,
        "pca": f"PCA with {setting.of_pca}",
        "constant": guess if found.measure == ACCURACY else "the mean so far",
        "other": "the other objective, same number of components",
        "features": "all random features of this model",
    }


def left_out(found: Scores) -> str:
    """Say what was not compared, and why; empty where all was."""
    told = []
    if "inputs" not in found.entries:
        told.append(
            "All inputs, PCA, LDA or PLS and the other objective were left out: they are compared "
            "up to 1,024 input columns."
        )
    elif "other" not in found.entries:
        told.append("The other objective was left out: these settings do not allow it.")
    if "features" not in found.entries:
        told.append("All features together were left out: they are compared up to 1,024.")
    return " ".join(told)


def _opening(found: Scores, setting: Setting) -> str:
    """Whether it helps, in a few words."""
    entries = found.entries
    rivals = {name: entries[name] for name in ("linear", "pca") if name in entries}
    if not _is_predictable(found):
        if any(_is_above(entry.skill_above_constant) for entry in entries.values()):
            return (
                f"No way to predict {setting.target!r} is right more often than always guessing "
                "the most frequent class, though the odds differ from row to row"
            )
        rare = ""
        if found.measure == ACCURACY and found.neither >= ONE_SIDED:
            rare = ", of which one value is so frequent that little is known of the others"
        return f"Nothing here predicts {setting.target!r} better than a constant{rare}"
    if not _is_above(entries["embedding"].above_constant):
        return f"The reduction predicts {setting.target!r} no better than a constant"
    ahead = [name for name, entry in rivals.items() if _is_above(entry.above_embedding)]
    if ahead:
        name = method_names(found, setting)[ahead[0]]
        return f"The reduction does not pay, since {name} predicts better"
    beaten = bool(rivals) and all(_is_above(_turned(e.above_embedding)) for e in rivals.values())
    return _beside_inputs(entries.get("inputs"), setting, beaten, has_rivals=bool(rivals))


def _beside_inputs(
    inputs: Entry | None, setting: Setting, beaten: bool, *, has_rivals: bool
) -> str:
    """Compare with the inputs, given how it does beside the classical reductions."""
    if inputs is None:
        return "The reduction helps, compared with a constant"
    if _is_above(_turned(inputs.above_embedding)):
        return "The reduction helps and predicts better than a linear model of all inputs"
    if _is_above(inputs.above_embedding):
        beside = "keeps more than the classical ones of its size" if beaten else "is small"
        return f"The reduction {beside}, but loses part of what the inputs tell"
    same = "keeps what the inputs tell"
    if has_rivals and not beaten:
        return f"The reduction {same}, as the classical one does"
    return f"The reduction helps and {same} in {setting.k} instead of {setting.n_inputs:,} numbers"


def _figures(found: Scores, setting: Setting) -> str:
    """The scores, in a sentence."""
    names, entries, s = method_names(found, setting), found.entries, "s" * (setting.k == 1)
    own, target = _amount(found, found.embedding), repr(setting.target)
    if found.measure == ACCURACY:
        first, last = f"{setting.components} predict{s} {target} right in {own} of rows", "constant"
    else:
        first, last = f"{setting.components} explain{s} {own} of the variance of {target}", ""
    names["inputs"] = f"a linear model of all {_counted(setting.n_inputs, 'input')} reaches"
    rest = [
        f"{names[name]} {_amount(found, entries[name].score)}"
        for name in ("inputs", "linear", "pca", last)
        if name in entries
    ]
    return f"{first}; {', '.join(rest)}" if rest else first


def _enough(found: Scores, setting: Setting) -> str:
    """Whether more components would help."""
    if not _is_predictable(found):
        return "More components would not change that."
    more = {k: entry for k, entry in found.levels.items() if k > setting.k}
    best = max((entry.score for entry in more.values()), default=found.embedding)
    gain = max(best - found.embedding, 0.0)
    near = [k for k, entry in more.items() if entry.score >= best - WORTH]
    if near and gain >= WORTH and _is_above(more[near[0]].above_embedding):
        number = min(near[0], max(setting.most, setting.k + 1))
        return f"More components would help: {number} reach {_amount(found, best)}."
    whole = found.entries.get("features")
    if whole is not None and whole.score - found.embedding >= gain + MUCH:
        return (
            f"More components of this objective would add {_points(gain)}, though all random "
            f"features together reach {_amount(found, whole.score)}."
        )
    for k, entry in found.levels.items():
        if k < setting.k and entry.score >= found.embedding - LEAST:
            return f"{_counted(k, 'component')} would do as well."
    are = "is" if setting.k == 1 else "are"
    return f"{setting.components} {are} enough: more would add {_points(gain)}."


def _is_predictable(found: Scores) -> bool:
    """Whether anything predicts better than a constant."""
    return any(
        _is_above(entry.above_constant)
        for entry in (*found.entries.values(), *found.levels.values())
    )


def _amount(found: Scores, score: float) -> str:
    """A score as people read it: percent, never rounded to all or nothing."""
    if found.measure != ACCURACY and score <= 0.0:
        return "0 %" if score > -LEAST else f"0 % (R² {score:.2f})"
    digits = 1 if score >= NEAR_ALL or _are_close(found) else 0
    shown = f"{100.0 * score:.{digits}f}"
    if score < 1.0 and float(shown) >= 100.0:
        shown = "more than 99.9"
    return f"{shown} %"


def _are_close(found: Scores) -> bool:
    """Whether a method differs from the embedding by so little that whole percents hide it."""
    gaps = [entry.above_embedding for entry in found.entries.values()]
    return any(
        abs(gap.size) < CLOSE and (_is_above(gap) or _is_above(_turned(gap))) for gap in gaps
    )


def _points(gain: float) -> str:
    """A small gain in words."""
    return "nothing" if gain < 0.001 else f"at most {max(100.0 * gain, 0.1):.1f} points"


def _is_above(gap: Gap) -> bool:
    """Whether a difference is more than noise and worth a word."""
    return gap.size > max(ERRORS * gap.error, LEAST)


def _turned(gap: Gap) -> Gap:
    """The difference the other way round."""
    return Gap(-gap.size, gap.error)


def _counted(number: int, thing: str) -> str:
    """A number of things."""
    return f"{number:,} {thing}{'s' * (number != 1)}"
