"""One service for one folder: two that write the same journal would destroy it.

The lock is the system's own, on a file in the folder.  It is gone with the process that has it,
however that ends.
"""

import contextlib
import logging
import os
from importlib import import_module
from pathlib import Path

from okspca.errors import StateError

FILE = ".lock"
LOGGER = logging.getLogger("okspca.serve")


class FolderLock:
    """The claim of a service on its folder.

    Parameters
    ----------
    folder : path
        The folder, which is there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     one, two = FolderLock(Path(name)), FolderLock(Path(name))
    ...     one.take()
    ...     try:
    ...         two.take()
    ...     except StateError as refused:
    ...         print(str(refused)[-52:])
    ...     one.give_back()
    ...     two.take()
    ...     two.give_back()
    stop that one, or give this one a folder of its own.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._handle: int | None = None

    def take(self) -> None:
        """Claim the folder.

        Raises
        ------
        StateError
            Another service has it.
        """
        handle = os.open(self.folder / FILE, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(handle)
        except (BlockingIOError, PermissionError) as failure:  # systems differ in what they say
            process = os.read(handle, 20).decode("ascii", "replace").strip()
            os.close(handle)
            message = (
                f"{self.folder} belongs to a service that runs (process {process}); "
                "stop that one, or give this one a folder of its own."
            )
            raise StateError(message) from failure
        except OSError as failure:  # some network drives have no locks
            LOGGER.warning("%s cannot be locked: %s", self.folder, failure)
        self._handle = handle
        with contextlib.suppress(OSError):  # on a full disk it is not said who has it
            os.ftruncate(handle, 0)
            os.write(handle, str(os.getpid()).encode())

    def give_back(self) -> None:
        """Let others have it."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _lock(handle: int) -> None:
    """Lock a file at once, or raise."""
    if os.name == "nt":
        windows = import_module("msvcrt")
        # Beyond the number of the process, which others may read.
        os.lseek(handle, 1 << 20, os.SEEK_SET)
        try:
            windows.locking(handle, windows.LK_NBLCK, 1)
        finally:
            os.lseek(handle, 0, os.SEEK_SET)
        return
    locks = import_module("fcntl")
    locks.flock(handle, locks.LOCK_EX | locks.LOCK_NB)
