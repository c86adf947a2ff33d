"""Every code block of the pages runs: Python as it stands, commands of okspca as typed."""

import os
import re
import shlex
import shutil
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from okspca import OKSPCA
from okspca.cli import app
from okspca.datasets import DataFileError, load_kin8nm

DOCS = Path(__file__).resolve().parents[1] / "docs"
SHARED = DOCS.parents[1] / "shared" / "data"
PAGES = sorted(path.name for path in DOCS.glob("*.rst"))
BLOCK = re.compile(r"^\.\. code-block:: (\w+)\n\n((?:    .*\n|\n)+)", re.MULTILINE)
#: Commands that set up an environment or repeat a study are run by `make` and by hand.
ELSEWHERE = (
    "pip ",
    "make ",
    "okspca warm",
    "okspca reproduce ",
    "okspca bench ",
    "okspca demo",
    "okspca serve",
    "python -m okspca_lab.ordeals.serve_",
    "export ",
    "taskset ",
)
NEEDS_DATA = {"tutorial.rst"}
NEEDS_ENGINES = {
    "engines.rst": (
        "dask.dataframe",
        "distributed",
        "pyspark",
        "confluent_kafka",
        "redis",
        "river",
    )
}


def blocks(page: str) -> list[tuple[str, str]]:
    text = (DOCS / page).read_text(encoding="utf-8")
    found = BLOCK.findall(text + "\n")
    assert len(found) == text.count(".. code-block::")
    return [(kind, textwrap.dedent(code)) for kind, code in found]


def test_every_page_is_in_the_contents() -> None:
    contents = "".join((DOCS / name).read_text() for name in ("index.rst", "cookbook.rst"))
    listed = re.findall(r"^   (\w+)$", contents, re.MULTILINE)
    assert sorted(f"{name}.rst" for name in [*listed, "index"]) == PAGES


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("ignore::okspca.errors.RankWarning")
@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")
def test_code_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page in NEEDS_DATA:
        if "OKSPCA_DATA" not in os.environ and SHARED.is_dir():
            monkeypatch.setenv("OKSPCA_DATA", str(SHARED))
        try:
            load_kin8nm(download=False)
        except DataFileError:
            pytest.skip("the real data are not there")
    for engine in NEEDS_ENGINES.get(page, ()):
        pytest.importorskip(engine, reason="needs okspca[dask,spark,kafka,redis,river]")
    if page in NEEDS_ENGINES and None in (shutil.which("java"), shutil.which("redis-server")):
        pytest.skip("Spark needs Java, and the example of Redis a server")
    # Room for the first rows only: their features are learned once, not five times.
    monkeypatch.setattr("okspca.estimators.map_search.MOST_BYTES", 1 << 15)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for kind, code in blocks(page):
        if kind == "python":
            exec(compile(code, page, "exec"), names)
            continue
        if kind == "text":  # what takes other programs
            continue
        assert kind == "console"
        for line in re.findall(r"^\$ (.*)$", code, re.MULTILINE):
            if not line.startswith(ELSEWHERE):
                words = shlex.split(line)
                assert words.pop(0) == "okspca"
                result = CliRunner().invoke(app, words)
                assert result.exit_code == 0, f"{line}\n{result.output}"


def test_the_reference_lists_every_public_name() -> None:
    """Whatever a room with a list of names offers, and every method of an estimator."""
    text = (DOCS / "api.rst").read_text()
    whole = re.findall(r"automodule:: (\S+)\n   :members:\n", text)
    covered = {name for page in whole for name in vars(import_module(page)).get("__all__", ())}
    missing = []
    for room in ("", ".estimators", ".comparators", ".diagnostics", ".features", ".services"):
        module = import_module(f"okspca{room}")
        for name in set(module.__all__) - covered - {"__version__"}:
            is_there = getattr(getattr(module, name), "__module__", "") in whole
            is_named = re.search(rf"auto\w+:: \S+\.{name}\n", text) is not None
            missing += [] if is_there or is_named else [name]
    assert missing == []
    listed = re.search(r"estimators.OKSPCA\n   :members: ((?:.*,\n)*.*)\n", text)
    assert listed is not None
    own = [
        name
        for base in OKSPCA.__mro__
        if base.__module__.startswith("okspca")
        for name in vars(base)
    ]
    inherited = {"ready", "learned", "output_container"}  # for other rooms of the package
    made = ("_", "_request")  # private, fitted, or made by scikit-learn
    methods = {name for name in own if not name.startswith("_") and not name.endswith(made)}
    public = {name for name in methods - inherited if callable(getattr(OKSPCA, name))}
    assert public - {*re.split(r",\s+", listed[1])} == set()


def test_the_reference_names_what_is_there() -> None:
    """`make docs` fails otherwise, but that is not part of the tests."""
    text = (DOCS / "api.rst").read_text()
    found = re.findall(r"automodule:: (\S+)\n   :members: (\S.*)\n", text)
    # Modules of engines are importable only where those are installed.
    named = [(module, members) for module, members in found if ".distributed." not in module]
    assert named
    for module, members in named:
        missing = [one for one in members.split(", ") if not hasattr(import_module(module), one)]
        assert missing == [], module
