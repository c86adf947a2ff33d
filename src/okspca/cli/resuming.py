"""What a resumed `okspca fit` was given, beside what its file says; who contradicts it is told."""

from pathlib import Path
from typing import Any, NoReturn

from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.estimators.presets import AUTO, frequencies_of, objective_of, target_features_of
from okspca.files.fit_options import OPTIONS, words_of
from okspca.state.streams import ONE_HOT, StreamRecord

#: Fields of the record that are given on the command line, with what is typed for them.
FLAGS = {
    "inputs": "",
    "target": "--target ",
    "columns": "--columns ",
    "missing": "--missing ",
    "encodings": "--one-hot ",
}
#: Parameters for which "auto" asks for nothing in particular.
RESOLVED = ("objective", "frequencies", "target_features", "task")
#: Parameters on which no result depends.
FREE = ("n_threads",)


def check_settings(out: Path, model: OKSPCA, given: dict[str, Any]) -> None:
    """Raise for an option that is not what the model in a file was made with.

    Those on which no result depends are taken over.
    """
    stored = settings_of(model)
    for name, value in given.items():
        if name in FREE:
            setattr(model, name, value)
        elif value != stored[name] and not (value == AUTO and name in RESOLVED):
            had = " ".join(words_of(name, stored[name]))
            if stored[name] is None and OPTIONS[name].default is None:
                had = f"no {OPTIONS[name].flag}"
            _refuse(out, " ".join(words_of(name, value)), had)


def settings_of(model: OKSPCA) -> dict[str, Any]:
    """What a model was made with: its parameters, with the preset and the task resolved."""
    aims = {"objective": objective_of(model), "frequencies": frequencies_of(model)}
    aims["target_features"] = target_features_of(model)
    aims["task"] = model.task if model.learned is None else model.task_
    return model.get_params(deep=False) | aims


def check_reading(out: Path, record: StreamRecord, wanted: StreamRecord) -> None:
    """Raise where a run would read other inputs, columns or values than the file's did."""
    if not record.inputs:
        message = f"{out} was merged from several models, so it has no place to go on from."
        raise DataError(message)
    for name, flag in FLAGS.items():
        had, given = getattr(record, name), getattr(wanted, name)
        if had != given:
            _refuse(out, flag + _listed(given), flag + _listed(had))
    if wanted.evaluation is not None and record.evaluation is None:
        _refuse(out, "--evaluate", "no --evaluate")


def _listed(value: Any) -> str:
    """Say a value in words; of encodings, how many values the longest list keeps."""
    if isinstance(value, str):
        return value
    if any(isinstance(one, str) for one in value):
        return ", ".join(value)
    return str(max((len(one.categories) for one in value if one.kind == ONE_HOT), default=0))


def _refuse(out: Path, given: str, had: str) -> NoReturn:
    message = (
        f"{given} was given, but {out} was fitted with {had}; "
        "resume without that option, or choose another --out."
    )
    raise DataError(message)
