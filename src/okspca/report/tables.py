"""A table of text that can be shown in a terminal, in Markdown and in HTML."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.table import Table as RichTable


@dataclass(frozen=True)
class Table:
    """A title, a header and rows of text; the first column names things, the rest are values.

    Examples
    --------
    >>> table = Table("Scores", ("task", "ours"), [("Kin8nm", "0.404")])
    >>> print(table.markdown())
    ### Scores
    <BLANKLINE>
    | task | ours |
    | --- | ---: |
    | Kin8nm | 0.404 |
    <BLANKLINE>
    """

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    #: Columns that hold words rather than numbers, beside the first.
    words: tuple[int, ...] = ()

    def rich(self) -> RichTable:
        """Return it for the terminal."""
        table = RichTable(title=self.title, title_justify="left", box=SIMPLE_HEAD)
        for number, heading in enumerate(self.header):
            table.add_column(heading, justify="left" if self._is_text(number) else "right")
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self, level: int = 3) -> str:
        """Return it as Markdown, under a heading of that level."""
        rule = tuple("---" if self._is_text(n) else "---:" for n in range(len(self.header)))
        lines = [f"| {' | '.join(cells)} |" for cells in (self.header, rule, *self.rows)]
        note = [self.note, ""] if self.note else []
        return "\n".join([f"{'#' * level} {self.title}", "", *lines, "", *note])

    def html(self) -> str:
        """Return it as HTML; all text is escaped."""
        head = "".join(self._cell("th", n, text) for n, text in enumerate(self.header))
        body = "\n".join(
            "<tr>" + "".join(self._cell("td", n, text) for n, text in enumerate(row)) + "</tr>"
            for row in self.rows
        )
        note = f"<p class='note'>{html.escape(self.note)}</p>" if self.note else ""
        return (
            f"<h3>{html.escape(self.title)}</h3>\n<div class='wide'><table>\n"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>{note}"
        )

    def _is_text(self, column: int) -> bool:
        """Whether a column holds words."""
        return column == 0 or column in self.words

    def _cell(self, tag: str, column: int, text: str) -> str:
        """Make one cell; a verdict is marked so that it can be coloured."""
        classes = ["text"] if self._is_text(column) else []
        if text in ("agrees", "differs", "not run", "holds", "fails", "held", "missed"):
            classes.append(text.replace(" ", "-"))
        mark = f" class='{' '.join(classes)}'" if classes else ""
        return f"<{tag}{mark}>{html.escape(text)}</{tag}>"


def mean_sd(mean: float, sd: float, digits: int = 3) -> str:
    """Write a mean and a standard deviation.

    Examples
    --------
    >>> mean_sd(0.41304, 0.02471)
    '0.413 ± 0.025'
    """
    return f"{mean:.{digits}f} ± {sd:.{digits}f}"
