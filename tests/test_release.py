"""What a release must agree on."""

import re
import tomllib
from pathlib import Path

from okspca import __version__

ROOT = Path(__file__).resolve().parent.parent


def test_both_distributions_and_the_citation_have_one_version() -> None:
    library, laboratory = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
        for folder in (".", "lab")
    )
    assert library["version"] == laboratory["version"] == __version__
    assert f"okspca[plot,files]=={__version__}" in laboratory["dependencies"]
    cited = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited == [__version__]
