"""Kernels that other kernels call become machine code once, inside their callers.

Numba compiles every function by itself: it is optimised, wrapped for calls from Python and made
machine code before the function that calls it is looked at, which takes it in and does all of that
again.  With helpers five calls deep, most of the time of compiling went into code that nobody runs.
Here a helper stays as the front end left it (:class:`Part`) until a function that Python calls is
complete; then all of its code is optimised and translated, together and once (:class:`Whole`).

A whole keeps its copies of helpers to itself.  No other kernel can come to use them, so what a
kernel computes does not depend on which others were loaded before it.
"""
# ruff: noqa: SLF001 - Numba offers no other way to say where compiling ends.

from functools import cached_property
from typing import Any

from llvmlite.binding import Linkage, parse_assembly
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from okspca.numerics.caching import cache_of
from okspca.numerics.helpers import HELPERS

#: How names are defined that only the code around them knows.
_HIDDEN = (Linkage.internal, Linkage.private)


class Part(JITCodeLibrary):
    """The code of a helper as its callers take it in: neither optimised nor translated."""

    def add_llvm_module(self, ll_module: Any) -> None:
        """Take code as it is."""
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        """Take in what this code calls."""
        for called in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(called._reload_init)
            self._final_module.link_in(called._get_module_for_linking(), preserve=True)
        self._finalized = True


class Whole(JITCodeLibrary):
    """The code of a kernel that Python calls, with all that it calls."""

    def _optimize_final_module(self) -> None:
        """Optimise all of it, and keep the helpers to this kernel."""
        super()._optimize_final_module()  # type: ignore[no-untyped-call]
        module: Any = self._final_module
        for function in module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal

    def serialize_using_object_code(self) -> Any:
        """Give the machine code with its functions' names: kernels take in parts, never this."""
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        code: Any = self._get_compiled_object()  # type: ignore[no-untyped-call]
        return self.name, "object", (code, names_of(self._final_module))


def names_of(module: Any) -> bytes:
    """Return code that defines the same functions and stops the program if anybody runs it.

    Loading it takes a third of the time that the code in full would take.  Nobody looks for the
    variables of a kernel among the names that are known, and each would take as long as a function.
    """
    names = [f.name for f in module.functions if not f.is_declaration and f.linkage not in _HIDDEN]
    lines = [f'define void @"{name}"() {{ call void @llvm.trap() unreachable }}' for name in names]
    return parse_assembly("\n".join([*lines, "declare void @llvm.trap()"])).as_bitcode()


class _PartCompiler(Compiler):
    """Numba's compiler, ended before there is machine code."""

    def __init__(self, typing: Any, target: Any, _: Any, args: Any, *others: Any) -> None:
        flags = others[1]
        flags.no_compile = flags.no_cpython_wrapper = True
        library = Part(target.codegen(), "part")  # type: ignore[no-untyped-call]
        super().__init__(typing, target, library, args, *others)  # type: ignore[no-untyped-call]


class _WholeCompiler(Compiler):
    """Numba's compiler, for kernels that Python calls."""

    def __init__(self, typing: Any, target: Any, _: Any, args: Any, *others: Any) -> None:
        library = Whole(target.codegen(), "kernel")  # type: ignore[no-untyped-call]
        library.enable_object_caching()  # type: ignore[no-untyped-call]
        super().__init__(typing, target, library, args, *others)  # type: ignore[no-untyped-call]


class _Callee(CPUDispatcher):
    """A kernel as other kernels call it."""

    def add_overload(self, cres: Any) -> None:
        """Offer the code to callers, who find it by a key of its own."""
        key = object()
        target: Any = self.targetctx
        target.insert_user_function(key, cres.fndesc, [cres.library])
        self.overloads[tuple(cres.signature.args)] = cres._replace(entry_point=key)


class KernelDispatcher(CPUDispatcher):
    """A function that Python calls as machine code of its own, and kernels as a part of theirs."""

    def __init__(self, function: Any, locals: Any = None, targetoptions: Any = None) -> None:
        try:
            super().__init__(function, locals, targetoptions, pipeline_class=_WholeCompiler)
        except TypeError:  # a version of Numba that takes no compiler
            super().__init__(function, locals, targetoptions)
            _WAY.is_plain = True
        self._has_cache = False

    def compile(self, sig: Any) -> Any:
        """Compile, or load from the cache, which is looked for only now."""
        cache = self._opened()
        try:
            return self._compile_whole(sig)
        except KeyboardInterrupt:
            HELPERS.stop()
            raise
        finally:
            cache.is_settled(sig)

    def compile_ahead(self, sig: Any) -> None:
        """Compile for the cache what it does not hold, unless another process is at it."""
        if self._opened().is_wanted(sig, self.targetctx):
            self.compile(sig)

    def _compilation_chain_init_hook(self) -> None:
        """Leave extensions of Numba alone until it compiles, when it looks for them anyway.

        Finding them reads what every installed package says of itself, and loading needs none.
        """

    @cached_property
    def callee(self) -> _Callee:
        """What kernels see of it."""
        return _Callee(self.py_func, self.locals, self.targetoptions, pipeline_class=_PartCompiler)

    @cached_property
    def plain(self) -> Any:
        """The same as Numba by itself compiles it, for itself and for kernels."""
        return CPUDispatcher(self.py_func, self.locals, self.targetoptions)

    def _compile_whole(self, sig: Any) -> Any:
        """Compile; in Numba's own way, if this way fails where that one does not."""
        if not _WAY.is_plain:
            try:
                return super().compile(sig)
            except Exception:
                _WAY.is_plain = True
                try:
                    return self._compile_plainly(sig)
                except Exception:  # the function is at fault, or its types
                    _WAY.is_plain = False
                raise
        return self._compile_plainly(sig)

    def _compile_plainly(self, sig: Any) -> Any:
        """Take what Numba by itself makes of the function."""
        known = self.overloads.get(sig)
        found = known or self._cache.load_overload(sig, self.targetctx)
        if found is None:
            self.plain.compile(sig)
            found = self.plain.overloads[sig]
            self._cache.save_overload(sig, found)
        if known is None:
            self.add_overload(found)
        return found.entry_point

    def _opened(self) -> Any:
        """Return the cache."""
        if not self._has_cache:
            self._cache = cache_of(self.py_func)
            self._has_cache = True
        return self._cache

    @property
    def _numba_type_(self) -> Any:
        return types.Dispatcher(self.plain if _WAY.is_plain else self.callee)


class _Way:
    """How kernels are compiled in this process: with parts, or plainly.

    Where compiling ends is told to Numba by means that its next version may lack.  Then kernels are
    compiled as Numba does by itself, which takes longer.
    """

    is_plain = False


_WAY = _Way()
