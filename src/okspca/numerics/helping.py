"""What a helper process does: `python -m okspca.numerics.helping`; only okspca starts it.

See :mod:`okspca.numerics.helpers`.  The pipe to standard input says whether the process that asked
for help is still there: nothing is ever written to it.
"""

import gc
import os
import select
import signal
import sys
import threading
from importlib import import_module
from pathlib import Path

from okspca.numerics import claims

#: Seconds between two looks at who the parent is: a fork of the parent may hold the pipe open.
INTERVAL = 0.5


def leave_with(parent: int) -> None:
    """End this process as soon as the one that started it has ended."""
    while os.getppid() == parent:
        readable, _, _ = select.select([0], [], [], INTERVAL)
        if readable:
            break
    os._exit(0)


def help_out(folder: Path, settings: str, task: str) -> None:
    """Do a task, unless somebody does, or code from here would not be what is needed there."""
    helpers = import_module("okspca.numerics.helpers")
    caching = import_module("okspca.numerics.caching")
    if folder != caching.FOLDER or settings != helpers.settings():
        return
    helpers.HELPERS.switch_off()
    gc.disable()  # this process is short, and a twentieth of its time would go there
    module, function, *arguments = task.split(":")
    getattr(import_module(module), function)(*arguments)


def main(folder: str, slot: str, settings: str, parent: str, task: str) -> None:
    """Take the place of a helper, if it is free, and work."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=leave_with, args=(int(parent),), daemon=True).start()
    if claims.take(Path(folder), f"helper {slot}"):
        help_out(Path(folder), settings, task)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    finally:
        os._exit(0)  # without the clean-up of libraries, which only takes time
