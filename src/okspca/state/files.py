"""Files of models: written by the rule of :mod:`okspca.outputs`, with the one before kept.

The model that was replaced last stays beside the new one under the name :func:`previous` gives.
"""

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from okspca.errors import StateError
from okspca.outputs import Kind, PathLike, check, holds, part_of, remove, replacing
from okspca.state.container import LENGTH_BYTES, check_start, is_model

MODEL = Kind("a model", is_model, "pass overwrite=True to replace it")


def previous(path: Path) -> Path:
    """Where the model that was replaced last is kept.

    Examples
    --------
    >>> previous(Path("model.okspca")).name
    'model.okspca.previous'
    """
    return path.with_name(path.name + ".previous")


def read(path: Path) -> bytes:
    """Read a file whose size and first bytes allow it to be a model."""
    # Not blocking: opening a pipe without a writer would wait for ever.
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            message = "it is not a regular file."
            raise StateError(message)
        start = file.read(LENGTH_BYTES + 1)
        check_start(start, status.st_size)
        return start + file.read(status.st_size - len(start))


def check_place(
    path: Path, inputs: Iterable[PathLike] = (), kind: Kind = MODEL, *, overwrite: bool = False
) -> None:
    """Raise where a model must not be written, or the one before it not be kept."""
    inputs = tuple(inputs)
    for place in (path, previous(Path(os.path.realpath(path)))):
        check(place, kind, inputs, overwrite=overwrite)


def write(path: Path, data: bytes, *, overwrite: bool = False) -> None:
    """Replace a model as a whole and keep the one that was there."""
    check_place(path, overwrite=overwrite)
    with replacing(path, MODEL, overwrite=overwrite, keep=_keep) as file:
        file.write(data)


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _keep(path: Path) -> None:
    """Give the present model its second name; at no time is the first one missing."""
    if not path.exists() or not holds(path, MODEL):
        return
    spare = _linked(path) or _copied(path)
    try:
        os.replace(spare, previous(path))
    finally:
        remove(spare)


def _linked(path: Path) -> str | None:
    """A link to a file under a name that nobody can foresee; None where there are no links."""
    spare = path.with_name(f"{part_of(path)}{secrets.token_hex(8)}.kept")
    with contextlib.suppress(OSError):
        os.link(path, spare)
        return str(spare)
    return None


def _copied(path: Path) -> str:
    """A copy of a file, in a new file."""
    handle, spare = tempfile.mkstemp(prefix=part_of(path), suffix=".part", dir=path.parent)
    try:
        with open(handle, "wb") as copy, path.open("rb") as file:
            shutil.copyfileobj(file, copy)
        shutil.copymode(path, spare)
    except BaseException:
        remove(spare)
        raise
    return spare
