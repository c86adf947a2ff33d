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
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., object])
Result = TypeVar("Result")

PACKAGE = Path(__file__).resolve().parent.parent


def compiled(function: Kernel) -> Kernel:
    """Compile ``function`` to machine code, keeping its type for the type checker."""
    return _compile(function, set())


def fused(function: Kernel) -> Kernel:
    """Compile arithmetic in which a product and a sum may round once instead of twice."""
    return _compile(function, {"contract"})


def reordered(function: Kernel) -> Kernel:
    """Compile a sum whose additions may be reordered and fused; see :mod:`okspca.numerics.sums`."""
    return _compile(function, {"reassoc", "contract"})


def _compile(function: Kernel, fastmath: set[str]) -> Kernel:
    """Compile with the cache of this version of the kernels, or without one."""
    settings = vars(numba.config)
    chosen_by_user = settings["CACHE_DIR"]
    parent = Path(chosen_by_user) if chosen_by_user else PACKAGE / "__pycache__"
    # The folder is looked up while decorating, so the setting of other packages stays as it is.
    settings["CACHE_DIR"] = str(parent / f"okspca-kernels-{_FINGERPRINT}")
    try:
        return _jit(function, fastmath, cache=True)
    except RuntimeError:
        return _jit(function, fastmath, cache=False)
    finally:
        settings["CACHE_DIR"] = chosen_by_user


def bound(kernel: Callable[..., Result], *arguments: object) -> Callable[..., Result]:
    """Return the machine code of ``kernel`` for exactly the types of ``arguments``.

    A normal call looks the types up each time, which costs microseconds for a state of many arrays.
    The result must only ever be called with arguments of the very same types.
    """
    dispatcher, typeof = cast(Any, kernel), cast(Any, numba.typeof)
    if not hasattr(dispatcher, "overloads"):  # NUMBA_DISABLE_JIT leaves a plain function
        return kernel
    types = tuple(typeof(argument) for argument in arguments)
    dispatcher.compile(types)
    return cast(Callable[..., Result], dispatcher.overloads[types].entry_point)


def bound_at_first_call(kernel: Callable[..., Result]) -> Callable[..., Result]:
    """Return ``kernel``, bound to the types of its first call; all calls must be alike."""
    machine_code: Callable[..., Result] | None = None

    def call(*arguments: object) -> Result:
        nonlocal machine_code
        if machine_code is None:
            machine_code = bound(kernel, *arguments)
        return machine_code(*arguments)

    return call


def _jit(function: Kernel, fastmath: set[str], *, cache: bool) -> Kernel:
    """Division follows NumPy (no exception), so that loops can be vectorised."""
    jit = numba.njit(cache=cache, nogil=True, error_model="numpy", fastmath=fastmath or False)
    return cast(Kernel, jit(function))


def _fingerprint() -> str:
    """Digest of every source file of the package that holds kernels."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if any(b"@" + name in source for name in (b"compiled", b"fused", b"reordered")):
            digest.update(source)
    return digest.hexdigest()[:16]


_FINGERPRINT = _fingerprint()
