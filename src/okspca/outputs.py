"""Where results are written, and how: the one rule that everything which writes a file keeps.

*Where.*  Never over an input, by whatever name or link it goes, and never over anything that is not
a regular file.  A file that is there is replaced only by one of its own kind, told by its first
bytes, or if it is empty.  The null device takes everything and stays what it is.

*How.*  A new file is written beside, under a name that nobody can foresee, flushed to the disk and
then renamed: whatever happens on the way, a path holds the old file or the new one, whole.  A link
stays a link to the file that is replaced.  A process that is killed while it writes leaves a part
behind; a later write removes such parts.
"""

import contextlib
import errno
import glob
import io
import os
import re
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple, NoReturn, TextIO

PathLike = str | os.PathLike[str]
#: In place of a name: standard input among inputs, standard output for an output.
STANDARD = "-"
NEW_FILE_MODE = 0o666
#: As many bytes tell what a file holds.
START = 4096
#: Parts of files that are older than this, in seconds, were left by a process that was killed.
ABANDONED = 3600.0
#: Endings of files in the making, and what tells their age: a link has the time of the file that it
#: is a link to, and was itself made when that file's entry changed last.
PARTS = {".part": "st_mtime", ".kept": "st_ctime"}
#: Only writing can fail so; such an error of the system names no file.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_UMASK = threading.Lock()


class PlaceError(FileExistsError):
    """Something is in the way that must not be written over.

    Examples
    --------
    >>> print(PlaceError(errno.EEXIST, "it is an input", "rows.csv"))
    rows.csv cannot be written: it is an input.
    """

    def __str__(self) -> str:
        """Say it in a sentence, without the number of the error."""
        return f"{self.filename} cannot be written: {self.strerror}."


class Kind(NamedTuple):
    """What a file holds, told by its first bytes.

    Attributes
    ----------
    name : str
        What people call it, with its article.
    is_one : callable
        Whether a file that begins with these bytes is one.
    remedy : str
        What to do where something else is in the way.

    Examples
    --------
    >>> kind_of(Path("picture.png")).is_one(b"a,b")
    False
    """

    name: str
    is_one: Callable[[bytes], bool]
    remedy: str = "remove it, or choose another name"


def _begins(*beginnings: bytes) -> Callable[[bytes], bool]:
    """Make the test for files that begin in one of some ways."""
    return lambda start: start.lstrip(b"\xef\xbb\xbf \r\n").lower().startswith(beginnings)


def _is_drawing(start: bytes) -> bool:
    """Whether a file is SVG, which may begin like any other XML."""
    return _begins(b"<?xml", b"<svg")(start) and b"<svg" in start


PNG = Kind("a PNG picture", _begins(b"\x89png\r\n\x1a\n"))
SVG = Kind("an SVG drawing", _is_drawing)
PDF = Kind("a PDF file", _begins(b"%pdf-"))
HTML = Kind("an HTML page", _begins(b"<!doctype html", b"<html"))
PARQUET = Kind("a Parquet file", _begins(b"par1"))
ARROW = Kind("an Arrow file", _begins(b"arrow1"))
ARCHIVE = Kind("a packed file", _begins(b"pk\x03\x04"))
MARKED = (PNG, SVG, PDF, HTML, PARQUET, ARROW, ARCHIVE)


def _is_text(start: bytes) -> bool:
    """Whether a file is plain text: tables, notes and JSON have no mark of their own."""
    return b"\0" not in start and not any(kind.is_one(start) for kind in MARKED)


TEXT = Kind("a text file", _is_text)
ENDINGS = {
    ".png": PNG,
    ".svg": SVG,
    ".pdf": PDF,
    ".html": HTML,
    ".parquet": PARQUET,
    ".arrow": ARROW,
    ".feather": ARROW,
    ".npz": ARCHIVE,
}


def kind_of(path: Path) -> Kind:
    """Tell from the ending of a name what will be written there.

    Examples
    --------
    >>> kind_of(Path("index.html")).name, kind_of(Path("rows.csv")).name
    ('an HTML page', 'a text file')
    """
    return ENDINGS.get(path.suffix.lower(), TEXT)


def is_null(path: PathLike) -> bool:
    """Whether a path is the null device, where nothing is ever written.

    Examples
    --------
    >>> is_null(os.devnull), is_null("model.okspca")
    (True, False)
    """
    if os.fspath(path) == os.devnull:
        return True
    status = _status(path)
    null = _status(os.devnull)
    if status is None or null is None:
        return False
    devices = stat.S_ISCHR(status.st_mode) and stat.S_ISCHR(null.st_mode)
    return devices and status.st_rdev == null.st_rdev


def check(
    path: PathLike,
    kind: Kind | None = None,
    inputs: Iterable[PathLike] = (),
    *,
    overwrite: bool = False,
) -> None:
    """Raise where a file must not be written, before any work is done for it.

    Raises
    ------
    PlaceError
        Something is in the way; its ``filename`` and ``strerror`` say what.
    IsADirectoryError
        It is a folder.
    """
    if is_null(path):
        return
    status = _status(path)
    if status is None:
        return
    if any(os.path.samestat(status, other) for other in map(_input_status, inputs) if other):
        refuse(path, "it is an input, and an input is never written over")
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory", os.fspath(path))
    if not stat.S_ISREG(status.st_mode):
        refuse(path, "it is not a regular file, and only such are written over")
    kind = kind or kind_of(Path(path))
    if status.st_size and not overwrite and not holds(path, kind):
        refuse(path, f"it holds something else than {kind.name}; {kind.remedy}")


def check_folder(path: PathLike) -> None:
    """Raise where results cannot be put into a folder of this name."""
    if os.fspath(path) == STANDARD:
        refuse(path, "results go to a folder, not to standard output; name one")
    status = _status(path)
    if status is not None and not stat.S_ISDIR(status.st_mode):
        refuse(path, "it is not a folder")


def holds(path: PathLike, kind: Kind) -> bool:
    """Whether a regular file is of a kind."""
    with open(path, "rb") as file:
        return kind.is_one(file.read(START))


def refuse(path: PathLike, reason: str) -> NoReturn:
    """Raise because of what is in the way."""
    raise PlaceError(errno.EEXIST, reason, os.fspath(path))


def write(
    path: PathLike,
    content: str | bytes,
    kind: Kind | None = None,
    inputs: Iterable[PathLike] = (),
) -> None:
    """Write a whole file, or leave what was there.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder) / "note.txt", "all is well")
    ...     os.listdir(folder)
    ['note.txt']
    """
    with replacing(path, kind, inputs) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def replacing(
    path: PathLike,
    kind: Kind | None = None,
    inputs: Iterable[PathLike] = (),
    *,
    overwrite: bool = False,
    keep: Callable[[Path], None] = lambda _: None,
) -> Iterator[IO[bytes]]:
    """Open a new file that takes the place of ``path`` once it is whole.

    Parameters
    ----------
    path : path-like
        Where the result belongs.
    kind : Kind, optional
        What it is; by default, what its ending says.
    inputs : iterable of path-like
        What must not be written over.
    overwrite : bool
        Whether a file of another kind may be replaced.
    keep : callable
        Called with the real path just before the file there is replaced.
    """
    inputs = tuple(inputs)
    check(path, kind, inputs, overwrite=overwrite)
    if is_null(path):
        with open(os.devnull, "wb") as nothing:
            yield nothing
        return
    target = Path(os.path.realpath(path))
    with _told_of(path), _part_beside(target) as (handle, temporary):
        with open(handle, "wb") as file:
            yield file
            _finish(file)
        os.chmod(temporary, _mode_for(target))
        # Time has passed, and somebody may have put something else there.
        check(path, kind, inputs, overwrite=overwrite)
        keep(target)
        os.replace(temporary, target)
    flush_folder(target.parent)
    _remove_abandoned(target)


@contextlib.contextmanager
def replacing_text(path: PathLike) -> Iterator[TextIO]:
    """Open a text file, such as a table of values, that takes the place of ``path`` once whole."""
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()


@contextlib.contextmanager
def _part_beside(target: Path) -> Iterator[tuple[int, str]]:
    """Make a new file in the same folder; it is removed where it does not become the result."""
    handle, temporary = tempfile.mkstemp(prefix=part_of(target), suffix=".part", dir=target.parent)
    try:
        yield handle, temporary
    except BaseException:
        remove(temporary)
        raise


def _finish(file: IO[bytes]) -> None:
    """Bring everything to the disk."""
    file.flush()
    os.fsync(file.fileno())


@contextlib.contextmanager
def _told_of(path: PathLike) -> Iterator[None]:
    """Let errors of the system name the file that was asked for, not the part beside it."""
    try:
        yield
    except OSError as failure:
        name = failure.filename
        if failure.errno in NO_ROOM if name is None else str(name).endswith(".part"):
            raise OSError(failure.errno, failure.strerror, os.fspath(path)) from failure
        raise


def remove(path: PathLike) -> None:
    """Delete a file if it is there."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def part_of(path: Path) -> str:
    """How the name of a file begins that is not whole yet."""
    return f".{path.name}."


def flush_folder(folder: Path) -> None:
    """Make the renaming itself survive a power cut, where folders can be flushed."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _status(path: PathLike) -> os.stat_result | None:
    """What the system knows about the file at the end of all links; None where there is none."""
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _input_status(name: PathLike) -> os.stat_result | None:
    """The same for an input, which may be a file that standard input was redirected to."""
    if os.fspath(name) != STANDARD:
        return _status(name)
    try:
        return os.fstat(sys.stdin.fileno())
    except (OSError, ValueError, AttributeError):  # there is none, or it is not a file
        return None


def _mode_for(path: Path) -> int:
    """Permissions of the file that is there, or those of any new file."""
    status = _status(path)
    return NEW_FILE_MODE & ~umask() if status is None else stat.S_IMODE(status.st_mode)


def umask() -> int:
    """Permissions that new files do not get.

    Asking for them otherwise than by changing them is possible on Linux only; elsewhere one thread
    asks at a time, since two could leave the process with a mask that nobody has set.

    Examples
    --------
    >>> umask() == umask()
    True
    """
    with contextlib.suppress(OSError):
        found = re.search(r"^Umask:\s*([0-7]+)$", _process_status(), re.MULTILINE)
        if found is not None:
            return int(found[1], 8)
    with _UMASK:
        mask = os.umask(0o077)
        os.umask(mask)
    return mask


def _process_status() -> str:
    """What Linux tells about this process."""
    return Path("/proc/self/status").read_text(encoding="ascii", errors="replace")


def _remove_abandoned(path: Path) -> None:
    """Delete what killed processes left of earlier writes; one that still writes is younger."""
    oldest = time.time() - ABANDONED
    with contextlib.suppress(OSError):  # they are in nobody's way
        for part in path.parent.glob(f"{glob.escape(part_of(path))}*"):
            age = PARTS.get(part.suffix)
            if age is not None and getattr(part.lstat(), age) < oldest:
                remove(part)
