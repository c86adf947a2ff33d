"""Sphinx settings."""

import re
from importlib.metadata import version as installed_version

from sphinx.application import Sphinx

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
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = False
napoleon_use_ivar = True
# Shapes in docstrings, as in "ndarray of shape (n_features,)", look like ambiguous references.
suppress_warnings = ["ref.python"]

# scikit-learn adds these to every estimator; their docstrings link to pages of its own manual.
ROUTING_METHOD = re.compile(r"set_\w+_request")


def skip_routing_methods(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Leave generated metadata-routing methods out of the reference."""
    del app, what, obj, skip, options
    return True if ROUTING_METHOD.fullmatch(name) else None


def setup(app: Sphinx) -> None:
    """Connect the filter above."""
    app.connect("autodoc-skip-member", skip_routing_methods)
