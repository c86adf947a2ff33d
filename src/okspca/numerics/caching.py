"""Where machine code is kept on disk, and how several processes share it.

A cached kernel contains the code of the kernels it calls and the constants it reads, but Numba
renews it only when its *own* file changes.  So the cache lives in a folder named after the contents
of every file that holds kernels and of every file they import from: machine code of an older
version can never be picked up.  Kernels of another package (okspca-lab has some, and they call
ours) lie below that folder, in one named after the contents of *their* package.  The first place
that can be written, and that nobody else can put machine code into, is taken:

1. the folder that ``NUMBA_CACHE_DIR`` names,
2. ``__pycache__`` in the installed package (unless that variable is set),
3. ``okspca`` in the user's folder for caches.

Where there is none, kernels are compiled anew in every process.

Processes that start with an empty cache at the same time share the work: each claims what it
compiles, and waits for what another has claimed (:mod:`okspca.numerics.claims`).
"""

import hashlib
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numba
from llvmlite import binding
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    NullCache,
)
from numba.core.runtime.nrt import rtsys

from okspca.numerics import claims
from okspca.numerics.announcing import ANNOUNCER
from okspca.numerics.helpers import HELPERS

PACKAGE = Path(__file__).resolve().parent.parent
OWN = os.path.join(PACKAGE, "")
PREFIX = "okspca-kernels-"
#: Folders of the package without kernels, and without anything that kernels take from elsewhere.
WITHOUT_KERNELS = ("cli", "datasets", "files", "moved", "report", "state")
#: Permissions of a new cache, and those that let others write.
PRIVATE, FOR_OTHERS = 0o700, stat.S_IWGRP | stat.S_IWOTH
#: Signs of code that becomes machine code, and of names that it takes from elsewhere.
HOLDS_KERNELS = re.compile(rb"@(?:compiled|fused|reordered|shared|overload|register_jitable)\b")
EMITS = b"= emitted("
IMPORTED = re.compile(rb"from \w+\.([\w.]+) import")
#: Seconds between two looks at a kernel that another process compiles, and until it is given up.
GLANCE, PATIENCE = 0.01, 60.0


class _InFolder(InTreeCacheLocator):
    """Says that the code of a kernel is kept below the folder of this version."""

    def __init__(self, function: Callable[..., object], file: str) -> None:
        super().__init__(function, file)  # type: ignore[no-untyped-call]
        self._below = below(file)

    def get_cache_path(self) -> str:
        """Return the folder of one source file."""
        return os.path.join(str(FOLDER), self._below)

    def get_source_stamp(self) -> str:
        """Return nothing: the folder is that of the contents of this file and others."""
        return ""

    def ensure_cache_path(self) -> None:
        """Make the folder; whether it can be written is found out only when there is need to."""
        os.makedirs(self.get_cache_path(), exist_ok=True)


class _Kept(CompileResultCacheImpl):
    """What Numba keeps of a kernel, in our place and not in that of other packages."""

    _locator_classes: list[type[object]] = [_InFolder]  # noqa: RUF012  (so declared by Numba)

    def reduce(self, cres: Any) -> Any:
        """Leave out environments that hold nothing.

        They name modules of Numba, whose import takes longer than loading a kernel.
        """
        *others, environments = super().reduce(cres)  # type: ignore[no-untyped-call]
        return *others, tuple(each for each in environments if each.consts)


class SharedCache(FunctionCache):
    """Numba's cache of one kernel, safe to write from several processes at once.

    Numba numbers the files of a kernel's types by looking at the index.  Two processes that do so
    at the same time can give one number to two types, and machine code for the one would then be
    run on the other.  Here one process writes at a time.
    """

    _impl_class = _Kept

    def __init__(self, function: Callable[..., object], folder: Path) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._folder = folder

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load; what is not there will be compiled next, and that is told.

        Only the part of Numba that machine code calls is made known, not the compiler, which would
        take longer than loading.
        """
        _name_runtime(target_context)
        found = self._found(sig, target_context)
        if found is None:
            self._wait_for(sig)
            found = self._found(sig, target_context)
        if found is None:
            ANNOUNCER.count(self.cache_path)
            HELPERS.start(self._folder)
        return found

    def is_wanted(self, sig: Any, target_context: Any) -> bool:
        """Claim what is neither here nor claimed; False where it is."""
        key = self._index_key(sig, target_context.codegen())
        file: Any = self._cache_file
        return file.load(key) is None and claims.take(self._folder, self._claim_on(sig))

    def is_settled(self, sig: Any) -> None:
        """Give back the claim: the code was written, or will not be."""
        claims.give_back(self._folder, self._claim_on(sig))

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Name what is kept for types; the processor is asked what it is only once."""
        return super()._index_key(sig, _described(codegen))  # type: ignore[no-untyped-call]

    def _found(self, sig: Any, target_context: Any) -> Any:
        """Load what is there."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]

    def _wait_for(self, sig: Any) -> None:
        """Claim a kernel, when the process that is compiling it, if any, has ended that."""
        end = time.monotonic() + PATIENCE
        while not claims.take(self._folder, self._claim_on(sig)) and time.monotonic() < end:
            ANNOUNCER.wait(self.cache_path)
            time.sleep(GLANCE)

    def _claim_on(self, sig: Any) -> str:
        """Name a kernel with its types."""
        function = self._py_func
        return f"{function.__module__}.{function.__qualname__}{sig}"

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write; without room on the disk the kernel is merely compiled again next time."""
        with suppress(OSError), _alone_in(Path(self.cache_path)):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]


class _Described(NamedTuple):
    """What Numba's cache wants to know of the processor."""

    magic: tuple[Any, ...]

    def magic_tuple(self) -> tuple[Any, ...]:
        """Return it, as the part of Numba that makes machine code does."""
        return self.magic


@cache
def _described(codegen: Any) -> _Described:
    """Ask once: a virtual machine may take long to tell."""
    return _Described(codegen.magic_tuple())


class NoCache(NullCache):
    """Where there is no place for a cache."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Tell that a kernel will be compiled."""
        ANNOUNCER.count(None)

    def is_wanted(self, sig: Any, target_context: Any) -> bool:
        """Nothing is compiled ahead that cannot be kept."""
        return False

    def is_settled(self, sig: Any) -> None:
        """Nothing was claimed."""


@cache
def _name_runtime(target_context: Any) -> None:
    """Let loaded machine code find the functions of Numba's runtime: allocation, release.

    Numba does so before it compiles its reference counting, which takes as long as loading a dozen
    kernels.  A kernel brings a copy of that; whatever is compiled has Numba do it all.
    """
    helpers: dict[str, int] = {}
    with suppress(ImportError, AttributeError):  # another version of Numba
        helpers = import_module("numba.core.runtime._nrt_python").c_helpers
    if not helpers or numba.config.NRT_STATS:  # type: ignore[attr-defined]
        rtsys.initialize(target_context)
    for name, address in helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, where the system has such locks."""
    try:
        fcntl = import_module("fcntl")
    except ImportError:  # Windows
        yield
        return
    with (folder / "lock").open("a") as lock:
        with suppress(OSError):  # some network drives have no locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def cache_of(function: Callable[..., object]) -> SharedCache | NoCache:
    """Open the cache of a kernel, if there is a place for one."""
    if FOLDER is not None:
        with suppress(OSError, RuntimeError):
            return SharedCache(function, FOLDER)
    return NoCache()


def find_folder() -> Path | None:
    """Return the first folder for this version of the kernels that can be written and trusted."""
    for parent in _parents():
        folder = parent / f"{PREFIX}{FINGERPRINT}"
        with suppress(OSError):
            folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                if is_trusted(folder):
                    return folder
    return None


def is_trusted(folder: Path) -> bool:
    """Whether nobody but the user can have put machine code into a folder, or can do so later.

    The folder belongs to the user, and only the user may write to it.  Nobody else may put another
    in its place: where others can write to the folder around it, names there belong to their owners
    (as in ``/tmp``).  Whoever can write to the package itself can change the program anyway.
    """
    if not hasattr(os, "geteuid"):  # Windows, where folders of the user are private
        return True
    status, around = folder.lstat(), folder.parent.stat()
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    if not is_own or status.st_mode & FOR_OTHERS:
        return False
    is_fixed = not around.st_mode & FOR_OTHERS or bool(around.st_mode & stat.S_ISVTX)
    return is_fixed or folder.parent == PACKAGE / "__pycache__"


def _parents() -> Iterator[Path]:
    """Yield the places for the cache, the best first."""
    chosen_by_user = vars(numba.config)["CACHE_DIR"]
    yield Path(chosen_by_user) if chosen_by_user else PACKAGE / "__pycache__"
    home = Path(os.path.expanduser("~"))
    default = {"win32": home / "AppData" / "Local", "darwin": home / "Library" / "Caches"}
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    if named := os.environ.get(variable):
        yield _made_private(Path(named) / "okspca")
    elif home.is_dir():
        yield _made_private(default.get(sys.platform, home / ".cache") / "okspca")


def _made_private(folder: Path) -> Path:
    """Make okspca's folder among the user's caches, for the user alone whatever the mask is."""
    with suppress(OSError):
        folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        folder.chmod(stat.S_IMODE(folder.stat().st_mode) & ~FOR_OTHERS)
    return folder


@cache
def below(file: str) -> str:
    """Return where the kernels of a source file lie in the folder of this version."""
    others = "" if file.startswith(OWN) else folder_of_others(Path(file))
    return os.path.join(others, _InFolder.get_suitable_cache_subpath(file))  # type: ignore[no-untyped-call]


def folder_of_others(file: Path) -> str:
    """Name what sets the kernels of another package apart; nothing for our own.

    Examples
    --------
    >>> folder_of_others(Path(__file__))
    ''
    """
    package = package_of(file.resolve())
    return "" if package == PACKAGE else fingerprint(package)


def package_of(file: Path) -> Path:
    """Return the outermost package that a source file belongs to, or the file itself."""
    package = file
    while (package.parent / "__init__.py").is_file():
        package = package.parent
    return package


@cache
def fingerprint(package: Path) -> str:
    """Digest of every source file that holds kernels, or that such a file imports from.

    Names that a package hands on are defined in files further in, which hold kernels themselves or
    are imported from directly: kernels take their constants from where those are defined.
    """
    # Of names and bytes only: whoever imports the package waits for this.
    root = os.path.join(package, "")
    files = sorted(_sources(str(package))) if package.is_dir() else [str(package)]
    sources = {file: _content(file) for file in files}
    kernels = [file for file, source in sources.items() if holds_kernels(source)]
    needed = set(kernels)
    for file in kernels:
        for name in IMPORTED.findall(sources[file]):
            module = root + name.decode().replace(".", os.sep)
            needed |= {f"{module}.py", f"{module}{os.sep}__init__.py"}
    digest = hashlib.sha256()
    for file, source in sources.items():
        if file in needed:
            digest.update(source)
    return digest.hexdigest()[:16]


def holds_kernels(source: bytes) -> bool:
    """Whether a source file has code that becomes machine code.

    Examples
    --------
    >>> holds_kernels(b"@compiled"), holds_kernels(b"inner = emitted(a, b)"), holds_kernels(b"")
    (True, True, False)
    """
    return EMITS in source or HOLDS_KERNELS.search(source) is not None


def _sources(package: str) -> Iterator[str]:
    """Yield the source files of a package that may hold kernels, or what these take in."""
    is_own = package == str(PACKAGE)
    for folder, folders, names in os.walk(package):
        left_out = WITHOUT_KERNELS if is_own and folder == package else ()
        folders[:] = [name for name in folders if name != "__pycache__" and name not in left_out]
        yield from (f"{folder}{os.sep}{name}" for name in names if name.endswith(".py"))


def _content(file: str) -> bytes:
    """Read a file, which is small."""
    with open(file, "rb", buffering=0) as source:
        return source.read()


FINGERPRINT = fingerprint(PACKAGE)
FOLDER = find_folder()
