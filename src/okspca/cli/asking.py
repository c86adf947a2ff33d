"""What commands that ask a saved model have in common.  Needs pyarrow where files are read."""

from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from okspca.cli.stopping import stop
from okspca.diagnostics.shown import text_table
from okspca.estimators import OKSPCA
from okspca.estimators.saving import load_model
from okspca.files.reading import Reading

__all__ = ["named", "needs_files", "opened", "plain", "text_table"]


def needs_files() -> None:
    """Say how to get what reads files, where it is missing."""
    try:
        import_module("pyarrow")
    except ImportError:
        stop("Reading files needs pyarrow: pip install 'okspca[files]'")


def opened(path: Path, inputs: list[str], reading: Reading, most: int) -> tuple[OKSPCA, Any]:
    """Load a model and rows as it sees them, which are none where no files are named."""
    needs_files()
    model, record = load_model(OKSPCA, path)
    asked = import_module("okspca.files.asked_rows")
    if not inputs:
        return model, asked.no_rows(model, record)
    return model, asked.rows_for(model, record, inputs, reading, most)


def named(told: Any, found: Any) -> Any:
    """Give inputs the names they have in files."""
    return replace(told, inputs=tuple(found.names)) if found.names else told


def plain(told: Any) -> dict[str, Any]:
    """A result as plain JSON; what is not known is None."""
    return {name: _plain(value) for name, value in asdict(told).items()}


def _plain(value: Any) -> Any:
    """Arrays as lists, numbers as numbers."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return None if isinstance(value, float) and not np.isfinite(value) else value
