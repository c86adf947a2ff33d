"""What a service is told: one record, and the rules that it keeps.

Each field is annotated with what it is, as ``okspca serve --help`` shows it, and with its limits.
:mod:`okspca.serve.told` reads it from files, environment and flags.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

ROLES = ("ask", "learn", "admin")
KINDS = ("classifier", "regressor", "reducer")
#: Signs that may stand in an Authorization header after "Bearer".
TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
SHORTEST_TOKEN = 16
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
HOST = re.compile(r"[A-Za-z0-9._:%\[\]-]+")
LEVELS = ("debug", "info", "warning", "error")
MIB = 1 << 20


class SettingsError(ValueError):
    """A setting is wrong; the message says which, where it comes from and what would be right."""


@dataclass(frozen=True)
class Tokens:
    """Who may what: ``ask`` < ``learn`` < ``admin``; they are never shown.

    Examples
    --------
    >>> Tokens(admin=("0123456789abcdef",))
    Tokens()
    """

    ask: tuple[str, ...] = field(default=(), repr=False)
    learn: tuple[str, ...] = field(default=(), repr=False)
    admin: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Refuse weak tokens, and one that stands for two roles."""
        seen: dict[str, str] = {}
        for role in ROLES:
            for token in getattr(self, role):
                _check_token(role, token)
                if seen.setdefault(token, role) != role:
                    message = f"One token has the roles {seen[token]} and {role}; use two."
                    raise SettingsError(message)

    def __bool__(self) -> bool:
        """Whether there is one at all."""
        return any(getattr(self, role) for role in ROLES)


@dataclass(frozen=True)
class ModelSettings:
    """A model that is begun where the service has none of its name.

    Examples
    --------
    >>> ModelSettings("plant", "regressor", columns=("flow", "level")).target
    'y'
    """

    name: str
    kind: str
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    columns: tuple[str, ...] | None = None
    target: str = "y"
    monitor: bool = False

    def __post_init__(self) -> None:
        """Refuse what no model can be."""
        if not NAME.fullmatch(self.name):
            raise SettingsError(f"models.{self.name}: {NAME_RULE}")
        if self.kind not in KINDS:
            message = f"models.{self.name}: kind={self.kind!r} is none of {', '.join(KINDS)}."
            raise SettingsError(message)
        columns = self.columns or ()
        if self.columns is not None and (not columns or len(set(columns)) < len(columns)):
            raise SettingsError(f"models.{self.name}: columns must be named, each once.")
        if self.target in columns:
            message = f"models.{self.name}: target={self.target!r} is one of the columns too."
            raise SettingsError(message)


NAME_RULE = "a name has 1 to 64 letters, digits, '-' and '_', a letter or a digit first."


class About(NamedTuple):
    """What is told of a setting, and what it may be.

    Examples
    --------
    >>> About("Most models.", least=1).most
    inf
    """

    told: str
    least: float = -inf
    most: float = inf
    choices: tuple[str, ...] = ()
    form: re.Pattern[str] | None = None


@dataclass(frozen=True)
class Settings:
    """All that a service is told.

    Examples
    --------
    >>> Settings(port=9000).port
    9000
    >>> Settings(port=70_000)
    Traceback (most recent call last):
    okspca.serve.settings.SettingsError: port is 70000, but it must be from 0 to 65535.
    """

    folder: Annotated[Path, About("Where models and journals are kept.")] = Path("okspca-service")
    host: Annotated[str, About("Address to listen on.", form=HOST)] = "127.0.0.1"
    port: Annotated[int, About("Port to listen on; 0 takes a free one.", 0, 65_535)] = 8787
    tls_certificate: Annotated[Path | None, About("File with the certificate (PEM).")] = None
    tls_key: Annotated[Path | None, About("File with its key (PEM).")] = None
    behind_proxy: Annotated[
        bool, About("Another server, which keeps TLS, stands before this one.")
    ] = False
    allowed_hosts: Annotated[
        tuple[str, ...],
        About("A name by which clients call the service, besides its address.", form=HOST),
    ] = ()
    max_body_bytes: Annotated[int, About("Most bytes of a request.", 1)] = 32 * MIB
    max_rows_per_request: Annotated[int, About("Most rows of a request.", 1)] = 100_000
    max_columns: Annotated[int, About("Most inputs of a model.", 1)] = 20_000
    max_models: Annotated[int, About("Most models.", 1)] = 16
    max_sources: Annotated[int, About("Most sources that a model remembers.", 1)] = 10_000
    max_pending: Annotated[int, About("Most rows that wait for their label.", 0)] = 100_000
    pending_seconds: Annotated[float, About("How long they wait.", 0)] = 86_400.0
    max_set_aside: Annotated[int, About("Most rows set aside that are kept.", 0)] = 1_000
    max_classes: Annotated[int, About("Most classes of a model.", 2)] = 1_000
    max_waiting_bytes: Annotated[
        int, About("Most bytes that are in the journal and not learned yet.", 1)
    ] = 128 * MIB
    max_journal_bytes: Annotated[int, About("Most bytes of a journal.", 1)] = 1024 * MIB
    segment_bytes: Annotated[int, About("Bytes of one file of a journal.", 1)] = 16 * MIB
    checkpoint_seconds: Annotated[float, About("Longest time between checkpoints.", 0)] = 30.0
    checkpoint_rows: Annotated[int, About("Most rows between checkpoints.", 1)] = 1_000_000
    requests_per_second: Annotated[
        float, About("Most requests of a client; 0 for no limit.", 0)
    ] = 0.0
    keep_segments: Annotated[
        Path | None, About("Where files of a journal go that are done with; else they are removed.")
    ] = None
    log_format: Annotated[
        str, About("How the log is written: text or json.", choices=("text", "json"))
    ] = "text"
    log_level: Annotated[
        str, About("What the log tells: debug, info, warning or error.", choices=LEVELS)
    ] = "info"
    tokens: Tokens = field(default_factory=Tokens)
    models: tuple[ModelSettings, ...] = ()

    def __post_init__(self) -> None:
        """Refuse values that are wrong, alone or together."""
        for name in OPTIONS:
            wrong = objection(name, getattr(self, name))
            if wrong is not None:
                raise SettingsError(f"{name} is {getattr(self, name)!r}, but it must {wrong}.")
        for check in (_check_tls, _check_sizes, _check_models):
            check(self)


_HINTS = get_type_hints(Settings, include_extras=True)
#: What is told of every setting that is one value: all but tokens and models.
OPTIONS: dict[str, About] = {
    name: hint.__metadata__[0] for name, hint in _HINTS.items() if get_origin(hint) is Annotated
}
DEFAULTS = {one.name: one.default for one in fields(Settings) if one.name in OPTIONS}


def kind_of(name: str) -> type:
    """What a setting is; one that may be left out is what it is where it is there.

    Examples
    --------
    >>> kind_of("tls_key") is Path, kind_of("allowed_hosts") is tuple
    (True, True)
    """
    hint = get_args(_HINTS[name])[0]
    if get_origin(hint) is tuple:
        return tuple
    found: type = (get_args(hint) or (hint,))[0]
    return found


def objection(name: str, value: Any) -> str | None:
    """What a setting must do that a value does not; None where all is well.

    Examples
    --------
    >>> objection("max_models", 0)
    'be 1 or more'
    """
    kind, about = kind_of(name), OPTIONS[name]
    if value is None and DEFAULTS[name] is None:
        return None
    if kind is float and type(value) is int:
        value = float(value)
    if not (isinstance(value, kind) and isinstance(value, bool) == (kind is bool)):
        return f"be {WORDS[kind]}"
    if about.choices and value not in about.choices:
        return f"be one of {', '.join(about.choices)}"
    if about.form is not None and not all(_fits(one, about.form) for one in _parts(value)):
        return "be a name or an address of a machine, without port or path"
    if isinstance(value, int | float) and not about.least <= value <= about.most:
        between = f"from {about.least} to {about.most}"
        return f"be {between}" if about.most < inf else f"be {about.least} or more"
    return None


WORDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    tuple: "a list of texts",
    Path: "the name of a file or a folder",
}


def check_exposure(settings: Settings) -> None:
    """Refuse to let anybody in who has no token, or who can be overheard.

    On the loopback address only programs of this machine can call; there neither is needed, unless
    a proxy lets others in.
    """
    is_local = is_loopback(settings.host)
    where = f"host={settings.host}" if not is_local else "behind_proxy"
    if (not is_local or settings.behind_proxy) and not settings.tokens:
        message = (
            f"{where} lets other machines in, but there is no token; give one in [tokens] of the "
            "configuration or in OKSPCA_SERVE_TOKEN_ADMIN, or listen on 127.0.0.1 alone."
        )
        raise SettingsError(message)
    if not is_local and settings.tls_certificate is None and not settings.behind_proxy:
        message = (
            f"{where} lets other machines in, but tokens could be overheard; give tls_certificate "
            "and tls_key, or set behind_proxy where another server keeps TLS."
        )
        raise SettingsError(message)


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine reach an address; names are not looked up.

    Examples
    --------
    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "::")]
    [True, True, True, False, False]
    """
    if host.lower() == "localhost":
        return True
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _check_tls(settings: Settings) -> None:
    """Certificate and key come together, and are there."""
    named = {"tls_certificate": settings.tls_certificate, "tls_key": settings.tls_key}
    missing = [name for name, path in named.items() if path is None]
    if len(missing) == 1:
        raise SettingsError(f"{missing[0]} is missing; certificate and key are given together.")
    for name, path in named.items():
        if path is not None and not path.is_file():
            raise SettingsError(f"{name} is {path}, where there is no file.")


def _check_sizes(settings: Settings) -> None:
    """What must hold something is larger than it."""
    for small, large in (
        ("max_body_bytes", "max_waiting_bytes"),
        ("segment_bytes", "max_journal_bytes"),
        ("max_waiting_bytes", "max_journal_bytes"),
    ):
        if getattr(settings, small) > getattr(settings, large):
            message = (
                f"{large} is {getattr(settings, large)}, less than {small}, "
                f"{getattr(settings, small)}, which it must hold; raise it or lower that."
            )
            raise SettingsError(message)


def _check_models(settings: Settings) -> None:
    """There are not more models than may be, each has a name of its own, and none is too wide."""
    names = [model.name for model in settings.models]
    if len(names) > settings.max_models:
        message = f"models names {len(names)}, but max_models is {settings.max_models}."
        raise SettingsError(message)
    if len(set(names)) < len(names):
        raise SettingsError("models has two of the same name; give each its own.")
    for model in settings.models:
        n = len(model.columns or ())
        if n > settings.max_columns:
            message = f"models.{model.name} has {n} columns, but max_columns is "
            raise SettingsError(f"{message}{settings.max_columns}.")


def _check_token(role: str, token: object) -> None:
    """Refuse a token that can be guessed or cannot be sent, without showing it."""
    if not isinstance(token, str) or not TOKEN.fullmatch(token):
        message = f"A token of the role {role} may hold letters, digits and -._~+/ only."
        raise SettingsError(message)
    if len(token) < SHORTEST_TOKEN:
        message = (
            f"A token of the role {role} has {len(token)} signs, fewer than {SHORTEST_TOKEN}; "
            'make one by python -c "import secrets; print(secrets.token_urlsafe(32))".'
        )
        raise SettingsError(message)


def _parts(value: Any) -> tuple[Any, ...]:
    """One value, or several."""
    return value if isinstance(value, tuple) else (value,)


def _fits(value: Any, form: re.Pattern[str]) -> bool:
    """Whether a text has a form."""
    return isinstance(value, str) and form.fullmatch(value) is not None
