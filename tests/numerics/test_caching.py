"""The cache of machine code is renewed when anything that goes into it changes."""

from pathlib import Path

import pytest

from okspca.numerics.caching import PACKAGE, fingerprint

FILES = {
    "kernels.py": "from okspca.numbers import TOLERANCE\n\n@compiled\ndef f(x): return x\n",
    "numbers.py": "TOLERANCE = 1.0\n",
    "forms.py": "@overload(f, inline='always')\ndef g(x): ...\n",
    "elsewhere.py": "print('no kernel needs this')\n",
}


@pytest.mark.parametrize("name", FILES)
def test_what_kernels_need_decides_the_folder(tmp_path: Path, name: str) -> None:
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    before = fingerprint(tmp_path)
    (tmp_path / name).write_text(FILES[name] + "# changed\n")
    assert (fingerprint(tmp_path) != before) == (name != "elsewhere.py")


@pytest.mark.parametrize("name", ["numerics/addresses.py", "numerics/spectrum.py", "lane.py"])
def test_files_of_the_package_that_matter(tmp_path: Path, name: str) -> None:
    for path in PACKAGE.rglob("*.py"):
        twin = tmp_path / path.relative_to(PACKAGE)
        twin.parent.mkdir(parents=True, exist_ok=True)
        twin.write_bytes(path.read_bytes())
    before = fingerprint(tmp_path)
    assert before == fingerprint(PACKAGE)
    with (tmp_path / name).open("a") as file:
        file.write("# changed\n")
    assert fingerprint(tmp_path) != before
