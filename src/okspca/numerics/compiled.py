"""The one way kernels are compiled.

Kernels are plain functions of arrays.  They are compiled on first use, cached on disk, release the
interpreter lock, and never use fast-math: a recursion must round the same way however it is called.

A cached kernel contains the code of the kernels it calls, but Numba renews it only when its *own*
file changes.  So the cache lives in a folder named after the contents of every file that holds
kernels: machine code of an older version can never be picked up.  Where that folder cannot be
written, Numba's own choice of a folder in the user's home is taken; where nothing can be written,
kernels are compiled anew in every process.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., object])

PACKAGE = Path(__file__).resolve().parent.parent


def compiled(function: Kernel) -> Kernel:
    """Compile ``function`` to machine code, keeping its type for the type checker."""
    settings = vars(numba.config)
    chosen_by_user = settings["CACHE_DIR"]
    parent = Path(chosen_by_user) if chosen_by_user else PACKAGE / "__pycache__"
    # The folder is looked up while decorating, so the setting of other packages stays as it is.
    settings["CACHE_DIR"] = str(parent / f"okspca-kernels-{_FINGERPRINT}")
    try:
        return _jit(function, cache=True)
    except RuntimeError:
        return _jit(function, cache=False)
    finally:
        settings["CACHE_DIR"] = chosen_by_user


def _jit(function: Kernel, *, cache: bool) -> Kernel:
    """Plain IEEE rounding; division follows NumPy (no exception, so loops can be vectorised)."""
    jit = numba.njit(cache=cache, nogil=True, error_model="numpy", fastmath=False)
    return cast(Kernel, jit(function))


def _fingerprint() -> str:
    """Digest of every source file of the package that holds kernels."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if b"@compiled" in source:
            digest.update(source)
    return digest.hexdigest()[:16]


_FINGERPRINT = _fingerprint()
