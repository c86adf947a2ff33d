"""Files that are whole or absent: written beside, flushed to the disk, then renamed into place.

Whatever interrupts :func:`write`, the path holds either the old file or the new one.  The file that
was there before stays beside it under the name :func:`previous` gives.  A process that is killed
while it writes leaves a part of a file behind; a later write removes such parts.
"""

import contextlib
import glob
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

from okspca.errors import StateError
from okspca.state.container import LENGTH_BYTES, check_start

NEW_FILE_MODE = 0o666
#: Parts of files that are older than this, in seconds, were left by a process that was killed.
ABANDONED = 3600.0


def previous(path: Path) -> Path:
    """Where the file that was replaced last is kept.

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


def write(path: Path, data: bytes) -> None:
    """Replace a file as a whole and keep the one that was there."""
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise IsADirectoryError(None, "Is a directory")
    temporary = _written_beside(path, data)
    try:
        if path.exists():
            _keep(path)
        os.replace(temporary, path)
    except BaseException:
        _remove(temporary)
        raise
    _flush_folder(path.parent)
    _remove_abandoned(path)


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _written_beside(path: Path, data: bytes) -> str:
    """Write a new file in the same folder, flushed to the disk, and return its name."""
    handle, temporary = tempfile.mkstemp(prefix=_part(path), suffix=".part", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode_for(path))
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _mode_for(path: Path) -> int:
    """Permissions of the file that is there, or those of any new file."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return NEW_FILE_MODE & ~mask


def _keep(path: Path) -> None:
    """Give the present file its second name; at no time is the first one missing."""
    spare = path.with_name(f".{path.name}.{os.getpid()}.kept")
    _remove(spare)
    try:
        try:
            os.link(path, spare)
        except OSError:  # a file system without links
            shutil.copy2(path, spare)
        os.replace(spare, previous(path))
    finally:
        _remove(spare)


def _remove(path: str | Path) -> None:
    """Delete a file if it is there."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _remove_abandoned(path: Path) -> None:
    """Delete what killed processes left of earlier writes; one that still writes is younger."""
    oldest = time.time() - ABANDONED
    with contextlib.suppress(OSError):  # they are in nobody's way
        for part in path.parent.glob(f"{glob.escape(_part(path))}*.part"):
            if part.stat().st_mtime < oldest:
                _remove(part)


def _part(path: Path) -> str:
    """How the name of a file begins that is not whole yet."""
    return f".{path.name}."


def _flush_folder(folder: Path) -> None:
    """Make the renaming itself survive a power cut, where folders can be flushed."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
