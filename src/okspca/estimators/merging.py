"""What two models must have in common to be merged; a refusal names the part that differs.

Three things are compared: the *schema* (number and names of inputs, task, kind of labels), the
*parameters* that give the sums or the answer their meaning, and, in :mod:`okspca.pipeline.merging`,
the *maps* and standardisers by their content.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any

from okspca.errors import MergeError
from okspca.estimators.ancestry import ANCESTRY, merged_ancestry
from okspca.estimators.fitted import FittedAttributes
from okspca.estimators.intake import Intake
from okspca.estimators.learned import SEARCH, Record
from okspca.estimators.map_search import MapSearch, is_searching
from okspca.estimators.preparing import PREPARATION, Preparation
from okspca.estimators.presets import objective_of
from okspca.features import OneHotMap
from okspca.pipeline import Pipeline, PipelineState
from okspca.pipeline.merging import check_merge, check_precision, merge

#: Parameters that decide what is summed or what is answered.  How rows are standardised and mapped
#: is compared by content, and how a moment is stored (``compress``) may differ.  The objective is
#: compared too, whether given or told by a preset.
COMPARED = (
    "n_components",
    "ridge",
    "class_weighting",
    "forgetting",
    "align",
)


def merged_record(
    model: FittedAttributes,
    other: FittedAttributes,
    companions: Callable[[PipelineState, PipelineState], dict[str, Any]],
    *,
    distinct: bool = False,
) -> Record:
    """Merge what two models have learned; neither changes.

    ``companions`` says what two merged pipelines are accompanied by; ``distinct``, that the rows of
    both are known to be different, so that nobody has to look or to remember.
    """
    mine, theirs = model.ready().state, other.ready().snapshot()
    record, their_record = model.learned, other.learned
    assert record is not None
    assert their_record is not None
    check_same_kind(model, other, (record, their_record))
    preparations = _preparations(mine, theirs)
    preparations[0].check_same_text(preparations[1], record.columns.called)
    searches: list[MapSearch | None] = [state.companions.get(SEARCH) for state in (mine, theirs)]
    check_found(searches)
    check_merge(mine, theirs)
    ancestry = () if distinct else merged_ancestry(mine, theirs)
    merged = copy.deepcopy(mine)
    merge(merged, theirs)
    merged.companions = {**merged.companions, **companions(mine, theirs)}
    here, there = searches
    if here is not None and there is not None:
        merged.companions = {**merged.companions, SEARCH: here.merged(there)}
    if ancestry:
        merged.companions = {**merged.companions, ANCESTRY: ancestry}
    prepared = _merged_preparation(mine, theirs)
    if prepared is not None:
        merged.companions = {**merged.companions, PREPARATION: prepared}
    intake = copy.copy(record.intake)
    if isinstance(merged.target_map, OneHotMap):
        intake.labels = merged.target_map
    return record._replace(intake=intake, pipeline=Pipeline(merged), pilot=None)


def check_found(searches: Sequence[MapSearch | None]) -> None:
    """Raise where the map of a model may still change."""
    for search in searches:
        if search is not None and search.began_at and not search.is_final:
            message = (
                "A model is learning its features again, and its map may change; merge it once "
                f"the fresh pilot has ended, in {search.n_awaited:,} rows."
            )
            raise MergeError(message)
        if is_searching(search):
            message = (
                "A model is still finding out which inputs matter; merge models that share "
                "an input_map, learned with frequencies='drawn' (okspca fit --frequencies drawn)."
            )
            raise MergeError(message)


def _merged_preparation(mine: PipelineState, theirs: PipelineState) -> Preparation | None:
    """How rows of both are completed."""
    if not any(PREPARATION in state.companions for state in (mine, theirs)):
        return None
    here, there = _preparations(mine, theirs)
    return here.merged(there)


def _preparations(mine: PipelineState, theirs: PipelineState) -> list[Preparation]:
    """How rows of each are completed."""
    return [state.companions.get(PREPARATION, Preparation()) for state in (mine, theirs)]


def check_same_kind(mine: Any, theirs: Any, records: tuple[Record, Record]) -> None:
    """Raise where the schema or a parameter of two models differs."""
    if type(mine) is not type(theirs):
        raise _refusal("estimator", type(mine).__name__, type(theirs).__name__)
    check_schema(*records)
    aims = {"objective": (objective_of(mine), objective_of(theirs))}
    values = aims | {name: (getattr(mine, name), getattr(theirs, name)) for name in COMPARED}
    for name, (here, there) in values.items():
        if here != there:
            raise _refusal(f"parameter {name}", here, there)


def check_schema(mine: Record, theirs: Record) -> None:
    """Raise where two models, or surveys, are about other columns or another kind of target."""
    if mine.columns.n != theirs.columns.n:
        raise _refusal("schema", f"{mine.columns.n} inputs", f"{theirs.columns.n}")
    check_precision(mine.columns.precision, theirs.columns.precision)
    here, there = (record.columns.listed for record in (mine, theirs))
    if here != there:
        raise _refusal("schema (feature names)", here or "none", there or "none")
    named = [_target_of(record.intake) for record in (mine, theirs)]
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
