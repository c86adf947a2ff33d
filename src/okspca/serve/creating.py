"""Models that a service makes: from settings, or from a file that was saved elsewhere."""

import os
import shutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from okspca.errors import StateError
from okspca.estimators.parameters import check_parameters
from okspca.estimators.saving import any_model_from, save_model
from okspca.outputs import flush_folder
from okspca.serve.learner import MODEL_FILE
from okspca.serve.refusals import malformed, unlearnable
from okspca.serve.rows import CLASSIFICATION, name_of, names_of, printed
from okspca.state.ledger import Ledger
from okspca.state.streams import NUMBER, StreamRecord

#: What people call estimators here.
KINDS = {"classifier": "OKSPCAClassifier", "regressor": "OKSPCARegressor", "reducer": "OKSPCA"}
#: What suits a model that is asked while it learns.
DEFAULTS: dict[str, Any] = {"align": True, "random_state": 0}
OF_HEADS: dict[str, Any] = {"prequential": True}
OF_REDUCERS: dict[str, Any] = {"preset": "predictive"}
KNOWN = ("kind", "settings", "columns", "target", "monitor")
#: What settings may ask for at most: products of features with themselves are kept and decomposed.
MOST: dict[str, int] = {
    "n_components": 256,
    "n_random_features": 4096,
    "n_target_features": 4096,
    "pilot_rows": 100_000,
    "window": 1_000_000_000,
    "max_categories": 1000,
    "n_threads": 64,
}
SEEDS = 1 << 32
#: Numbers of a map, which has one for each feature and input.
MOST_NUMBERS = 1 << 26


def made(asked: Any) -> tuple[Any, StreamRecord]:
    """Make a model as somebody asks for it.

    Examples
    --------
    >>> model, record = made({"kind": "regressor", "settings": {"n_components": 1}})
    >>> model.n_components, record.target
    (1, 'y')
    """
    kind = asked.get("kind") if isinstance(asked, dict) else None
    if not isinstance(kind, str) or kind not in KINDS or set(asked) - set(KNOWN):
        message = (
            f"A model is made of {', '.join(KNOWN)}; kind is one of {', '.join(KINDS)}, "
            "and all others may be left out."
        )
        raise malformed(message)
    columns, target = _columns_of(asked), name_of(asked.get("target", "y"), "target")
    if target in columns:
        message = f"The target {printed(target)} is among the columns."
        raise malformed(message)
    monitor = asked.get("monitor", False)
    if not isinstance(monitor, bool):
        message = "monitor must be true or false."
        raise malformed(message)
    settings = asked.get("settings")
    model = _estimator(kind, {} if settings is None else settings)
    if len(columns) > most_inputs(model):
        message = f"There are {len(columns)} columns; this model can have {most_inputs(model)}."
        raise unlearnable(message)
    ledger = Ledger(n_inputs=len(columns), is_monitored=monitor)
    return model, StreamRecord((), target, columns, model.missing, ledger=ledger)


def _columns_of(asked: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the inputs, if they are given."""
    columns = asked.get("columns")
    given = [] if columns is None else columns
    are_names = isinstance(given, list) and all(isinstance(name, str) for name in given)
    if not are_names or len(set(given)) < len(given):
        message = "columns must be a list of different names."
        raise malformed(message)
    return names_of(given, MOST_NUMBERS)


def most_inputs(model: Any) -> int:
    """How many inputs a model can have, so that its map has a bounded size."""
    return MOST_NUMBERS // int(model.n_random_features)


def _estimator(kind: str, settings: Mapping[str, Any]) -> Any:
    """Make an estimator with plain settings."""
    plain = isinstance(settings, dict) and all(
        value is None or isinstance(value, bool | int | float | str) for value in settings.values()
    )
    if not plain:
        message = "settings must be an object of numbers, words and switches."
        raise malformed(message)
    own = OF_REDUCERS if kind == "reducer" else OF_HEADS
    estimator = getattr(import_module("okspca.estimators"), KINDS[kind])
    try:
        model = estimator(**{**DEFAULTS, **own, **settings})
        check_parameters(model)
    except (TypeError, ValueError, ArithmeticError) as failure:
        message = f"These settings make no model: {one_line(str(failure))}"
        raise unlearnable(message) from failure
    _check_can_be_served(model)
    return model


def _check_can_be_served(model: Any) -> None:
    """Refuse models that another process could not make again, or that read text."""
    if model.task == "auto":
        message = 'settings need a task: "classification" or "regression".'
        raise unlearnable(message)
    seed = model.random_state
    if not isinstance(seed, int) or not 0 <= seed < SEEDS:
        message = (
            f"settings need a random_state, a whole number from 0 to {SEEDS - 1}, so that a replay "
            "draws the same."
        )
        raise unlearnable(message)
    if model.categories != "raise":
        message = "A service reads numbers; encode text before it is sent."
        raise unlearnable(message)
    check_sizes(model)


def check_sizes(model: Any) -> None:
    """Refuse settings that would take more than a service has, as soon as rows come."""
    for name, most in MOST.items():
        value = getattr(model, name)
        if isinstance(value, int) and value > most:
            message = f"{name} is {printed(value)}, but a service takes {most} at most."
            raise unlearnable(message)


def loaded(data: bytes) -> tuple[Any, StreamRecord]:
    """Take a model from the bytes of a file."""
    try:
        model, record = any_model_from(data)
    except StateError as failure:
        message = f"This is no model that can be loaded: {one_line(str(failure))}"
        raise malformed(message) from failure
    learned = model.learned
    if learned is None or learned.intake.task is None:
        _check_can_be_served(model)
        return model, StreamRecord((), "y", (), model.missing, ledger=Ledger())
    if learned.pipeline is None:
        check_sizes(model)
    if record is not None and any(each.kind != NUMBER for each in record.encodings):
        message = "The model reads dates or text; a service reads numbers."
        raise unlearnable(message)
    if learned.preparation is not None and learned.preparation.reads_text:
        message = "The model reads text; a service reads numbers."
        raise unlearnable(message)
    if "task" in model.get_params(deep=False):
        model.set_params(task=learned.intake.task)
    columns = tuple(map(str, record.columns if record is not None else learned.columns.listed))
    target = "y" if record is None else record.target
    return model, StreamRecord((), target, columns, model.missing, ledger=_ledger_of(model))


def _ledger_of(model: Any) -> Ledger:
    """What a model that has learned already tells about its rows."""
    intake = model.learned.intake
    ledger = Ledger(n_inputs=model.learned.columns.n)
    if intake.task == CLASSIFICATION:
        ledger.label_kind = intake.label_kind or ""
        ledger.labels = dict.fromkeys(model.classes_.tolist())
    else:
        ledger.n_outputs = intake.n_outputs or 0
    ledger.is_monitored = model.learned.live is not None
    return ledger


def one_line(text: str) -> str:
    """A sentence that may hold what somebody sent, as a line of bounded length."""
    return " ".join(text.split())[:500]


def task_of(model: Any) -> str:
    """What the targets of a model are."""
    return str(model.task)


def begun(folder: Path, model: Any, record: StreamRecord) -> None:
    """Make the folder of a model; it is there as a whole or not at all."""
    fresh = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    save_model(model, fresh / MODEL_FILE, record)
    os.rename(fresh, folder)
    flush_folder(folder.parent)


def removed(folder: Path) -> None:
    """Remove the folder of a model, as a whole even if the process ends on the way."""
    gone = folder.with_name(f".{folder.name}.gone")
    shutil.rmtree(gone, ignore_errors=True)
    os.rename(folder, gone)
    flush_folder(folder.parent)
    shutil.rmtree(gone, ignore_errors=True)
