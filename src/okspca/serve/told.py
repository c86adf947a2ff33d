"""Where a service is told its settings: defaults, one file, the environment, flags.

Each wins over those before it.  Tokens are told by the file, by files of their own or by the
environment, never by flags, which everybody on the machine can read.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from okspca.serve.settings import (
    OPTIONS,
    ROLES,
    ModelSettings,
    Settings,
    SettingsError,
    Tokens,
    kind_of,
    objection,
)

PREFIX = "OKSPCA_SERVE_"
CONFIG = f"{PREFIX}CONFIG"
SECTIONS = ("tokens", "models")
FILE = "_file"
TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
MOST_TOML = 1 << 20


class Told(NamedTuple):
    """A value, where it comes from, and the folder from which its paths count.

    Examples
    --------
    >>> Told(9000, "--port").value
    9000
    """

    value: Any
    where: str
    base: Path = Path()


def read_settings(
    config: Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Settings:
    """Put settings together from wherever they are told.

    Parameters
    ----------
    config : path, optional
        A file of TOML; paths in it count from its folder.  By default the one that the variable
        ``OKSPCA_SERVE_CONFIG`` names.
    environment : mapping, optional
        Variables such as ``OKSPCA_SERVE_PORT``.
    flags : mapping, optional
        What was typed, by names of fields.

    Raises
    ------
    SettingsError
        A value, a key or a section is wrong; the message says where.
    """
    environment = {} if environment is None else environment
    if config is None and environment.get(CONFIG):
        config = Path(environment[CONFIG])
    toml = {} if config is None else _toml(config)
    told: dict[str, Told] = {}
    for source in (_of_file(toml, config), _of_environment(environment), _of_flags(flags or {})):
        told |= source
    values = {name: _checked(name, one) for name, one in told.items()}
    known = _tokens_of_environment(environment)
    tokens = _tokens(_tokens_of_file(toml, config, known) | known)
    try:
        return Settings(**values, tokens=tokens, models=_models(toml, config))
    except SettingsError as failure:
        if config is None:
            raise
        message = f"{config}: {failure}"
        raise SettingsError(message) from failure


def _toml(config: Path) -> dict[str, Any]:
    """Read a file of TOML."""
    try:
        with config.open("rb") as file:
            content = file.read(MOST_TOML + 1)
        if len(content) > MOST_TOML:
            raise SettingsError(f"{config} is too long for a configuration.")
        return tomllib.loads(content.decode("utf-8"))
    except OSError as failure:
        message = f"{config} cannot be read: {failure.strerror}."
        raise SettingsError(message) from failure
    except UnicodeDecodeError as failure:
        message = f"{config} is not written in UTF-8."
        raise SettingsError(message) from failure
    except tomllib.TOMLDecodeError as failure:
        message = f"{config} is not TOML: {failure}."
        raise SettingsError(message) from failure


def _of_file(toml: dict[str, Any], config: Path | None) -> dict[str, Told]:
    """What the file says outside of its sections."""
    found = {}
    for name, value in toml.items():
        if name in SECTIONS:
            continue
        if name not in OPTIONS:
            what = "section" if isinstance(value, dict) else "key"
            raise SettingsError(f"{config}: {_unknown(name, what, [*OPTIONS, *SECTIONS])}")
        assert config is not None
        plain = tuple(value) if isinstance(value, list) else value
        found[name] = Told(plain, f"{config}: {name}", config.parent)
    return found


def _of_environment(environment: Mapping[str, str]) -> dict[str, Told]:
    """What variables say; those of tokens are read elsewhere."""
    names = {f"{PREFIX}{name.upper()}": name for name in OPTIONS}
    others = {CONFIG, *_variables_of_tokens()}
    found = {}
    for variable, text in environment.items():
        if variable in names:
            found[names[variable]] = Told(_read(names[variable], text), variable)
        elif variable.startswith(PREFIX) and variable not in others:
            raise SettingsError(_unknown(variable, "variable", [*names, *others]))
    return found


def _of_flags(flags: Mapping[str, Any]) -> dict[str, Told]:
    """What was typed."""
    return {
        name: Told(tuple(value) if isinstance(value, list) else value, flag_of(name))
        for name, value in flags.items()
        if value is not None
    }


def flag_of(name: str) -> str:
    """How a setting is typed.

    Examples
    --------
    >>> flag_of("tls_key")
    '--tls-key'
    """
    return f"--{name.replace('_', '-')}"


def _read(name: str, text: str) -> Any:
    """The value that a variable stands for; the text itself where it stands for none."""
    kind = kind_of(name)
    if kind is bool:
        return TRUTHS.get(text.strip().lower(), text)
    if kind is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    try:
        return kind(text)
    except ValueError:
        return text


def _checked(name: str, told: Told) -> Any:
    """A value that is as it must be."""
    value = told.value
    if kind_of(name) is Path and isinstance(value, str | Path) and str(value):
        value = told.base / value
    wrong = objection(name, value)
    if wrong is not None:
        raise SettingsError(f"{told.where} is {told.value!r}, but it must {wrong}.")
    return value


def _tokens_of_file(
    toml: dict[str, Any], config: Path | None, told: Iterable[str]
) -> dict[str, Told]:
    """Tokens of the roles that are not told yet in the file, or in files that it names."""
    section = toml.get("tokens", {})
    known = [*ROLES, *(f"{role}{FILE}" for role in ROLES)]
    _check_section(section, known, f"{config}: tokens")
    found = {}
    for role in (role for role in ROLES if role not in told):
        where = f"{config}: tokens.{role}"
        if role in section and f"{role}{FILE}" in section:
            raise SettingsError(f"{where} and {role}{FILE} are both given; leave out one.")
        if f"{role}{FILE}" in section:
            assert config is not None
            name = _text(section[f"{role}{FILE}"], f"{where}{FILE}")
            found[role] = _token_file(config.parent / name, f"{where}{FILE}")
        elif role in section:
            given = section[role]
            found[role] = Told((given,) if isinstance(given, str) else given, where)
    return found


def _tokens_of_environment(environment: Mapping[str, str]) -> dict[str, Told]:
    """Tokens in variables, with commas between several, or in files that those name."""
    found = {}
    for role in ROLES:
        variable = f"{PREFIX}TOKEN_{role.upper()}"
        in_file = f"{variable}{FILE.upper()}"
        if variable in environment and in_file in environment:
            raise SettingsError(f"{variable} and {in_file} are both given; leave out one.")
        if in_file in environment:
            found[role] = _token_file(Path(environment[in_file]), in_file)
        elif variable in environment:
            given = [part.strip() for part in environment[variable].split(",")]
            found[role] = Told([part for part in given if part], variable)
    return found


def _variables_of_tokens() -> Iterator[str]:
    """Names of the variables that tell tokens."""
    for role in ROLES:
        yield f"{PREFIX}TOKEN_{role.upper()}"
        yield f"{PREFIX}TOKEN_{role.upper()}{FILE.upper()}"


def _token_file(path: Path, where: str) -> Told:
    """Tokens in a file, one a line; lines after # are for people."""
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as failure:
        reason = getattr(failure, "strerror", None) or "it is not a text"
        message = f"{where} is {path}, which cannot be read: {reason}."
        raise SettingsError(message) from failure
    found = [line for line in lines if line and not line.startswith("#")]
    if not found:
        raise SettingsError(f"{where} is {path}, which holds no token; leave it out, or write one.")
    return Told(found, where)


def _tokens(told: dict[str, Told]) -> Tokens:
    """The tokens of all roles; what is wrong with one is said without showing it."""
    found: dict[str, tuple[str, ...]] = {}
    for role, (given, where, _) in told.items():
        if not isinstance(given, list | tuple):
            raise SettingsError(f"{where} must be a text or a list of texts.")
        try:
            Tokens(**{role: tuple(given)})
        except SettingsError as failure:
            message = f"{where}: {failure}"
            raise SettingsError(message) from failure
        found[role] = tuple(given)
    return Tokens(**found)


def _models(toml: dict[str, Any], config: Path | None) -> tuple[ModelSettings, ...]:
    """Models that are begun with the service."""
    section = toml.get("models", {})
    if not isinstance(section, dict):
        raise SettingsError(f"{config}: models must be a section, such as [models.plant].")
    return tuple(_model(name, one, f"{config}: models.{name}") for name, one in section.items())


def _model(name: str, section: Any, where: str) -> ModelSettings:
    """One of them."""
    known = [one.name for one in fields(ModelSettings) if one.name != "name"]
    _check_section(section, known, where)
    kinds: dict[str, tuple[type, str]] = {
        "kind": (str, "a text"),
        "settings": (dict, "a table"),
        "columns": (list, "a list of texts"),
        "target": (str, "a text"),
        "monitor": (bool, "true or false"),
    }
    if "kind" not in section:
        raise SettingsError(f"{where}.kind is missing; say classifier, regressor or reducer.")
    for key, value in section.items():
        kind, words = kinds[key]
        texts = value if kind is list else ()
        if not isinstance(value, kind) or not all(isinstance(one, str) for one in texts):
            raise SettingsError(f"{where}.{key} is {value!r}, but it must be {words}.")
    given = {**section}
    if "columns" in given:
        given["columns"] = tuple(given["columns"])
    try:
        return ModelSettings(name, **given)
    except SettingsError as failure:
        file = where.partition(": ")[0]
        message = f"{file}: {failure}"
        raise SettingsError(message) from failure


def _check_section(section: Any, known: Iterable[str], where: str) -> None:
    """Refuse what is no section, or holds a key that nobody knows."""
    if not isinstance(section, dict):
        raise SettingsError(f"{where} must be a section with the keys {', '.join(known)}.")
    for key in section:
        if key not in known:
            raise SettingsError(f"{where}: {_unknown(key, 'key', known)}")


def _text(value: Any, where: str) -> str:
    """A value that must be a text."""
    if not isinstance(value, str):
        raise SettingsError(f"{where} is {value!r}, but it must be the name of a file.")
    return value


def _unknown(name: str, what: str, known: Iterable[str]) -> str:
    """Say that nobody knows a name, and which is like it."""
    names = sorted(known)
    near = get_close_matches(name, names, 1)
    remedy = f"did you mean {near[0]}?" if near else f"known are {', '.join(names)}."
    return f"there is no {what} {name}; {remedy}"
