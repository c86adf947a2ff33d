"""Sphinx settings."""

import re
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from typer.main import get_command

from okspca.cli import app as command_line

project = "okspca"
author = "the okspca developers"
copyright = f"2026, {author}"
release = installed_version("okspca")
version = release

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"okspca {release}"

autodoc_member_order = "bysource"
autodoc_typehints = "description"
# Engines that are extras; the pages build alike with and without them.
autodoc_mock_imports = ["dask", "distributed", "pyspark", "river"]
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = False
napoleon_use_ivar = True
# Shapes in docstrings, as in "ndarray of shape (n_features,)", look like ambiguous references.
suppress_warnings = ["ref.python"]

RESULTS = Path(__file__).parents[1] / "results"
# scikit-learn adds these to every estimator; their docstrings link to pages of its own manual.
ROUTING_METHOD = re.compile(r"set_\w+_request")


def skip_routing_methods(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Leave generated metadata-routing methods out of the reference."""
    del app, what, obj, skip, options
    return True if ROUTING_METHOD.fullmatch(name) else None


class Commands(Directive):
    """Describe every command of okspca from its own code."""

    def run(self) -> list[nodes.Node]:
        """Make a section for each command."""
        group: Any = get_command(command_line)
        names = group.list_commands(None)
        found = {name: group.get_command(None, name) for name in names}
        return [node for name, command in found.items() for node in _described(name, command)]


def _described(name: str, command: Any) -> list[nodes.Node]:
    """Make the section of a command and, for a group, those of its members."""
    members = getattr(command, "commands", None)
    if members is not None:
        found = ((f"{name} {each}", member) for each, member in members.items())
        return [node for pair in found for node in _described(*pair)]
    section = nodes.section(ids=[f"okspca-{name.replace(' ', '-')}"])
    section += nodes.title(text=f"okspca {name}")
    section += nodes.paragraph(text=(command.help or "").strip())
    options = nodes.definition_list()
    for parameter in command.params:
        entry = nodes.definition_list_item()
        entry += nodes.term("", "", nodes.literal(text=_called(parameter)))
        entry += nodes.definition("", nodes.paragraph(text=_told(parameter)))
        options += entry
    section += options
    return [section]


def _called(parameter: Any) -> str:
    """How an option or argument is typed."""
    if parameter.param_type_name == "argument":
        return str(parameter.name).upper()
    return " or ".join([*parameter.opts, *parameter.secondary_opts])


def _told(parameter: Any) -> str:
    """What an option is for, and what it is when not given."""
    default = parameter.default
    if default is None and isinstance(getattr(parameter, "show_default", None), str):
        default = parameter.show_default
    is_told = default is not None and default is not False and not callable(default)
    shown = f" Default: {default}." if is_told and not parameter.required else ""
    return f"{getattr(parameter, 'help', '') or ''}{shown}"


class ResultsTable(Directive):
    """Show a table of a Markdown file below `results/`, so that no number is copied by hand.

    The first argument is the file, the rest the beginning of the heading above the table.
    """

    required_arguments = 2
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Make the table."""
        path = RESULTS / self.arguments[0]
        self.state.document.settings.record_dependencies.add(str(path))
        rows = _rows_below(path.read_text(encoding="utf-8"), self.arguments[1])
        if not rows:
            message = f"{path} has no table below a heading that begins with {self.arguments[1]!r}."
            raise self.error(message)
        return [_table(rows)]


def _rows_below(text: str, heading: str) -> list[list[str]]:
    """Cells of the table below a heading, its first row the head; empty where there is none."""
    sections = re.split(r"^#+ ", text, flags=re.MULTILINE)
    section = next((each for each in sections if each.startswith(heading)), "")
    lines = [line.strip().strip("|") for line in section.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split(" | ")] for line in lines]
    return rows[:1] + rows[2:]


def _table(rows: list[list[str]]) -> nodes.table:
    """Make a table of plain cells with a head."""
    group = nodes.tgroup(cols=len(rows[0]))
    group += [nodes.colspec(colwidth=1) for _ in rows[0]]
    group += nodes.thead("", _row(rows[0]))
    group += nodes.tbody("", *map(_row, rows[1:]))
    return nodes.table("", group)


def _row(cells: list[str]) -> nodes.row:
    """Make a row of a table."""
    return nodes.row("", *(nodes.entry("", nodes.paragraph(text=cell)) for cell in cells))


def setup(app: Sphinx) -> None:
    """Connect the filter and the directives above."""
    app.connect("autodoc-skip-member", skip_routing_methods)
    app.add_directive("commands", Commands)
    app.add_directive("results-table", ResultsTable)
