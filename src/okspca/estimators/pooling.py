"""What two models must have in common to be pooled; a refusal names the part that differs.

Three things are compared: the *schema* (number and names of inputs, task, kind of labels), the
*parameters* that give the sums or the answer their meaning, and, in :mod:`okspca.pipeline.merging`,
the *maps* and standardisers by their content.
"""

from typing import Any

from okspca.errors import MergeError
from okspca.estimators.intake import Intake

#: Parameters that decide what is summed or what is answered.  How rows are standardised and mapped
#: is compared by content, and how a moment is stored (``compress``) may differ.
COMPARED = (
    "n_components",
    "objective",
    "ridge",
    "class_weighting",
    "target_features",
    "forgetting",
    "align",
)


def check_same_kind(mine: Any, theirs: Any, intakes: tuple[Intake, Intake]) -> None:
    """Raise where the schema or a parameter of two models differs."""
    if type(mine) is not type(theirs):
        raise _refusal("estimator", type(mine).__name__, type(theirs).__name__)
    check_schema(mine, theirs, intakes)
    for name in COMPARED:
        here, there = getattr(mine, name), getattr(theirs, name)
        if here != there:
            raise _refusal(f"parameter {name}", here, there)


def check_schema(mine: Any, theirs: Any, intakes: tuple[Intake, Intake]) -> None:
    """Raise where two models, or surveys, are about other columns or another kind of target."""
    if mine.n_features_in_ != theirs.n_features_in_:
        raise _refusal("schema", f"{mine.n_features_in_} inputs", f"{theirs.n_features_in_}")
    here, there = (list(getattr(model, "feature_names_in_", ())) for model in (mine, theirs))
    if here != there:
        raise _refusal("schema (feature names)", here or "none", there or "none")
    named = [_target_of(intake) for intake in intakes]
    if named[0] != named[1]:
        raise _refusal("schema (task, kind of labels or number of outputs)", *named)


def _target_of(intake: Intake) -> str:
    """Describe the kind of a target."""
    if intake.labels is None:
        return f"{intake.task} of {intake.n_outputs} outputs"
    return f"{intake.task} of labels that are {intake.label_kind}"


def _refusal(part: str, here: object, there: object) -> MergeError:
    """Make the error for a part that differs."""
    return MergeError(f"The models differ in their {part}: {here} here, {there} there.")
