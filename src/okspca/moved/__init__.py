"""Former names of modules, for one release.

This folder is on the path of the package, so ``okspca.streams`` still finds ``streams.py`` here.
"""

import runpy
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec

LABORATORY = "okspca_lab"


def forward(old: str, new: str) -> None:
    """Put the module ``new`` in the place of ``old``; run it where ``old`` is run as a program."""
    warnings.warn(
        f"The module has moved: use {new}. The old name goes with the next release.",
        FutureWarning,
        stacklevel=3,
    )
    try:
        find_spec(new)
    except ModuleNotFoundError as failure:
        if failure.name != LABORATORY:
            raise
        message = f"{new} belongs to the laboratory of okspca: pip install okspca-lab"
        if old == "__main__":
            sys.exit(message)
        raise ModuleNotFoundError(message, name=failure.name) from failure
    if old == "__main__":
        runpy.run_module(new, run_name="__main__", alter_sys=True)
    else:
        sys.modules[old] = import_module(new)
