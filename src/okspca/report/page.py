"""One HTML page: sections of text, tables and pictures, in a single file.

Pictures are embedded, so the page can be sent around; nothing is fetched from a network.
"""

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass

from okspca.report.printable import printable_lines
from okspca.report.tables import Table

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 62rem; margin: 2rem auto;
       padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
h3 { font-size: 1rem; margin: 1.5rem 0 .4rem; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #e3e3e3; }
th { border-bottom: 2px solid #888; vertical-align: bottom; }
.text { text-align: left; }
.wide { overflow-x: auto; }
.agrees, .holds { color: #00603d; }
.differs, .fails { color: #a33b00; font-weight: bold; }
.not-run, .note { color: #595959; }
.note { font-size: .9rem; }
img { max-width: 100%; }
pre { background: #f4f4f4; padding: .6rem; overflow-x: auto; }
nav a { margin-right: 1rem; }
@media print {
  nav { display: none; }
  figure, tr, pre { break-inside: avoid; }
  h2, h3, h2 + p { break-after: avoid; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  .wide { overflow-x: visible; }
}
"""


@dataclass(frozen=True)
class Picture:
    """A PNG picture and what it shows."""

    png: bytes
    caption: str

    def html(self) -> str:
        """Return it as HTML, embedded."""
        data = base64.b64encode(self.png).decode("ascii")
        caption = html.escape(self.caption)
        return f"<figure><img alt='{caption}' src='data:image/png;base64,{data}'>\n" + (
            f"<figcaption class='note'>{caption}</figcaption></figure>"
        )


@dataclass(frozen=True)
class Code:
    """Something typed or printed, shown as it is."""

    text: str

    def html(self) -> str:
        """Return it as HTML."""
        return f"<pre>{html.escape(self.text)}</pre>"


#: A paragraph of text, or anything that knows its own HTML.
Part = str | Table | Picture | Code


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    parts: Sequence[Part]

    @property
    def anchor(self) -> str:
        """Name of the section in links."""
        return "".join(c if c.isalnum() else "-" for c in self.title.lower())

    def html(self) -> str:
        """Return it as HTML."""
        parts = [f"<p>{html.escape(p)}</p>" if isinstance(p, str) else p.html() for p in self.parts]
        return f"<h2 id='{self.anchor}'>{html.escape(self.title)}</h2>\n" + "\n".join(parts)


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Put a page together.

    Examples
    --------
    >>> "<h2 id='results'>Results</h2>" in page("Study", "What it is.", [Section("Results", [])])
    True
    """
    links = "\n".join(f"<a href='#{s.anchor}'>{html.escape(s.title)}</a>" for s in sections)
    body = "\n".join(section.html() for section in sections)
    # Names of columns and files are in it, and people look at pages with `cat` as well.
    return printable_lines(
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style></head><body>\n"
        f"<h1>{html.escape(title)}</h1>\n<p>{html.escape(lead)}</p>\n<nav>{links}</nav>\n"
        f"{body}\n</body></html>\n"
    )
