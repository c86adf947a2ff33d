"""Small tables in which results show themselves: as text in a terminal, as HTML in a notebook."""

import html
from collections.abc import Callable, Sequence

Rows = Sequence[Sequence[str]]


def text_table(header: Sequence[str], rows: Rows) -> str:
    """Line up cells: the first column to the left, all others to the right.

    Examples
    --------
    >>> print(text_table(("input", "share"), [("age", "90 %"), ("income", "10 %")]))
    input   share
    age      90 %
    income   10 %
    """
    cells = [tuple(header), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def html_table(title: str, header: Sequence[str], rows: Rows, note: str = "") -> str:
    """Return a table as HTML; all text is escaped.

    Examples
    --------
    >>> "<td>a &lt; b</td>" in html_table("Signs", ("sign",), [("a < b",)])
    True
    """
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    below = f"<p>{html.escape(note)}</p>" if note else ""
    return (
        f"<table><caption>{html.escape(title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
    )


def safely(shown: Callable[[], str], otherwise: object) -> str:
    """Show something, or its bare name where that fails: looking at a thing must never raise.

    Examples
    --------
    >>> safely(lambda: str(1 / 0), 7)
    '<pre>&lt;int&gt;</pre>'
    """
    try:
        return shown()
    except Exception:  # whatever it is, a notebook must go on
        return f"<pre>{html.escape(f'<{type(otherwise).__name__}>')}</pre>"
