"""`okspca serve`: models that learn and answer over HTTP."""

import functools
import inspect
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from okspca.cli.options import Debug
from okspca.cli.stopping import one_sentence, stop
from okspca.serve.settings import DEFAULTS, OPTIONS, About, check_exposure, kind_of
from okspca.serve.told import flag_of, read_settings

#: The argument through which the command gets what was given.
GIVEN = "given"


def service(name: str) -> ModuleType:
    """A module of the service, or a sentence that says how to get what it needs."""
    try:
        return import_module(f"okspca.serve.{name}")
    except ImportError as failure:
        missing = (failure.name or "").partition(".")[0]
        if missing in ("", "okspca"):
            raise
        stop(f"The service needs {missing}, which is not there: pip install 'okspca[serve]'")


def _with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take every setting as an option; those that were typed arrive in ``given``."""
    signature = inspect.signature(command)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        own = parameter.name != GIVEN
        parameters += [parameter] if own else [_parameter(*pair) for pair in OPTIONS.items()]

    @functools.wraps(command)
    def called(**typed: Any) -> None:
        given = {name: typed.pop(name) for name in OPTIONS}
        command(**typed, **{GIVEN: given})

    # This is where inspection, and so typer, looks for the arguments of a wrapped function.
    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called


def _parameter(name: str, about: About) -> inspect.Parameter:
    """Make the option of one setting; limits are checked with all that is told elsewhere."""
    kind, flag, default = kind_of(name), flag_of(name), DEFAULTS[name]
    if kind is bool:
        flag = f"{flag}/{flag.replace('--', '--no-', 1)}"
    told = f"{about.told.removesuffix('.')}; repeat it." if kind is tuple else about.told
    shown = False if default in (None, ()) or kind is bool else str(default)
    option = typer.Option(flag, help=told, show_default=shown)
    typed = list[str] if kind is tuple else kind
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(
        name, keyword, default=None, annotation=Annotated[typed | None, option]
    )


@_with_settings
def serve(
    config: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file with settings, tokens and models; or set OKSPCA_SERVE_CONFIG."
        ),
    ] = None,
    debug: Debug = False,
    *,
    given: dict[str, Any],
) -> None:
    """Serve models over HTTP: they learn rows durably, and answer meanwhile.

    Every setting stands in the file, in a variable such as OKSPCA_SERVE_PORT, or in a flag, which
    wins.  Tokens stand in the file or in OKSPCA_SERVE_TOKEN_ASK, _LEARN and _ADMIN; without any,
    the service listens on this machine alone.
    """
    running = service("running")
    with one_sentence(debug):
        flags = {name: value for name, value in given.items() if value not in (None, [])}
        settings = read_settings(config, os.environ, flags)
        check_exposure(settings)
        running.run(settings)
