"""What a release must agree on."""

import re
import tomllib
from pathlib import Path
from typing import Any

from okspca import __version__

ROOT = Path(__file__).resolve().parent.parent


def project(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return found


def version(folder: Path, package: str) -> str:
    """Version of a distribution: that of its project file, or the one its package states."""
    stated = (folder / "src" / package / "__init__.py").read_text()
    names = re.findall(r'^__version__ = "(.+)"$', stated, re.MULTILINE)
    return str(project(folder).get("version") or names[0])


def test_both_distributions_and_the_citation_have_one_version() -> None:
    assert version(ROOT, "okspca") == version(ROOT / "lab", "okspca_lab") == __version__
    assert f"okspca[plot,files]=={__version__}" in project(ROOT / "lab")["dependencies"]
    cited = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited == [__version__]
