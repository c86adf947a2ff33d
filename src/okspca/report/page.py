"""One HTML page: sections of text, tables and pictures, in a single file.

Pictures are embedded, so the page can be sent around; nothing is fetched from a network, and the
page forbids its browser to do so.  The only script that may run is the one that makes figures live.
"""

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from okspca.report.printable import printable_lines
from okspca.report.tables import Table

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 62rem; margin: 2rem auto;
       padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
h3 { font-size: 1rem; margin: 1.5rem 0 .4rem; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #e3e3e3; }
th { border-bottom: 2px solid #888; vertical-align: bottom; }
td { white-space: nowrap; }
.text { text-align: left; white-space: normal; }
.wide { overflow-x: auto; }
.agrees, .holds, .held { color: #00603d; }
.differs, .fails, .missed { color: #a33b00; font-weight: bold; }
.not-run, .note { color: #595959; }
.note { font-size: .9rem; }
.lead { font-size: 1.2rem; line-height: 1.45; border-left: 4px solid #0072B2; padding-left: .8rem; }
figure { margin: 1rem 0; }
img { max-width: 100%; }
.live > img { display: none; }
.interactive { position: relative; margin-bottom: 1rem; }
.interactive > canvas { width: 100%; display: block; touch-action: pan-y; cursor: crosshair; }
.interactive .title { font-weight: 600; font-size: .95rem; }
.bar { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; margin: .3rem 0; }
.names { display: flex; flex-wrap: wrap; gap: .3rem; align-items: center; font-size: .85rem;
       max-height: 9rem; overflow-y: auto; }
.bar button, .names button, .bar select { font: inherit; font-size: .85rem; background: #fff;
       color: inherit; border: 1px solid #bbb; border-radius: .3rem; padding: .15rem .5rem; }
.names button { display: flex; align-items: center; gap: .3rem; max-width: 14rem; }
.names span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.names button[aria-pressed=false] { opacity: .4; text-decoration: line-through; }
.tip { display: none; position: absolute; pointer-events: none; background: #1b1b1b; color: #fff;
       font-size: .8rem; padding: .15rem .5rem; border-radius: .3rem; max-width: 90%; }
pre { background: #f4f4f4; padding: .6rem; overflow-x: auto; }
nav a { margin-right: 1rem; }
@media (max-width: 30rem) {
  th, td { padding: .2rem .3rem; white-space: normal; }
  table { font-size: .8rem; }
}
@media print {
  nav, .interactive { display: none; }
  .live > img { display: inline; }
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
class Chart:
    """A picture whose data come along, so that it can be zoomed and asked for values."""

    picture: Picture
    plots: Sequence[dict[str, Any]]

    def html(self) -> str:
        """Return it as HTML; nothing in the data can end the element that holds them."""
        data = json.dumps(list(self.plots), allow_nan=False, separators=(",", ":"))
        for sign in "<>&":
            data = data.replace(sign, f"\\u{ord(sign):04x}")
        script = f"<script type='application/json'>{data}</script>"
        return self.picture.html().replace("<figure>", f"<figure class='chart'>{script}", 1)


@dataclass(frozen=True)
class Code:
    """Something typed or printed, shown as it is."""

    text: str

    def html(self) -> str:
        """Return it as HTML."""
        return f"<pre>{html.escape(self.text)}</pre>"


#: A paragraph of text, or anything that knows its own HTML.
Part = str | Table | Picture | Chart | Code


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
    is_live = any(isinstance(part, Chart) for section in sections for part in section.parts)
    script = _script() if is_live else ""
    # Names of columns and files are in it, and people look at pages with `cat` as well.
    return printable_lines(
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>\n"
        f"{_policy(script)}\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style></head><body>\n"
        f"<h1>{html.escape(title)}</h1>\n<p class='lead'>{_kept_together(lead)}</p>\n"
        f"<nav>{links}</nav>\n{body}\n"
        + (f"<script>{script}</script>\n" if script else "")
        + "</body></html>\n"
    )


def _kept_together(text: str) -> str:
    """Text as HTML in which no number is parted from its percent sign."""
    return html.escape(text).replace(" %", "&nbsp;%")


def _script() -> str:
    """What makes figures live."""
    return resources.files("okspca.report").joinpath("interactive.js").read_text(encoding="utf-8")


def _policy(script: str) -> str:
    """Forbid everything but what is in the page: no network, and no script but ours."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    allowed = f"'sha256-{digest}'" if script else "'none'"
    rules = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}">'
