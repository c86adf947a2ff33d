"""What was said about reading files, as it is typed: the form in which a model remembers it."""

from collections.abc import Mapping, Sequence

#: Flags that are given once or as often as one likes, each time with a value, and those that stand
#: for themselves, by the word that says the opposite.
ONCE = ("--format", "--delimiter", "--decimal", "--thousands", "--encoding")
OFTEN = ("--na", "--date-format", "--text")
SWITCHES = {"--header": "--no-header", "--usual-na": "--no-usual-na"}
ORDER = (*ONCE, "--header", "--na", "--usual-na", "--date-format", "--text")
#: What holds for other files with the same columns too, since it is about their content.
CONTENT = ("--na", "--usual-na", "--date-format", "--text")
#: How numbers are written; one of them without the other could contradict itself.
NUMERALS = ("--decimal", "--thousands")

#: The words that were said under each flag; under a switch, the switch itself.
Said = Mapping[str, tuple[str, ...]]


def parsed(words: Sequence[str]) -> Said | None:
    """What was said under each flag; None where this cannot have been typed.

    Examples
    --------
    >>> parsed(["--na", "lost", "--no-header"])
    {'--na': ('lost',), '--header': ('--no-header',)}
    >>> parsed(["--drop", "a"])
    """
    found: dict[str, tuple[str, ...]] = {}
    rest = iter(words)
    for word in rest:
        switch = next((flag for flag, no in SWITCHES.items() if word in (flag, no)), None)
        value = word if switch is not None else next(rest, None)
        flag = switch or word
        if flag not in ORDER or value is None or (flag in found and flag not in OFTEN):
            return None
        found[flag] = (*found.get(flag, ()), value)
    return None if objection(found) else found


def typed(said: Said) -> tuple[str, ...]:
    """The words that say so, in the order in which files hold them.

    Examples
    --------
    >>> typed({"--na": ("lost", "-1"), "--header": ("--no-header",)})
    ('--no-header', '--na', 'lost', '--na', '-1')
    """
    words: list[str] = []
    for flag in ORDER:
        for value in said.get(flag, ()):
            words += [value] if flag in SWITCHES else [flag, value]
    return tuple(words)


def objection(said: Said) -> tuple[str, str] | None:
    """The flag whose sign no number can be written with, and why; None where all can be."""
    decimal, thousands = (said.get(flag, (None,))[0] for flag in NUMERALS)
    if decimal is not None and decimal not in (".", ","):
        return "--decimal", f"{decimal!r} is neither a point nor a comma."
    if thousands is not None and (
        len(thousands) > 1 or thousands.isdigit() or thousands == decimal
    ):
        return "--thousands", f"{thousands!r} cannot separate thousands."
    return None


def completed(given: Sequence[str], before: Sequence[str], *, own: bool) -> tuple[str, ...]:
    """What is said now and, where it says nothing, what was said before.

    Of other files than the model's ``own``, that is only what is about their content.

    Examples
    --------
    >>> completed(["--na", "gone"], ["--delimiter", ";", "--na", "lost"], own=True)
    ('--delimiter', ';', '--na', 'gone')
    >>> completed([], ["--delimiter", ";", "--na", "lost"], own=False)
    ('--na', 'lost')
    """
    now = parsed(given) or {}
    told = {flag: value for flag, value in (parsed(before) or {}).items() if own or flag in CONTENT}
    if any(flag in now for flag in NUMERALS):
        told = {flag: value for flag, value in told.items() if flag not in NUMERALS}
    return typed({**told, **now})


def common(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """What was said both times.

    Examples
    --------
    >>> common(["--na", "lost", "--text", "a"], ["--text", "a"])
    ('--text', 'a')
    """
    both, theirs = parsed(one) or {}, parsed(other) or {}
    return typed({flag: value for flag, value in both.items() if theirs.get(flag) == value})
