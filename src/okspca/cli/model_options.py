"""The options of `okspca fit` that stand for parameters of a model, added to a command.

All of them are unset where they are not typed, so that a resumed run can tell what it was asked
for.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from okspca.files.fit_options import COUNT, NUMBER, OPTIONS, SWITCH, Option, off, value_of

#: The argument through which a command gets what was given.
GIVEN = "given"
TYPES: dict[str, type] = {COUNT: int, NUMBER: float, SWITCH: bool}


def with_model_options(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take the options of a model; those that were typed arrive in ``given``."""
    signature = inspect.signature(command)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        own = parameter.name != GIVEN
        parameters += [parameter] if own else [_parameter(*pair) for pair in OPTIONS.items()]

    @functools.wraps(command)
    def called(**typed: Any) -> None:
        named = {name: typed.pop(name) for name in OPTIONS}
        given = {name: value_of(name, one) for name, one in named.items() if one is not None}
        command(**typed, **{GIVEN: given})

    # This is where inspection, and so typer, looks for the arguments of a wrapped function.
    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called


def _parameter(name: str, option: Option) -> inspect.Parameter:
    """Make the argument of one option."""
    flag = f"{option.flag}/{off(option.flag)}" if option.kind == SWITCH else option.flag
    shown = _shown(option)
    settings = typer.Option(
        flag, help=option.told, show_default=shown, min=option.least, max=option.most
    )
    kind = TYPES.get(option.kind, str)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, settings],
    )


def _shown(option: Option) -> str | bool:
    """What help says about the default."""
    if option.default is None:
        return False
    if option.kind == SWITCH:
        return (option.flag if option.default else off(option.flag)).removeprefix("--")
    return str(option.default)
