"""Text for a terminal: what names from data and files hold must not become commands to it."""


def printable(text: object) -> str:
    r"""Show signs that do not print as escapes, as in ``\x1b``, and all others as they are.

    A name of a column, a class or a file can hold anything.  Written raw, escape sequences could
    move the cursor, change what was printed before, or set the title of the window.

    Examples
    --------
    >>> print(printable("price\x1b[2J in €"))
    price\x1b[2J in €
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(sign if sign.isprintable() else _escaped(sign) for sign in shown)


def printable_lines(text: str) -> str:
    r"""Do the same to a text of several lines, which stay lines.

    Examples
    --------
    >>> print(printable_lines("one\a\ntwo"))
    one\x07
    two
    """
    return "\n".join(map(printable, text.split("\n")))


def _escaped(sign: str) -> str:
    """A sign by its number."""
    return sign.encode("unicode_escape").decode("ascii")
