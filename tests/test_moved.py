"""Former names of modules: they lead to the new ones for one release, and say so."""

import subprocess
import sys
from pathlib import Path

import pytest

import okspca

FORMER = sorted(path.stem for path in (Path(okspca.__file__).parent / "moved").glob("[a-z]*.py"))
ORDEALS = ("fuzzing", "killing", "throughput")
#: As if the laboratory were not installed.
WITHOUT = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "okspca_lab":
            raise ModuleNotFoundError("No module named 'okspca_lab'", name="okspca_lab")
sys.meta_path.insert(0, Hidden())
"""


def python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)


def test_former_names_lead_to_the_modules_themselves() -> None:
    code = (
        "import warnings; from importlib import import_module\n"
        f"for name in {FORMER}:\n"
        "    with warnings.catch_warnings(record=True) as caught:\n"
        "        warnings.simplefilter('always')\n"
        "        module = import_module(f'okspca.{name}')\n"
        "    told = [str(w.message) for w in caught if w.category is FutureWarning]\n"
        "    assert any(f'use {module.__name__}.' in words for words in told), (name, told)\n"
        "    assert not module.__name__.startswith('okspca.moved')\n"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr


def test_former_programs_run() -> None:
    done = python("-m", "okspca.killing", "--help")
    assert done.returncode == 0, done.stderr
    assert "--kills" in done.stdout
    assert "FutureWarning: The module has moved: use okspca_lab.ordeals.killing." in done.stderr


@pytest.mark.parametrize("name", ORDEALS)
def test_without_the_laboratory_they_say_how_to_get_it(name: str) -> None:
    told = f"okspca_lab.ordeals.{name} belongs to the laboratory of okspca: pip install okspca-lab"
    run = f"import runpy; runpy.run_module('okspca.{name}', run_name='__main__')"
    program = python("-c", WITHOUT + run)
    assert (program.returncode, program.stderr.splitlines()[-1]) == (1, told)
    imported = python("-c", WITHOUT + f"import okspca.{name}")
    assert imported.stderr.splitlines()[-1] == f"ModuleNotFoundError: {told}"
